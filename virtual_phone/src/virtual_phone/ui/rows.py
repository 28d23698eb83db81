"""A view tree as rows, one for each node that a dump writes: the same facts without the XML.

Invariant: parsed, the XML of `virtual_phone.ui.dump` says what these rows say, node by node.
"""

from typing import NamedTuple

from virtual_phone.ui.dump import resource_id, xml_text
from virtual_phone.ui.layout import shown_text
from virtual_phone.ui.views import Kind, Rect, View


class TreeRow(NamedTuple):
    """One node, in document order; bounds in display pixels."""

    text: str
    description: str
    hint: str
    resource_id: str
    class_name: str
    package: str
    bounds: Rect
    depth: int
    parent: int  # The number of its parent's row; -1 for the root.
    checkable: bool
    checked: bool
    clickable: bool
    enabled: bool
    focusable: bool
    focused: bool
    scrollable: bool
    long_clickable: bool
    password: bool
    selected: bool


def rows(root: View, package: str) -> tuple[TreeRow, ...]:
    made: list[TreeRow] = []
    _add(root, package, 0, -1, made)
    return tuple(made)


def _add(view: View, package: str, depth: int, parent: int, made: list[TreeRow]) -> None:
    if view.hidden_from_tree or view.clip.empty:
        return
    own = len(made)
    is_field = view.kind is Kind.FIELD
    acts = view.acts
    made.append(
        TreeRow(
            xml_text(shown_text(view) if is_field else view.text),
            xml_text(view.desc),
            xml_text(view.hint),
            xml_text(resource_id(view, package)),
            view.cls,
            package,
            view.clip,
            depth,
            parent,
            view.checkable,
            view.checked,
            acts and view.clickable is not False,
            view.enabled,
            view.enabled and (acts or view.scrolls or is_field),
            view.focused,
            view.scrolls and view.scroll_range > 0,
            view.on_long_click is not None or is_field,
            view.password,
            view.selected,
        )
    )
    for child in view.children:
        _add(child, package, depth + 1, own, made)
