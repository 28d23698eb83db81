"""The control socket: messages from the client, and the few that go back.

Layouts after `app/src/control_msg.c` and `ControlMessageReader` of the scrcpy project, big endian.
Not what the messages do. Invariant: a length is checked before anything of that length is read.
"""

import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from virtual_phone.errors import PhoneError
from virtual_phone.scrcpy.dialect import Dialect

MAX_TEXT_BYTES = 300
MAX_CLIPBOARD_BYTES = 1 << 18
MAX_DESCRIPTOR_BYTES = 4096

ReadExactly: TypeAlias = Callable[[int], Awaitable[bytes]]


class ControlType(IntEnum):
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
    UHID_CREATE = 12
    UHID_INPUT = 13
    UHID_DESTROY = 14
    HARD_KEYBOARD_SETTINGS = 15
    START_APP = 16
    RESET_VIDEO = 17
    CAMERA_TORCH = 18
    CAMERA_ZOOM_IN = 19
    CAMERA_ZOOM_OUT = 20
    RESIZE_DISPLAY = 21
    SCAN_FILE = 22


@dataclass(frozen=True, slots=True)
class Key:
    """A key went down (action 0) or up (1); meta as in KeyEvent."""

    action: int
    keycode: int
    repeat: int
    meta: int


@dataclass(frozen=True, slots=True)
class Text:
    """Text to type."""

    text: str


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a video of a size, in its pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class TouchEvent:
    """A finger or the mouse; the action is MotionEvent's."""

    action: int
    pointer: int
    position: Position
    pressure: float
    buttons: int


@dataclass(frozen=True, slots=True)
class Scroll:
    """A wheel turned, in steps."""

    position: Position
    horizontal: float
    vertical: float


@dataclass(frozen=True, slots=True)
class GetClipboard:
    """The client wants the clipboard; copy key 1 copies first, 2 cuts."""

    copy_key: int


@dataclass(frozen=True, slots=True)
class SetClipboard:
    """The client sets the clipboard; a sequence other than 0 is acknowledged."""

    sequence: int
    paste: bool
    text: str


@dataclass(frozen=True, slots=True)
class DisplayPower:
    """The panel goes on or off while the phone works on."""

    on: bool


@dataclass(frozen=True, slots=True)
class BackOrScreenOn:
    """Back, or wake when the screen is off; action as for keys."""

    action: int


@dataclass(frozen=True, slots=True)
class UhidCreate:
    """An input device appears; the descriptor is HID's."""

    device: int
    name: str
    descriptor: bytes


@dataclass(frozen=True, slots=True)
class UhidInput:
    """A report of an input device."""

    device: int
    report: bytes


@dataclass(frozen=True, slots=True)
class UhidDestroy:
    """An input device goes."""

    device: int


@dataclass(frozen=True, slots=True)
class StartApp:
    """Start an app: `+` first stops it, `?` searches by label."""

    name: str


