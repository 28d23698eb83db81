"""One virtual phone: the seam between its parts and whoever serves it over adb.

Each subject is an object of its own, such as `phone.displays` or `phone.activities`; here is what
concerns the whole phone. All calls come from one asyncio loop; only `Compositor.paint` may run in a
thread. Invariants: every change goes through `invalidate`; `restore(snapshot())` changes nothing.
"""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from virtual_phone.activities import Activities
from virtual_phone.apps import app_of
from virtual_phone.display.animations import Animations
from virtual_phone.display.compositor import Compositor
from virtual_phone.display.displays import Displays
from virtual_phone.display.form_factor import FormFactor
from virtual_phone.display.rotation import Rotation
from virtual_phone.display.scene import Surface
from virtual_phone.display.windows import Windows
from virtual_phone.errors import PhoneError
from virtual_phone.input.clipboard import Clipboard
from virtual_phone.input.focus import Focus
from virtual_phone.input.gestures import Gestures
from virtual_phone.input.keys import Keys
from virtual_phone.input.navigation import Navigation
from virtual_phone.input.press_highlight import PressHighlight
from virtual_phone.input.touch import Touch
from virtual_phone.notices import Notifications, Shade, Toasts
from virtual_phone.packages.installed import PackageTable
from virtual_phone.packages.permissions import Permissions
from virtual_phone.power import Power
from virtual_phone.running import AppProcesses
from virtual_phone.state import persistence
from virtual_phone.state.app_data import AppData
from virtual_phone.state.autosave import Autosave
from virtual_phone.state.factory import built_in, factory, whole_minute
from virtual_phone.state.properties import factory_properties
from virtual_phone.state.records import STATE_FORMAT, PhoneState
from virtual_phone.state.settings_provider import SettingsTable
from virtual_phone.state.storage import FirstFile, SharedStorage
from virtual_phone.state.truth import Truth
from virtual_phone.system.prompts import Prompts
from virtual_phone.task_stack import TaskStack
from virtual_phone.timing import LoopTiming, Timing
from virtual_phone.well_formed import json_of, well_formed_value

log = logging.getLogger(__name__)


