"""Compare what a field holds with what was typed into it, without ever quoting either.

Pure: nodes and strings in, a verdict out. Invariant: "arrived" means every character, in order; a
field that cannot be read back is reported as unread, never taken for one that holds the text.
"""

import re
from collections.abc import Sequence

from agent.records import UiNode

# What `AccessibilityNodeInfoDumper.stripInvalidXMLChars` of AOSP writes as a dot.
_DOTTED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufddf\ufffe\uffff]")
_EDITABLE = re.compile(r"EditText|TextField|AutoComplete|SearchView", re.IGNORECASE)


def focused_field(nodes: Sequence[UiNode]) -> UiNode | None:
    """Return the field that has the focus; None when none has."""
    focused = [node for node in nodes if node.focused]
    editable = [node for node in focused if node.password or _EDITABLE.search(node.class_name)]
    return editable[-1] if editable else None


def content(node: UiNode) -> str:
    """Return what a field holds; a hint that is shown in its place is no content."""
    return "" if node.hint and node.text == node.hint else node.text


def has_arrived(before: str, typed: str, after: str) -> bool:
    """Return whether a field's content is the old one with the text at one place of it.

    A selection that was replaced, or a hint that old Androids give as content, may be missing.
    """
    before, typed, after = (_DOTTED.sub(".", text) for text in (before, typed, after))
    start = after.find(typed)
    while start >= 0:
        rest = after[start + len(typed) :]
        if (
            start + len(rest) <= len(before)
            and before.startswith(after[:start])
            and before.endswith(rest)
        ):
            return True
        start = after.find(typed, start + 1)
    return False


def difference(before: str, typed: str, after: str) -> str:
    """Return how far the text came, in numbers: what people type is nobody else's business."""
    if after == before:
        return "the field holds what it held before"
    same = 0
    base = len(before) if after.startswith(before) else 0
    for wanted, found in zip(typed, after[base:], strict=False):
        if wanted != found:
            break
        same += 1
    return (
        f"the field holds {len(after) - base} characters of {len(typed)}, and the first {same} "
        "are right"
    )
