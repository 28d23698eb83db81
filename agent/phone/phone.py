"""One virtual phone: its state, windows, input and display.

The seam between the phone's inside and whoever serves it over adb. It keeps the parts together and
holds no rules of its own: tables, activities, touch, keys, scenes and painting are modules beside
it. All calls come from one asyncio loop; only `paint_scene` may run in a thread. Invariant: every
change goes through `invalidate`, so `frame_version` never misses one.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from agent.errors import PhoneError
from agent.phone import keys, persistence
from agent.phone.activities import (
    HOME_PACKAGE,
    Activities,
    short_component,
)  # fmt: skip
from agent.phone.app import App, Seed
from agent.phone.apps import all_apps, app_of
from agent.phone.packages import PackageTable
from agent.phone.properties import factory_properties
from agent.phone.records import (
    STATE_FORMAT,
    DisplayState,
    Notice,
    NotIdleError,
    NullRootError,
    PageState,
    PhoneState,
    StartResult,
    TaskState,
    UnknownActivityError,
    WindowInfo,
)  # fmt: skip
from agent.phone.scene import Scene, Surface
from agent.phone.settings import SettingsTable
from agent.phone.touch import EDGE_DP, Touch
from agent.phone.ui.bind import field_state, find
from agent.phone.ui.dump import dump
from agent.phone.ui.views import Kind, View

if TYPE_CHECKING:
    from PIL import Image

log = logging.getLogger(__name__)

WIDTH, HEIGHT, DENSITY = 1080, 2400, 420
TAP_S = 0.05
TOAST_S = 2.5
SAVE_DELAY_S = 0.4
TRANSITION_S = 0.2
FRAME_KEPT_S = 5.0
MOVE_STEP_S = 1 / 60


class Phone:
    """Simulate one phone whose state persists in the directory `home`.

    Raises:
        PhoneError: the directory cannot be read.
    """

    def __init__(
        self, home: Path, *, name: str = "virtual-1", seed: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.home = Path(home)
        self.name = name
        self.seed = seed
        self.messages: list[str] = []
        """What happened at start that somebody should know, such as a damaged state file."""
        self._clock = clock
        self._version = 1
        self._minute = -1
        self._scenes: dict[int, Scene] = {}
        self._frames: dict[int, tuple[int, Image.Image]] = {}
        self._waiters: set[asyncio.Future[None]] = set()
        self._pressed: tuple[PageState, str] | None = None
        self._last_touched: PageState | None = None
        self._busy_until = 0.0
        self._save_timer: asyncio.TimerHandle | None = None
        self._frame_timer: asyncio.TimerHandle | None = None
        self._unsaved = False
        self._after_prompt: Callable[[], None] | None = None
        self._apps: dict[str, msgspec.Struct] = {}
        self._factory: bytes | None = None
        self.toast_text = ""
        self.shade = ""
        """"" closed, "notifications" or "quick_settings"."""
        self.properties = factory_properties(
            name, seed, width=WIDTH, height=HEIGHT, density=DENSITY
        )
        self.settings = SettingsTable(self._setting_changed)
        self.packages = PackageTable(
            app.info(10040 + i) for i, app in enumerate(all_apps().values())
        )
        self.state_record = PhoneState()
        self.activities = Activities(lambda: self.state_record, self.packages, self.now)
        self._touch = Touch(self)
        self._load()

    # -- facts ---------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """The default display's width as it is held, in pixels."""
        return self.display_size(0)[0]

    @property
    def height(self) -> int:
        """The default display's height as it is held, in pixels."""
        return self.display_size(0)[1]

    @property
    def density(self) -> int:
        """The default display's density in dots per inch."""
        return self._display(0).density

    @property
    def rotation(self) -> int:
        """How the default display is turned, in quarter turns."""
        return int(self.settings.number("system", "user_rotation", 0)) % 4

    @property
    def screen_on(self) -> bool:
        return self.state_record.screen_on

    @property
    def locked(self) -> bool:
        return self.state_record.locked

    @property
    def keyboard_shown(self) -> bool:
        return self.state_record.keyboard_shown

    @property
    def clipboard(self) -> str:
        return self.state_record.clipboard

    def now(self) -> float:
        """Return the phone's time in seconds since the epoch."""
        return self._clock()

    def displays(self) -> list[DisplayState]:
        """Return every display, the default one first."""
        return list(self.state_record.displays)

    def display_size(self, display: int) -> tuple[int, int, int]:
        """Return a display's width, height and density as it is held.

        Raises:
            PhoneError: there is no such display.
        """
        d = self._display(display)
        turned = display == 0 and self.rotation % 2 == 1
        return (d.height, d.width, d.density) if turned else (d.width, d.height, d.density)

    def set_display(
        self, *, width: int = 0, height: int = 0, density: int = 0, display: int = 0
    ) -> None:
        """Override a display's size or density, as `wm size` and `wm density` do.

        Raises:
            PhoneError: the values are not ones a display can have.
        """
        d = self._display(display)
        new = (width or d.width, height or d.height, density or d.density)
        if not (200 <= new[0] <= 4096 and 200 <= new[1] <= 4096 and 72 <= new[2] <= 1000):
            raise PhoneError(
                f"A display cannot be {new[0]}x{new[1]} at density {new[2]}.",
                "Give sides from 200 to 4096 pixels and a density from 72 to 1000.",
            )
        d.width, d.height, d.density = new
        self.invalidate()

    def add_display(self, width: int, height: int, density: int, name: str = "") -> int:
        """Add a virtual display and return its id."""
        number = max(d.id for d in self.state_record.displays) + 1
        self.state_record.displays.append(
            DisplayState(number, width, height, density, name or f"Display {number}")
        )
        self.invalidate()
        return number

    def remove_display(self, display: int) -> None:
        """Remove a virtual display and end its tasks."""
        if display == 0:
            return
        self.activities.move_display(display)
        self.state_record.displays = [d for d in self.state_record.displays if d.id != display]
        self._scenes.pop(display, None)
        self._frames.pop(display, None)
        self.invalidate()

    def _display(self, display: int) -> DisplayState:
        for d in self.state_record.displays:
            if d.id == display:
                return d
        raise PhoneError(f"The phone {self.name} has no display {display}.", "See dumpsys display.")

    # -- change and frames ---------------------------------------------------------------------

    @property
    def frame_version(self) -> int:
        """A number that grows whenever pixels may have changed; the clock's minute counts."""
        minute = int(self.now() // 60)
        if minute != self._minute:
            self._minute = minute
            self._forget_scenes()
        return self._version

    def invalidate(self) -> None:
        """Say that something changed: scenes are built again, waiters wake, the state is saved."""
        self._forget_scenes()
        self._unsaved = True
        self._plan_save()

    def _forget_scenes(self) -> None:
        self._version += 1
        self._scenes.clear()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_frame(self, newer_than: int) -> int:
        """Return the frame version as soon as it is newer than the one given."""
        while self.frame_version <= newer_than:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout(60.05 - self.now() % 60):
                    await waiter
            except TimeoutError:
                continue
            finally:
                self._waiters.discard(waiter)
        return self._version

    def scene(self, display: int = 0) -> Scene:
        """Return the current scene of a display, built when something changed since."""
        from agent.phone.stage import build_scene

        _ = self.frame_version
        scene = self._scenes.get(display)
        if scene is None:
            scene = self._scenes[display] = build_scene(self, display)
        return scene

    def screenshot(self, display: int = 0) -> Image.Image:
        """Return the screen at full size, RGBA; the same object while nothing changes."""
        version = self.frame_version
        kept = self._frames.get(display)
        if kept is not None and kept[0] == version:
            return kept[1]
        image = self.paint_scene(self.scene(display)).convert("RGBA")
        self._frames[display] = (version, image)
        self._plan_forgetting()
        return image

    def render(self, width: int, height: int, display: int = 0) -> Image.Image:
        """Draw the screen straight at a size, RGB; for video."""
        return self.paint_scene(self.scene(display), width, height)

    def paint_scene(self, scene: Scene, width: int = 0, height: int = 0) -> Image.Image:
        """Paint a scene; safe to call in a thread."""
        from agent.phone.paint import draw_scene

        return draw_scene(scene, self.seed, width, height)

    def _plan_forgetting(self) -> None:
        """Let go of full-size frames once nobody asks for them, so that idle phones stay small."""
        if self._frame_timer is not None:
            self._frame_timer.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._frame_timer = loop.call_later(FRAME_KEPT_S, self._frames.clear)

    @property
    def idle(self) -> bool:
        """Whether nothing is moving on the screen."""
        return time.monotonic() >= self._busy_until

    async def wait_idle(self, timeout_s: float = 10.0) -> bool:
        """Wait until nothing moves; return False when that took too long."""
        deadline = time.monotonic() + timeout_s
        while not self.idle:
            left = min(self._busy_until, deadline) - time.monotonic()
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(max(left, 0.001))
        return True

    def busy_for(self, seconds: float) -> None:
        """Keep the screen from being idle for a while, as an animation does."""
        self._busy_until = max(self._busy_until, time.monotonic() + seconds)

    def _transition(self) -> None:
        scale = self.settings.number("global", "transition_animation_scale", 1.0)
        self.busy_for(TRANSITION_S * min(max(scale, 0.0), 2.0))

    def dump_hierarchy(self, *, compressed: bool = False, display: int = 0) -> str:
        """Return the focused window's tree as `uiautomator dump` writes it.

        Raises:
            NotIdleError: something is moving on the screen.
            NullRootError: no window has a tree.
        """
        if not self.idle:
            raise NotIdleError(
                "ERROR: could not get idle state.", "Wait until the animation has ended."
            )
        scene = self.scene(display)
        surface = scene.focused()
        if surface is None:
            raise NullRootError(
                "ERROR: null root node returned by UiTestAutomationBridge.",
                "Wake the screen or start an activity.",
            )
        return dump(surface.root, surface.package, self.rotation if not display else 0,
                    compressed=compressed)  # fmt: skip

    # -- windows -------------------------------------------------------------------------------

    def windows(self, display: int = 0) -> list[WindowInfo]:
        """Return the windows of a display, topmost first."""
        scene = self.scene(display)
        focused = scene.focused()
        return [self._info(s, scene, focused) for s in reversed(scene.surfaces)]

    @property
    def focused_window(self) -> WindowInfo | None:
        """The window that has the focus on the default display."""
        scene = self.scene()
        surface = scene.focused()
        return None if surface is None else self._info(surface, scene, surface)

    @property
    def focused_app(self) -> str:
        """The component in front on the default display, as `pkg/.Activity`."""
        top = self.activities.top()
        return "" if top is None else short_component(top[0].package, top[1].activity)

    def _info(self, s: Surface, scene: Scene, focused: Surface | None) -> WindowInfo:
        return WindowInfo(
            s.title, s.package, s.activity, s.token, s.type, tuple(s.frame), scene.display,
            s.task_id, s is focused, s.secure,
        )  # fmt: skip

    def tasks(self) -> list[TaskState]:
        """Return the tasks, front to back."""
        return list(reversed(self.state_record.tasks))

    # -- starting and ending -------------------------------------------------------------------

    def start_activity(
        self, *, component: str | None = None, package: str | None = None,
        action: str | None = None, data: str | None = None,
        extras: Mapping[str, str] | None = None, display: int = 0,
    ) -> StartResult:  # fmt: skip
        """Start the activity an intent means.

        Raises:
            UnknownActivityError: nothing answers it.
            PhoneError: there is no such display.
        """
        self._display(display)
        if action == "android.intent.action.MAIN" and not package and not component:
            return self._went_home()
        info, activity = self.activities.resolve(
            component=component, package=package, action=action, data=data
        )
        args = {k: str(v) for k, v in (extras or {}).items()}
        if data:
            args["data"] = data
        if info.package == HOME_PACKAGE:
            return self._went_home()
        result = self.activities.start(info, activity, args, display=display)
        self._left_page()
        return result

    def launch(self, package: str, display: int = 0) -> StartResult:
        """Start a package as its launcher icon does.

        Raises:
            UnknownActivityError: it has no launcher icon.
        """
        info, activity = self.activities.resolve(
            component=None, package=package, action=None, data=None
        )
        result = self.activities.start(info, activity, {}, display=display, as_launcher=True)
        self._left_page()
        return result

    def launch_if_there(self, package: str) -> bool:
        """Start a package if it is installed; return whether it was."""
        try:
            self.launch(package)
        except UnknownActivityError:
            return False
        return True

    def force_stop(self, package: str) -> None:
        """End every task of a package; its data stays."""
        self.activities.remove(package)
        self._left_page()

    def clear(self, package: str) -> None:
        """End a package's tasks and put its data and permissions back to new.

        Raises:
            PhoneError: there is no such package.
        """
        if package not in self.packages:
            raise PhoneError(f"Failed: {package} is not installed.", "See pm list packages.")
        self.activities.remove(package)
        app = app_of(package)
        if app is not None:
            self._apps[package] = app.seed(self._seed_for(package))
        self.state_record.granted.pop(package, None)
        self._left_page()

    def uninstall(self, package: str) -> None:
        """Remove an installed package with its tasks and data.

        Raises:
            PhoneError: it is built in, or not there.
        """
        self.packages.remove(package)
        self.activities.remove(package)
        self._apps.pop(package, None)
        self._left_page()

    def _went_home(self) -> StartResult:
        result = self.activities.go_home()
        self.activities.top()[1].local.pop("mode", None)  # type: ignore[index]
        self._left_page()
        return result

    def _left_page(self) -> None:
        """Do what every change of the page in front brings: no keyboard, a transition."""
        self.state_record.keyboard_shown = False
        self.shade = ""
        self._pressed = None
        self._transition()
        self.invalidate()

    # -- input ---------------------------------------------------------------------------------

    async def tap(self, x: float, y: float, display: int = 0) -> None:
        """Tap a point in display pixels."""
        self._touch.down(0, x, y, display)
        await asyncio.sleep(TAP_S)
        self._touch.up(0, x, y, display)

    async def long_press(self, x: float, y: float, duration_ms: int, display: int = 0) -> None:
        """Hold a finger on a point."""
        self._touch.down(0, x, y, display)
        await asyncio.sleep(max(duration_ms, 0) / 1000)
        self._touch.up(0, x, y, display)

    async def swipe(
        self, x1: float, y1: float, x2: float, y2: float, duration_ms: int, display: int = 0
    ) -> None:
        """Move a finger in a straight line, taking `duration_ms`."""
        loop = asyncio.get_running_loop()
        self._touch.down(0, x1, y1, display)
        start, length = loop.time(), max(duration_ms, 1) / 1000
        while (part := (loop.time() - start) / length) < 1:
            await asyncio.sleep(min(MOVE_STEP_S, length * (1 - part)))
            part = min(1.0, (loop.time() - start) / length)
            self._touch.move(0, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, display)
        self._touch.up(0, x2, y2, display)

    async def touch(
        self, action: str, pointer_id: int, x: float, y: float, display: int = 0
    ) -> None:
        """Do one step of a gesture: `down`, `move`, `up` or `cancel` of one finger.

        Raises:
            PhoneError: the action is none of these.
        """
        match action:
            case "down":
                self._touch.down(pointer_id, x, y, display)
            case "move":
                self._touch.move(pointer_id, x, y, display)
            case "up":
                self._touch.up(pointer_id, x, y, display)
            case "cancel":
                self._touch.cancel(pointer_id, display)
            case _:
                raise PhoneError(f"Unknown touch action {action}.", "Use down, move, up or cancel.")

    async def scroll(self, x: float, y: float, dy: float, display: int = 0) -> None:
        """Turn a mouse wheel over a point; positive `dy` shows what is above, in pixels."""
        self._touch.scroll_wheel(x, y, dy, display)

    async def key(self, keycode: int, *, long_press: bool = False, meta: int = 0) -> bool:
        """Press and release a key; `meta` as in KeyEvent. Return whether it did anything."""
        return keys.press(self, keycode, long_press=long_press, meta=meta)

    async def type_text(self, text: str) -> bool:
        """Type text into the focused field; return False when no field has the focus."""
        return keys.type_text(self, text)

    def type_key(self, text: str) -> None:
        """Type what a soft key shows."""
        keys.type_text(self, text)

    def press_key(self, keycode: int) -> None:
        """Press a key of the soft keyboard."""
        keys.press(self, keycode)

    def run(self, action: Callable[[], None], surface: Surface | None = None) -> None:
        """Run an app's callback; an app that fails shows the crash dialog, the phone goes on."""
        try:
            action()
        except PhoneError as error:
            self.toast(error.message)
        except Exception:
            package = surface.package if surface is not None else "android"
            log.exception("The app %s of the phone %s failed", package, self.name)
            self.crash(package)
        self.invalidate()

    def press(self, key: str) -> None:
        """Show a view as pressed; the empty key shows none."""
        if not key and self._pressed is None:
            return
        surface_page = self._touched_page(key) if key else None
        self._pressed = (surface_page, key) if surface_page is not None else None
        self._forget_scenes()

    def _touched_page(self, key: str) -> PageState | None:
        for scene in self._scenes.values():
            for surface in reversed(scene.surfaces):
                if find(surface.root, key) is not None:
                    return surface.page
        return None

    def pressed_in(self, page: PageState) -> str:
        """Return the key of the view that is pressed on a page."""
        return self._pressed[1] if self._pressed and self._pressed[0] is page else ""

    def focus_view(self, surface: Surface, view: View, *, keyboard: bool) -> None:
        """Give a view the focus; a text field also shows the keyboard."""
        surface.page.focus = view.key
        if view.kind is Kind.FIELD:
            field_state(surface.page, view)
        self.state_record.keyboard_shown = keyboard and view.kind is Kind.FIELD
        self.invalidate()

    def focus_field(self, page: PageState, key: str) -> None:
        """Give a field of a page the focus and show the keyboard."""
        page.focus = key
        self.state_record.keyboard_shown = True
        self.invalidate()

    def hide_keyboard(self) -> None:
        """Take the keyboard away; the field keeps the focus."""
        self.state_record.keyboard_shown = False
        self.invalidate()

    def gesture_zone(self, scene: Scene, x: float, y: float) -> str:
        """Return which edge a touch starts at, if system gestures start there."""
        from agent.phone.stage import nav_dp
        from agent.phone.system.bars import STATUS_DP

        if scene.display != 0:
            return ""
        m = scene.metrics
        if y < m.px(STATUS_DP) and not self.shade:
            return "top"
        if self.locked or self.settings.get("secure", "navigation_mode") == "0":
            return ""
        if y >= scene.height - m.px(nav_dp(self)):
            return "bottom"
        if x < m.px(EDGE_DP):
            return "left"
        return "right" if x >= scene.width - m.px(EDGE_DP) else ""

    def navigate(self, name: str) -> None:
        """Do what a button of the navigation bar does."""
        self.system_gesture(name)

    def system_gesture(self, name: str) -> bool:
        """Do `back`, `home`, `recents`, `drawer`, `shade` or `quick_settings`."""
        match name:
            case "back":
                return self._back()
            case "home":
                self._went_home()
            case "recents" | "drawer":
                self._went_home()
                top = self.activities.top()
                if top is not None:
                    top[1].local["mode"] = name
                self.invalidate()
            case "shade" | "quick_settings":
                self.shade = "notifications" if name == "shade" else name
                self.state_record.keyboard_shown = False
                self._transition()
                self.invalidate()
            case _:
                return False
        return True

    def _back(self) -> bool:
        if self.keyboard_shown:
            self.hide_keyboard()
            return True
        surface = self.scene().focused()
        if surface is None:
            return False
        if surface.on_back is not None:
            handled = False

            def act() -> None:
                nonlocal handled
                handled = bool(surface.on_back and surface.on_back())

            self.run(act, surface)
            if handled:
                return True
        if self.activities.task_of(surface.page) is None:
            return False
        self.activities.finish(surface.page)
        self._left_page()
        return True

    # -- power ---------------------------------------------------------------------------------

    def sleep(self) -> None:
        """Turn the screen off and lock the phone, unless locking is disabled."""
        self._touch.cancel_all()
        self.state_record.screen_on = False
        self.state_record.locked = not self.settings.flag("secure", "lockscreen.disabled")
        self.state_record.keyboard_shown = False
        self.shade = ""
        self.invalidate()

    def wake(self) -> None:
        """Turn the screen on."""
        self.state_record.screen_on = True
        self.invalidate()

    def unlock(self) -> None:
        """Take the lock screen away."""
        self.state_record.locked = False
        self._transition()
        self.invalidate()

    # -- what apps and system pages ask --------------------------------------------------------

    def open_page(
        self, page: PageState, package: str, activity: str, args: Mapping[str, str]
    ) -> None:
        """Start an activity from a page, as an app does.

        Raises:
            UnknownActivityError: there is no such activity.
        """
        info = self.packages.get(package)
        app = app_of(package)
        name = app.full_name(activity) if app is not None else activity
        if info is None or name not in info.activities:
            raise UnknownActivityError(
                f"Activity class {{{package}/{name}}} does not exist.", "Name another activity."
            )
        self.activities.start(info, name, args, caller=page)
        self._left_page()

    def close_page(self, page: PageState) -> None:
        """Finish a page."""
        self.activities.finish(page)
        self._left_page()

    def toast(self, text: str) -> None:
        """Show a short message for a few seconds."""
        self.toast_text = text
        self.invalidate()

        def over() -> None:
            if self.toast_text == text:
                self.toast_text = ""
                self._forget_scenes()

        self.after(TOAST_S, over)

    def after(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call something later on the phone's loop; at once where no loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            call()
            return
        loop.call_later(delay_s, lambda: self.run(call))

    def notify(self, notice: Notice) -> None:
        """Put a notification in the shade, in place of one with the same id."""
        kept = [n for n in self.state_record.notices if n.id != notice.id]
        self.state_record.notices = [notice, *kept]
        self.invalidate()

    def notices(self) -> list[Notice]:
        """Return the notifications, the newest first."""
        return list(self.state_record.notices)

    def open_notice(self, notice_id: int) -> None:
        """Open what a notification is about and take it away."""
        notice = next((n for n in self.state_record.notices if n.id == notice_id), None)
        if notice is None:
            return
        self.dismiss_notice(notice_id)
        self.shade = ""
        if notice.activity:
            self.open_page(PageState(""), notice.package, notice.activity, notice.args)
        else:
            self.launch_if_there(notice.package)

    def dismiss_notice(self, notice_id: int) -> None:
        """Take a notification away."""
        self.state_record.notices = [n for n in self.state_record.notices if n.id != notice_id]
        self.invalidate()

    def close_shade(self) -> bool:
        """Close the shade; return whether it was open."""
        was = bool(self.shade)
        self.shade = ""
        self.invalidate()
        return was

    def expand_shade(self, expanded: bool) -> None:
        """Show all quick settings, or the notifications."""
        self.shade = "quick_settings" if expanded else "notifications"
        self.invalidate()

    def set_dark(self, on: bool) -> None:
        """Switch the dark theme."""
        self.settings.put("secure", "ui_night_mode", "2" if on else "1")

    def set_clipboard(self, text: str) -> None:
        """Replace the clipboard's text."""
        self.state_record.clipboard = text
        self.invalidate()

    def next_id(self) -> int:
        """Return a number that was not given out before."""
        self.state_record.next_id += 1
        return self.state_record.next_id

    def recent_tasks(self) -> list[TaskState]:
        """Return the tasks of apps, the newest first."""
        return [t for t in self.tasks() if t.package != HOME_PACKAGE and t.display == 0]

    def bring_forward(self, task_id: int) -> None:
        """Bring a task to the front."""
        self.activities.bring_forward(task_id)
        self._left_page()

    def remove_task(self, task_id: int) -> None:
        """End a task."""
        self.activities.remove_task(task_id)
        self.invalidate()

    def require_permission(self, package: str, permission: str, then: Callable[[], None]) -> None:
        """Do something that needs a permission: at once when granted, else ask."""
        if permission in self.state_record.granted.get(package, []):
            then()
            return
        self._after_prompt = then
        self.state_record.system["prompt"] = PageState(
            "prompt", local={"kind": "permission", "package": package, "permission": permission}
        )
        self.state_record.keyboard_shown = False
        self.invalidate()

    def crash(self, package: str, *, hangs: bool = False) -> None:
        """Show the dialog of an app that stopped, or of one that hangs."""
        self.state_record.system["prompt"] = PageState(
            "prompt", local={"kind": "anr" if hangs else "crash", "package": package}
        )
        if not hangs:
            self.activities.remove(package)
        self.state_record.keyboard_shown = False
        self.invalidate()

    def answer_prompt(self, answer: str) -> None:
        """Answer the system dialog that is shown."""
        prompt = self.state_record.system.pop("prompt", None)
        then, self._after_prompt = self._after_prompt, None
        if prompt is None:
            return
        package = prompt.local.get("package", "")
        if prompt.local.get("kind") == "permission":
            if answer in ("allow", "once"):
                self.grant(package, prompt.local.get("permission", ""))
                if then is not None:
                    self.run(then)
        elif answer == "close":
            self.activities.remove(package)
        elif answer == "app_info":
            self.open_page(
                PageState(""), "com.android.settings",
                "com.android.settings.applications.InstalledAppDetails", {"package": package},
            )  # fmt: skip
        self.invalidate()

    def grant(self, package: str, permission: str) -> None:
        """Grant a permission to a package."""
        granted = self.state_record.granted.setdefault(package, [])
        if permission not in granted:
            granted.append(permission)
        self.invalidate()

    def revoke(self, package: str, permission: str) -> None:
        """Take a permission back."""
        granted = self.state_record.granted.get(package, [])
        if permission in granted:
            granted.remove(permission)
        self.invalidate()

    def app_state(self, package: str) -> msgspec.Struct | None:
        """Return an app's state, or None where the package has none."""
        app = app_of(package)
        return None if app is None else self.app_data(app)

    def app_data(self, app: App[msgspec.Struct]) -> msgspec.Struct:
        """Return the state of an app, made from its seed the first time."""
        data = self._apps.get(app.package)
        if data is None:
            data = self._apps[app.package] = app.seed(self._seed_for(app.package))
        return data

    def _seed_for(self, package: str) -> Seed:
        return Seed(random.Random(f"{self.seed}/{package}"), self.now())

    def _setting_changed(self, namespace: str, key: str) -> None:
        if key == "user_rotation":
            self._transition()
        self.invalidate()

    # -- truth and persistence -----------------------------------------------------------------

    def state(self) -> dict[str, object]:
        """Return the true state as JSON values: settings, apps' data, what is in front."""
        record = self.state_record
        apps = {
            package: msgspec.to_builtins(self.app_data(app))
            for package, app in all_apps().items()
            if app.state.__struct_fields__
        }
        s = self.settings
        focused = self.focused_window
        return {
            "name": self.name,
            "time": self.now(),
            "foreground": self.focused_app,
            "focused_window": focused.title if focused is not None else None,
            "screen_on": record.screen_on,
            "locked": record.locked,
            "rotation": self.rotation,
            "keyboard_shown": record.keyboard_shown,
            "clipboard": record.clipboard,
            "wifi": s.flag("global", "wifi_on"),
            "bluetooth": s.flag("global", "bluetooth_on"),
            "airplane_mode": s.flag("global", "airplane_mode_on"),
            "dark_theme": s.get("secure", "ui_night_mode") == "2",
            "settings": {ns: s.list(ns) for ns in ("system", "secure", "global")},
            "packages": [p.package for p in self.packages],
            "tasks": msgspec.to_builtins(self.tasks()),
            "notifications": msgspec.to_builtins(record.notices),
            "granted": msgspec.to_builtins(record.granted),
            "battery": {"level": record.battery_level, "charging": record.battery_charging},
            "apps": apps,
        }

    def snapshot(self) -> bytes:
        """Return everything that `restore` needs, as JSON."""
        record = self.state_record
        record.settings = self.settings.differences()
        record.properties = self.properties.overrides()
        record.installed = self.packages.installed()
        record.apps = {
            package: msgspec.Raw(msgspec.json.encode(data)) for package, data in self._apps.items()
        }
        return msgspec.json.encode(record)

    def restore(self, data: bytes) -> None:
        """Go back to a snapshot.

        Raises:
            PhoneError: it is not a snapshot of this version; nothing is changed then.
        """
        try:
            record = msgspec.json.decode(data, type=PhoneState)
            apps: dict[str, msgspec.Struct] = {}
            for package, raw in record.apps.items():
                app = app_of(package)
                if app is not None:
                    apps[package] = msgspec.json.decode(raw, type=app.state)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            raise PhoneError(
                f"The snapshot of the phone {self.name} cannot be read: {error}.",
                "Take a new one, or reset the phone.",
            ) from error
        if record.format != STATE_FORMAT or not record.displays:
            raise PhoneError(
                f"The snapshot of the phone {self.name} has format {record.format}, "
                f"not {STATE_FORMAT}.",
                "Take a new one, or reset the phone.",
            )
        self._touch.cancel_all()
        self._after_prompt = None
        self.shade = self.toast_text = ""
        self._pressed = None
        self._apps = apps
        self.state_record = record
        record.apps = {}
        self.settings.load_differences(record.settings)
        self.properties.load_overrides(record.properties)
        self.packages.load_installed(record.installed)
        self.activities.ensure_home()
        self._busy_until = 0.0
        self.invalidate()

    def reset(self) -> None:
        """Put the phone back to what its seed makes; the display size too."""
        self.restore(self._factory_state())

    def _factory_state(self) -> bytes:
        if self._factory is None:
            record = PhoneState(
                displays=[DisplayState(0, WIDTH, HEIGHT, DENSITY, "Built-in Screen")],
                apps={
                    package: msgspec.Raw(msgspec.json.encode(app.seed(self._seed_for(package))))
                    for package, app in all_apps().items()
                },
            )
            self._factory = msgspec.json.encode(record)
        return self._factory

    def _load(self) -> None:
        data = persistence.read_state(self.home)
        if data is None:
            self.reset()
            return
        try:
            self.restore(data)
        except PhoneError as error:
            aside = persistence.quarantine(self.home)
            message = f"{error.message} It was set aside as {aside.name}; the phone starts afresh."
            self.messages.append(message)
            log.warning("%s", message)
            self.reset()

    def save(self) -> None:
        """Write the state to disk now.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        if self._save_timer is not None:
            self._save_timer.cancel()
            self._save_timer = None
        persistence.write_state(self.home, self.snapshot())
        self._unsaved = False

    def close(self) -> None:
        """Save what is not saved yet and stop every timer."""
        self._touch.cancel_all()
        if self._frame_timer is not None:
            self._frame_timer.cancel()
        if self._unsaved:
            self.save()
        if self._save_timer is not None:
            self._save_timer.cancel()

    def _plan_save(self) -> None:
        if self._save_timer is not None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._save_timer = loop.call_later(SAVE_DELAY_S, self._autosave)

    def _autosave(self) -> None:
        self._save_timer = None
        try:
            self.save()
        except PhoneError as error:
            if error.message not in self.messages:
                self.messages.append(error.message)
                log.warning("%s", error)


__all__ = ["Phone", "cast"]
