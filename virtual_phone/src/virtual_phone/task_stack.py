"""The activity stack: tasks, and what is in front on each display.

Moves pages between tasks; draws nothing. Invariant: the default display always has the home task,
and the task in front is the last of the list for its display.
"""

import itertools
from collections.abc import Callable, Mapping

from virtual_phone.packages.installed import PackageInfo, PackageTable
from virtual_phone.state.records import (
    PageState,
    PhoneState,
    StartResult,
    StartStatus,
    TaskState,
    UnknownActivityError,
)

HOME_PACKAGE = "com.android.launcher3"
HOME_ACTIVITY = "com.android.launcher3.uioverrides.QuickstepLauncher"
MAIN = "android.intent.action.MAIN"


def split_component(component: str) -> tuple[str, str]:
    """Return package and full class name of `pkg/.Cls`.

    Raises:
        UnknownActivityError: it has no slash.
    """
    package, slash, cls = component.partition("/")
    if not slash or not package or not cls:
        raise UnknownActivityError(
            f"Bad component name: {component}.", "Write it as package/.Activity."
        )
    return package, package + cls if cls.startswith(".") else cls


def short_component(package: str, activity: str) -> str:
    """Return `pkg/.Cls` where the class is in the package, `pkg/full.Cls` otherwise."""
    inside = activity.startswith(package + ".")
    return f"{package}/{activity.removeprefix(package) if inside else activity}"


