"""The sections of `dumpsys window`: policy, displays and windows.

The lines are in the tables `window_*` of `virtual_phone.android`; here are their values.
Invariant: each value is a state that the phone really has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys.names import (
    activity_name,
    focused_app,
    owner_of,
    task_name,
    window_name,
    word,
)
from virtual_phone.lock import is_secure

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.records import DisplayState, WindowInfo

_KEYBOARD, _SHADE, _STATUS_BAR, _NAV_BAR = (
    *("InputMethod", "NotificationShade", "StatusBar"),
    "NavigationBar0",
)
_APP_FLAGS = (
    "LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR{} SPLIT_TOUCH HARDWARE_ACCELERATED "
    "DRAWS_SYSTEM_BAR_BACKGROUNDS"
)
_BAR_FLAGS = "NOT_FOCUSABLE NOT_TOUCH_MODAL TOUCHABLE_WHEN_WAKING WATCH_OUTSIDE_TOUCH SPLIT_TOUCH"
_TURNS = ("ROTATION_0", "ROTATION_90", "ROTATION_180", "ROTATION_270")


def policy(phone: Phone) -> list[str]:
    """Return `dumpsys window policy`."""
    on, locked = phone.power.screen_on, phone.power.locked
    shown = _named(phone.windows.all())
    focus = next((one for one in shown.values() if one.focused), None)
    values = {
        "awake": word(on),
        "showing": word(locked),
        "uncovered": word(locked),
        "occluded": "false",
        "secure": word(is_secure(phone)),
        "dreaming_locked": word(locked and not on),
        "screen_state": "SCREEN_STATE_ON" if on else "SCREEN_STATE_OFF",
        "interactive": f"INTERACTIVE_STATE_{'AWAKE' if on else 'SLEEP'}",
        "timeout": phone.settings.get("system", "screen_off_timeout") or "60000",
        "rotation_mode": _rotation_mode(phone),
        "rotation_name": _TURNS[phone.rotation.quarters],
        "status_bar": _name(shown.get(_STATUS_BAR)),
        "focus": _name(focus),
    }
    return phone.form_factor.lines("window_policy")["policy"].lines(values)


def displays(phone: Phone) -> list[str]:
    """Return `dumpsys window displays`: the display that has the focus comes last."""
    table = phone.form_factor.lines("window_displays")
    rows = table["head"].lines({})
    for entry in phone.displays.stacked():
        rows += table["display"].lines(_display(phone, entry))
    return rows


def _display(phone: Phone, entry: DisplayState) -> dict[str, str]:
    width, height, _ = phone.displays.size(entry.id)
    all_windows = phone.windows.all(entry.id)
    shown = _named(all_windows)
    focus = focused_window(phone, entry.id, all_windows)
    on, locked = phone.power.screen_on, phone.power.locked
    tasks = [task for task in phone.tasks.front_to_back() if task.display == entry.id]
    home = next((task for task in tasks if task.package.endswith("launcher3")), None)
    # The panel was built in one way up; a resize by `wm` is the base beside that.
    built = phone.form_factor.posture if entry.id == 0 else entry
    init = (built.width, built.height, built.density)
    base = (entry.width, entry.height, entry.density)
    quarters = phone.rotation.quarters if entry.id == 0 else 0
    low, high = min(width, height), max(width, height)
    upright = init[0] <= init[1]
    keyboard = shown.get(_KEYBOARD)
    bars = on and entry.id == 0
    nav = shown.get(_NAV_BAR)
    return {
        "id": str(entry.id),
        "tasks": str(len(tasks)),
        "init": _size(*init),
        "base": "" if base == init else f" base={_size(*base)}",
        "size": f"{width}x{height}",
        "app": f"{width}x{height - (nav.frame[3] - nav.frame[1] if nav else 0)}",
        "range": f"{low}x{low}-{high}x{high}",
        "right": str(width),
        "bottom": str(height),
        "seq": str(40 + len(tasks)),
        "focus": _name(focus) or "null",
        "focus_window": _name(focus),
        "app_record": focused_app(phone, entry.id),
        "top_task": task_name(phone, tasks[0]) if tasks else "",
        "home_task": task_name(phone, home) if home else "",
        "wallpaper_target": _name(focus) if home and tasks[0] is home and focus else "null",
        "rotation": str(quarters),
        "rotation_mode": _rotation_mode(phone) if entry.id == 0 else "USER_ROTATION_FREE",
        "rotation_name": _TURNS[quarters],
        "landscape": _TURNS[1] if upright else _TURNS[0],
        "seascape": _TURNS[3] if upright else _TURNS[2],
        "portrait": _TURNS[0] if upright else _TURNS[1],
        "upside_down": _TURNS[2] if upright else _TURNS[3],
        "awake": word(on),
        "showing": word(locked),
        "dreaming_locked": word(locked and not on),
        "status_bar": _name(shown.get(_STATUS_BAR)),
        "shade": _shade(phone, entry.id),
        "nav_bar": _name(nav),
        "bars_shown": word(bars),
        "bar_id": "a3d1",
        "status_height": str(shown[_STATUS_BAR].frame[3] if _STATUS_BAR in shown else 0),
        "nav_top": str(nav.frame[1] if nav else height),
        "ime_frame": _edges(keyboard.frame) if keyboard else ("[0,0][0,0]" * (entry.id == 0)),
        "ime_shown": word(keyboard is not None),
    }


def windows(phone: Phone) -> list[str]:
    """Return `dumpsys window windows`."""
    table = phone.form_factor.lines("window_windows")
    return [*table["head"].lines({}), *windows_without_head(phone)]


def windows_without_head(phone: Phone) -> list[str]:
    """Return every window, the top of the focused display first, and what holds for all."""
    table = phone.form_factor.lines("window_windows")
    rows: list[str] = []
    number = 0
    for entry in reversed(phone.displays.stacked()):
        for window in phone.windows.all(entry.id):
            rows += table["window"].lines(_window(phone, number, window))
            number += 1
    shown = _named(phone.windows.all())
    focus = focused_window(phone, phone.displays.top)
    values = {
        "dp_sizes": _dp_sizes(phone, 0),
        "dpi": str(phone.displays.density),
        "dpad": word(not phone.form_factor.profile.touchscreen),
        "touch_mode": word(phone.form_factor.profile.touchscreen),
        "focus": _name(focus) or "null",
        "focus_window": _name(focus),
        "app_record": focused_app(phone, phone.displays.top),
        "top_display": str(phone.displays.top),
        "keyboard": _name(shown.get(_KEYBOARD)),
        "seq": "153",
        "rotation": str(phone.rotation.quarters),
    }
    for key in ("window_animation", "transition_animation", "animator_duration"):
        setting = phone.settings.get("global", f"{key}_scale") or "1.0"
        values[f"{key.partition('_')[0]}_scale"] = setting
    rows += table["tail"].lines(values)
    for entry in phone.displays.stacked():
        target = focused_window(phone, entry.id)
        if target is not None:
            row = {"display": str(entry.id), "window": window_name(target)}
            rows += table["targets"].lines(row)
    return rows + table["end"].lines(values)


def one_window(phone: Phone, name: str) -> list[str]:
    """Return the windows whose title has a word in it, as `dumpsys window NAME` shows them."""
    table = phone.form_factor.lines("window_windows")
    found = [
        window
        for entry in reversed(phone.displays.stacked())
        for window in phone.windows.all(entry.id)
        if name.lower() in window.title.lower() or name == window.token_hex
    ]
    rows = table["head"].lines({}) if found else []
    for number, window in enumerate(found):
        rows += table["window"].lines(_window(phone, number, window))
    return rows


def focused_window(
    phone: Phone, display: int, shown: list[WindowInfo] | None = None
) -> WindowInfo | None:
    """Return the window that has the focus; only the display on top has one, as a rule."""
    if not phone.displays.has_focus(display):
        return None
    found = phone.windows.all(display) if shown is None else shown
    return next((one for one in found if one.focused), None)


def _window(phone: Phone, number: int, window: WindowInfo) -> dict[str, str]:
    left, top, right, bottom = window.frame
    task = next((one for one in phone.tasks.front_to_back() if one.id == window.task_id), None)
    is_app = bool(window.task_id) and task is not None
    page = next((one for one in task.pages if one.token == window.token), None) if task else None
    if is_app and task is not None:
        record = activity_name(phone, task, page or task.pages[-1])
        flags = _APP_FLAGS.format(" SECURE" if window.secure else "")
    else:
        record = ""
        flags = _BAR_FLAGS + (" SECURE" if window.secure else "")
    return {
        "number": str(number),
        "window": window_name(window),
        "title": window.title,
        "display": str(window.display),
        "task_id": str(window.task_id or 1),
        "session": f"{window.token + 7:x}",
        "owner": owner_of(phone, window.package),
        "client": f"{window.token + 3:x}",
        "animator": f"{window.token + 11:x}",
        "uid": str(phone.processes.uid_of(window.package)),
        "for_all": word(not is_app),
        "package": window.package,
        "type": window.type,
        "flags": flags,
        "private_flags": "NO_MOVE_ANIMATION USE_BLAST FIT_INSETS_CONTROLLED",
        "width": str(right - left),
        "height": str(bottom - top),
        "seq": "41",
        "layer": "21000" if is_app else "191000",
        "token": record or f"WindowToken{{{window.token + 13:x} type=2000 null}}",
        "app_record": record,
        "dp_sizes": _dp_sizes(phone, window.display),
        "dpi": str(phone.displays.size(window.display)[2]),
        "frame": _edges(window.frame),
    }


def _named(shown: list[WindowInfo]) -> dict[str, WindowInfo]:
    return {window.title: window for window in reversed(shown)}


def _name(window: WindowInfo | None) -> str:
    return "" if window is None else window_name(window)


def _shade(phone: Phone, display: int) -> str:
    """Return the window of the shade, which is there while it is closed too."""
    del phone
    return "" if display else "Window{31fbf1a u0 NotificationShade}"


def _rotation_mode(phone: Phone) -> str:
    return "USER_ROTATION_FREE" if phone.rotation.is_free else "USER_ROTATION_LOCKED"


def _dp_sizes(phone: Phone, display: int) -> str:
    width, height, density = phone.displays.size(display)
    low = min(width, height) * 160 // density
    return f"sw{low}dp w{width * 160 // density}dp h{height * 160 // density}dp"


def _size(width: int, height: int, density: int) -> str:
    return f"{width}x{height} {density}dpi"


def _edges(frame: tuple[int, int, int, int]) -> str:
    left, top, right, bottom = frame
    return f"[{left},{top}][{right},{bottom}]"
