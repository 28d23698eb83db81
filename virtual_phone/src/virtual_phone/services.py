"""What apps and system pages ask of the phone: start, stop, notify, ask, sleep and wake.

No gestures and no drawing. Invariant: whatever takes the page in front away also takes the
keyboard and the shade away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from virtual_phone import lock
from virtual_phone.activities import HOME_PACKAGE
from virtual_phone.apps import app_of
from virtual_phone.core import log
from virtual_phone.display.scene import Surface
from virtual_phone.errors import PhoneError
from virtual_phone.notices import Notices
from virtual_phone.packages.permissions import Permissions
from virtual_phone.running import AppProcesses
from virtual_phone.state.records import PageState, StartResult, TaskState, UnknownActivityError
from virtual_phone.state.storage import SharedStorage
from virtual_phone.system.prompts import Prompts
from virtual_phone.well_formed import well_formed

SPLASH_S = 0.3


class Services(Notices):
    """Start and end activities, and serve the pages."""

    storage: SharedStorage
    processes: AppProcesses
    permissions: Permissions
    prompts: Prompts
    splash = ""
    """The package whose splash screen is shown."""
    on_power: Callable[[str], None] | None = None
    """Turns the phone off, or off and on again; None where nobody can."""
    _loading: set[int]

    def start_activity(
        self,
        *,
        component: str | None = None,
        package: str | None = None,
        action: str | None = None,
        data: str | None = None,
        mime_type: str | None = None,
        extras: Mapping[str, str] | None = None,
        display: int = 0,
    ) -> StartResult:
        """Start the activity an intent means.

        Raises:
            UnknownActivityError: nothing answers it.
            PhoneError: there is no such display.
        """
        self._display(display)
        if action == "android.intent.action.MAIN" and not package and not component:
            return self._went_home()
        info, activity = self.activities.resolve(
            component=component, package=package, action=action, data=data, mime_type=mime_type
        )
        args = {k: str(v) for k, v in (extras or {}).items()}
        if data:
            args["data"] = data
        if info.package == HOME_PACKAGE:
            return self._went_home()
        cold = not self.processes.runs(info.package)
        result = self.activities.start(info, activity, args, display=display)
        self._left_page()
        self._start_cold(info.package, cold and display == 0)
        return result

    def launch(self, package: str, display: int = 0) -> StartResult:
        """Start a package as its launcher icon does.

        Raises:
            UnknownActivityError: it has no launcher icon.
        """
        info, activity = self.activities.resolve(
            component=None, package=package, action=None, data=None
        )
        cold = not self.processes.runs(package)
        result = self.activities.start(info, activity, {}, display=display, as_launcher=True)
        self._left_page()
        self._start_cold(package, cold and display == 0)
        return result

    def _start_cold(self, package: str, cold: bool) -> None:
        """Show the splash screen of an app that had no process."""
        length_s = SPLASH_S * self._transition_scale()
        if not cold or not length_s:
            return
        self.splash = package
        self.busy_for(length_s)
        self.invalidate()

        def over() -> None:
            if self.splash == package:
                self.splash = ""

        self.after(length_s, over)

    def _transition_scale(self) -> float:
        return min(max(self.settings.number("global", "transition_animation_scale", 1.0), 0.0), 2.0)

    def load(self, page: PageState, seconds: float) -> None:
        """Let a page load for a while; it is shown as loading until then."""
        length_s = seconds * self._transition_scale()
        if not length_s:
            return
        self._loading.add(page.token)
        self.after(length_s, lambda: self._loading.discard(page.token))

    def is_loading(self, page: PageState) -> bool:
        """Return whether a page still loads."""
        return page.token in self._loading

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
        self.processes.end(package)
        self._left_page()

    def clear(self, package: str) -> None:
        """End a package's tasks and put its data and permissions back to new.

        Raises:
            PhoneError: there is no such package.
        """
        if package not in self.packages:
            raise PhoneError(f"Failed: {package} is not installed.", "See pm list packages.")
        self.activities.remove(package)
        self.processes.end(package)
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
        self.processes.end(package)
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
        self._touch.stop_gliding()
        self.processes.all()
        self.transition()
        self.invalidate()
        self._begin_page()

    def _begin_page(self) -> None:
        """Let the page in front begin even if nobody looks: what it loads comes by itself."""

        def look() -> None:
            if not self._closed:
                for display in self.displays():
                    self.scene(display.id)
                self._plan_forgetting()

        self.timing.later(0.0, look)

    def sleep(self) -> None:
        """Turn the screen off and lock the phone, unless locking is disabled."""
        self._touch.cancel_all()
        self.state_record.screen_on = False
        self.state_record.locked = lock.locks(self)
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
        self.transition()
        self.invalidate()

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
        cold = not self.processes.runs(package)
        self.activities.start(info, name, args, caller=page)
        self._left_page()
        self._start_cold(package, cold)

    def close_page(self, page: PageState) -> None:
        """Finish a page."""
        self.activities.finish(page)
        self._left_page()

    def close_to_root(self, page: PageState) -> None:
        """Finish every page of a task but its first."""
        task = self.activities.task_of(page)
        if task is not None:
            del task.pages[1:]
        self._left_page()

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

    def set_dark(self, on: bool) -> None:
        """Switch the dark theme."""
        self.settings.put("secure", "ui_night_mode", "2" if on else "1")

    def set_clipboard(self, text: str) -> None:
        """Replace the clipboard's text."""
        self.state_record.clipboard = well_formed(text)
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

    def is_in_front(self, package: str) -> bool:
        """Return whether a package is what the person looks at."""
        front = self.activities.front()
        return self.screen_on and not self.locked and front is not None and front.package == package

    def stop_package(self, package: str, *, clear: bool) -> None:
        """Stop an app from a page of another, clearing its data if asked."""
        if clear:
            self.clear(package)
        else:
            self.force_stop(package)

    def battery(self) -> int:
        """Return the battery's level in percent."""
        return self.state_record.battery_level

    def focus_field(self, page: PageState, key: str) -> None:
        """Focus a field of a page and show the keyboard."""
        page.focus = key
        self.state_record.keyboard_shown = True
        self.invalidate()

    def hide_keyboard(self) -> None:
        """Take the keyboard away; the field keeps the focus."""
        self.state_record.keyboard_shown = False
        self.invalidate()

    def run(self, action: Callable[[], None], surface: Surface | None = None) -> None:
        """Run an app's callback; an app that fails shows the crash dialog, the phone goes on."""
        try:
            action()
        except PhoneError as error:
            self.toast(error.message)
        except Exception:
            package = surface.package if surface is not None else "android"
            log.exception("The app %s of the phone %s failed", package, self.name)
            self.prompts.crash(package)
        self.invalidate()
