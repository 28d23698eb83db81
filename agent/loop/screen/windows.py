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
    return _without_bars(nodes) if SYSTEM_UI in packages else nodes


def _without_bars(nodes: Sequence[UiNode]) -> Sequence[UiNode]:
    roots = [at for at, node in enumerate(nodes) if node.parent < 0 and node is not _NOTHING]
    system = [at for at in roots if nodes[at].package == SYSTEM_UI]
    bars = [at for at in system if _is_bar(nodes[at].bounds)]
    if not bars:
        return nodes
    ends = dict(zip(roots, [*roots[1:], len(nodes)], strict=True))
    # An empty window of the shade is there, in some versions, while it is closed.
    is_shade_open = any(
        nodes[at].text for root in system if root not in bars for at in range(root, ends[root])
    )
    left = list(nodes)
    for at in bars:
        end = ends[at]
        said = _empty_bar(left, at, end)
        if said and not is_shade_open:
            left[at] = UiNode(
                text=said, class_name=STATUS_BAR, package=SYSTEM_UI, bounds=nodes[at].bounds
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
        elif not time and _TIME.fullmatch(node.text):
            time = node.text
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