class Phone:
    """Simulate one phone whose state persists in the directory `home`.

    Args:
        profile: what kind of phone (`virtual_phone.state.profiles`); the kind it was by default.
        android: which version; the one it had, or its kind has, by default.
        timing: the time that gestures and animations take; the running loop's by default.
        storage: its /sdcard, where that is not kept in `home`. Such a phone lives in the process of
            an episode: its state is not saved, and its frames stay in memory.

    Raises:
        PhoneError: the directory cannot be read, or there is no such kind or version.
    """

    def __init__(
        self,
        home: Path,
        *,
        name: str = "virtual-1",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
        profile: str | None = None,
        android: int | None = None,
        timing: Timing | None = None,
        storage: SharedStorage | None = None,
    ) -> None:
        self.home = Path(home)
        self.name: str = name
        self.seed = seed
        self.timing: Timing = timing or LoopTiming()
        self.messages: list[str] = []
        """What happened at start that somebody should know, such as a damaged state file."""
        self.closed = False
        self.refuses_injection = False
        """Whether touches and keys from adb are refused, as makers' phones do by default."""
        self._clock = clock
        self._born: float | None = None
        self.state_record: PhoneState = PhoneState()
        self.properties = factory_properties(name, seed)
        self.settings: SettingsTable = SettingsTable(self._setting_changed)
        self.packages: PackageTable = PackageTable(built_in())
        self.tasks: TaskStack = TaskStack(lambda: self.state_record, self.packages)
        self.app_data: AppData = AppData(seed, self.now)
        self.displays: Displays = Displays(self)
        self.form_factor: FormFactor = FormFactor(self, profile, android)
        self.animations: Animations = Animations(
            self.settings, self.timing, lambda: self.touch.gliding
        )
        self.rotation: Rotation = Rotation(self)
        self.compositor: Compositor = Compositor(self, keeps_frames=storage is not None)
        self.windows: Windows = Windows(self)
        self.toasts: Toasts = Toasts(self)
        self.notifications: Notifications = Notifications(self)
        self.shade: Shade = Shade(self.invalidate)
        self.power: Power = Power(self)
        self.activities: Activities = Activities(self)
        self.processes: AppProcesses = AppProcesses(self.packages, self.tasks.packages)
        self.permissions: Permissions = Permissions(self)
        self.prompts: Prompts = Prompts(self)
        self.clipboard: Clipboard = Clipboard(self)
        self.focus: Focus = Focus(self)
        self.pressed: PressHighlight = PressHighlight(self.compositor)
        self.touch: Touch = Touch(self)
        self.gestures: Gestures = Gestures(self.touch, self.timing)
        self.navigation: Navigation = Navigation(self)
        self.keys: Keys = Keys(self)
        self._autosave = Autosave(self) if storage is None else None
        self.storage: SharedStorage = storage or SharedStorage(
            self.home / "files" / "sdcard", self._first_files, self.invalidate
        )
        if self._autosave is None:
            self.reset()
        else:
            self._load()
        self.form_factor.apply()

    def now(self) -> float:
        """Return the phone's time in seconds since the epoch."""
        return self._clock()

    def after(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call something later in the phone's time; at once where that does not go on."""
        planned = self.timing.later(delay_s, lambda: None if self.closed else self.run(call))
        if planned is None:
            call()

    def run(self, action: Callable[[], object], surface: Surface | None = None) -> None:
        """Run an app's callback; an app that fails shows the crash dialog, the phone goes on."""
        try:
            action()
        except PhoneError as error:
            self.toasts.show(error.message)
        except Exception:
            package = surface.package if surface is not None else "android"
            log.exception("The app %s of the phone %s failed", package, self.name)
            self.prompts.crash(package)
        self.invalidate()

    def invalidate(self) -> None:
        """Note a change: scenes are built again, waiters wake, the state is saved."""
        self.compositor.forget()
        if self._autosave is not None:
            self._autosave.note_change()

    def _setting_changed(self, namespace: str, key: str) -> None:
        if key == "accelerometer_rotation" and self.settings.flag(namespace, key):
            self.rotation.freed()
        if key in ("user_rotation", "accelerometer_rotation"):
            self.animations.begin()
        self.invalidate()

    def report(self, message: str) -> None:
        """Keep a message for whoever serves the phone, once."""
        if message not in self.messages:
            self.messages.append(message)
            log.warning("%s", message)

    # -- truth and persistence

    def state(self) -> dict[str, object]:
        """Return the true state as JSON values: settings, apps' data, what is in front."""
        truth = dict(Truth(self))
        truth["apps"] = dict(cast("Mapping[str, object]", truth["apps"]))
        try:
            msgspec.json.encode(truth)
        except UnicodeEncodeError:
            # Files may have names that are no text.
            return msgspec.convert(well_formed_value(truth), dict[str, object])
        return truth

    def snapshot(self) -> bytes:
        """Return everything that `restore` needs, as JSON, whatever the phone's strings hold."""
        record = self.state_record
        record.settings = self.settings.differences()
        record.properties = self.properties.overrides()
        record.installed = self.packages.installed()
        record.apps = self.app_data.raw()
        encoded = json_of(record)
        record.apps = {}
        return encoded

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
        record.apps = {}
        self._adopt(record, apps, {})

    def reset(self) -> None:
        """Put the phone back to what its seed makes; the display size too.

        Files are put back by whoever owns them (`PhoneFiles.wipe`).
        """
        if self._born is None:
            self._born = whole_minute(self.now())
        android = self.state_record.android
        new = factory(self.seed, self._born, self.form_factor.profile.name)
        self._adopt(msgspec.json.decode(new.record, type=PhoneState), {}, new.apps)
        self.state_record.android = android

    def _adopt(
        self, record: PhoneState, apps: dict[str, msgspec.Struct], unread: Mapping[str, bytes]
    ) -> None:
        self.touch.cancel_all()
        self.prompts.forget()
        self.shade.shown = self.toasts.shown = ""
        self.notifications.heads_up = self.focus.text_tools = None
        self.activities.forget()
        self.pressed.forget()
        self.app_data.load(apps, unread)
        self.state_record = record
        self.settings.load_differences(record.settings)
        self.properties.load_overrides(record.properties)
        self.packages.load_installed(record.installed)
        self.tasks.ensure_home()
        # Apps that ran before have ended: their next start is a cold one again.
        self.processes.all()
        self.animations.stop()
        self.invalidate()

    def save(self) -> None:
        """Write the state to disk now, where it is saved at all.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        if self._autosave is not None:
            self._autosave.save()

    def close(self) -> None:
        """Save what is not saved yet and stop every timer; nothing that comes later has an effect.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        self.closed = True
        self.touch.cancel_all()
        self.compositor.stop()
        if self._autosave is not None:
            self._autosave.finish()

    def _load(self) -> None:
        data = persistence.read_state(self.home)
        if data is None:
            self.reset()
            return
        try:
            self.restore(data)
        except PhoneError as error:
            aside = persistence.quarantine(self.home)
            self.report(
                f"{error.message} It was set aside as {aside.name}; the phone starts afresh."
            )
            self.reset()

    def _first_files(self) -> list[FirstFile]:
        from virtual_phone.state.first_files import first_files

        return first_files(self.seed, self.state_record.born or self.now())
