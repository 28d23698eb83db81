"""Replace what stands on the screen in a UI tree: every attribute whose value may be a text.

The attributes that are kept are those of AccessibilityNodeInfoDumper (AOSP 4.3 to 16) that no app
writes a sentence into. Invariant: entities stay entities, so the tree stays well formed.
"""

import re
from collections.abc import Callable

from agent.devices.recordings.stand_ins import Personal

Replace = Callable[[Personal, str], str]

_ATTRIBUTE = re.compile(r"([\w:.-]{1,60})=(?:\"([^\"<]*)\"|'([^'<]*)')")
_KEPT = frozenset(
    {
        *("index", "resource-id", "class", "package", "bounds", "rotation", "id", "type", "layer"),
        *(
            "drawing-order",
            "displayed",
            "a11y-focused",
            "important",
            "display-id",
            "visible-bounds",
        ),
        *("version", "encoding", "standalone", "NAF", "active", "focused", "instance"),
    }
)
_HARMLESS = re.compile(r"(?:true|false|-?\d{1,6}|)")
_ENTITY = re.compile(r"(&#?\w{1,10};)")


def redact_trees(text: str, replace: Replace) -> str:
    """Return what `uiautomator dump` wrote, with stand-ins for texts."""

    def attribute(found: re.Match[str]) -> str:
        name, mark = found[1], '"' if found[2] is not None else "'"
        value = found[2] if found[2] is not None else found[3]
        if name in _KEPT or (name != "text" and _HARMLESS.fullmatch(value)):
            return found[0]
        parts = _ENTITY.split(value)
        made = "".join(
            part if at % 2 else replace(Personal.SCREEN, part) if part else ""
            for at, part in enumerate(parts)
        )
        return f"{name}={mark}{made}{mark}"

    return _ATTRIBUTE.sub(attribute, text)
