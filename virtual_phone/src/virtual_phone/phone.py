"""One virtual phone: the seam between its inside and whoever serves it over adb.

What is written here is what can be seen from outside: windows, the UI dump, the true state and
its snapshots. All calls come from one asyncio loop; only `paint_scene` may run in a thread.
Invariant: `restore(snapshot())` changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from virtual_phone.activities import short_component
from virtual_phone.app import App
from virtual_phone.apps import app_of
from virtual_phone.core import SAVE_DELAY_S, log
from virtual_phone.display.scene import Scene, Surface
from virtual_phone.errors import PhoneError
from virtual_phone.input.gestures import Gestures
from virtual_phone.packages.permissions import Permissions
from virtual_phone.running import AppProcesses
from virtual_phone.state import persistence
from virtual_phone.state.factory import factory, whole_minute
from virtual_phone.state.profiles import Posture, Profile, profile_of
from virtual_phone.state.records import (
    STATE_FORMAT,
    NotIdleError,
    NullRootError,
    PhoneState,
    WindowInfo,
)
from virtual_phone.state.storage import FirstFile, SharedStorage
from virtual_phone.state.truth import Truth
from virtual_phone.system.prompts import Prompts
from virtual_phone.timing import Timing
from virtual_phone.ui.dump import dump
from virtual_phone.well_formed import json_of, well_formed_value


class Phone(Gestures):
    """Simulate one phone whose state persists in the directory `home`.

    Args:
        profile: what kind of phone (`virtual_phone.state.profiles`); the kind it was by default.
        timing: the time that gestures and animations take; the running loop's by default.

    Raises:
        PhoneError: the directory cannot be read, or there is no such kind of phone.
    """

    def __init__(
        self,
        home: Path,
        *,
        name: str = "virtual-1",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
        profile: str | None = None,
        timing: Timing | None = None,
    ) -> None:
        super().__init__(home, name=name, seed=seed, clock=clock, timing=timing)
        self._profile = profile
        self._loading = set()
        self.storage = SharedStorage(
            self.home / "files" / "sdcard", self._first_files, self.invalidate
        )
        self.processes = AppProcesses(self.packages, lambda: [t.package for t in self.tasks()])
        self.permissions = Permissions(self)
        self.prompts = Prompts(self)
        self._file = persistence.StateFile()
        self._saving: set[asyncio.Future[None]] = set()
        self._load()
        if profile is not None and self.state_record.profile != profile:
            self.state_record.profile = profile
            self.set_posture(0)
        self._apply_profile()

    @property
    def profile(self) -> Profile:
        """What kind of phone it is."""
        return profile_of(self._profile or self.state_record.profile)

    @property
    def posture(self) -> Posture:
        """How the device is held, and so which screen it has."""
        postures = self.profile.postures
        return postures[min(self.state_record.posture, len(postures) - 1)]

    def set_posture(self, number: int) -> None:
        """Fold or unfold the device: apps stay and are laid out for the other screen.

        Raises:
            PhoneError: it has no such posture.
        """
        if not 0 <= number < len(self.profile.postures):
            raise PhoneError(
                f"A {self.profile.name} has no posture {number}.",
                "See cmd device_state print-states.",
            )
        self.state_record.posture = number
        now = self.posture
        self.set_display(width=now.width, height=now.height, density=now.density)
        self.transition()

    def _apply_profile(self) -> None:
        kind = self.profile
        self.properties.set_base(
            {
                "ro.product.model": kind.model,
                "ro.product.system.model": kind.model,
                "ro.product.vendor.model": kind.model,
                "ro.build.characteristics": kind.characteristics,
                "ro.sf.lcd_density": str(kind.postures[0].density),
                "ro.virtual_phone.display": f"{kind.postures[0].width}x{kind.postures[0].height}",
            }
        )

    def _first_files(self) -> list[FirstFile]:
        from virtual_phone.state.first_files import first_files

        return first_files(self.seed, self.state_record.born or self.now())

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
        return dump(
            surface.root,
            surface.package,
            self.rotation.quarters if not display else 0,
            compressed=compressed,
        )

    # -- windows

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
            s.title,
            s.package,
            s.activity,
            s.token,
            s.type,
            s.frame,
            scene.display,
            s.task_id,
            s is focused,
            s.secure,
        )

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

    def plain_state(self, app: App[msgspec.Struct]) -> object:
        """Return an app's state as JSON values, without keeping one that nobody changed."""
        if app.package not in self._apps and app.package in self._unread:
            return msgspec.json.decode(self._unread[app.package])
        return msgspec.to_builtins(self.app_data(app))

    def snapshot(self) -> bytes:
        """Return everything that `restore` needs, as JSON, whatever the phone's strings hold."""
        record = self.state_record
        record.settings = self.settings.differences()
        record.properties = self.properties.overrides()
        record.installed = self.packages.installed()
        record.apps = {package: msgspec.Raw(raw) for package, raw in self._unread.items()}
        for package, data in self._apps.items():
            record.apps[package] = msgspec.Raw(json_of(data))
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

    def _adopt(
        self, record: PhoneState, apps: dict[str, msgspec.Struct], unread: Mapping[str, bytes]
    ) -> None:
        """Be what a record says from now on."""
        self._touch.cancel_all()
        self.prompts.forget()
        self.shade = self.toast_text = self.splash = ""
        self.heads_up = None
        self._loading.clear()
        self._pressed = self.text_tools = None
        self._apps, self._unread = apps, unread
        self.state_record = record
        self.settings.load_differences(record.settings)
        self.properties.load_overrides(record.properties)
        self.packages.load_installed(record.installed)
        self.activities.ensure_home()
        # Apps that ran before have ended: their next start is a cold one again.
        self.processes.all()
        self._busy_until = self._moving_s = 0.0
        self.invalidate()

    def reset(self) -> None:
        """Put the phone back to what its seed makes; the display size too.

        Files are put back by whoever owns them (`PhoneFiles.wipe`).
        """
        if self._born is None:
            self._born = whole_minute(self.now())
        new = factory(self.seed, self._born, self.profile.name)
        self._adopt(msgspec.json.decode(new.record, type=PhoneState), {}, new.apps)

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
        self._unsaved = False
        self._file.write(self.home, self.snapshot(), self._file.next())

    def close(self) -> None:
        """Save what is not saved yet and stop every timer; nothing that comes later has an effect.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        self._closed = True
        self._touch.cancel_all()
        if self._frame_timer is not None:
            self._frame_timer.cancel()
        if self._unsaved:
            self.save()
        if self._save_timer is not None:
            self._save_timer.cancel()

    def _plan_save(self) -> None:
        if self._save_timer is not None or self._closed:
            return
        self._save_timer = self.timing.later(SAVE_DELAY_S, self._autosave)

    def _autosave(self) -> None:
        """Write in a thread, as a slow disk must not hold up the screen."""
        self._save_timer = None
        self._unsaved = False
        data, number = self.snapshot(), self._file.next()
        task = asyncio.ensure_future(asyncio.to_thread(self._file.write, self.home, data, number))
        self._saving.add(task)
        task.add_done_callback(self._saved)

    def _saved(self, task: asyncio.Future[None]) -> None:
        self._saving.discard(task)
        if task.cancelled():
            self._unsaved = True
            return
        error = task.exception()
        if error is None:
            return
        self._unsaved = True
        if isinstance(error, PhoneError):
            if error.message not in self.messages:
                self.messages.append(error.message)
                log.warning("%s", error)
        else:
            log.error("The phone %s could not be saved", self.name, exc_info=error)
