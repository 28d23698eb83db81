"""Join a freshly built tree to what its page remembers, and find views in it.

Gives every view a key, then puts in scroll positions, edited text, focus and the pressed state.
Invariant: a view keeps its key while the tree around it keeps its shape or it has a key of its own.
"""

from collections.abc import Iterator

from virtual_phone.state.records import FieldState, PageState
from virtual_phone.ui.views import Kind, View


def bind(root: View, page: PageState, pressed: str = "", *, prefix: str = "") -> None:
    """Bring a page's remembered state into a tree; `prefix` tells its dialogs' views apart."""
    _bind(root, prefix, page, pressed)


def _bind(view: View, path: str, page: PageState, pressed: str) -> None:
    if not view.key:
        view.key = path or "/"
    if view.scrolls:
        view.scroll_y = page.scroll.get(view.key, 0)
    if view.kind is Kind.FIELD:
        state = page.fields.get(view.key)
        if state is not None:
            view.text = state.text
        at = len(view.text)
        view.cursor = (at, at) if state is None else (state.start, state.end)
    if page.focus == view.key:
        view.focused = True
    if pressed and view.key == pressed:
        view.pressed = True
    for i, child in enumerate(view.children):
        _bind(child, f"{path}/{i}", page, pressed)


def walk(view: View) -> Iterator[View]:
    """Yield a view and everything below it, parents first."""
    yield view
    for child in view.children:
        yield from walk(child)


def find(root: View, key: str) -> View | None:
    return next((v for v in walk(root) if v.key == key), None)


def path_to(root: View, key: str) -> list[View]:
    """Return the views from the root to the one with a key; empty where there is none."""
    if root.key == key:
        return [root]
    for child in root.children:
        below = path_to(child, key)
        if below:
            return [root, *below]
    return []


def path_at(root: View, x: float, y: float) -> list[View]:
    """Return the views under a point, from the root to the topmost leaf that takes touches."""
    if not root.clip.contains(x, y):
        return []
    for child in reversed(root.children):
        below = path_at(child, x, y)
        if below:
            return [root, *below]
    touchable = root.acts or root.scrolls or root.on_long_click or root.on_value or root.on_swipe
    return [root] if touchable or root.children or not root.hidden_from_tree else []


def field_state(page: PageState, view: View) -> FieldState:
    """Return the state of a field for editing, made from what it shows when it has none yet."""
    state = page.fields.get(view.key)
    if state is None:
        at = len(view.text)
        state = page.fields[view.key] = FieldState(view.text, at, at)
    return state
