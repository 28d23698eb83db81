"""A phone behind an adb server: the Device protocol over the client of `agent.devices.client`.

Not a lease and not discovery (`agent.devices.rack`). Invariants: pixels exist only below this
module's methods; what the phone refuses is raised with its own words; an action that ran out of
time raises DeviceTimeoutError, because nobody knows whether it took effect.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Callable

from agent.devices import text_entry
from agent.devices.client import AdbClient, ServiceClosedError, ShellResult
from agent.devices.device import Button, Capture, UiTree
from agent.devices.dump import dump_command, read_dump, treeless
from agent.devices.focus import parse_current_size, parse_foreground, parse_natural_size
from agent.devices.keyboard import Keyboard
from agent.devices.picture import PNG_SIGNATURE, png_size, turned_png
from agent.devices.profile import Profile, read_profile
from agent.devices.tree import parse_tree
from agent.errors import (
    DeviceError,
    DeviceTimeoutError,
    TextEntryError,
    UsageError,
)
from agent.records import AppInfo, DeviceInfo, DeviceState, Foreground, Frame, Point
from agent.text import one_line

_FOCUS_MARK = "switchboard-input-method-follows"
_KEY_CODES = {
    Button.HOME: 3,
    Button.BACK: 4,
    Button.VOLUME_UP: 24,
    Button.VOLUME_DOWN: 25,
    Button.POWER: 26,
    Button.TAB: 61,
    Button.SPACE: 62,
    Button.ENTER: 66,
    Button.DELETE: 67,
    Button.MENU: 82,
    Button.SEARCH: 84,
    Button.RECENTS: 187,
}
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.\w+)*")
_COMPONENT = re.compile(r"^\s*([A-Za-z][\w.]*)/[\w.$]+\s*$", re.MULTILINE)
_FAILED_INPUT = re.compile(r"^\s*(error|usage|invalid|unknown|.*exception)\b", re.I | re.M)
_ORIENTATION = re.compile(r"\bmCurrentOrientation=([0-3])")
_LARGE_XML_BYTES = 64 * 1024


class AdbDevice:
    """Drive one phone by serial through one adb server.

    Args:
        on_action: called after each action, so that whoever shows frames looks again at once.
    """

    def __init__(
        self, client: AdbClient, serial: str, *, on_action: Callable[[], None] | None = None
    ) -> None:
        self._client = client
        self._serial = serial
        self._on_action = on_action
        self._profile: Profile | None = None
        self._keyboard = Keyboard(serial, self._shell)
        self._display: tuple[int, int] | None = None

    @property
    def serial(self) -> str:
        """The name that adb gives the phone."""
        return self._serial

    # --- looking ----------

    async def info(self) -> DeviceInfo:
        """Ask the phone for its model, Android version and display."""
        profile = await self.profile()
        width, height = profile.natural_size or (0, 0)
        return DeviceInfo(
            serial=self._serial,
            state=DeviceState.ONLINE,
            model=profile.model,
            android=profile.android,
            width_px=width,
            height_px=height,
            virtual=profile.virtual,
            note="" if profile.booted else "The phone is still starting: wait until it is up.",
        )

    async def profile(self, *, timeout_s: float = 10.0) -> Profile:
        """Give what is fixed about the phone, asked once per connection."""
        if self._profile is None:
            self._profile = await read_profile(self._client, self._serial, timeout_s=timeout_s)
        return self._profile

    def forget(self) -> None:
        """Ask again for what is fixed: the phone came back and may be another build."""
        self._profile = None
        self._display = None
        self._keyboard = Keyboard(self._serial, self._shell)

    def move(self, client: AdbClient) -> None:
        """Reach the phone through another adb server from now on."""
        self._client = client
        self.forget()

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of the screen. Raises DeviceError when screencap gave none."""
        async with self._bounded("taking a picture", timeout_s):
            profile = await self.profile(timeout_s=timeout_s)
            turns = await self._orientation(timeout_s) if profile.captures_unturned else 0
            captured_ms = _now_ms()
            data = await self._screencap(profile, timeout_s)
            # Phones with several displays write a warning before the picture.
            start = data.find(PNG_SIGNATURE, 0, 4096)
            data = data[start:] if start > 0 else data
            width, height = png_size(self._serial, data)
            if turns:
                data = await asyncio.to_thread(turned_png, self._serial, data, turns)
                width, height = (height, width) if turns % 2 else (width, height)
            self._note_orientation(width, height)
            frame = Frame(
                digest=hashlib.sha256(data).hexdigest(),
                width_px=width,
                height_px=height,
                captured_ms=captured_ms,
            )
            return Capture(frame=frame, data=data)

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""
        started_ms = _now_ms()
        try:
            profile = await self.profile(timeout_s=timeout_s)
            result = await self._shell(dump_command(profile.features), timeout_s)
        except DeviceTimeoutError:
            raise treeless(
                self._serial, f"uiautomator did not finish within {timeout_s:g} s"
            ) from None
        dump = read_dump(self._serial, result, profile.natural_size)
        self._display = dump.display
        if len(dump.xml) > _LARGE_XML_BYTES:
            nodes = await asyncio.to_thread(parse_tree, dump.xml, dump.natural_size)
        else:
            nodes = parse_tree(dump.xml, dump.natural_size)
        return UiTree(nodes=nodes, xml=dump.xml, started_ms=started_ms, ended_ms=_now_ms())

    async def foreground(self, *, timeout_s: float = 5.0) -> Foreground:
        """Say which app is in front and whether the keyboard shows."""
        lines = "mCurrentFocus=|mFocusedApp=|init=.*cur="
        shown = "mInputShown=|mIsInputViewShown="
        result = await self._shell(
            f"dumpsys window | grep -E '{lines}'; echo {_FOCUS_MARK}; "
            f"dumpsys input_method | grep -E '{shown}'",
            timeout_s,
        )
        if "mCurrentFocus=" not in result.text and "mFocusedApp=" not in result.text:
            # Android before 5 has no grep, and some builds print the focus per display only.
            result = await self._shell(
                f"dumpsys window windows; dumpsys window displays; echo {_FOCUS_MARK}; "
                "dumpsys input_method",
                timeout_s,
            )
        focus, _, input_method = result.text.partition(_FOCUS_MARK)
        self._display = parse_current_size(focus) or self._display
        foreground = parse_foreground(focus, input_method)
        if foreground is None:
            raise DeviceError(
                f"dumpsys window of {self._serial} names no focus: {one_line(result.text, 120)}.",
                "Wait until the phone has started, then look again.",
            )
        return foreground

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[AppInfo, ...]:
        """List the apps that can be started, sorted by package."""
        async with self._bounded("listing apps", timeout_s):
            result = await self._shell(
                "cmd package query-activities --brief -a android.intent.action.MAIN "
                "-c android.intent.category.LAUNCHER",
                timeout_s,
            )
            packages = set(_COMPONENT.findall(result.text)) if result.exit_code == 0 else set()
            if not packages:
                # `cmd` came with Android 7; before it every installed package is listed.
                result = await self._shell("pm list packages", timeout_s)
                packages = {
                    line.removeprefix("package:").strip()
                    for line in result.text.splitlines()
                    if line.startswith("package:")
                }
            if not packages:
                raise self._failure("pm list packages", result)
            return tuple(AppInfo(package=name) for name in sorted(packages))

    # --- acting ----------

    async def tap(self, at: Point, *, timeout_s: float = 5.0) -> None:
        """Touch a place briefly."""
        x, y = await self._pixel(at)
        await self._input(f"tap {x} {y}", timeout_s)

    async def long_press(self, at: Point, *, duration_ms: int = 1000) -> None:
        """Touch a place and hold it for `duration_ms`."""
        await self.swipe(at, at, duration_ms=duration_ms)

    async def swipe(self, start: Point, end: Point, *, duration_ms: int = 300) -> None:
        """Move a finger from one place to another in `duration_ms`."""
        if not 0 < duration_ms <= 60_000:
            raise UsageError(
                f"A gesture of {duration_ms} ms is not possible.", "Ask for 1 to 60000 ms."
            )
        from_x, from_y = await self._pixel(start)
        to_x, to_y = await self._pixel(end)
        await self._input(
            f"swipe {from_x} {from_y} {to_x} {to_y} {duration_ms}", 5.0 + duration_ms / 1000
        )

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> None:
        """Type into the focused field. Raises TextEntryError when it cannot arrive exactly."""
        if not text:
            return
        async with self._bounded("typing", timeout_s):
            profile = await self.profile(timeout_s=timeout_s)
            await self._keyboard.repair(timeout_s)
            if profile.unicode_input or text.isascii():
                await self._type_by_keys(text, profile, timeout_s)
            else:
                async with self._keyboard.borrowed(timeout_s) as is_there:
                    if is_there:
                        for line in text_entry.keyboard_commands(self._serial, text):
                            await self._broadcast(line, timeout_s)
                    else:
                        await self._type_by_keys(text, profile, timeout_s)
        self._acted()

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        """Press a button once."""
        await self._input(f"keyevent {_KEY_CODES[button]}", timeout_s)

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app. Raises DeviceError when the package has nothing to start."""
        if not _PACKAGE.fullmatch(package):
            raise UsageError(
                f"{package!r} is not the name of a package.",
                "Name an app by its package, such as com.android.settings.",
            )
        result = await self._shell(
            f"monkey -p {package} -c android.intent.category.LAUNCHER 1", timeout_s
        )
        self._acted()
        if "No activities found" in result.text or "monkey aborted" in result.text:
            raise DeviceError(
                f"{package} has nothing to start on {self._serial}, or is not installed.",
                "Look for the package in the list of apps.",
            )
        if result.exit_code != 0:
            raise self._failure(f"monkey -p {package}", result)

    # --- below ----------

    def _bounded(self, doing: str, timeout_s: float) -> _Deadline:
        return _Deadline(self._serial, doing, timeout_s)

    async def _shell(self, command: str, timeout_s: float) -> ShellResult:
        async with self._bounded("a shell command", timeout_s):
            profile = await self.profile(timeout_s=timeout_s)
            return await self._client.shell(
                self._serial, command, features=profile.features, timeout_s=timeout_s
            )

    async def _checked(self, command: str, timeout_s: float) -> ShellResult:
        result = await self._shell(command, timeout_s)
        if result.exit_code != 0 or _FAILED_INPUT.search(result.text):
            raise self._failure(command, result)
        return result

    def _failure(self, command: str, result: ShellResult) -> DeviceError:
        said = one_line(result.text, 300)
        remedy = "Look at the screen, then try again."
        if "INJECT_EVENTS" in result.text:
            remedy = (
                'Switch on "USB debugging (Security settings)" in the developer options: this '
                "maker's Android refuses touches by adb without it."
            )
        return DeviceError(
            f"`{one_line(command, 60)}` failed on {self._serial} with exit code "
            f"{result.exit_code}: {said or 'it said nothing'}.",
            remedy,
        )

    async def _input(self, arguments: str, timeout_s: float) -> None:
        try:
            await self._checked(f"input {arguments}", timeout_s)
        finally:
            self._acted()

    def _acted(self) -> None:
        if self._on_action is not None:
            self._on_action()

    async def _broadcast(self, command: str, timeout_s: float) -> None:
        result = await self._checked(command, timeout_s)
        if "Broadcast completed" not in result.text:
            raise TextEntryError(
                f"ADBKeyBoard of {self._serial} did not take the text: "
                f"{one_line(result.text, 120)}.",
                "Make it the current keyboard again, or type the text by hand.",
            )

    async def _type_by_keys(self, text: str, profile: Profile, timeout_s: float) -> None:
        for line in text_entry.commands(
            self._serial, text, unicode_input=profile.unicode_input, sdk=profile.sdk
        ):
            await self._checked(line, timeout_s)

    async def _screencap(self, profile: Profile, timeout_s: float) -> bytes:
        if "shell_v2" not in profile.features:
            try:
                return await self._client.exec(self._serial, "screencap -p", timeout_s=timeout_s)
            except ServiceClosedError:
                # Android 4 has no exec service; its shell turns LF into CR LF, which is repaired.
                pass
        result = await self._client.shell(
            self._serial, "screencap -p", features=profile.features, timeout_s=timeout_s
        )
        if result.exit_code != 0:
            raise self._failure("screencap -p", result)
        return result.stdout

    async def _orientation(self, timeout_s: float) -> int:
        found = _ORIENTATION.search((await self._shell("dumpsys display", timeout_s)).text)
        return int(found[1]) if found else 0

    def _note_orientation(self, width_px: int, height_px: int) -> None:
        """Turn the known display when a picture shows that the phone was turned."""
        if self._display is not None and (width_px > height_px) != (
            self._display[0] > self._display[1]
        ):
            self._display = (self._display[1], self._display[0])

    async def _pixel(self, at: Point) -> tuple[int, int]:
        """Give the pixel of a normalized place, clipped to the display."""
        if at.x != at.x or at.y != at.y:
            raise UsageError("A place on a screen is not a number.", "Give x and y in [0, 1].")
        width, height = await self._display_size()
        x = min(int(min(max(at.x, 0.0), 1.0) * width), width - 1)
        y = min(int(min(max(at.y, 0.0), 1.0) * height), height - 1)
        return x, y

    async def _display_size(self) -> tuple[int, int]:
        if self._display is None:
            result = await self._shell("dumpsys window displays; wm size", 5.0)
            self._display = parse_current_size(result.text) or parse_natural_size(result.text)
        if self._display is None:
            raise DeviceError(
                f"{self._serial} does not tell the size of its display.",
                "Wait until the phone has started, then try again.",
            )
        return self._display


class _Deadline:
    """One time-out over several calls, raised as DeviceTimeoutError."""

    def __init__(self, serial: str, doing: str, timeout_s: float) -> None:
        self._timeout = asyncio.timeout(timeout_s)
        self._message = f"{serial} was not done with {doing} within {timeout_s:g} s."

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        try:
            await self._timeout.__aexit__(*raised)  # type: ignore[arg-type]
        except TimeoutError:
            raise DeviceTimeoutError(
                self._message, "Look at the screen first: whether it took effect is unknown."
            ) from None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
