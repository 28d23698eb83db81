"""Define the interface of phones: the Device and Fleet protocols.

`agent.devices.adb_device` implements Device. Invariants: every call ends within its time-out;
coordinates are normalized to [0, 1]; an adb failure is raised, never returned as a blank frame or
an empty tree.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol, runtime_checkable

import msgspec

from agent import records
from agent.devices.gestures import Gesture

OPEN_TIMEOUT_S = 15.0
TREE_TIMEOUT_S = 8.0
"""How long a UI tree is waited for: a dump takes two to four seconds on many phones, and one that
hangs holds up the step. Without a tree the step works from the picture.
"""


class Button(StrEnum):
    """The buttons a model may press; each maps to one Android key code."""

    HOME = "HOME"
    BACK = "BACK"
    MENU = "MENU"
    ENTER = "ENTER"
    SEARCH = "SEARCH"
    DELETE = "DELETE"
    TAB = "TAB"
    SPACE = "SPACE"
    RECENTS = "RECENTS"
    NOTIFICATIONS = "NOTIFICATIONS"
    """Opens the shade; a phone has no such button, and a key for it since Android 12 only."""
    VOLUME_UP = "VOLUME_UP"
    VOLUME_DOWN = "VOLUME_DOWN"
    POWER = "POWER"


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """One picture of the screen with its encoded bytes."""

    frame: records.Frame
    data: bytes


class UiTree(msgspec.Struct, frozen=True, kw_only=True):
    """One UI tree: nodes in document order, and the XML they came from."""

    nodes: tuple[records.UiNode, ...]
    xml: bytes
    started_ms: int
    ended_ms: int


class TextWay(StrEnum):
    """How text reached a field."""

    KEYS = "keys"  # The shell's `input text`: characters that keys write.
    INPUT_METHOD = "input_method"  # An input method that was borrowed for it.
    ACCESSIBILITY = "accessibility"  # The field's text was set by the service that reads the tree.
    CLIPBOARD = "clipboard"  # It was pasted.


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """The result of typing; text that is known not to have arrived is an error instead."""

    way: TextWay = TextWay.KEYS
    is_read_back: bool = False  # The field was read afterwards and holds the text.
    unread: str = ""  # Why it was not read back; who looks at the screen afterwards may see it.
    note: str = ""  # What else happened to it.


class Display(Protocol):
    """One extra display and its app. Every call raises like those of `Device`, and
    DeviceLostError once the display is closed.
    """

    @property
    def number(self) -> int:
        """Android's number of the display; never 0."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    @property
    def is_open(self) -> bool:
        """Return whether the display still exists; false as soon as its connection breaks."""

    @property
    def device(self) -> "Device":
        """Return the phone with this display as its only screen: pictures, touches, keys and
        launches use this display.
        """

    async def start_app(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app here; one that runs on another display moves here.

        Raises DeviceError if the package has nothing to start.
        """

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of this display."""

    def frames(
        self, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[records.LiveFrame]:
        """Follow the newest picture, as `Fleet.frames` does for the main display."""

    async def attach(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Move an app from here to the main display; this display stays open and empty."""

    async def close(self) -> None:
        """Remove the display; idempotent. Android decides where its apps go."""


class Displays(Protocol):
    """The extra displays of one phone."""

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        """Return why this phone cannot open a display, with the remedy; empty if it can.

        Cheap enough for planning: opens nothing.
        """

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        """Open a display; zeros mean the main display's size.

        Raises DeviceError with the text of `refusal` if the phone cannot, DeviceTimeoutError after
        `OPEN_TIMEOUT_S`.
        """

    def opened(self) -> tuple[Display, ...]:
        """List the open displays by number."""


class Device(Protocol):
    """One phone. Raises DeviceLostError when it is away, DeviceTimeoutError when a call times
    out (an action's effect is then unknown), DeviceError when the phone refuses.
    """

    @property
    def serial(self) -> str: ...

    @property
    def displays(self) -> Displays:
        """The displays beyond the main one, where detached targets live."""

    async def info(self) -> records.DeviceInfo: ...

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of the screen."""

    async def tree(self, *, timeout_s: float = TREE_TIMEOUT_S) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason if there is none."""

    async def foreground(self, *, timeout_s: float = 5.0) -> records.Foreground:
        """Return the app in front; never the keyboard, the shade or another system window."""

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[records.AppInfo, ...]:
        """List the apps that can be started, sorted by package."""

    async def tap(self, at: records.Point, *, timeout_s: float = 5.0) -> None: ...

    async def long_press(self, at: records.Point, *, duration_ms: int = 1000) -> None: ...

    async def swipe(
        self, start: records.Point, end: records.Point, *, duration_ms: int = 300
    ) -> None: ...

    async def perform(self, gesture: Gesture, *, timeout_s: float = 5.0) -> None:
        """Perform a gesture, with one or several fingers; `timeout_s` excludes its own duration.

        Raises DeviceError if the phone cannot perform it.
        """

    async def scroll(
        self, at: records.Point, *, vertical: float, horizontal: float = 0.0, timeout_s: float = 5.0
    ) -> None:
        """Turn a mouse wheel at a point, in steps; positive is up and right."""

    async def key(self, name: str, *, timeout_s: float = 5.0) -> None:
        """Press a key by Android's name or number. Raises UsageError for an unknown name."""

    async def clipboard(self, *, timeout_s: float = 10.0) -> str:
        """Read the clipboard, which is foreign text. Raises DeviceError if it is not accessible."""

    async def set_clipboard(
        self, text: str, *, paste: bool = False, timeout_s: float = 10.0
    ) -> None:
        """Set the clipboard, and paste it into the focused field. Raises DeviceError if it is
        not accessible.
        """

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> Typed:
        """Type into the focused field and read it back.

        Raises TextEntryError if the text cannot arrive exactly, or did not.
        """

    async def clear_field(self, *, timeout_s: float = 15.0) -> None:
        """Empty the focused field and read it back. Raises TextEntryError if it is not empty."""

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None: ...

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app. Raises DeviceError if the package has nothing to start."""


@runtime_checkable
class Touchable(Protocol):
    """A device that reports touches by a person."""

    def touches(self) -> AsyncGenerator[int, None]:
        """Follow touches on the phone itself, never ours: the time of each in milliseconds
        since the epoch. Raises DeviceError if the phone reports none, DeviceLostError when it
        goes away.
        """


@runtime_checkable
class Dated(Protocol):
    """A device that knows its local time."""

    async def local_time(self, *, timeout_s: float = 5.0) -> str:
        """Return date, time, time zone and language in one line. Raises DeviceError."""


@runtime_checkable
class OpensLinks(Protocol):
    """A device that opens an address in the app that handles it."""

    async def open_link(self, link: str, *, timeout_s: float = 10.0) -> None:
        """Open a web address, another URI, or a settings page by its action.

        Raises DeviceError if no app of the phone opens it.
        """


@runtime_checkable
class PlacesCaret(Protocol):
    """A device that can put the caret where a text is to be added."""

    async def caret_to_end(self, *, timeout_s: float = 5.0) -> None:
        """Put the caret behind all that the focused field holds. Raises DeviceError."""


@runtime_checkable
class TurnsScreen(Protocol):
    """A device with a rotatable screen."""

    async def rotate(self, how: str, *, timeout_s: float = 10.0) -> bool | None:
        """Rotate the screen: portrait, landscape, upside-down, seascape, or auto.

        Every word but auto switches auto-rotate off. Return whether it was on before; None: the
        phone does not say. Raises UsageError for any other word, DeviceError.
        """


@runtime_checkable
class TellsToasts(Protocol):
    """A device that reports the text of toasts, which no UI tree contains."""

    async def toast(self, *, timeout_s: float = 2.0) -> str:
        """Return the newest toast that was not returned before, which is foreign text; empty if
        there is none or the phone cannot report toasts.
        """


class AppProof(Protocol):
    """What tells whether an app is the one that it seems to be."""

    async def signers(self, package: str, *, timeout_s: float = 15.0) -> tuple[str, ...]:
        """Return the SHA-256 digests of the certificates that an app is signed with, sorted.

        Raises DeviceError if they cannot be told.
        """

    async def windows_over(self, package: str, *, timeout_s: float = 5.0) -> tuple[str, ...]:
        """Return whose windows stand over the front one of an app, which are foreign names.

        Raises DeviceError if the windows cannot be told.
        """


@runtime_checkable
class ProvesApps(Protocol):
    """A device that tells whether an app is the one that it seems to be."""

    @property
    def proof(self) -> AppProof: ...


class Sound(Protocol):
    """The sound of a device."""

    async def media_volume(self, *, timeout_s: float = 5.0) -> tuple[int, int] | None:
        """Return the level and the highest one; None where the phone does not report them.

        Raises DeviceError.
        """


@runtime_checkable
class HasSound(Protocol):
    """A device that reports its volumes."""

    @property
    def sound(self) -> Sound: ...


class Fleet(Protocol):
    """Every reachable device, and who drives which."""

    async def start(self) -> None:
        """Start watching for devices. Raises AdbError if no adb server runs and none starts."""

    async def close(self) -> None: ...

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        """List the known devices, without I/O."""

    def servers_away(self) -> tuple[records.ServerAway, ...]:
        """List the adb servers that do not answer."""

    @property
    def servers_changed(self) -> asyncio.Event:
        """Return an event set when a server goes away or answers again; take it before reading
        the list to miss nothing.
        """

    def changes(self) -> AsyncIterator[records.DeviceInfo]:
        """Follow devices from this call on as they appear, change state and disappear (state
        GONE).
        """

    async def device(self, serial: str) -> Device:
        """Return a device. Raises UsageError for an unknown serial, DeviceLostError when away."""

    async def wait_for(self, serial: str, *, timeout_s: float) -> Device:
        """Wait until a device is online. Raises DeviceLostError on time-out."""

    def lease(self, serial: str, driver: str) -> AbstractAsyncContextManager[Device]:
        """Drive a device exclusively: waits for the current driver, frees it on exit."""

    def hand(self, serial: str, driver: str) -> None:
        """Set who drives a leased device: its session, or the operator meanwhile."""

    def label(
        self, serial: str, *, name: str, tags: Iterable[str], notes: str
    ) -> records.DeviceInfo:
        """Store the operator's labels of a device.

        Raises UsageError for an unknown serial or an invalid label, StoreError.
        """

    def dismiss(self, serial: str, *, dismissed: bool) -> None:
        """Record that the operator has read a device's problem, until its state changes.

        Raises UsageError for an unknown serial.
        """

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[records.LiveFrame]:
        """Follow the newest picture, fitted into the given box with its aspect ratio kept; slow
        readers skip pictures, none is queued.
        """