@dataclass(frozen=True, slots=True)
class Resize:
    """The client wants its display in another size, in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Plain:
    """A message that is its type alone."""

    type: ControlType


ControlMessage: TypeAlias = (
    Key
    | Text
    | TouchEvent
    | Scroll
    | GetClipboard
    | SetClipboard
    | DisplayPower
    | BackOrScreenOn
    | UhidCreate
    | UhidInput
    | UhidDestroy
    | StartApp
    | Resize
    | Plain
)


class ControlReader:
    """Read messages of one dialect, one after the other."""

    def __init__(self, dialect: Dialect, read_exactly: ReadExactly) -> None:
        self._dialect = dialect
        self._read = read_exactly

    async def next(self) -> ControlMessage:
        """Return the next message.

        Raises:
            EOFError: the client has gone.
            PhoneError: a type or a length this dialect does not have.
        """
        (number,) = await self._read(1)
        try:
            kind = ControlType(number)
        except ValueError:
            raise PhoneError(f"Unknown control message type {number}.") from None
        match kind:
            case ControlType.KEYCODE:
                return Key(*struct.unpack(">BIII", await self._read(13)))
            case ControlType.TEXT:
                return Text(await self._string(MAX_TEXT_BYTES))
            case ControlType.TOUCH:
                return await self._touch()
            case ControlType.SCROLL:
                return await self._scroll()
            case ControlType.BACK_OR_SCREEN_ON:
                return BackOrScreenOn(await self._u8())
            case ControlType.GET_CLIPBOARD:
                return GetClipboard(await self._u8() if self._dialect.clipboard_has_sequence else 0)
            case ControlType.SET_CLIPBOARD:
                return await self._set_clipboard()
            case ControlType.DISPLAY_POWER:
                return DisplayPower(await self._u8() != 0)
            case (
                ControlType.EXPAND_NOTIFICATIONS
                | ControlType.EXPAND_SETTINGS
                | ControlType.COLLAPSE_PANELS
                | ControlType.ROTATE
            ):
                return Plain(kind)
            case _:
                return await self._newer(kind)

    async def _newer(self, kind: ControlType) -> ControlMessage:
        if not self._dialect.has_uhid:
            raise PhoneError(f"Control message type {kind.value} came after this version.")
        match kind:
            case ControlType.UHID_CREATE:
                return await self._uhid_create()
            case ControlType.UHID_INPUT:
                device, size = struct.unpack(">HH", await self._read(4))
                return UhidInput(device, await self._bounded(size))
            case ControlType.UHID_DESTROY if self._dialect.has_uhid_destroy:
                return UhidDestroy(int.from_bytes(await self._read(2)))
            case ControlType.UHID_DESTROY:
                return Plain(ControlType.HARD_KEYBOARD_SETTINGS)
            case ControlType.START_APP:
                return StartApp((await self._read(await self._u8())).decode("utf-8", "replace"))
            case ControlType.RESIZE_DISPLAY:
                return Resize(*struct.unpack(">HH", await self._read(4)))
            case ControlType.CAMERA_TORCH:
                await self._u8()
                return Plain(kind)
            case ControlType.SCAN_FILE:
                await self._string(4096)
                return Plain(kind)
            case _:
                return Plain(kind)

    async def _u8(self) -> int:
        return (await self._read(1))[0]

    async def _bounded(self, size: int) -> bytes:
        if size > MAX_DESCRIPTOR_BYTES:
            raise PhoneError(f"A control message of {size} bytes is too long.")
        return await self._read(size)

    async def _string(self, most_bytes: int) -> str:
        size = int.from_bytes(await self._read(4))
        if size > most_bytes:
            raise PhoneError(f"A control message with {size} bytes of text is too long.")
        return (await self._read(size)).decode("utf-8", "replace")

    async def _position(self) -> Position:
        return Position(*struct.unpack(">iiHH", await self._read(12)))

    async def _touch(self) -> TouchEvent:
        action, pointer = struct.unpack(">Bq", await self._read(9))
        position = await self._position()
        pressure = int.from_bytes(await self._read(2)) / 0xFFFF
        if self._dialect.touch_has_action_button:
            await self._read(4)
        buttons = int.from_bytes(await self._read(4))
        return TouchEvent(action, pointer, position, pressure, buttons)

    async def _scroll(self) -> Scroll:
        position = await self._position()
        if self._dialect.scroll_is_fixed_point:
            horizontal, vertical = struct.unpack(">hh", await self._read(4))
            unit = self._dialect.scroll_unit / 0x8000
            horizontal, vertical = horizontal * unit, vertical * unit
        else:
            horizontal, vertical = struct.unpack(">ii", await self._read(8))
        if self._dialect.scroll_has_buttons:
            await self._read(4)
        return Scroll(position, float(horizontal), float(vertical))

    async def _set_clipboard(self) -> SetClipboard:
        sequence = 0
        if self._dialect.clipboard_has_sequence:
            sequence = int.from_bytes(await self._read(8))
        paste = await self._u8() != 0
        return SetClipboard(sequence, paste, await self._string(MAX_CLIPBOARD_BYTES))

    async def _uhid_create(self) -> UhidCreate:
        device = int.from_bytes(await self._read(2))
        if self._dialect.uhid_has_ids:
            await self._read(4)
        name = ""
        if self._dialect.uhid_has_name:
            name = (await self._read(await self._u8())).decode("utf-8", "replace")
        size = int.from_bytes(await self._read(2))
        return UhidCreate(device, name, await self._bounded(size))


def clipboard_message(text: str) -> bytes:
    """Send the client what the clipboard holds; at most 256 KiB, cut between characters."""
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_CLIPBOARD_BYTES - 5:
        data = data[: MAX_CLIPBOARD_BYTES - 5].decode("utf-8", "ignore").encode()
    return struct.pack(">BI", 0, len(data)) + data


def acknowledgement(sequence: int) -> bytes:
    """Send the client that its clipboard has been set."""
    return struct.pack(">BQ", 1, sequence)
