"""Read which texts and switches belong to which row of a UI tree that can be pressed.

Real lists (Settings above all) are clickable containers without a text of their own, whose title,
summary and switch are children that cannot be clicked. Not the names that stand beside a thing
(`agent.loop.screen.captions`). Invariant: every node is given to at most one row, and the work is
linear in the number of nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.loop.screen.names import contains, has_words, own_parts
from agent.records import UiNode

_MAX_PARTS = 6  # A clickable container with more texts than this is a page, not a row.
_MAX_ROW_HEIGHT = 0.4
_MAX_SCROLLING_HEIGHT = 0.2  # A higher one that scrolls is a list, though it can be clicked.


def is_editable(node: UiNode) -> bool:
    """Return whether a node takes text; the tree says so only by its class."""
    return "EditText" in node.class_name or "AutoComplete" in node.class_name


@dataclass(slots=True)
class Rows:
    """What `read_rows` found, by node index."""

    nodes: Sequence[UiNode]
    parents: Sequence[int]
    absorbed: list[bool]
    """The node is shown as a part of its row only."""
    holds_elements: list[bool]
    """Something that can be used on its own lies inside the node."""
    parts: dict[int, list[str]] = field(default_factory=dict)
    toggles: dict[int, int] = field(default_factory=dict)
    inside: dict[int, list[str]] = field(default_factory=dict)
    """Texts in a row that has a name of its own, which say more than the name."""
    borrowed: dict[int, str] = field(default_factory=dict)
    """Names of switches, icons and fields that have none of their own, from the text beside."""
    placeholders: dict[int, str] = field(default_factory=dict)
    """Texts inside a field that has no name: what a drawn field shows until something is typed."""
    ids: dict[int, str] = field(default_factory=dict)
    """The first resource id in a row that has none itself."""
    selected: set[int] = field(default_factory=set)
    """Rows of which a part is marked as selected."""
    nameless: list[int] = field(default_factory=list)
    """What can be used, and has no name in itself or in its row."""

    def parts_of(self, at: int) -> Sequence[str]:
        """Return the texts that label a node."""
        if at in self.borrowed:
            return (self.borrowed[at],)
        return self.parts.get(at, ())

    def toggle_of(self, at: int) -> UiNode | None:
        """Return the one switch or checkbox that a row shows the state of."""
        inner = self.toggles.get(at)
        return None if inner is None else self.nodes[inner]


def read_rows(nodes: Sequence[UiNode]) -> Rows:
    """Return every text and switch to the row that it labels."""
    count = len(nodes)
    parents = [node.parent if 0 <= node.parent < at else -1 for at, node in enumerate(nodes)]
    rows = Rows(nodes, parents, [False] * count, [False] * count)
    owners = [-1] * count
    texts: dict[int, list[int]] = {}
    toggles: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        parent = parents[at]
        owner = owners[at] = -1 if parent < 0 else _owner(parent, nodes[parent], owners)
        usable = is_usable(node)
        if usable:
            _mark_ancestors(parents, rows.holds_elements, at)
        if usable or node.checkable:
            rows.nameless.append(at)
        if owner < 0 or usable:
            continue
        if node.resource_id and owner not in rows.ids:
            rows.ids[owner] = node.resource_id
        if node.selected:
            rows.selected.add(owner)
        if is_editable(nodes[owner]):
            if node.text and owner not in rows.placeholders and _is_nameless_field(nodes[owner]):
                rows.placeholders[owner] = node.text
                rows.absorbed[at] = True
        elif node.checkable:
            toggles.setdefault(owner, []).append(at)
        elif has_words(node):
            texts.setdefault(owner, []).append(at)
    for owner in sorted({*texts, *toggles}):
        _settle_row(owner, nodes, rows, texts.get(owner, []), toggles.get(owner, []))
    rows.nameless = [
        at
        for at in rows.nameless
        if not (
            rows.absorbed[at] or at in rows.parts or has_words(nodes[at]) or at in rows.placeholders
        )
    ]
    return rows


def _settle_row(
    owner: int, nodes: Sequence[UiNode], rows: Rows, texts: list[int], toggles: list[int]
) -> None:
    node, bounds = nodes[owner], nodes[owner].bounds
    is_high = bounds.bottom - bounds.top > _MAX_ROW_HEIGHT
    own = f"{node.text} {node.description}"
    if not is_usable(node) and has_words(node):
        for at in texts:
            said = own_parts(nodes[at])
            rows.absorbed[at] = not is_high and all(contains(own, part) for part in said)
        return
    # A card of any height with one text in it, and nothing to press, is what the text says.
    is_card = len(texts) == 1 and not toggles and not rows.holds_elements[owner]
    if len(texts) > _MAX_PARTS or (is_high and not is_card) or len(toggles) > 1:
        if texts:
            rows.holds_elements[owner] = True
        return
    if not is_usable(node) and rows.holds_elements[owner]:
        return
    if texts and not has_words(node):
        rows.parts[owner] = [part for at in texts for part in own_parts(nodes[at])]
        for at in texts:
            rows.absorbed[at] = True
    elif texts:
        # A day of a calendar or a tab says its name twice: once to be read, once to be heard.
        for at in texts:
            said = own_parts(nodes[at])
            rows.absorbed[at] = all(contains(own, part) for part in said)
            if not rows.absorbed[at]:
                rows.inside.setdefault(owner, []).extend(said)
    if toggles:
        rows.toggles[owner] = toggles[0]
        rows.absorbed[toggles[0]] = True
        if not has_words(node) and owner not in rows.parts and has_words(nodes[toggles[0]]):
            rows.parts[owner] = list(own_parts(nodes[toggles[0]]))


def _owner(parent: int, above: UiNode, owners: Sequence[int]) -> int:
    """Return the row that the children of a node belong to."""
    pressed = above.clickable or above.long_clickable
    if pressed and not above.scrollable:
        return parent
    if is_usable(above) or (above.focused and above.focusable and not above.scrollable):
        high = above.bounds.bottom - above.bounds.top
        is_row = pressed and high <= _MAX_SCROLLING_HEIGHT
        is_row = is_row or is_editable(above) or (above.focused and high <= _MAX_ROW_HEIGHT)
        return parent if is_row else -1
    # A group that is described as a whole repeats what stands in it.
    return parent if owners[parent] < 0 and above.description else owners[parent]


def is_usable(node: UiNode) -> bool:
    return node.clickable or node.scrollable or node.long_clickable or is_editable(node)


def _is_nameless_field(node: UiNode) -> bool:
    return is_editable(node) and not node.hint and not node.description


def _mark_ancestors(parents: Sequence[int], marks: list[bool], at: int) -> None:
    parent = parents[at]
    while parent >= 0 and not marks[parent]:
        marks[parent] = True
        parent = parents[parent]
