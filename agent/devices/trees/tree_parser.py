"""Read a `uiautomator dump` into nodes with normalized bounds.

Not the numbered elements that a model sees (`agent.loop`), and no opinion on what matters. The XML
comes from a phone and is untrusted: a DTD or entity declaration is refused before it can expand,
and size, count and depth are bounded. Invariants: nodes stand in document order, parents before
children; every edge lies in [0, 1]; no text holds a glyph that is not a letter of any script; a
hint is never a text; what cannot be read raises TreeUnavailableError.

Beside the attributes of AOSP's `AccessibilityNodeInfoDumper` (Android 4–16), those of
uiautomator2's service (`visible-to-user`) and of Appium's server (`displayed`, `showing-hint`,
`state-description`, `tooltip-text`, elements named after their class) are read.
"""

import re
from xml.parsers import expat

from agent.errors import TreeUnavailableError
from agent.records import Bounds, UiNode
from agent.text import without_glyphs

XML_LIMIT_BYTES = 24 * 1024 * 1024
NODE_LIMIT = 20_000
DEPTH_LIMIT = 1_000
_BOUNDS = re.compile(r"\[(-?\d{1,9}),(-?\d{1,9})\]\[(-?\d{1,9}),(-?\d{1,9})\]")
_SURROGATE_PAIR = re.compile(r"&#(5[5-6]\d{3});&#(5[6-7]\d{3});")
_NUMBER = re.compile(r"&#(?:x([0-9A-Fa-f]{1,8})|(\d{1,10}));")
# What XML 1.0 forbids; Android writes some of it all the same.
_INVALID = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REPLACEMENT = "\ufffd"
_NOWHERE = Bounds(left=0.0, top=0.0, right=0.0, bottom=0.0)


def parse_tree(xml: bytes, natural_size: tuple[int, int]) -> tuple[UiNode, ...]:
    """Read a dump's XML.

    Args:
        xml: one whole document with the root `hierarchy`.
        natural_size: width and height in pixels of the display before it is turned; the document's
            own rotation decides which way round they are.

    Raises:
        TreeUnavailableError: the XML is broken, declares a DTD, or exceeds a limit.
    """
    if len(xml) > XML_LIMIT_BYTES:
        raise _unavailable(f"it has {len(xml)} bytes, more than {XML_LIMIT_BYTES}")
    try:
        return _Reader(natural_size).read(xml)
    except expat.ExpatError:
        # Emoji as two surrogate references and control characters are bugs of real Androids.
        repaired = _repair(xml.decode("utf-8", "replace")).encode("utf-8", "replace")
    try:
        return _Reader(natural_size).read(repaired)
    except expat.ExpatError as error:
        raise _unavailable(f"its XML is broken ({error})") from error


def _unavailable(why: str) -> TreeUnavailableError:
    return TreeUnavailableError(
        f"The UI tree cannot be used: {why}.", "Work from the picture, or look again."
    )


def _repair(text: str) -> str:
    text = _SURROGATE_PAIR.sub(
        lambda pair: chr(0x10000 + ((int(pair[1]) & 0x3FF) << 10 | int(pair[2]) & 0x3FF)), text
    )
    text = _NUMBER.sub(_valid_reference, text)
    return _INVALID.sub(_REPLACEMENT, text)


def _valid_reference(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    allowed = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0x10FFFF
    return found[0] if allowed and code not in (0xFFFE, 0xFFFF) else _REPLACEMENT


class _Reader:
    """Collects nodes while expat walks through one document."""

    def __init__(self, natural_size: tuple[int, int]) -> None:
        self._width, self._height = natural_size
        self._nodes: list[UiNode] = []
        self._open: list[int] = []
        self._rooted = False

    def read(self, xml: bytes) -> tuple[UiNode, ...]:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.Parse(xml, True)
        if not self._rooted:
            raise _unavailable("the document is not a hierarchy")
        return tuple(self._nodes)

    def _refuse(self, *_declaration: object) -> None:
        raise _unavailable("it declares a document type, which no Android writes")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "hierarchy":
            if not self._rooted and attributes.get("rotation") in {"1", "3"}:
                self._width, self._height = self._height, self._width
            self._rooted = True
        if not self._rooted:
            raise _unavailable(f"the document starts with {name[:40]!r}, not with a hierarchy")
        if name == "hierarchy":
            return
        if len(self._nodes) >= NODE_LIMIT:
            raise _unavailable(f"it has more than {NODE_LIMIT} nodes")
        if len(self._open) >= DEPTH_LIMIT:
            raise _unavailable(f"it is nested deeper than {DEPTH_LIMIT}")
        parent = self._open[-1] if self._open else -1
        self._open.append(len(self._nodes))
        self._nodes.append(self._node(name, attributes, parent))

    def _end(self, name: str) -> None:
        if name != "hierarchy":
            self._open.pop()

    def _node(self, name: str, attributes: dict[str, str], parent: int) -> UiNode:
        get = attributes.get
        text, hint = get("text", ""), without_glyphs(get("hint", "") or get("hint-text", ""))
        if not get("class", "").endswith("EditText"):
            # What a field holds is no name: every letter of it is compared with what was typed.
            text = without_glyphs(text)
        if get("showing-hint") == "true":
            text, hint = "", hint or text
        description = without_glyphs(get("content-desc", "") or get("tooltip-text", ""))
        checkable = get("checkable") == "true"
        state = get("state-description")
        if state and not checkable:
            # What can be checked says so; any other state is said beside the name.
            state = without_glyphs(state)
            if not description:
                description = state
            elif text:
                description = f"{description}, {state}"
            else:
                text = state
        is_shown = get("visible-to-user") != "false" and get("displayed") != "false"
        if not is_shown:
            text = description = hint = ""
        return UiNode(
            text=text,
            description=description,
            hint=hint,
            resource_id=get("resource-id", ""),
            # `uiautomator dump` says node; other tools name the element after its class.
            class_name=get("class", "" if name == "node" else name),
            package=get("package", ""),
            bounds=self._bounds(get("bounds", "")) if is_shown else _NOWHERE,
            depth=len(self._open) - 1,
            parent=parent,
            checkable=checkable,
            checked=get("checked") == "true",
            clickable=get("clickable") == "true",
            enabled=get("enabled", "true") == "true",
            focusable=get("focusable") == "true",
            focused=get("focused") == "true",
            scrollable=get("scrollable") == "true",
            long_clickable=get("long-clickable") == "true",
            password=get("password") == "true",
            selected=get("selected") == "true",
        )

    def _bounds(self, text: str) -> Bounds:
        found = _BOUNDS.fullmatch(text)
        if found is None:
            return _NOWHERE
        left, top, right, bottom = (int(edge) for edge in found.groups())
        return Bounds(
            left=_share(left, self._width),
            top=_share(top, self._height),
            right=_share(max(left, right), self._width),
            bottom=_share(max(top, bottom), self._height),
        )


def _share(edge_px: int, length_px: int) -> float:
    return min(max(edge_px / length_px, 0.0), 1.0)
