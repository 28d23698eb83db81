"""Selectors as the library sends them, and which nodes they mean.

The rules are UiSelector's: texts compare as they are, `contains` and `startsWith` without case,
`matches` is a whole match of a regular expression; children and siblings narrow step by step.
Invariant: a selector costs time in proportion to the tree; an expression that would not is stopped.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from enum import IntFlag

import msgspec
import regex

from virtual_phone.uiautomator.nodes import Node
from virtual_phone.uiautomator.rpc import FAILED, INVALID_PARAMETERS, RpcError

STEPS_LIMIT = 16
PATTERN_LIMIT, REPEATS_LIMIT = 500, 200
"""Characters of an expression, and the product of its counted repeats, which compiling unrolls."""
MATCH_TIMEOUT_S = 0.1


class Mask(IntFlag):
    """Which fields of a selector count."""

    TEXT = 0x01
    TEXT_CONTAINS = 0x02
    TEXT_MATCHES = 0x04
    TEXT_STARTS_WITH = 0x08
    CLASS_NAME = 0x10
    CLASS_NAME_MATCHES = 0x20
    DESCRIPTION = 0x40
    DESCRIPTION_CONTAINS = 0x80
    DESCRIPTION_MATCHES = 0x100
    DESCRIPTION_STARTS_WITH = 0x200
    CHECKABLE = 0x400
    CHECKED = 0x800
    CLICKABLE = 0x1000
    LONG_CLICKABLE = 0x2000
    SCROLLABLE = 0x4000
    ENABLED = 0x8000
    FOCUSABLE = 0x10000
    FOCUSED = 0x20000
    SELECTED = 0x40000
    PACKAGE_NAME = 0x80000
    PACKAGE_NAME_MATCHES = 0x100000
    RESOURCE_ID = 0x200000
    RESOURCE_ID_MATCHES = 0x400000
    INDEX = 0x800000
    INSTANCE = 0x1000000


class Selector(msgspec.Struct, rename="camel"):
    """What a node has to be; `mask` says which fields count."""

    mask: int = 0
    child_or_sibling: list[str] = []
    child_or_sibling_selector: list[Selector] = []
    text: str | None = None
    text_contains: str | None = None
    text_matches: str | None = None
    text_starts_with: str | None = None
    class_name: str | None = None
    class_name_matches: str | None = None
    description: str | None = None
    description_contains: str | None = None
    description_matches: str | None = None
    description_starts_with: str | None = None
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    long_clickable: bool = False
    scrollable: bool = False
    enabled: bool = False
    focusable: bool = False
    focused: bool = False
    selected: bool = False
    package_name: str | None = None
    package_name_matches: str | None = None
    resource_id: str | None = None
    resource_id_matches: str | None = None
    index: int = 0
    instance: int = 0

    def below(self, relation: str, selector: Selector) -> Selector:
        """Return the selector narrowed by one more step."""
        return msgspec.structs.replace(
            self,
            child_or_sibling=[*self.child_or_sibling, relation],
            child_or_sibling_selector=[*self.child_or_sibling_selector, selector],
        )

    def numbered(self, instance: int) -> Selector:
        """Return the selector that means only the n-th of its nodes."""
        return msgspec.structs.replace(self, mask=self.mask | Mask.INSTANCE, instance=instance)

    def shown(self) -> str:
        """Return it as messages name it."""
        parts = [
            f"{name}={getattr(self, name.lower())}"
            for name in (flag.name or "" for flag in Mask)
            if self.mask & Mask[name]
        ]
        steps = zip(self.child_or_sibling, self.child_or_sibling_selector, strict=False)
        parts += [f"{relation.upper()}={one.shown()}" for relation, one in steps]
        return f"UiSelector[{', '.join(parts)}]"[:2000]


def find_all(roots: list[Node], selector: Selector) -> list[Node]:
    """Return the nodes a selector means, in the order of the tree.

    `roots` are the windows' trees, the active window's first. A selector of one step looks into all
    of them; one with an index, children or siblings into the active window only.
    """
    steps = selector.child_or_sibling_selector
    if len(steps) > STEPS_LIMIT or any(one.child_or_sibling_selector for one in steps):
        raise RpcError(INVALID_PARAMETERS, "method parameters invalid")
    simple = not steps and not selector.mask & Mask.INDEX
    scope = roots if simple else roots[:1]
    found = _instance((n for root in scope for n in root.walk() if matches(n, selector)), selector)
    for relation, step in zip(selector.child_or_sibling, steps, strict=False):
        found = _instance(_next(found, relation, step), step)
    return found


def _next(found: list[Node], relation: str, step: Selector) -> Iterable[Node]:
    seen: set[int] = set()
    for node in found:
        above = node if relation == "child" else node.parent
        starts = above.children if above is not None else []
        for start in starts:
            pending = [start]
            while pending:
                one = pending.pop()
                if id(one) in seen:
                    continue
                seen.add(id(one))
                pending += reversed(one.children)
                if matches(one, step):
                    yield one


def _instance(found: Iterable[Node], selector: Selector) -> list[Node]:
    nodes = list(found)
    if selector.mask & Mask.INSTANCE:
        return nodes[selector.instance : selector.instance + 1] if selector.instance >= 0 else []
    return nodes


_FLAGS: dict[Mask, tuple[str, Callable[[Node], bool]]] = {
    Mask.CHECKABLE: ("checkable", lambda node: node.view.checkable),
    Mask.CHECKED: ("checked", lambda node: node.view.checked),
    Mask.CLICKABLE: ("clickable", lambda node: node.clickable),
    Mask.LONG_CLICKABLE: ("long_clickable", lambda node: node.long_clickable),
    Mask.SCROLLABLE: ("scrollable", lambda node: node.scrollable),
    Mask.ENABLED: ("enabled", lambda node: node.view.enabled),
    Mask.FOCUSABLE: ("focusable", lambda node: node.view.is_focusable),
    Mask.FOCUSED: ("focused", lambda node: node.view.focused),
    Mask.SELECTED: ("selected", lambda node: node.view.selected),
}

_Compare = Callable[[str, str], bool]


def _contains(wanted: str, text: str) -> bool:
    return wanted.lower() in text.lower()


def _starts(wanted: str, text: str) -> bool:
    return text.lower().startswith(wanted.lower())


def _equals(wanted: str, text: str) -> bool:
    return wanted == text


def _whole_match(wanted: str, text: str) -> bool:
    try:
        return _pattern(wanted).fullmatch(text, timeout=MATCH_TIMEOUT_S) is not None
    except TimeoutError as error:
        raise RpcError(
            FAILED, "java.lang.StackOverflowError: the regular expression takes too long"
        ) from error


@functools.lru_cache(maxsize=64)
def _pattern(text: str) -> regex.Pattern[str]:
    try:
        counts = regex.findall(r"\{(\d*),?(\d*)\}", text)
        repeats = math.prod(max(1, *(int(one[:9] or 0) for one in pair)) for pair in counts)
        if len(text) > PATTERN_LIMIT or repeats > REPEATS_LIMIT:
            raise regex.error("too long, or too many repeats")
        return regex.compile(text, regex.DOTALL)
    except (regex.error, RecursionError, OverflowError) as error:
        raise RpcError(
            FAILED, f"java.util.regex.PatternSyntaxException: {error} in {text[:200]!r}"
        ) from error


_TEXTS: dict[Mask, tuple[str, Callable[[Node], str], _Compare]] = {
    Mask.TEXT: ("text", lambda node: node.text, _equals),
    Mask.TEXT_CONTAINS: ("text_contains", lambda node: node.text, _contains),
    Mask.TEXT_MATCHES: ("text_matches", lambda node: node.text, _whole_match),
    Mask.TEXT_STARTS_WITH: ("text_starts_with", lambda node: node.text, _starts),
    Mask.CLASS_NAME: ("class_name", lambda node: node.view.cls, _equals),
    Mask.CLASS_NAME_MATCHES: ("class_name_matches", lambda node: node.view.cls, _whole_match),
    Mask.DESCRIPTION: ("description", lambda node: node.view.desc, _equals),
    Mask.DESCRIPTION_CONTAINS: ("description_contains", lambda node: node.view.desc, _contains),
    Mask.DESCRIPTION_MATCHES: ("description_matches", lambda node: node.view.desc, _whole_match),
    Mask.DESCRIPTION_STARTS_WITH: ("description_starts_with", lambda node: node.view.desc, _starts),
    Mask.PACKAGE_NAME: ("package_name", lambda node: node.surface.package, _equals),
    Mask.PACKAGE_NAME_MATCHES: (
        "package_name_matches",
        lambda node: node.surface.package,
        _whole_match,
    ),
    Mask.RESOURCE_ID: ("resource_id", lambda node: node.resource_id, _equals),
    Mask.RESOURCE_ID_MATCHES: ("resource_id_matches", lambda node: node.resource_id, _whole_match),
}


def matches(node: Node, selector: Selector) -> bool:
    """Whether a node by itself is what a selector describes."""
    mask = selector.mask
    if mask & Mask.INDEX and node.index != selector.index:
        return False
    for flag, (name, value) in _FLAGS.items():
        if mask & flag and getattr(selector, name) != value(node):
            return False
    for flag, (name, text, compare) in _TEXTS.items():
        if mask & flag and not compare(getattr(selector, name) or "", text(node)):
            return False
    return True