class TaskStack:
    """Keep the tasks of one phone."""

    def __init__(self, state: Callable[[], PhoneState], packages: PackageTable) -> None:
        self._state = state
        self._packages = packages
        self._tokens = itertools.count(0xA3F1C20, 0x1D3)

    def ensure_home(self) -> None:
        """Make sure that the default display has its home task."""
        tasks = self._state().tasks
        if not any(t.package == HOME_PACKAGE and t.display == 0 for t in tasks):
            page = PageState(HOME_ACTIVITY, token=next(self._tokens))
            tasks.insert(0, TaskState(self._state().take_id(), HOME_PACKAGE, [page]))
        for task in tasks:
            for page in task.pages:
                if not page.token:
                    page.token = next(self._tokens)

    def front_to_back(self) -> list[TaskState]:
        """Return the tasks, front to back."""
        return list(reversed(self._state().tasks))

    def packages(self) -> list[str]:
        """Return the packages that have a task, front to back."""
        return [task.package for task in self.front_to_back()]

    def front(self, display: int = 0) -> TaskState | None:
        return next((t for t in reversed(self._state().tasks) if t.display == display), None)

    def top(self, display: int = 0) -> tuple[TaskState, PageState] | None:
        """Return the task in front on a display and its topmost page."""
        task = self.front(display)
        return (task, task.pages[-1]) if task is not None and task.pages else None

    def task_of(self, page: PageState) -> TaskState | None:
        return next((t for t in self._state().tasks if any(p is page for p in t.pages)), None)

    def resolve(
        self,
        *,
        component: str | None,
        package: str | None,
        action: str | None,
        data: str | None,
        mime_type: str | None = None,
    ) -> tuple[PackageInfo, str]:
        """Find the activity an intent means.

        Raises:
            UnknownActivityError: nothing answers it.
        """
        if component is not None:
            name, activity = split_component(component)
            info = self._packages.get(name)
            if info is None or activity not in info.activities:
                raise UnknownActivityError(
                    f"Activity class {{{name}/{activity}}} does not exist.",
                    "List packages with pm list packages.",
                )
            return info, activity
        if action in (None, MAIN):
            info = self._packages.get(package or "")
            if info is None or info.launcher_activity is None:
                raise UnknownActivityError(
                    f"No activities found to run for package {package}.",
                    "List packages with pm list packages.",
                )
            return info, info.launcher_activity
        for found in self.candidates(
            package=package, action=action, data=data, mime_type=mime_type
        ):
            return found
        raise UnknownActivityError(
            f"Activity not started, unable to resolve Intent {{ act={action}"
            f"{f' dat={data}' if data else ''} flg=0x10000000 }}.",
            "Name a component with -n package/.Activity.",
        )

    def candidates(
        self,
        *,
        package: str | None,
        action: str | None,
        data: str | None,
        mime_type: str | None = None,
    ) -> list[tuple[PackageInfo, str]]:
        """List every activity that answers an intent, the one that is started first."""
        asked = [info for info in self._packages if package in (None, info.package)]
        if action in (None, MAIN):
            return [(info, info.launcher_activity) for info in asked if info.launcher_activity]
        scheme = data.partition(":")[0].lower() if data else ""
        typed = [(info, info.actions.get(f"{action} {mime_type}")) for info in asked if mime_type]
        plain = [(info, info.actions.get(f"{action} {scheme}")) for info in asked]
        bare = [(info, info.actions.get(f"{action}")) for info in asked if not scheme]
        found: dict[str, tuple[PackageInfo, str]] = {}
        for info, cls in (*typed, *plain, *bare):
            if cls:
                found.setdefault(info.package, (info, cls))
        return list(found.values())

    def start(
        self,
        info: PackageInfo,
        activity: str,
        args: Mapping[str, str],
        *,
        display: int = 0,
        caller: PageState | None = None,
        as_launcher: bool = False,
    ) -> StartResult:
        """Start an activity: in the caller's task, or in its package's own task."""
        component = short_component(info.package, activity)
        tasks = self._state().tasks
        if info.package == HOME_PACKAGE:
            return self.go_home()
        own = self.task_of(caller) if caller is not None else None
        if own is not None and own.package == info.package:
            own.pages.append(self._page(activity, args, info.package))
            self._raise(own)
            return StartResult(component, StartStatus.STARTED, own.id, own.display)
        task = next((t for t in tasks if t.package == info.package and t.display == display), None)
        if task is None:
            task = TaskState(self._state().take_id(), info.package, [], display)
            task.pages.append(self._page(activity, args, info.package))
            tasks.append(task)
            self._raise(task)
            return StartResult(component, StartStatus.STARTED, task.id, display)
        was_front = self.front(display) is task
        self._raise(task)
        root_again = activity == task.pages[0].activity and not args
        if root_again and (as_launcher or len(task.pages) == 1):
            status = StartStatus.DELIVERED_TO_TOP if was_front else StartStatus.BROUGHT_TO_FRONT
            return StartResult(component, status, task.id, display)
        if task.pages[-1].activity == activity and task.pages[-1].args == dict(args):
            return StartResult(component, StartStatus.DELIVERED_TO_TOP, task.id, display)
        task.pages.append(self._page(activity, args, info.package))
        return StartResult(component, StartStatus.STARTED, task.id, display)

    def go_home(self) -> StartResult:
        """Bring the home task to the front of the default display."""
        self.ensure_home()
        task = next(t for t in self._state().tasks if t.package == HOME_PACKAGE)
        was_front = self.front() is task
        self._raise(task)
        del task.pages[1:]
        status = StartStatus.DELIVERED_TO_TOP if was_front else StartStatus.BROUGHT_TO_FRONT
        return StartResult(short_component(HOME_PACKAGE, HOME_ACTIVITY), status, task.id)

    def finish(self, page: PageState) -> None:
        """Take a page off its task; the last one of a task puts the task to the back."""
        task = self.task_of(page)
        if task is None or task.package == HOME_PACKAGE:
            return
        info = self._packages.get(task.package)
        if len(task.pages) > 1:
            task.pages[:] = [p for p in task.pages if p is not page]
        elif info is not None and page.activity == info.launcher_activity:
            self._to_back(task)
        else:
            self._state().tasks.remove(task)
            self.ensure_home()

    def remove(self, package: str) -> None:
        if package == HOME_PACKAGE:
            self.go_home()
            return
        tasks = self._state().tasks
        tasks[:] = [t for t in tasks if t.package != package]
        self.ensure_home()

    def remove_task(self, task_id: int) -> None:
        tasks = self._state().tasks
        tasks[:] = [t for t in tasks if t.id != task_id or t.package == HOME_PACKAGE]

    def bring_forward(self, task_id: int) -> None:
        """Bring a task to the front of its display."""
        task = next((t for t in self._state().tasks if t.id == task_id), None)
        if task is not None:
            self._raise(task)

    def move_display(self, display: int) -> None:
        """End the tasks of a display that goes away."""
        tasks = self._state().tasks
        tasks[:] = [t for t in tasks if t.display != display]

    def _page(self, activity: str, args: Mapping[str, str], caller: str) -> PageState:
        return PageState(activity, dict(args), token=next(self._tokens), calling_package=caller)

    def _raise(self, task: TaskState) -> None:
        tasks = self._state().tasks
        tasks.remove(task)
        tasks.append(task)

    def _to_back(self, task: TaskState) -> None:
        tasks = self._state().tasks
        home = next((t for t in tasks if t.package == HOME_PACKAGE), None)
        tasks.remove(task)
        tasks.insert(0, task)
        others = [t for t in tasks if t.display == task.display]
        if home is not None and others and others[-1] is not home and task.display == 0:
            self._raise(home)
