"""Read which texts and switches belong to which clickable row of a UI tree.

Real lists (Settings above all) are clickable containers without a text of their own, whose title,
summary and switch are children that cannot be clicked. Invariant: every node is given to at most
one row, and the work is linear in the number of nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.records import UiNode
from agent.safety.words import has_phrase, words

_MAX_PARTS = 6  # A clickable container with more texts than this is a page, not a row.
_MAX_ROW_HEIGHT = 0.4
_MAX_OWN_CHARS = 300
_CLIMB = 3
_SCAN = 200


def is_editable(node: UiNode) -> bool:
    """Return whether a node takes text; the tree says so only by its class."""
    return "EditText" in node.class_name or "AutoComplete" in node.class_name


@dataclass(slots=True)
class Rows:
    """What `read_rows` found, by node index."""

    nodes: Sequence[UiNode]
    absorbed: list[bool]
    """The node is shown as a part of its row only."""
    holds_elements: list[bool]
    """Something that can be used on its own lies inside the node."""
    parts: dict[int, list[str]] = field(default_factory=dict)
    toggles: dict[int, int] = field(default_factory=dict)
    inside: dict[int, list[str]] = field(default_factory=dict)
    """Texts in a row that has a name of its own, which say more than the name."""
    borrowed: dict[int, str] = field(default_factory=dict)
    """Labels of switches that have none of their own, from the text beside them."""

    placeholders: dict[int, str] = field(default_factory=dict)
    """Texts inside a field that has no name: what a drawn field shows until something is typed."""

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
    rows = Rows(nodes, [False] * count, [False] * count)
    parents = [node.parent if 0 <= node.parent < at else -1 for at, node in enumerate(nodes)]
    owners = _owners(nodes, parents)
    texts: dict[int, list[int]] = {}
    toggles: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        usable = _is_usable(node)
        if usable:
            _mark_ancestors(parents, rows.holds_elements, at)
        above = parents[at]
        if above >= 0 and not usable and node.text and _is_nameless_field(nodes[above]):
            rows.placeholders.setdefault(above, node.text)
            rows.absorbed[at] = True
        owner = owners[at]
        if owner < 0 or usable:
            continue
        if node.checkable:
            toggles.setdefault(owner, []).append(at)
        elif (node.text or node.description) and not is_editable(node):
            texts.setdefault(owner, []).append(at)
    for owner in range(count):
        _settle_row(owner, nodes, rows, texts.get(owner, []), toggles.get(owner, []))
    _label_lone_toggles(nodes, parents, rows)
    return rows


def _settle_row(
    owner: int, nodes: Sequence[UiNode], rows: Rows, texts: list[int], toggles: list[int]
) -> None:
    bounds = nodes[owner].bounds
    if len(texts) > _MAX_PARTS or bounds.bottom - bounds.top > _MAX_ROW_HEIGHT or len(toggles) > 1:
        if texts:
            rows.holds_elements[owner] = True
        return
    if texts and not (nodes[owner].text or nodes[owner].description):
        rows.parts[owner] = [nodes[at].text or nodes[at].description for at in texts]
        for at in texts:
            rows.absorbed[at] = True
    elif texts:
        # A day of a calendar or a tab says its name twice: once to be read, once to be heard.
        own = words(f"{nodes[owner].text} {nodes[owner].description}"[:_MAX_OWN_CHARS])
        for at in texts:
            said = words((nodes[at].text or nodes[at].description)[:_MAX_OWN_CHARS])
            rows.absorbed[at] = bool(said) and has_phrase(own, said)
            if not rows.absorbed[at]:
                rows.inside.setdefault(owner, []).append(nodes[at].text or nodes[at].description)
    if toggles:
        rows.toggles[owner] = toggles[0]
        rows.absorbed[toggles[0]] = True


def _owners(nodes: Sequence[UiNode], parents: Sequence[int]) -> list[int]:
    owners = [-1] * len(nodes)
    for at, parent in enumerate(parents):
        if parent < 0:
            continue
        above = nodes[parent]
        if above.clickable and not above.scrollable and not is_editable(above):
            owners[at] = parent
        elif not _is_usable(above):
            owners[at] = owners[parent]
    return owners


def _is_usable(node: UiNode) -> bool:
    return node.clickable or node.scrollable or node.long_clickable or is_editable(node)


def _is_nameless_field(node: UiNode) -> bool:
    return is_editable(node) and not node.hint and not node.description


def _mark_ancestors(parents: Sequence[int], marks: list[bool], at: int) -> None:
    parent = parents[at]
    while parent >= 0 and not marks[parent]:
        marks[parent] = True
        parent = parents[parent]


def _label_lone_toggles(nodes: Sequence[UiNode], parents: Sequence[int], rows: Rows) -> None:
    """Label a switch that can be clicked by itself with the first text beside it."""
    for at, node in enumerate(nodes):
        if not node.checkable or rows.absorbed[at] or node.text or node.description:
            continue
        if rows.parts.get(at):
            continue
        above = parents[at]
        for _ in range(_CLIMB):
            if above < 0:
                break
            label, toggles = _scan(nodes, parents, above)
            if toggles > 1:
                break
            if label:
                rows.borrowed[at] = label
                break
            above = parents[above]


def _scan(nodes: Sequence[UiNode], parents: Sequence[int], top: int) -> tuple[str, int]:
    """Return the first text below a node, and how many switches lie there."""
    label, toggles = "", 0
    inside = {top}
    for at in range(top + 1, min(len(nodes), top + _SCAN)):
        if parents[at] not in inside:
            break
        inside.add(at)
        node = nodes[at]
        toggles += int(node.checkable)
        if not label and node.text and not is_editable(node) and not node.checkable:
            label = node.text
    return label, toggles
