"""Find model servers that listen on this machine: Ollama, LM Studio, llama.cpp, vLLM.

Only the loopback ports that they use of themselves are asked, without a key. Invariant: what does
not answer with a list of models in time is not there.
"""

import asyncio

import msgspec

from agent.errors import ModelError
from agent.models.catalog import Preset, catalog
from agent.models.endpoint import endpoint_for
from agent.models.wires import client_class

LOOK_S = 2.0
"""How long a server that may not be there may take to list its models."""
NAMED_S = 20.0
"""How long one that the operator named may take, as one does that is loading a model."""


class LocalServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that answered."""

    preset: Preset
    base_url: str
    models: tuple[str, ...]


async def find_servers() -> tuple[LocalServer, ...]:
    """Return the servers that answer, in the order of the table."""
    presets = [preset for preset in catalog().presets.values() if preset.local]
    found = await asyncio.gather(
        *(server_at(preset, preset.base_url, timeout_s=LOOK_S) for preset in presets),
        return_exceptions=True,
    )
    if broken := [one for one in found if not isinstance(one, LocalServer | ModelError)]:
        raise broken[0]
    return tuple(server for server in found if isinstance(server, LocalServer))


async def server_at(preset: Preset, base_url: str, *, timeout_s: float = NAMED_S) -> LocalServer:
    """Ask one address for its models. Raises ModelError when nothing there lists any."""
    endpoint = endpoint_for(base_url, f"{preset.name}/-")
    client = client_class(endpoint.wire)("-", endpoint=endpoint, timeout_s=timeout_s)
    try:
        models = await client.known_models()
    finally:
        await client.close()
    return LocalServer(preset=preset, base_url=base_url, models=models)
