"""Compare what a field holds with what was typed into it, without ever quoting either.

Pure: nodes and strings in, a verdict out. Invariant: "arrived" means every character, in order; a
field that cannot be read back is reported as unread, never taken for one that holds the text.
"""

import re
from collections.abc import Sequence

from agent.records import UiNode

# What `AccessibilityNodeInfoDumper.stripInvalidXMLChars` of AOSP writes as a dot.
_DOTTED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufddf\ufffe\uffff]")
_WEB = re.compile(r"WebView", re.IGNORECASE)
_EDITABLE = re.compile(r"EditText|TextField|AutoComplete|SearchView", re.IGNORECASE)


def focused_field(nodes: Sequence[UiNode]) -> UiNode | None:
    """Return the field that has the focus; None when none has."""
    focused = [node for node in nodes if node.focused]
    editable = [node for node in focused if node.password or _EDITABLE.search(node.class_name)]
    return editable[-1] if editable else None


def content(node: UiNode) -> str:
    """Return what a field holds; a hint that is shown in its place is no content."""
    return "" if node.hint and node.text == node.hint else node.text


def shows_its_text(nodes: Sequence[UiNode], field: UiNode) -> bool:
    """Return whether a field that reads back empty is empty.

    Android's own fields always give what they hold; a page's, or a drawn one's, may give nothing.
    """
    if field.password or not field.class_name.endswith("EditText"):
        return False
    at, seen = field.parent, 0
    while 0 <= at < len(nodes) and seen < len(nodes):
        if _WEB.search(nodes[at].class_name):
            return False
        at, seen = nodes[at].parent, seen + 1
    return True


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


def inserted(before: str, after: str) -> int:
    """Return how many characters a field gained at one place of its old content; −1 where what it
    holds is something else.
    """
    gained = len(after) - len(before)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    # Where the same characters stand on both sides, any of the places says the same.
    return gained if gained >= 0 and after[start + gained :] == before[start:] else -1


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
