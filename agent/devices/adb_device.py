"""A phone behind an adb server: the Device protocol, composed of one channel for each kind of call.

Channels are parts that can be replaced by warmer ones: captures, trees, touches and keys, text.
Not a lease and not discovery (`agent.devices.fleet.fleet`). Invariants: pixels exist only below
this module's methods; what the phone refuses is raised with its own words; an action that ran out
of time raises DeviceTimeoutError, because nobody knows whether it took effect.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager, suppress
from secrets import token_hex
from shlex import quote

from agent.devices.adb.client import AdbClient
from agent.devices.chosen_ways import ChosenWays
from agent.devices.facts.fact import Fact, Known, Unknown, value_or_none
from agent.devices.facts.notifications import Shade, read_notifications
from agent.devices.facts.notifications import command as notification_command
from agent.devices.facts.packages import (
    launchable_command,
    packages_command,
    read_launchable,
    read_packages,
)
from agent.devices.frames.display_size import DisplaySize
from agent.devices.frames.fast_capture import QuickCaptures
from agent.devices.frames.screencap import Screencap
from agent.devices.gestures import Gesture, LongPress, Swipe, Tap
from agent.devices.input.field_clear import caret_to_end
from agent.devices.input.input_channel import InputChannel, ShellInput
from agent.devices.input.keycodes import button_code, key_code
from agent.devices.input.text_channel import TextChannel
from agent.devices.input.touch_panel import touches as follow_touches
from agent.devices.no_displays import NoDisplays
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.protocols import TREE_TIMEOUT_S, Button, Capture, Displays, Typed, UiTree
from agent.devices.resources.resource_ledger import ResourceLedger
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.control_input import WarmInput
from agent.devices.scrcpy.decoding.pictures import Decoding
from agent.devices.scrcpy.displays import ScrcpyDisplays
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink, ScrcpySettings
from agent.devices.scrcpy.video import VideoFrames
from agent.devices.shell.app_start import PACKAGE, AppStarter
from agent.devices.shell.call_log import Call, call_log
from agent.devices.shell.capabilities import Capabilities, capabilities_command, read_capabilities
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.phone_sound import PhoneSound
from agent.devices.shell.reclaim import reclaim_on_phone
from agent.devices.shell.rotation import READ_AUTO_ROTATE, follows, rotation_commands
from agent.devices.shell.versions import COMMAND as VERSIONS_COMMAND
from agent.devices.shell.versions import PhoneVersions, read_versions
from agent.devices.shell.window_looks import WindowLooks
from agent.devices.signing.phone_proof import PhoneProof
from agent.devices.trees.tree_provider import WarmTrees
from agent.devices.trees.tree_source import DumpTrees
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import DeviceError, DeviceTimeoutError, UsageError
from agent.records import AppInfo, DeviceInfo, DeviceState, Foreground, Point
from agent.text import one_line

_OPEN_SHADE = "cmd statusbar expand-notifications"
"""AOSP `StatusBarShellCommand`, Android 7 and newer."""
_LOCAL_TIME = (
    "date '+%A %Y-%m-%d %H:%M %z'; getprop persist.sys.timezone; "
    "getprop persist.sys.locale | grep . || getprop ro.product.locale"
)
_REPAIR_TIMEOUT_S = 5.0


class AdbDevice:
    """Drive one phone by serial through one adb server.

    Args:
        on_action: called after each action, so that whoever shows frames looks again at once.
        may_act: called before each action; raises when the phone is somebody else's now.
        scrcpy: how to use a scrcpy server for touches, video and displays; None: not at all.
        decoding: what decodes video; threads of this process by default.
        keeps_shells: keep shells open between commands; for whoever calls `close`.
        resources: where what is taken on the phone is written down.
        passports: where what was found out about phones is kept; None: nothing is known of any.
    """

    def __init__(
        self,
        client: AdbClient,
        serial: str,
        *,
        on_action: Callable[[], None] | None = None,
        may_act: Callable[[], None] | None = None,
        scrcpy: ScrcpySettings | None = None,
        decoding: Decoding | None = None,
        keeps_shells: bool = False,
        resources: ResourceLedger | None = None,
        passports: PassportFolder | None = None,
    ) -> None:
        self._on_action = on_action
        self._may_act = may_act
        self._client = client
        self._shell = PhoneShell(client, serial, keeps_shells=keeps_shells, resources=resources)
        self.sound = PhoneSound(self._shell)
        self._windows = WindowLooks(self._shell)
        self.proof = PhoneProof(self._shell, self._windows)
        self._starter = AppStarter(self._shell)
        self._display = DisplaySize(self._shell)
        self._captures = QuickCaptures(Screencap(self._shell, self._display))
        self._uiautomator = UiautomatorService(self._shell)
        self.trees = WarmTrees(
            self._shell,
            self._display,
            service=self._uiautomator,
            cold=DumpTrees(self._shell, self._display),
        )
        self._scrcpy = None if scrcpy is None else ScrcpyLink(self._shell, scrcpy, decoding)
        cold = ShellInput(self._shell, self._display)
        self._warm = None if self._scrcpy is None else WarmInput(self._scrcpy, self._display, cold)
        self._input: InputChannel = self._warm or cold
        self._text = TextChannel(
            self._shell, trees=self.trees, service=self._uiautomator, clipboard=self._warm
        )
        self._ways = ChosenWays(
            passports, captures=self._captures, trees=self.trees, warm=self._warm, text=self._text
        )
        self._displays: Displays = NoDisplays(serial, "it is driven without scrcpy.")
        self._extra = None
        if self._scrcpy is not None:
            self._displays = self._extra = ScrcpyDisplays(
                self._shell,
                self._scrcpy,
                self,
                free=self._uiautomator.stop,
                may_act=may_act or (lambda: None),
            )

    @property
    def serial(self) -> str:
        """The name that adb gives the phone."""
        return self._shell.serial

    @property
    def displays(self) -> Displays:
        """The displays beyond the main one."""
        return self._displays

    async def touches(self) -> AsyncGenerator[int, None]:
        """Follow the hands on the phone; see `Touchable`."""
        async with aclosing(follow_touches(self._client, self.serial)) as seen:
            async for touch in seen:
                yield touch.seen_ms

    # --- looking ----------

    async def info(self) -> DeviceInfo:
        """Ask the phone for its model, Android version and display."""
        profile = await self._shell.profile()
        with suppress(DeviceTimeoutError):
            # The next typing looks again; a slow shell must not keep the phone from being shown.
            await self._text.repair(timeout_s=_REPAIR_TIMEOUT_S)
            await reclaim_on_phone(self._shell)
        width, height = profile.natural_size or (0, 0)
        return DeviceInfo(
            serial=self.serial,
            state=DeviceState.ONLINE,
            model=profile.model,
            android=profile.android,
            width_px=width,
            height_px=height,
            virtual=profile.virtual,
            note="" if profile.booted else "The phone is still starting: wait until it is up.",
        )

    def forget(self) -> None:
        """Ask again for what is fixed: the phone came back and may be another build."""
        self._shell.forget()
        self._windows.forget()
        self._display.forget()
        self._captures.forget()
        self.trees.forget()
        self._text.forget()
        if self._scrcpy is not None and self._warm is not None:
            self._scrcpy.forget()
            self._warm.forget()
        self._ways.forget()

    def move(self, client: AdbClient) -> None:
        """Reach the phone through another adb server from now on."""
        self._shell.move(client)
        self.forget()

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of the screen; where `screencap` is slow, out of the video that runs.

        Raises DeviceError when there is none.
        """
        return await self._captures.capture(timeout_s=timeout_s)

    async def tree(self, *, timeout_s: float = TREE_TIMEOUT_S) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""
        return await self.trees.tree(timeout_s=timeout_s)

    async def toast(self, *, timeout_s: float = 2.0) -> str:
        """Return the newest toast that was not returned before; empty where none can be known."""
        return await self.trees.toast(timeout_s=timeout_s)

    async def foreground(self, *, timeout_s: float = 5.0) -> Foreground:
        """Return which app is in front and whether the keyboard shows."""
        look = await self._windows.look(timeout_s=timeout_s)
        self._display.learn(value_or_none(look.size))
        return self._windows.foreground_of(look)

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[AppInfo, ...]:
        """List the apps that the current user can start, sorted by package.

        Raises DeviceError when the phone does not list them, with its answer.
        """
        async with self._shell.bounded("listing apps", timeout_s):
            said = read_launchable((await self._shell.run(launchable_command(), timeout_s)).text)
            packages = said.packages
            is_locked = isinstance(said.unlocked, Known) and not said.unlocked.value
            if is_locked or isinstance(packages, Unknown) or not packages.value:
                # Until a user is unlocked, most apps cannot be found but are listed; and `cmd` came
                # with Android 7. So every installed package is named.
                result = await self._shell.run(packages_command(), timeout_s)
                packages = read_packages(result.text)
            if isinstance(packages, Unknown):
                raise DeviceError(
                    f"The apps of {self.serial} are unknown: {packages.reason}.",
                    "Wait until the phone has started and is unlocked, then try again.",
                )
            return tuple(AppInfo(package=name) for name in sorted(packages.value))

    def video(self) -> VideoFrames | None:
        """Return the maker of live pictures; None where video is not wanted."""
        if self._scrcpy is None or not self._scrcpy.settings.video:
            return None
        frames = VideoFrames(
            self._scrcpy.open,
            self._scrcpy.probe,
            self.is_secure,
            decoding=self._scrcpy.decoding,
            options=SessionOptions(scid=NO_SCID),
            most_fps=self._scrcpy.settings.max_fps,
            on_size=self._display.learn_from_picture,
        )
        self._captures.stream = frames
        return frames

    async def is_secure(self) -> Fact[bool]:
        """Return whether the window in front forbids pictures of itself."""
        return await self._windows.is_secure()

    async def make_ready(self) -> None:
        """Make ready to act soon, in the ways of its passport; nothing is waited for."""
        profile = self._shell.known_profile
        if profile is not None:
            await self._ways.take_up(self.serial, profile)
        if self._warm is not None and self._warm.is_wanted:
            self._warm.warm()

    async def release_input(self) -> None:
        """Let go of what acting needed: nobody drives the phone any more."""
        if self._warm is not None:
            await self._warm.close_socket()

    async def close(self) -> None:
        """Let go of everything that is held on the phone."""
        await self.release_input()
        await self.trees.close()
        if self._extra is not None:
            await self._extra.close()
        self._shell.close()

    # --- acting ----------

    async def tap(self, at: Point, *, timeout_s: float = 5.0) -> None:
        """Touch a place briefly."""
        await self.perform(Tap(at), timeout_s=timeout_s)

    async def long_press(self, at: Point, *, duration_ms: int = 1000) -> None:
        """Touch a place and hold it for `duration_ms`."""
        await self.perform(LongPress(at, duration_ms))

    async def swipe(self, start: Point, end: Point, *, duration_ms: int = 300) -> None:
        """Move a finger from one place to another in `duration_ms`."""
        await self.perform(Swipe(start, end, duration_ms))

    async def perform(self, gesture: Gesture, *, timeout_s: float = 5.0) -> None:
        """Do a gesture; `timeout_s` is beyond its own time."""
        async with self._acting():
            await self._input.perform(gesture, timeout_s=timeout_s)

    async def scroll(
        self, at: Point, *, vertical: float, horizontal: float = 0.0, timeout_s: float = 5.0
    ) -> None:
        """Turn a mouse wheel over a place, in steps; positive is up and right."""
        async with self._acting():
            await self._input.scroll(
                at, horizontal=horizontal, vertical=vertical, timeout_s=timeout_s
            )

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> Typed:
        """Type into the focused field and read it back.

        Raises TextEntryError when it cannot arrive exactly, or did not.
        """
        if not text:
            return Typed(note="There was nothing to type.")
        async with self._acting():
            return await self._text.type_text(text, timeout_s=timeout_s)

    async def clear_field(self, *, timeout_s: float = 15.0) -> None:
        """Empty the focused field and read it back. Raises TextEntryError when it is not empty."""
        async with self._acting():
            await self._text.clear(timeout_s=timeout_s)

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        """Press a button once; the shade is opened by the status bar's own command."""
        async with self._acting():
            if button is Button.NOTIFICATIONS:
                opened = await self._shell.run(_OPEN_SHADE, timeout_s)
                if opened.exit_code == 0:
                    return
            await self._input.key(button_code(button), timeout_s=timeout_s)

    async def key(self, name: str, *, timeout_s: float = 5.0) -> None:
        """Press a key by Android's name or number. Raises UsageError for an unknown name."""
        code = key_code(name)
        async with self._acting():
            await self._input.key(code, timeout_s=timeout_s)

    async def clipboard(self, *, timeout_s: float = 10.0) -> str:
        """Read the clipboard. Raises DeviceError where there is no scrcpy server for it."""
        return await (await self.control(timeout_s=timeout_s)).clipboard()

    async def set_clipboard(
        self, text: str, *, paste: bool = False, timeout_s: float = 10.0
    ) -> None:
        """Set the clipboard, and paste it into the focused field.

        Raises DeviceError where there is no scrcpy server for it.
        """
        async with self._acting():
            if paste and self._warm is not None:
                await self._warm.paste(text, timeout_s)
            else:
                await (await self.control(timeout_s=timeout_s)).set_clipboard(text)

    async def control(self, *, timeout_s: float = 10.0) -> ControlChannel:
        """Return the control socket, opened if needed. Raises DeviceError if it cannot be."""
        if self._warm is None:
            raise DeviceError(
                f"{self.serial} is driven without scrcpy, and has no control socket.",
                "Switch scrcpy.control on in the settings.",
            )
        return await self._warm.channel(timeout_s=timeout_s)

    async def notify(self, tag: str, title: str, text: str, *, timeout_s: float = 10.0) -> None:
        """Post a notification, in the place of one with the same tag. Raises DeviceError.

        `cmd notification post` is Android's own (NotificationShellCmd); the shell is its sender.
        """
        words = " ".join(map(quote, ("-t", title, tag, text)))
        await self._shell.checked(f"cmd notification post {words}", timeout_s)

    async def notifications(self, *, timeout_s: float = 10.0) -> Shade:
        """Read what is in the phone's notification shade: foreign text. Raises DeviceError."""
        mark = f"switchboard-{token_hex(8)}"
        result = await self._shell.run(notification_command(mark), timeout_s)
        # A dump may be megabytes, and who else is served waits for nobody's shade.
        shade = await asyncio.to_thread(read_notifications, result.text, mark)
        if isinstance(shade, Unknown):
            raise DeviceError(
                f"The notifications of {self.serial} are unknown: {shade.reason}.",
                "Wait until the phone has started, then try again.",
            )
        return shade.value

    async def calls(self, *, timeout_s: float = 10.0) -> tuple[Call, ...]:
        """List the newest calls of the phone's log: foreign text. Raises DeviceError."""
        return await call_log(self._shell, timeout_s)

    async def versions(self, *, timeout_s: float = 10.0) -> PhoneVersions:
        """Return the phone's boot and the versions of its apps. Raises DeviceError."""
        return read_versions((await self._shell.run(VERSIONS_COMMAND, timeout_s)).text)

    async def capabilities(
        self, packages: Iterable[str] = (), *, timeout_s: float = 15.0
    ) -> Capabilities:
        """Return what the phone has, and these packages' versions. Raises DeviceError."""
        command = capabilities_command(tuple(packages))
        return read_capabilities((await self._shell.run(command, timeout_s)).text)

    async def local_time(self, *, timeout_s: float = 5.0) -> str:
        """Return date, time, time zone and language in one line. Raises DeviceError."""
        said = (await self._shell.run(_LOCAL_TIME, timeout_s)).text
        return ", ".join(dict.fromkeys(one_line(line, 80) for line in said.splitlines() if line))

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app. Raises DeviceError when the package has nothing to start."""
        if not PACKAGE.fullmatch(package):
            raise UsageError(
                f"{package!r} is not the name of a package.",
                "Name an app by its package, such as com.android.settings.",
            )
        async with self._acting():
            await self._starter.launch(package, timeout_s=timeout_s)

    async def open_link(self, link: str, *, timeout_s: float = 10.0) -> None:
        """Open an address (`am start -a VIEW -d`), or a page of the settings by its action.

        Raises DeviceError when no app of the phone opens it.
        """
        if link.startswith("android.settings."):
            words = f"-a {quote(link)}"
        else:
            words = f"-a android.intent.action.VIEW -d {quote(link)}"
        async with self._acting():
            result = await self._shell.run(f"am start {words}", timeout_s)
        if "Error:" in result.text or "unable to resolve" in result.text.casefold():
            raise DeviceError(
                f"No app on this phone opens {one_line(link, 100)}.",
                "Open the app for it, and navigate there.",
            )
        if result.exit_code != 0:
            raise self._shell.failure("am start", result)

    async def caret_to_end(self, *, timeout_s: float = 5.0) -> None:
        """See `PlacesCaret.caret_to_end`; before Android 12 it ends a line, not the text."""
        profile = await self._shell.profile(timeout_s=timeout_s)
        async with self._acting():
            await self._shell.checked(caret_to_end(sdk=profile.sdk), timeout_s)

    async def rotate(self, how: str, *, timeout_s: float = 10.0) -> bool | None:
        """Turn the screen; see `TurnsScreen.rotate`."""
        lines = rotation_commands(how)
        was = follows((await self._shell.run(READ_AUTO_ROTATE, timeout_s)).text)
        for line in lines:
            async with self._acting():
                result = await self._shell.run(line, timeout_s)
            if result.exit_code != 0:
                raise self._shell.failure("settings put", result)
        return was

    @asynccontextmanager
    async def _acting(self) -> AsyncIterator[None]:
        """Have frames looked at again after an action, also after one that failed half-way."""
        if self._may_act is not None:
            self._may_act()
        try:
            yield
        finally:
            if self._on_action is not None:
                self._on_action()
