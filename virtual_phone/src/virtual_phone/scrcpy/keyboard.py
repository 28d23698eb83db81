"""A keyboard made of HID reports, as scrcpy's UHID mode sends them.

Only the boot protocol's eight bytes: modifiers, a reserved byte and up to six usages of the
keyboard page (USB HID Usage Tables 1.5, §10). Mice and gamepads are accepted and do nothing.
Invariant: a key acts once, when it appears in a report and was not in the one before.
"""

from virtual_phone.input import keycodes

REPORT_BYTES = 8
_SHIFTS = 0x22
_CONTROLS = 0x11

USAGES: dict[int, int] = {
    **{4 + i: 29 + i for i in range(26)},
    **{30 + i: 8 + i for i in range(9)},
    39: 7,
    40: keycodes.ENTER,
    41: keycodes.BACK,
    42: keycodes.DEL,
    43: keycodes.TAB,
    44: keycodes.SPACE,
    45: 69,
    46: 70,
    47: 71,
    48: 72,
    49: 73,
    51: 74,
    52: 75,
    53: 68,
    54: 55,
    55: 56,
    56: 76,
    74: keycodes.MOVE_HOME,
    75: keycodes.PAGE_UP,
    76: keycodes.FORWARD_DEL,
    77: keycodes.MOVE_END,
    78: keycodes.PAGE_DOWN,
    79: keycodes.DPAD_RIGHT,
    80: keycodes.DPAD_LEFT,
    81: keycodes.DPAD_DOWN,
    82: keycodes.DPAD_UP,
}
"""Usage to Android key code. Escape is BACK, as Android maps it for keyboards."""


class HidKeyboard:
    """Follow the reports of one keyboard."""

    def __init__(self) -> None:
        self._held: frozenset[int] = frozenset()

    def presses(self, report: bytes) -> list[tuple[int, int]]:
        """Return the (key code, meta state) pairs that a report adds; empty for other reports."""
        if len(report) != REPORT_BYTES:
            return []
        meta = 0
        if report[0] & _SHIFTS:
            meta |= keycodes.META_SHIFT
        if report[0] & _CONTROLS:
            meta |= keycodes.META_CTRL
        held = frozenset(report[2:]) - {0}
        fresh = [usage for usage in report[2:] if usage in held - self._held]
        self._held = held
        return [(USAGES[usage], meta) for usage in fresh if usage in USAGES]
