"""`dumpsys activity`: activities, recents, processes and the activities on top.

The lines of `activities` are in the table of that name. Invariant: each value is a state that the
phone really has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys.names import (
    activity_name,
    focused_app,
    pid_of,
    process_of,
    task_kind,
    task_name,
    top_name,
    window_name,
    word,
)
from virtual_phone.commands.dumpsys.window_sections import focused_window
from virtual_phone.commands.intents import shorten
from virtual_phone.running import ALWAYS

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.records import TaskState


def dump_activity(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys activity [WORD]`."""
    match words[:1]:
        case ["top"] | ["a", "top"]:
            return _top(phone)
        case ["recents"]:
            rows = [
                f"  * Recent #{number}: {task_name(phone, task)}"
                for number, task in enumerate(phone.tasks.front_to_back())
            ]
            return "\n".join(["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", *rows])
        case ["processes"] | ["p"]:
            return _processes(phone)
        case _:
            return _activities(phone)


def _activities(phone: Phone) -> str:
    table = phone.form_factor.lines("activities")
    rows = table["head"].lines({})
    for entry in reversed(phone.displays.stacked()):
        tasks = [task for task in phone.tasks.front_to_back() if task.display == entry.id]
        focus = focused_window(phone, entry.id)
        values = {
            "id": str(entry.id),
            "focus": window_name(focus) if focus else "null",
            "app_record": focused_app(phone, entry.id),
        }
        rows += table["display"].lines(values)
        for index, task in enumerate(tasks):
            rows += _task(phone, task, front=index == 0)
        values = {"top": top_name(phone, entry.id) if _resumed(phone, entry.id) else ""}
        rows += table["dump_client"].lines(values)
    top = phone.displays.top
    front = phone.tasks.front(top)
    locked = word(phone.power.locked)
    values = {
        "top": top_name(phone, top) if _resumed(phone, top) else "",
        "top_task": task_name(phone, front) if front else "",
        "last_task": str(max((task.id for task in phone.tasks.front_to_back()), default=0)),
        "showing": locked,
        "occluded": "false",
    }
    rows += table["tail"].lines(values)
    for entry in phone.displays.all():
        further = phone.form_factor.profile.further(entry.id)
        shown = word(further.locked) if further is not None else locked
        rows += table["keyguard"].lines(
            {"id": str(entry.id), "showing": shown, "occluded": "false"}
        )
    return "\n".join(rows)


def _resumed(phone: Phone, display: int) -> bool:
    """Return whether the activity in front of a display runs: not behind the lock, nor asleep."""
    return bool(display) or (phone.power.screen_on and not phone.power.locked)


def _task(phone: Phone, task: TaskState, *, front: bool) -> list[str]:
    table = phone.form_factor.lines("activities")
    runs = front and _resumed(phone, task.display)
    top = activity_name(phone, task, task.pages[-1]) if runs else ""
    process = phone.processes.of(task.package)
    common = {
        "id": str(task.id),
        "kind": task_kind(task),
        "hash": f"{task.pages[0].token + 5:x}",
        "package": task.package,
        "uid": str(phone.processes.uid_of(task.package)),
        "user": process.user.replace("_", "") if process is not None else "1000",
        "pages": str(len(task.pages)),
        "sleeping": word(not phone.power.screen_on),
        "process": "",
        "task": task_name(phone, task),
        "top": top,
    }
    values = common | {"visible": word(front), "hidden": word(not front)}
    rows = [*table["stack"].lines(values), *table["task"].lines(values)]
    for number, page in reversed(list(enumerate(task.pages))):
        on_top = front and number == len(task.pages) - 1
        caller = page.calling_package or "com.android.shell"
        values = common | {
            "number": str(number),
            "record": activity_name(phone, task, page),
            "caller": caller,
            "caller_uid": str(phone.processes.uid_of(caller)),
            "process": f"{page.token + 2:x} {process_of(phone, task.package)}",
            "component": shorten(f"{task.package}/{page.activity}"),
            "root": word(number == 0),
            "state": "RESUMED" if on_top and runs else "STOPPED",
            "stopped": word(not (on_top and runs)),
            "visible": word(on_top),
        }
        rows += table["page"].lines(values)
    return rows + (table["resumed"].lines({"top": top}) if top else [])


def _top(phone: Phone) -> str:
    """Return `dumpsys activity top`: the activity in front comes last."""
    rows: list[str] = []
    for task in reversed(phone.tasks.front_to_back()):
        page = task.pages[-1]
        component = shorten(f"{task.package}/{page.activity}")
        rows += [
            f"TASK {task.package} id={task.id} userId=0 displayId={task.display}(type=INTERNAL)",
            f"  ACTIVITY {component} {page.token + 1:x} pid={pid_of(phone, task.package)} userId=0 "
            f"uid={phone.processes.uid_of(task.package)}",
            f"    Local FragmentActivity {page.token + 9:x} State:",
            "      mResumed=true mStopped=false mFinished=false",
        ]
    return "\n".join(rows)


def _processes(phone: Phone) -> str:
    rows = [
        "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)",
        "  All known processes:",
    ]
    for one in phone.processes.all():
        kind = "PERS" if one.name in ALWAYS else "APP"
        rows += [
            f"  *{kind}* UID {one.uid} ProcessRecord{{{one.pid * 4099:x} {one.record}}}",
            f"    user #0 uid={one.uid} gids={{}}",
            f"    packageList={{{one.name}}}",
            f"    pid={one.pid}",
        ]
    return "\n".join(rows)
