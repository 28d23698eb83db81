"""Where the model of a session is asked: the address in its record, and which sessions have one.

Not a client and not a key. Invariants: an address in a record holds no user, password or query; of
two addresses that lead to the same place, the one in the settings is used, with its wire.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from agent.errors import UsageError
from agent.models.catalog import catalog
from agent.models.endpoint import Endpoint, endpoint_for
from agent.models.wires import WIRES
from agent.records import DIRECT
from agent.settings import PILOT, Settings
from agent.text import one_line


def endpoint_of(settings: Settings, name: str) -> Endpoint:
    """Return where the settings have a model asked."""
    return endpoint_for(settings.model.base_url, name, settings.model.wire)


def recorded_address(settings: Settings, name: str) -> str:
    """Return what the record of a new session keeps of where its model is asked.

    It ends in the path of a wire, as the address of a call does, if the settings choose another
    wire than the address tells.

    Returns:
        An address; empty for a model that no endpoint is asked for.
    """
    if not _is_asked_anywhere(name):
        return ""
    asked, _ = catalog().current(name)
    endpoint = endpoint_of(settings, asked)
    address = bare(settings.model.base_url or endpoint.base_url)
    if not endpoint.deployment and endpoint_at(address, asked).wire is not endpoint.wire:
        return bare(endpoint.base_url) + WIRES[endpoint.wire].path
    return address


def endpoint_at(address: str, name: str) -> Endpoint:
    """Read the address in a record, for a model by the name that the session has for it."""
    by_name = endpoint_for("", name)
    by_address = endpoint_for(address, name)
    if by_name.base_url == by_address.base_url:
        # The name tells its provider, as `groq/NAME` does, and is not sent with it.
        return replace(by_name, wire=by_address.wire)
    return by_address


def is_asked_there(address: str, settings: Settings, name: str) -> bool:
    """Return whether the settings have a model asked at an address."""
    there, here = endpoint_at(bare(address), name), endpoint_of(settings, name)
    return (there.base_url, there.deployment) == (bare(here.base_url), here.deployment)


def check_asked_there(address: str, settings: Settings, name: str, recorded: str = "") -> None:
    """Refuse an address that neither the settings nor a session's record have. Raises UsageError.

    A client can so say where it expects a model to be asked, and send it nowhere else.
    """
    if not address:
        return
    try:
        expected = bare(address)
    except ValueError as error:
        # It is not repeated: what cannot be read may hold a password anywhere.
        raise UsageError(
            "The endpoint is not an address.", "Write it as http://HOST:PORT/v1."
        ) from error
    if not _is_asked_anywhere(name) or (recorded and expected == recorded):
        return
    if is_asked_there(expected, settings, name):
        return
    own = recorded_address(settings, name)
    raise UsageError(
        f"The core calls {one_line(name, 80)} at {one_line(own, 200)}, not at "
        f"{one_line(expected, 200)}.",
        f"To use its endpoint: --base-url {one_line(own, 200)}. For another endpoint, set "
        "model.base_url where the core runs, or end that process.",
    )


def bare(address: str) -> str:
    """Return an address without user, password, query and fragment, its host in lowercase.

    Raises ValueError: it is not an address.
    """
    parts = urlsplit(address.strip())
    host = parts.netloc.rpartition("@")[2].lower()
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _is_asked_anywhere(name: str) -> bool:
    return name not in {"", PILOT} and not name.startswith(DIRECT)
