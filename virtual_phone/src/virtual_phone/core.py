"""The middle of a phone: its tables, displays, scenes and frames, and how a change is told.

Everything else of the phone stands on this class; it knows no gestures and no intents. Invariant:
every change goes through `invalidate`, so `frame_version` never misses one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from virtual_phone.activities import Activities
from virtual_phone.app import App, S, Seed
from virtual_phone.apps import app_of
from virtual_phone.display.rotation import Rotation
from virtual_phone.display.scene import Scene, Surface
from virtual_phone.errors import PhoneError
from virtual_phone.input.touch import Touch
from virtual_phone.packages.installed import PackageTable
from virtual_phone.state.factory import built_in, seed_for
from virtual_phone.state.properties import factory_properties
from virtual_phone.state.records import DisplayState, PageState, PhoneState, TaskState
from virtual_phone.state.settings_provider import SettingsTable
from virtual_phone.timing import LoopTiming, Timer, Timing

if TYPE_CHECKING:
    from PIL import Image

    from virtual_phone.phone import Phone

log = logging.getLogger(__name__)

WIDTH, HEIGHT, DENSITY = 1080, 2400, 420
TAP_S = 0.05
TOAST_S = 2.5
SAVE_DELAY_S = 0.4
TRANSITION_S = 0.2
FRAME_KEPT_S = 5.0
MOVING_HZ = 30
MOVE_STEP_S = 1 / 60


class Core:
    """Hold the parts of one phone and draw what they say."""

    _touch: Touch

    def __init__(
        self,
        home: Path,
        *,
        name: str = "virtual-1",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
        timing: Timing | None = None,
    ) -> None:
        self.timing: Timing = timing or LoopTiming()
        self.home = Path(home)
        self.name: str = name
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
        self._busy_until = 0.0
        self._moving_since = self._moving_s = 0.0
        self._moving_step = 0
        self._save_timer: Timer | None = None
        self._frame_timer: Timer | None = None
        self._unsaved = False
        self._closed = False
        self._apps: dict[str, msgspec.Struct] = {}
        self._unread: Mapping[str, bytes] = {}
        """States of apps that nobody has looked at, as JSON; shared by phones made alike."""
        self._born: float | None = None
        self.toast_text = ""
        self.text_tools: PageState | None = None
        """The page whose focused field shows the bar with cut, copy and paste."""
        self.last_toast = ""
        self.toasts_shown = 0
        """How many toasts there were; an accessibility service hears of each."""
        self.shade = ""
        """"" closed, "notifications" or "quick_settings"."""
        self.properties = factory_properties(
            name, seed, width=WIDTH, height=HEIGHT, density=DENSITY
        )
        self.settings: SettingsTable = SettingsTable(self._setting_changed)
        self.rotation: Rotation = Rotation(self)
        self.packages: PackageTable = PackageTable(built_in())
        self.state_record: PhoneState = PhoneState()
        self.activities = Activities(lambda: self.state_record, self.packages, self.now)

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

    def tasks(self) -> list[TaskState]:
        """Return the tasks, front to back."""
        return list(reversed(self.state_record.tasks))

    def displays(self) -> list[DisplayState]:
        """Return every display, the default one first."""
        return list(self.state_record.displays)

    def display_size(self, display: int) -> tuple[int, int, int]:
        """Return a display's width, height and density as it is held.

        Raises:
            PhoneError: there is no such display.
        """
        d = self._display(display)
        turned = display == 0 and self.rotation.quarters % 2 == 1
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

    # -- change and frames

    @property
    def frame_version(self) -> int:
        """A number that grows whenever pixels may have changed; the clock's minute counts."""
        minute = int(self.now() // 60)
        if minute != self._minute:
            self._minute = minute
            self._forget_scenes()
        if self._moving_s:
            step = int(self._moved_s() * MOVING_HZ)
            if step != self._moving_step:
                self._moving_step = step
                self._version += 1
            if self._moved_s() >= self._moving_s:
                self._moving_s = 0.0
                self._version += 1
        return self._version

    def _moved_s(self) -> float:
        return self.timing.monotonic() - self._moving_since

    def invalidate(self) -> None:
        """Note a change: scenes are built again, waiters wake, the state is saved."""
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
                left_s = 60.05 - self.now() % 60
                async with asyncio.timeout(1 / MOVING_HZ if self._moving_s else left_s):
                    await waiter
            except TimeoutError:
                continue
            finally:
                self._waiters.discard(waiter)
        return self._version

    def _plan_save(self) -> None:
        raise NotImplementedError

    def run(self, action: Callable[[], None], surface: Surface | None = None) -> None:
        """Run a callback of a page."""
        raise NotImplementedError

    def scene(self, display: int = 0) -> Scene:
        """Return the current scene of a display, built when something changed since."""
        from virtual_phone.display.scene_builder import build_scene

        _ = self.frame_version
        scene = self._scenes.get(display)
        if scene is None:
            scene = self._scenes[display] = build_scene(cast("Phone", self), display)
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
        from virtual_phone.display.paint import draw_scene

        return draw_scene(scene, self.seed, width, height, self.part_moved(scene))

    def part_moved(self, scene: Scene) -> float:
        """Return how much of the transition to a scene is over, from 0 to 1."""
        if self._moving_s and scene.display == 0 and not scene.still:
            return min(self._moved_s() / self._moving_s, 1.0)
        return 1.0

    def _plan_forgetting(self) -> None:
        """Let go of full-size frames once nobody asks for them, so that idle phones stay small."""
        if self._frame_timer is not None:
            self._frame_timer.cancel()
        self._frame_timer = self.timing.later(FRAME_KEPT_S, self._forget_frames)

    def _forget_frames(self) -> None:
        self._frames.clear()
        self._scenes.clear()

    @property
    def idle(self) -> bool:
        """Whether nothing is moving on the screen."""
        return self.timing.monotonic() >= self._busy_until and not self._touch.gliding

    async def wait_idle(self, timeout_s: float = 10.0) -> bool:
        """Wait until nothing moves; return False when that took too long."""
        monotonic = self.timing.monotonic
        deadline = monotonic() + timeout_s
        while not self.idle:
            left = min(self._busy_until, deadline) - monotonic()
            if self._touch.gliding:
                left = MOVE_STEP_S
            if monotonic() >= deadline:
                return False
            await self.timing.sleep(max(left, 0.001))
        return True

    def busy_for(self, seconds: float) -> None:
        """Keep the screen from being idle for a while, as an animation does."""
        self._busy_until = max(self._busy_until, self.timing.monotonic() + seconds)

    def transition(self) -> None:
        """Show the change as one that takes a moment: the screen is not idle until then."""
        scale = self.settings.number("global", "transition_animation_scale", 1.0)
        length_s = TRANSITION_S * min(max(scale, 0.0), 2.0)
        self.busy_for(length_s)
        self._moving_since, self._moving_s = self.timing.monotonic(), length_s
        self._moving_step = 0

    def app_state(self, package: str) -> msgspec.Struct | None:
        """Return an app's state, or None where the package has none."""
        app = app_of(package)
        return None if app is None else self.app_data(app)

    def app_data(self, app: App[S]) -> S:
        """Return the state of an app, made from its seed the first time."""
        data = self._apps.get(app.package)
        if data is None:
            raw = self._unread.get(app.package)
            data = self._apps[app.package] = (
                app.seed(self._seed_for(app.package))
                if raw is None
                else msgspec.json.decode(raw, type=app.state)
            )
        return cast("S", data)

    def _seed_for(self, package: str) -> Seed:
        return seed_for(self.seed, package, self.now())

    def after(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call something later in the phone's time; at once where that does not go on."""
        planned = self.timing.later(delay_s, lambda: None if self._closed else self.run(call))
        if planned is None:
            call()

    def _setting_changed(self, namespace: str, key: str) -> None:
        if key == "accelerometer_rotation" and self.settings.flag(namespace, key):
            self.rotation.freed()
        if key in ("user_rotation", "accelerometer_rotation"):
            self.transition()
        self.invalidate()
