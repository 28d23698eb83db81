"""Start a virtual phone from the console, where the console may.

Invariant: what becomes of it is said to the operator.
"""

from typing import TYPE_CHECKING

from console.input.gate import Wait

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


def start_virtual(app: "ConsoleApp") -> None:
    """Start a virtual phone, if none is there; says its serial when it is."""
    if app.start_phone is None:
        app.say("This console cannot start phones; use: switchboard phone serve")
        return
    app.say("Looking for a virtual phone, or starting one.")
    app.spawn(_start(app), "starting a virtual phone", Wait.NOT)


async def _start(app: "ConsoleApp") -> None:
    if app.start_phone is not None:
        serial = await app.start_phone()
        app.say(f"The virtual phone {serial} is ready.")
