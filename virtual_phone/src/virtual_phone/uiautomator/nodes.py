"""The screen as an accessibility service sees it: windows, and their nodes with parents.

Built from the current scene for one question and thrown away. Invariant: exactly the nodes that a
dump writes, in the same order and with the same index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from virtual_phone.display.scene import Scene, Surface
from virtual_phone.ui.dump import resource_id
from virtual_phone.ui.layout import shown_text
from virtual_phone.ui.views import Kind, Rect, View

_NOT_REPORTED = frozenset({"TOAST"})


@dataclass(eq=False, slots=True)
class Node:
    """One view that can be seen."""

    view: View
    surface: Surface
    parent: Node | None = None
    index: int = 0
    children: list[Node] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What it shows; the hint of an empty field, dots for a password."""
        return shown_text(self.view) if self.view.kind is Kind.FIELD else self.view.text

    @property
    def resource_id(self) -> str:
        """The full resource id, or "" without one."""
        return resource_id(self.view, self.surface.package)

    @property
    def clickable(self) -> bool:
        """Whether a tap does something."""
        return self.view.acts and self.view.clickable is not False

    @property
    def long_clickable(self) -> bool:
        """Whether a long press does something."""
        return self.view.on_long_click is not None or self.view.kind is Kind.FIELD

    @property
    def scrollable(self) -> bool:
        """Whether its content is longer than it is."""
        return self.view.scrolls and self.view.scroll_range > 0

    @property
    def editable(self) -> bool:
        """Whether text can be typed into it."""
        return self.view.kind is Kind.FIELD and self.view.enabled

    @property
    def center(self) -> tuple[float, float]:
        """The middle of what can be seen of it, in display pixels."""
        seen = self.view.clip
        return (seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def windows(scene: Scene) -> list[Surface]:
    """Return the windows a service may look into: the active one first, then from the top down."""
    active = scene.focused()
    if active is None:
        return []
    others: list[Surface] = []
    for surface in reversed(scene.surfaces):
        if surface is not active and surface.type not in _NOT_REPORTED:
            others.append(surface)
        if surface.modal:
            # A modal window takes all touches, so nothing below it is reported.
            break
    return [active, *others]


def root_of(surface: Surface) -> Node | None:
    """Return a window's tree; None where nothing of it can be seen."""
    return _node(surface.root, surface, None, 0)


def _node(view: View, surface: Surface, parent: Node | None, index: int) -> Node | None:
    if view.hidden_from_tree or view.clip.empty:
        return None
    node = Node(view, surface, parent, index)
    for child in view.children:
        below = _node(child, surface, node, len(node.children))
        if below is not None:
            node.children.append(below)
    return node


def information(node: Node) -> dict[str, object]:
    """Return what the library calls an object's info."""
    view = node.view
    return {
        "bounds": rectangle(view.rect),
        "childCount": len(node.children),
        "className": view.cls,
        "contentDescription": view.desc,
        "packageName": node.surface.package,
        "resourceName": node.resource_id or None,
        "text": node.text,
        "visibleBounds": rectangle(view.clip),
        "checkable": view.checkable,
        "checked": view.checked,
        "clickable": node.clickable,
        "enabled": view.enabled,
        "focusable": view.is_focusable,
        "focused": view.focused,
        "longClickable": node.long_clickable,
        "scrollable": node.scrollable,
        "selected": view.selected,
    }


def rectangle(rect: Rect) -> dict[str, int]:
    return {"bottom": rect.bottom, "left": rect.left, "right": rect.right, "top": rect.top}
