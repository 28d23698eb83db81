"""Ask the process that serves virtual phones: one JSON object a line on the socket in their home.

Not adb: it works while adb to a phone is cut, which is when a fault has to be ended. The form is
that of the `virtual-phone` program. Invariant: an answer is waited for with a bound and is foreign.
"""

import asyncio
from pathlib import Path

import msgspec

from agent.errors import DeviceError
from agent.unix_sockets import connected

SOCKET_NAME = "phones.sock"
FAULTS = (
    "disconnect",
    "unauthorized",
    "slow-shell",
    "hung-shell",
    "hung-dump",
    "hung-dumpsys",
    "dump-not-idle",
    "null-root",
    "low-storage",
    "frozen-screen",
    "black-capture",
    "encoder-stall",
    "battery-death",
    "clock-jump",
    "app-crash",
    "refused-input",
)
"""What can go wrong with a virtual phone on demand, by the program's names."""
TIMEOUT_S = 10.0
LONGEST_ANSWER_BYTES = 64 * 1024 * 1024


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a request: `error` and `remedy` when it was refused."""

    state: dict[str, object] | None = None
    error: str = ""
    remedy: str = ""


async def begin_fault(
    homes: Path, phone: str, kind: str, *, value: float, duration_s: float
) -> None:
    """Begin a fault of a phone that ends by itself. Raises DeviceError."""
    request = {
        "do": "fault",
        "phone": phone,
        "kind": kind,
        "value": value,
        "duration_s": duration_s,
    }
    await _ask(homes, request)


async def true_state(homes: Path, phone: str) -> dict[str, object]:
    """Return what a phone says of itself, whatever its screen shows. Raises DeviceError."""
    return (await _ask(homes, {"do": "state", "phone": phone})).state or {}


async def reset(homes: Path, phone: str) -> None:
    """Put a phone back to how it left the factory. Raises DeviceError."""
    await _ask(homes, {"do": "reset", "phone": phone})


async def begin_scenario(homes: Path, phone: str, name: str) -> None:
    """Bring a phone into a named starting state. Raises DeviceError."""
    await _ask(homes, {"do": "scenario", "phone": phone, "name": name})


async def _ask(homes: Path, request: dict[str, object]) -> _Answer:
    path = homes / SOCKET_NAME
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_unix_connection(
                sock=await connected(path), limit=LONGEST_ANSWER_BYTES
            )
            try:
                writer.write(msgspec.json.encode(request) + b"\n")
                await writer.drain()
                line = await reader.readline()
            finally:
                writer.transport.abort()
    except TimeoutError:
        raise DeviceError(
            f"The process that serves {request['phone']} did not answer within {TIMEOUT_S:g} s.",
            "It may be stopped or very busy: try again, or end it.",
        ) from None
    except (OSError, ValueError) as error:
        raise DeviceError(
            f"The virtual phones in {homes} cannot be asked: {error}.",
            "Start them with: switchboard phone serve",
        ) from error
    try:
        said = msgspec.json.decode(line, type=_Answer)
    except msgspec.DecodeError as error:
        raise DeviceError(
            f"The answer about {request['phone']} cannot be read: {error}.",
            "The phones are served by another version; start them again.",
        ) from error
    if said.error:
        raise DeviceError(said.error, said.remedy)
    return said
