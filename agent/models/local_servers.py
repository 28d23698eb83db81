"""Find model servers that listen on this machine: Ollama, LM Studio, llama.cpp, vLLM.

Only the loopback ports that they use of themselves are asked, without a key. Invariant: what
answers with anything but a list of models is left out; one that hangs is named.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from agent.errors import ModelError
from agent.models.catalog import Preset
from agent.models.clients import client_class
from agent.models.endpoint import endpoint_for

LOOK_S = 2.0
"""How long a server that may not be there may take to list its models."""
_LOADING = 503
_LOOK_AGAIN_S = 0.5
T = TypeVar("T")
NAMED_S = 20.0
"""How long one that the operator named may take, as one does that is loading a model."""


class LocalServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that answered."""

    preset: Preset
    base_url: str
    models: tuple[str, ...]


class Search(NamedTuple):
    """What was found on this machine, in the order of what was asked."""

    servers: tuple[LocalServer, ...]
    silent: tuple[Preset, ...]
    """Those that something listens for which did not answer in time."""


async def find_servers(presets: Sequence[Preset]) -> Search:
    """Ask at the usual address of each kind of server whether one is there."""
    found = await asyncio.gather(*map(_anywhere, presets), return_exceptions=True)
    if broken := [one for one in found if not isinstance(one, LocalServer | ModelError)]:
        raise broken[0]
    return Search(
        servers=tuple(one for one in found if isinstance(one, LocalServer)),
        silent=tuple(
            preset
            for preset, one in zip(presets, found, strict=True)
            if isinstance(one, ModelError) and isinstance(one.__cause__, TimeoutError)
        ),
    )


async def _anywhere(preset: Preset) -> LocalServer:
    """Ask where a kind of server listens, and where older versions of it do."""
    asked = (server_at(preset, address, timeout_s=LOOK_S) for address in preset.addresses)
    found = await asyncio.gather(*asked, return_exceptions=True)
    failed: list[BaseException] = []
    for one in found:
        if isinstance(one, LocalServer):
            return one
        failed.append(one)
    # One that hangs says more than one that is not there.
    raise next((one for one in failed if isinstance(one.__cause__, TimeoutError)), failed[0])


async def once_loaded(ask: Callable[[], Awaitable[T]], patience_s: float) -> T:
    """Ask again and again while a server says that it is loading its model (HTTP 503).

    Raises ModelError for anything else, and where it is still loading after `patience_s`.
    """
    began = time.monotonic()
    while True:
        try:
            return await ask()
        except ModelError as error:
            if error.status != _LOADING or time.monotonic() - began > patience_s:
                raise
        await asyncio.sleep(_LOOK_AGAIN_S)


async def server_at(preset: Preset, base_url: str, *, timeout_s: float = NAMED_S) -> LocalServer:
    """Ask one address for its models. Raises ModelError when nothing there lists any."""
    endpoint = endpoint_for(base_url, f"{preset.name}/-")
    client = client_class(endpoint.wire)("-", endpoint=endpoint, timeout_s=timeout_s)
    try:
        models = await once_loaded(client.known_models, timeout_s)
    finally:
        await client.close()
    return LocalServer(preset=preset, base_url=base_url, models=models)
