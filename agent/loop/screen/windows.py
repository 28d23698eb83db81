"""Leave out of a tree what is no part of the screen that is asked for: keyboard and system bars.

A service's tree holds every window of the display (uiautomator2, Android 5–16): beside the app's
those of `com.android.systemui` and of the input method. A status bar becomes one line with the time
and the apps that have notifications, never with what those say. Invariants: indices of nodes stay;
where nothing else is in the tree, and where the shade is open, all of it is the screen; what can be
pressed in a bar and is no navigation key stays, as in cars.
"""

import re
from collections.abc import Sequence

from agent.records import Bounds, UiNode

STATUS_BAR = "status-bar"
"""Class and kind of the one line that stands for the system's bars."""
SYSTEM_UI = "com.android.systemui"
_KEYBOARD_WORDS = ("inputmethod", "keyboard")
_THIN = 0.2  # A bar takes no more of the display than this, across it.
_LONG = 0.8  # And no less than this along it: the panel of the volume is no bar.
_EDGE = 0.005
_MAX_APPS = 8
_KEYBOARD_TOP, _FOOT = 0.3, 0.08  # A keyboard begins no higher and ends this near the foot.
_LEAST_KEYS = 12
# SystemUI's own ids (navigation_layout, nav_bar_back, home_handle; AOSP 9–16 and its makers).
_NAVIGATION = frozenset(
    [
        *("back", "home", "home_button", "recent_apps", "home_handle", "menu", "ime_switcher"),
        *("rotate_suggestion", "accessibility_button", "center_group", "ends_group"),
    ]
)
_TIME = re.compile(r"\D{0,6}\d{1,2}\s?[:.٫h]\s?\d{2}\D{0,6}")
# "%1$s notification: %2$s" (`accessibility_desc_notification_icon`) in the languages of Android.
_APP_AND_TEXT = re.compile(r"([^:：]{1,60}?)\s*[:：](?:\s|$|(?<=：))")
_NOTHING = UiNode(bounds=Bounds(left=0.0, top=0.0, right=0.0, bottom=0.0))


def on_screen(nodes: Sequence[UiNode]) -> Sequence[UiNode]:
    """Return the nodes with those of the keyboard and of the system's bars emptied."""
    packages = {node.package for node in nodes}
    keyboards = {package for package in packages if any(w in package for w in _KEYBOARD_WORDS)}
    if keyboards and keyboards != packages:
        nodes = [_NOTHING if node.package in keyboards else node for node in nodes]
    if len(packages) < 2 and SYSTEM_UI not in packages:
        return nodes
    return _without_bars(_without_keys(nodes))


def _windows(nodes: Sequence[UiNode]) -> list[tuple[int, int]]:
    """Return where each window begins and ends: its root is the first of its nodes."""
    roots = [
        at for at, node in enumerate(nodes) if not 0 <= node.parent < at and node is not _NOTHING
    ]
    return list(zip(roots, (*roots[1:], len(nodes)), strict=False))


def _without_keys(nodes: Sequence[UiNode]) -> Sequence[UiNode]:
    """Empty the window of a keyboard whose package does not say so, as Samsung's does not."""
    windows = _windows(nodes)
    keys = [window for window in windows if _has_keys(nodes, *window)]
    if not keys or len(keys) == len(windows):
        return nodes
    left = list(nodes)
    for first, end in keys:
        left[first:end] = [_NOTHING] * (end - first)
    return left


def _has_keys(nodes: Sequence[UiNode], first: int, end: int) -> bool:
    box = nodes[first].bounds
    if end - first < _LEAST_KEYS or box.bottom < 1 - _FOOT or box.top < _KEYBOARD_TOP:
        return False
    said = [node.text or node.description for node in nodes[first:end]]
    letters = sum(len(text) == 1 and text.isalpha() for text in said)
    return letters >= _LEAST_KEYS and 2 * letters > sum(map(bool, said))


def _without_bars(nodes: Sequence[UiNode]) -> Sequence[UiNode]:
    system = [window for window in _windows(nodes) if nodes[window[0]].package == SYSTEM_UI]
    bars = [window for window in system if _is_bar(nodes[window[0]].bounds)]
    if not bars:
        return nodes
    # An empty window of the shade is there, in some versions, while it is closed.
    is_shade_open = any(
        node.text for first, end in system if (first, end) not in bars for node in nodes[first:end]
    )
    left = list(nodes)
    for first, end in bars:
        said = _empty_bar(left, first, end)
        if said and not is_shade_open:
            left[first] = UiNode(
                text=said, class_name=STATUS_BAR, package=SYSTEM_UI, bounds=nodes[first].bounds
            )
    return left


def _empty_bar(nodes: list[UiNode], first: int, end: int) -> str:
    """Empty a bar's nodes but for its own buttons; return what its line says."""
    time, apps, others = "", {}, 0
    notified: set[int] = set()
    kept: set[int] = set()
    most = _area(nodes[first].bounds) / 2
    for at in range(first, end):
        node, name = nodes[at], nodes[at].resource_id.rsplit("/", 1)[-1]
        app = _APP_AND_TEXT.match(node.description)
        pressed = node.clickable and name not in _NAVIGATION and _area(node.bounds) <= most
        if node.parent in kept or (pressed and not app and node.parent not in notified):
            kept.add(at)
            continue
        if node.parent in notified or "notif" in name.lower():
            notified.add(at)
            if app:
                apps[app[1]] = True
            else:
                others += bool(node.description)
        elif not time and _TIME.fullmatch(node.text or node.description):
            time = node.text or node.description
        nodes[at] = _NOTHING
    shown = ", ".join(list(apps)[:_MAX_APPS])
    others += max(len(apps) - _MAX_APPS, 0)
    more = f"{shown and ', '}{others} more" if others and (shown or time) else ""
    return " | ".join(part for part in (time, shown + more) if part)


def _is_bar(box: Bounds) -> bool:
    width, height = box.right - box.left, box.bottom - box.top
    if width >= _LONG:
        return height <= _THIN and (box.top <= _EDGE or box.bottom >= 1 - _EDGE)
    return width <= _THIN and height >= _LONG and (box.left <= _EDGE or box.right >= 1 - _EDGE)


def _area(box: Bounds) -> float:
    return (box.right - box.left) * (box.bottom - box.top)
