"""What control messages do to the phone: fingers, keys, text, clipboard, panels, apps.

Not the socket they come from. Invariant: a position counts only if it was taken in a picture of
the size that is being sent, so a touch meant for the screen before a rotation is dropped.
"""

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, assert_never

from virtual_phone.errors import PhoneError
from virtual_phone.input import injection, keycodes
from virtual_phone.scrcpy import control
from virtual_phone.scrcpy.dialect import Dialect
from virtual_phone.scrcpy.keyboard import HidKeyboard

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.userland.userland import Userland

_ACTIONS = {0: "down", 1: "up", 2: "move", 3: "cancel", 5: "down", 6: "up"}
_WHEEL_STEP_DP = 64
_MAX_UHID_DEVICES = 16
_COPY_KEYS = {1: keycodes.COPY, 2: keycodes.CUT}

_REFUSAL_LOG_S = 3.0
_INJECTED = (control.Key, control.BackOrScreenOn, control.Text, control.TouchEvent, control.Scroll)

Send = Callable[[bytes], Awaitable[None]]
Log = Callable[[str], Awaitable[None]]


class Injector:
    """Carry out the messages of one session.

    Args:
        userland: the phone below its screen.
        ways: the version that is spoken.
        display: the display the session shows.
        answers_clipboard: a clipboard that is asked for is sent; else only changes are (autosync).
        shown_size: returns the size of the video being sent; None while there is none.
        send: sends a message back to the client.
        log: writes a line to the server's stderr.
        restart_video: makes the next packet a configuration and a key frame.
    """

    def __init__(
        self,
        userland: "Userland",
        ways: Dialect,
        display: int,
        *,
        answers_clipboard: bool,
        shown_size: Callable[[], tuple[int, int] | None],
        send: Send,
        log: Log,
        restart_video: Callable[[], None],
    ) -> None:
        self._userland = userland
        self._phone: Phone = userland.phone
        self._ways = ways
        self._display = display
        self._answers_clipboard = answers_clipboard
        self._log = log
        self._refusal_logged_s = -_REFUSAL_LOG_S
        self._shown_size = shown_size
        self._send = send
        self._restart_video = restart_video
        self._keyboards: dict[int, HidKeyboard] = {}
        self._fingers: set[int] = set()

    async def handle(self, message: control.ControlMessage) -> None:
        """Carry out one message; raise PhoneError for one that makes no sense."""
        phone = self._phone
        if isinstance(message, _INJECTED) and injection.is_refused(self._userland):
            await self._log_refusal()
            return
        match message:
            case control.Key(action=0, keycode=code, meta=meta):
                phone.keys.press(code, meta=meta)
            case control.BackOrScreenOn(action=0):
                phone.keys.press(keycodes.BACK if phone.power.screen_on else keycodes.WAKEUP)
            case control.Key() | control.BackOrScreenOn():
                return  # Keys act when they go down.
            case control.Text(text=text):
                phone.keys.type_text(text)
            case control.TouchEvent():
                await self._touch(message)
            case control.Scroll():
                await self._scroll(message)
            case control.GetClipboard(copy_key=copy_key):
                if copy_key in _COPY_KEYS and await self._may_inject():
                    phone.keys.press(_COPY_KEYS[copy_key])
                # Real servers of all versions say nothing where the clipboard holds no text.
                if self._answers_clipboard and phone.clipboard.text:
                    await self._send(control.clipboard_message(phone.clipboard.text))
            case control.SetClipboard(sequence=sequence, paste=paste, text=text):
                if text != phone.clipboard.text:
                    phone.clipboard.set(text)
                if paste and await self._may_inject():
                    phone.keys.press(keycodes.PASTE)
                if sequence:
                    await self._send(control.acknowledgement(sequence))
            case control.UhidCreate(device=device):
                if len(self._keyboards) >= _MAX_UHID_DEVICES:
                    raise PhoneError("The phone takes no more input devices.")
                self._keyboards[device] = HidKeyboard()
            case control.UhidInput(device=device, report=report):
                keyboard = self._keyboards.get(device)
                for code, meta in keyboard.presses(report) if keyboard else ():
                    phone.keys.press(code, meta=meta)
            case control.UhidDestroy(device=device):
                if self._keyboards.pop(device, None) is None:
                    await self._log(f"[server] WARN: Closing unknown UHID device: {device}")
            case control.StartApp(name=name):
                self._start_app(name)
            case control.Resize(width=width, height=height):
                if self._display:
                    phone.displays.resize(width=width, height=height, display=self._display)
            case control.DisplayPower():
                return  # The panel of a virtual phone has no light of its own.
            case control.Plain(type=kind):
                self._plain(kind)
            case _:
                assert_never(message)

    async def _may_inject(self) -> bool:
        """Return whether the phone takes an event now; log that it does not."""
        if not injection.is_refused(self._userland):
            return True
        await self._log_refusal()
        return False

    async def _log_refusal(self) -> None:
        """Log as the version does: since 3.3 at most once in three seconds."""
        is_short = self._ways.logs_refusals_shortly
        now_s = time.monotonic()
        if is_short and now_s - self._refusal_logged_s < _REFUSAL_LOG_S:
            return
        self._refusal_logged_s = now_s
        for line in injection.server_words(self._userland, is_short=is_short):
            await self._log(line)

    async def release(self) -> None:
        """Lift every finger that is still down."""
        for pointer in list(self._fingers):
            self._phone.gestures.finger("cancel", pointer, 0, 0, self._display)
        self._fingers.clear()

    def _plain(self, kind: control.ControlType) -> None:
        phone = self._phone
        match kind:
            case control.ControlType.EXPAND_NOTIFICATIONS:
                phone.shade.open(expanded=False)
            case control.ControlType.EXPAND_SETTINGS:
                phone.shade.open(expanded=True)
            case control.ControlType.COLLAPSE_PANELS:
                phone.shade.close()
            case control.ControlType.ROTATE:
                phone.rotation.lock(0 if phone.rotation.quarters else 1, stays=False)
            case control.ControlType.RESET_VIDEO:
                self._restart_video()
            case _:
                return  # Keyboard settings, cameras and media scans have no counterpart here.

    def _pixels(self, position: control.Position) -> tuple[float, float] | None:
        width, height, _ = self._phone.displays.size(self._display)
        shown = self._shown_size() or (width, height)
        if (position.width, position.height) != shown:
            return None
        return position.x * width / shown[0], position.y * height / shown[1]

    async def _touch(self, event: control.TouchEvent) -> None:
        action = _ACTIONS.get(event.action)
        pixels = self._pixels(event.position)
        if action is None or pixels is None:
            return
        if action == "down":
            self._fingers.add(event.pointer)
        elif event.pointer not in self._fingers:
            return
        elif action in ("up", "cancel"):
            self._fingers.discard(event.pointer)
        self._phone.gestures.finger(action, event.pointer, *pixels, self._display)

    async def _scroll(self, event: control.Scroll) -> None:
        pixels = self._pixels(event.position)
        if pixels is not None:
            density = self._phone.displays.size(self._display)[2]
            step_px = _WHEEL_STEP_DP * density / 160
            self._phone.touch.scroll_wheel(*pixels, event.vertical * step_px, self._display)

    def _start_app(self, name: str) -> None:
        stops_first = name.startswith("+")
        name = name.removeprefix("+")
        if name.startswith("?"):
            wanted = name[1:].lower()
            found = [p for p in self._phone.packages.list() if p.label.lower().startswith(wanted)]
            name = found[0].package if found else ""
        if self._phone.packages.get(name) is None:
            return  # The real server logs a warning and goes on.
        if stops_first:
            self._phone.activities.force_stop(name)
        self._phone.activities.launch(name, self._display)
