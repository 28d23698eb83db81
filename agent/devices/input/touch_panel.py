"""Notice a hand on the phone: what its touch panel reports, through which nothing of adb goes.

Not the wheel, which the operator takes by word. Invariant: a tap of ours, by `input` or by scrcpy,
is never taken for a hand: those are injected above the kernel's input devices that are read here.

The lines are those of AOSP `toolbox/getevent.c` with -l: device, type, code, value.
"""

import re
import time
from collections.abc import AsyncGenerator

import msgspec

from agent.devices.adb.client import AdbClient
from agent.devices.adb.stream import StreamEndedError
from agent.errors import DeviceError, DeviceLostError

_OPEN_TIMEOUT_S = 10.0
_LINE_LIMIT_BYTES = 4096
_DOWN = re.compile(
    rb"^(?:\[[^\]]*\]\s*)?(?P<device>/dev/input/\S+):\s+"
    rb"(?:EV_KEY\s+(?P<key>BTN_TOUCH|KEY_\w+)\s+DOWN|EV_ABS\s+ABS_MT_TRACKING_ID\s+(?!f{8})[0-9a-f]+)"
)


class Touch(msgspec.Struct, frozen=True, kw_only=True):
    """A finger that went down on the phone itself, or one of its buttons."""

    seen_ms: int  # Wall clock of this machine, milliseconds since the epoch.
    device: str
    button: str = ""  # The button's name, as the kernel gives it; empty for the panel.


def parse_touch(line: bytes, seen_ms: int) -> Touch | None:
    """Read one line of getevent; None when nothing went down."""
    found = _DOWN.match(line[:_LINE_LIMIT_BYTES])
    if found is None:
        return None
    key = (found["key"] or b"").decode("ascii", "replace")
    return Touch(
        seen_ms=seen_ms,
        device=found["device"].decode("ascii", "replace")[:80],
        button="" if key == "BTN_TOUCH" else key,
    )


async def touches(client: AdbClient, serial: str) -> AsyncGenerator[Touch, None]:
    """Follow the hands on a phone until the reader stops.

    Raises DeviceError when the phone shows its input devices to nobody, as most emulators and some
    makers' phones do not; DeviceLostError when it goes away.
    """
    stream = await client.hold(serial, "exec:getevent -l 2>&1", timeout_s=_OPEN_TIMEOUT_S)
    saw_devices = False
    try:
        pending = b""
        while chunk := await stream.reader.read(1 << 16):
            *lines, pending = (pending + chunk).split(b"\n")
            pending = pending[-_LINE_LIMIT_BYTES:]
            for line in lines:
                saw_devices = saw_devices or line.startswith(b"add device")
                touch = parse_touch(line, time.time_ns() // 1_000_000)
                if touch is not None:
                    yield touch
    except (ConnectionError, StreamEndedError) as error:
        raise DeviceLostError(f"{serial} went away.", "Plug it in again.") from error
    finally:
        stream.close()
    if saw_devices:
        raise DeviceLostError(f"{serial} stopped reporting touches.", "Ask for it again.")
    raise DeviceError(
        f"{serial} shows no touches: adb cannot read its input devices.",
        "Use the command line instead: switchboard devices wheel take.",
    )
