"""Control messages to a scrcpy server, as bytes.

Layouts after `app/src/control_msg.c` and `ControlMessageReader.java` of the tags v1.20 to v4.1, big
endian. Pure: nothing is sent here. Invariant: a message is valid in its dialect or DeviceError is
raised; a text is never cut silently.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from agent.devices.scrcpy.dialect import Dialect
from agent.errors import DeviceError

TEXT_LIMIT_BYTES = 300
CLIPBOARD_LIMIT_BYTES = (1 << 18) - 14
"""A whole message is at most 256 KiB, 14 bytes of it the head (`control_msg.h`)."""
GENERIC_FINGER = -2
"""The pointer id of a lone finger; other fingers have ids of their own from 0."""


class Kind(IntEnum):
    """The first byte of a message."""

    KEYCODE = 0
    TEXT = 1
    TOUCH = 2
    SCROLL = 3
    BACK_OR_SCREEN_ON = 4
    EXPAND_NOTIFICATIONS = 5
    EXPAND_SETTINGS = 6
    COLLAPSE_PANELS = 7
    GET_CLIPBOARD = 8
    SET_CLIPBOARD = 9
    DISPLAY_POWER = 10
    ROTATE = 11
    UHID_DESTROY = 14
    START_APP = 16
    RESET_VIDEO = 17


class KeyAction(IntEnum):
    """KeyEvent's actions."""

    DOWN = 0
    UP = 1


class TouchAction(IntEnum):
    """MotionEvent's actions."""

    DOWN = 0
    UP = 1
    MOVE = 2
    CANCEL = 3


class CopyKey(IntEnum):
    """What to press before the clipboard is read."""

    NONE = 0
    COPY = 1
    CUT = 2


@dataclass(frozen=True, slots=True)
class Place:
    """A pixel of a picture of a size; the server drops it when its picture has another size."""

    x: int
    y: int
    width: int
    height: int

    def encoded(self) -> bytes:
        """Return i32 x, i32 y, u16 width, u16 height."""
        return struct.pack(">iiHH", self.x, self.y, self.width, self.height)


def key(action: KeyAction, code: int, *, repeat: int = 0, meta: int = 0) -> bytes:
    """Encode a key event; code and meta as in KeyEvent."""
    return struct.pack(">BBIII", Kind.KEYCODE, action, code, repeat, meta)


def text(words: str) -> bytes:
    """Encode text to type. Raises DeviceError beyond 300 bytes: send it in parts."""
    data = words.encode()
    if len(data) > TEXT_LIMIT_BYTES:
        raise DeviceError(
            f"{len(data)} bytes of text are too many for one message.", "Send it in parts."
        )
    return struct.pack(">BI", Kind.TEXT, len(data)) + data


def touch(
    ways: Dialect,
    action: TouchAction,
    pointer: int,
    place: Place,
    *,
    pressure: float = 1.0,
    action_button: int = 0,
    buttons: int = 0,
) -> bytes:
    """Encode one step of one finger; pressure in [0, 1]."""
    head = struct.pack(">BB", Kind.TOUCH, action) + _pointer(pointer)
    tail = struct.pack(">H", _unsigned_fraction(pressure))
    if ways.touch_has_action_button:
        tail += struct.pack(">I", action_button)
    return head + place.encoded() + tail + struct.pack(">I", buttons)


def scroll(
    ways: Dialect, place: Place, horizontal: float, vertical: float, *, buttons: int = 0
) -> bytes:
    """Encode a turn of the wheel, in steps; positive is right and up."""
    head = struct.pack(">B", Kind.SCROLL) + place.encoded()
    if ways.scroll_is_fixed_point:
        scale = ways.scroll_full_scale
        head += struct.pack(
            ">hh", _signed_fraction(horizontal / scale), _signed_fraction(vertical / scale)
        )
    else:
        head += struct.pack(">ii", round(horizontal), round(vertical))
    return head + (struct.pack(">I", buttons) if ways.scroll_has_buttons else b"")


def back_or_screen_on(action: KeyAction) -> bytes:
    """Encode back, or waking when the screen is off."""
    return struct.pack(">BB", Kind.BACK_OR_SCREEN_ON, action)


def plain(kind: Kind) -> bytes:
    """Encode a message that is its kind alone: the panels, a rotation, a new key frame."""
    return bytes([kind])


def get_clipboard(ways: Dialect, copy_key: CopyKey = CopyKey.NONE) -> bytes:
    """Encode the wish for the clipboard, after pressing copy or cut."""
    return bytes([Kind.GET_CLIPBOARD] + ([copy_key] if ways.clipboard_has_sequence else []))


def set_clipboard(ways: Dialect, words: str, *, sequence: int, paste: bool) -> bytes:
    """Encode a text for the clipboard. A sequence other than 0 is acknowledged, since 1.21.

    Raises DeviceError beyond 256 KiB.
    """
    data = words.encode()
    if len(data) > CLIPBOARD_LIMIT_BYTES:
        raise DeviceError(
            f"{len(data)} bytes are too many for the clipboard.", "Send the text in parts."
        )
    number = struct.pack(">Q", sequence) if ways.clipboard_has_sequence else b""
    return (
        bytes([Kind.SET_CLIPBOARD]) + number + bytes([paste]) + struct.pack(">I", len(data)) + data
    )


def display_power(ways: Dialect, *, on: bool) -> bytes:
    """Encode switching the panel's light on or off while the phone works on."""
    return bytes([Kind.DISPLAY_POWER, (2 if ways.display_power_is_mode else 1) if on else 0])


def start_app(ways: Dialect, name: str) -> bytes:
    """Encode starting an app: a package, `+` before it stops it first, `?` searches by label."""
    _need(ways.has_start_app, ways, "start apps")
    return bytes([Kind.START_APP]) + _short(name)


def reset_video(ways: Dialect) -> bytes:
    """Encode the wish for a new configuration and key frame."""
    _need(ways.has_reset_video, ways, "send a key frame when asked")
    return plain(Kind.RESET_VIDEO)


def uhid_destroy(ways: Dialect, device: int) -> bytes:
    """Encode taking back an input device by its number from 0 to 65535."""
    _need(ways.has_uhid_destroy, ways, "take input devices back")
    return struct.pack(">BH", Kind.UHID_DESTROY, device)


def _pointer(pointer: int) -> bytes:
    return (pointer & (1 << 64) - 1).to_bytes(8)


def _short(words: str) -> bytes:
    data = words.encode()
    if len(data) > 255:
        raise DeviceError(f"The name {words[:40]!r}… is too long.", "Use at most 255 bytes.")
    return bytes([len(data)]) + data


def _unsigned_fraction(value: float) -> int:
    """Return a fraction as u16 fixed point (`sc_float_to_u16fp`)."""
    return min(int(min(max(value, 0.0), 1.0) * 0x10000), 0xFFFF)


def _signed_fraction(value: float) -> int:
    """Return a fraction as i16 fixed point (`sc_float_to_i16fp`)."""
    return min(int(min(max(value, -1.0), 1.0) * 0x8000), 0x7FFF)


def _need(has_it: bool, ways: Dialect, what: str) -> None:
    if not has_it:
        raise DeviceError(f"scrcpy {ways} cannot {what}.", "Use a newer server.")
