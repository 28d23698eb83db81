"""How dumps write windows, tasks, activities and their processes.

The same thing has the same text in every dump of a phone. Not the lines around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.intents import shorten

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.records import PageState, TaskState, WindowInfo

SYSTEM_SERVER = 655  # The pid of the process that draws what no app draws.


def word(value: bool) -> str:
    """Return a boolean as Java prints it."""
    return "true" if value else "false"


def window_name(window: WindowInfo) -> str:
    """Return `Window{TOKEN uUSER TITLE}`."""
    return f"Window{{{window.token_hex} u0 {window.title}}}"


def pid_of(phone: Phone, package: str) -> int:
    process = phone.processes.of(package)
    return process.pid if process is not None else SYSTEM_SERVER


def owner_of(phone: Phone, package: str) -> str:
    """Return who owns a window, as pid:user."""
    process = phone.processes.of(package)
    if process is None:
        return f"{SYSTEM_SERVER}:1000"
    return f"{process.pid}:{process.user.replace('_', '')}"


def process_of(phone: Phone, package: str) -> str:
    """Return a process as `ProcessRecord{…}` has it, without the number in front."""
    process = phone.processes.of(package)
    return process.record if process is not None else f"{SYSTEM_SERVER}:system/1000"


def activity_name(phone: Phone, task: TaskState, page: PageState) -> str:
    """Return `ActivityRecord{…}` of a page."""
    component = shorten(f"{task.package}/{page.activity}")
    return _record(phone, page.token + 1, component, task.id)


def home_name(phone: Phone, display: int) -> str:
    """Return `ActivityRecord{…}` of the home that a further display has; "" without one."""
    further = phone.form_factor.profile.further(display)
    if further is None or not further.home:
        return ""
    return _record(phone, 0x14D88C3 + display, further.home, display + 1)


def top_name(phone: Phone, display: int) -> str:
    """Return `ActivityRecord{…}` of the activity in front of a display; "" where there is none."""
    top = phone.tasks.top(display)
    return home_name(phone, display) if top is None else activity_name(phone, *top)


def focused_app(phone: Phone, display: int) -> str:
    """Return what `mFocusedApp=` is followed by."""
    record = top_name(phone, display)
    if not record:
        return "null"
    (block,) = phone.form_factor.lines("names")["focused_app"].lines({"record": record})
    return block


def task_name(phone: Phone, task: TaskState) -> str:
    """Return `Task{…}`, or what it is called in a version, as other records refer to it."""
    values = {
        "hash": f"{task.pages[0].token + 5:x}",
        "id": str(task.id),
        "package": task.package,
        "kind": task_kind(task),
        "uid": str(phone.processes.uid_of(task.package)),
        "pages": str(len(task.pages)),
    }
    (line,) = phone.form_factor.lines("names")["task"].lines(values)
    return line


def task_kind(task: TaskState) -> str:
    return "home" if task.package.endswith("launcher3") else "standard"


def _record(phone: Phone, token: int, component: str, task: int) -> str:
    values = {"hash": f"{token:x}", "number": str(token), "component": component, "task": str(task)}
    (line,) = phone.form_factor.lines("names")["activity"].lines(values)
    return line
