"""Start and end activities and apps, with what every change of the page in front brings.

The stack itself is `virtual_phone.task_stack`. Invariant: whatever takes the page in front away
also takes the keyboard and the shade away.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from virtual_phone.apps import app_of
from virtual_phone.errors import PhoneError
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.state.records import (
    Notice,
    PageState,
    StartResult,
    TaskState,
    UnknownActivityError,
)
from virtual_phone.task_stack import HOME_PACKAGE

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

SPLASH_S = 0.3


class Activities:
    """Start and end the activities of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self.splash = ""
        """The package whose splash screen is shown."""
        self._loading: set[int] = set()
        """The tokens of the pages that still load."""

    # -- starting

    def start(
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
        self._phone.displays.get(display)
        if action == "android.intent.action.MAIN" and not package and not component:
            return self.go_home()
        info, activity = self._phone.tasks.resolve(
            component=component, package=package, action=action, data=data, mime_type=mime_type
        )
        args = {k: str(v) for k, v in (extras or {}).items()}
        if data:
            args["data"] = data
        if info.package == HOME_PACKAGE:
            return self.go_home()
        return self._start(info, activity, args, display=display)

    def launch(self, package: str, display: int = 0) -> StartResult:
        """Start a package as its launcher icon does.

        Raises:
            UnknownActivityError: it has no launcher icon.
        """
        info, activity = self._phone.tasks.resolve(
            component=None, package=package, action=None, data=None
        )
        return self._start(info, activity, {}, display=display, as_launcher=True)

    def launch_if_there(self, package: str) -> bool:
        """Start a package if it is installed; return whether it was."""
        try:
            self.launch(package)
        except UnknownActivityError:
            return False
        return True

    def open(self, page: PageState, package: str, activity: str, args: Mapping[str, str]) -> None:
        """Start an activity from a page, as an app does.

        Raises:
            UnknownActivityError: there is no such activity.
        """
        info = self._phone.packages.get(package)
        app = app_of(package)
        name = app.full_name(activity) if app is not None else activity
        if info is None or name not in info.activities:
            raise UnknownActivityError(
                f"Activity class {{{package}/{name}}} does not exist.", "Name another activity."
            )
        self._start(info, name, args, caller=page)

    def open_notice(self, notice: Notice) -> None:
        """Open what a notification is about and take it away."""
        if notice.id not in {n.id for n in self._phone.notifications.all()}:
            return
        self._phone.notifications.dismiss(notice.id)
        self._phone.shade.shown = ""
        if notice.activity:
            self.open(PageState(""), notice.package, notice.activity, notice.args)
        else:
            self.launch_if_there(notice.package)

    def _start(
        self,
        info: PackageInfo,
        activity: str,
        args: Mapping[str, str],
        *,
        display: int = 0,
        caller: PageState | None = None,
        as_launcher: bool = False,
    ) -> StartResult:
        cold = not self._phone.processes.runs(info.package)
        result = self._phone.tasks.start(
            info, activity, args, display=display, caller=caller, as_launcher=as_launcher
        )
        self._phone.displays.bring_to_top(result.display)
        self.changed()
        if cold and display == 0:
            self._show_splash(info.package)
        return result

    def _show_splash(self, package: str) -> None:
        length_s = SPLASH_S * self._phone.animations.scale
        if not length_s:
            return
        self.splash = package
        self._phone.animations.busy_for(length_s)
        self._phone.invalidate()

        def over() -> None:
            if self.splash == package:
                self.splash = ""

        self._phone.after(length_s, over)

    def go_home(self, mode: str = "") -> StartResult:
        """Bring the launcher to the front, with its `recents` or its `drawer` open if asked."""
        result = self._phone.tasks.go_home()
        self._phone.displays.bring_to_top(0)
        page = self._phone.tasks.top()[1]  # type: ignore[index]
        page.local.pop("mode", None)
        self.changed()
        if mode:
            page.local["mode"] = mode
            self._phone.invalidate()
        return result

    # -- what is in front

    def changed(self) -> None:
        """Do what every change of the page in front brings: no keyboard, a transition."""
        phone = self._phone
        phone.state_record.keyboard_shown = False
        phone.focus.was_shown = False
        phone.shade.shown = ""
        phone.pressed.forget()
        phone.touch.stop_gliding()
        phone.processes.all()
        phone.animations.begin()
        phone.invalidate()
        phone.timing.later(0.0, self._begin_pages)

    def _begin_pages(self) -> None:
        """Let the page in front begin even if nobody looks: what it loads comes by itself."""
        phone = self._phone
        if not phone.closed:
            for display in phone.displays.all():
                phone.compositor.scene(display.id)
            phone.compositor.plan_release()

    def is_in_front(self, package: str) -> bool:
        """Return whether a package is what the person looks at."""
        front, power = self._phone.tasks.front(), self._phone.power
        return (
            power.screen_on and not power.locked and front is not None and front.package == package
        )

    def load(self, page: PageState, seconds: float) -> None:
        """Let a page load for a while; it is shown as loading until then."""
        length_s = seconds * self._phone.animations.scale
        if not length_s:
            return
        self._loading.add(page.token)
        self._phone.after(length_s, lambda: self._loading.discard(page.token))

    def is_loading(self, page: PageState) -> bool:
        return page.token in self._loading

    @property
    def any_loading(self) -> bool:
        """Whether any page still loads."""
        return bool(self._loading)

    def forget(self) -> None:
        """Show no splash and load nothing: the phone is another from now on."""
        self.splash = ""
        self._loading.clear()

    # -- tasks and pages

    def recent(self) -> list[TaskState]:
        """Return the tasks of apps, the newest first."""
        tasks = self._phone.tasks.front_to_back()
        return [t for t in tasks if t.package != HOME_PACKAGE and t.display == 0]

    def bring_forward(self, task_id: int) -> None:
        self._phone.tasks.bring_forward(task_id)
        self.changed()

    def end_task(self, task_id: int) -> None:
        self._phone.tasks.remove_task(task_id)
        self._phone.invalidate()

    def close(self, page: PageState) -> None:
        self._phone.tasks.finish(page)
        self.changed()

    def close_to_root(self, page: PageState) -> None:
        """Finish every page of a task but its first."""
        task = self._phone.tasks.task_of(page)
        if task is not None:
            del task.pages[1:]
        self.changed()

    # -- ending apps

    def force_stop(self, package: str) -> None:
        """End every task of a package; its data stays."""
        self._end(package)
        self.changed()

    def clear(self, package: str) -> None:
        """End a package's tasks and put its data and permissions back to new.

        Raises:
            PhoneError: there is no such package.
        """
        if package not in self._phone.packages:
            raise PhoneError(f"Failed: {package} is not installed.", "See pm list packages.")
        self._end(package)
        self._phone.app_data.renew(package)
        self._phone.state_record.granted.pop(package, None)
        self.changed()

    def uninstall(self, package: str) -> None:
        """Remove an installed package with its tasks and data.

        Raises:
            PhoneError: it is built in, or not there.
        """
        self._phone.packages.remove(package)
        self._end(package)
        self._phone.app_data.drop(package)
        self.changed()

    def _end(self, package: str) -> None:
        self._phone.tasks.remove(package)
        self._phone.processes.end(package)
