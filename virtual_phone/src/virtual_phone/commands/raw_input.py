"""`getevent` and `sendevent`: the raw events of the phone's touch panel. Toolbox's formats."""

import asyncio
import re

from virtual_phone.commands.options import options
from virtual_phone.input import touch_panel
from virtual_phone.shell.call import Call, CommandError, command

WAITING_EVENTS = 4096
"""Events that a slow reader may be behind; what comes after is lost, as in the kernel."""
_TYPES = {touch_panel.EV_SYN: "EV_SYN", touch_panel.EV_KEY: "EV_KEY", touch_panel.EV_ABS: "EV_ABS"}
_AXES = {int(axis): axis.name for axis in touch_panel.Axis}
_USAGE = """Usage: getevent [-t] [-n] [-s switchmask] [-S] [-v [mask]] [-d] [-p] [-i] [-l] [-q] [-c count] [-r] [device]
    -t: show time stamps
    -n: don't print newlines
    -s: print switch states for given bits
    -S: print all switch states
    -v: verbosity mask (errs=1, dev=2, name=4, info=8, vers=16, pos. events=32, props=64)
    -d: show HID descriptor, if available
    -p: show possible events (errs, dev, name, pos. events)
    -i: show all device info and possible events
    -l: label event types and names in plain text
    -q: quiet (clear verbosity mask)
    -c: print given number of events then exit
    -r: print rate events are received"""  # noqa: E501


@command("getevent")
async def getevent(call: Call) -> int:
    """Print what the panel's fingers do, until the command is ended."""
    found = options(call, "tns:Sv:dpilqc:rh")
    if "h" in found or len(found.operands) > 1:
        raise CommandError(_USAGE, 1)
    device = found.operands[0] if found.operands else ""
    if device and device != touch_panel.PATH:
        raise CommandError(f"could not open {device}, No such file or directory", 1)
    panel, labels = call.userland.touch_panel, "l" in found
    if (not device and "q" not in found) or found.any("pi"):
        await call.line(f"add device 1: {touch_panel.PATH}")
        if "i" in found:
            await call.line(
                "  bus:      0006\n  vendor    18d1\n  product   0001\n  version   0001"
            )
        await call.line(f'  name:     "{touch_panel.NAME}"')
    if found.any("pi"):
        await call.line(_possible(panel, labels=labels))
        return 0
    left = found.number(call, "c", -1)
    waiting: asyncio.Queue[touch_panel.RawEvent] = asyncio.Queue(WAITING_EVENTS)

    def on_event(event: touch_panel.RawEvent) -> None:
        if not waiting.full():
            waiting.put_nowait(event)

    panel.listeners.add(on_event)
    try:
        while left != 0:
            event = await waiting.get()
            stamp = f"[{event.at_s:15.6f}] " if "t" in found else ""
            where = "" if device else f"{touch_panel.PATH}: "
            await call.line(stamp + where + _row(event, labels=labels))
            left -= 1
    finally:
        panel.listeners.discard(on_event)
    return 0


def _row(event: touch_panel.RawEvent, *, labels: bool) -> str:
    if not labels:
        return f"{event.type:04x} {event.code:04x} {event.value:08x}"
    kind = _TYPES.get(event.type, f"{event.type:04x}")
    code, value = f"{event.code:04x}", f"{event.value:08x}            "
    if event.type == touch_panel.EV_ABS:
        code = _AXES.get(event.code, code)
    elif event.type == touch_panel.EV_KEY and event.code == touch_panel.BTN_TOUCH:
        code, value = "BTN_TOUCH", f"{'DOWN' if event.value else 'UP':<20}"
    elif event.type == touch_panel.EV_SYN:
        code = "SYN_REPORT"
    return f"{kind:<12.12} {code:<20.20} {value}"


def _possible(panel: touch_panel.TouchPanel, *, labels: bool) -> str:
    key = f"{'BTN_TOUCH':<20} " if labels else f"{touch_panel.BTN_TOUCH:04x} "
    rows = ["  events:", f"    KEY (0001): {key}"]
    for index, (axis, highest) in enumerate(panel.limits().items()):
        lead = "    ABS (0003): " if not index else " " * 16
        name = f"{axis.name:<21}" if labels else f"{int(axis):04x}  "
        rows.append(f"{lead}{name} : value 0, min 0, max {highest}, fuzz 0, flat 0, resolution 0")
    return "\n".join([*rows, "  input props:", "    INPUT_PROP_DIRECT" if labels else "    0001"])


@command("sendevent")
async def sendevent(call: Call) -> int:
    """Write one event to the panel: it is a finger like any other."""
    if len(call.args) != 4:
        raise CommandError('sendevent: Needs 4 arguments (see "sendevent --help")')
    device, *words = call.args
    if device != touch_panel.PATH:
        raise CommandError(f"sendevent: {device}: No such file or directory")
    if not all(
        re.fullmatch("-?[1-9][0-9]{0,9}|0[0-7]{0,11}|0x[0-9a-fA-F]{1,8}", word) for word in words
    ):
        raise CommandError(f"sendevent: not integer: {' '.join(words)}")
    kind, code, value = (int(word, 8 if re.fullmatch("0[0-7]+", word) else 0) for word in words)
    call.userland.touch_panel.write(kind, code, value)
    return 0
