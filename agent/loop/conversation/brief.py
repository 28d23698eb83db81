"""What an old screen showed, in one line: its title, first labels, field values and switches.

Not the masking (that is `agent.loop.conversation.masking`). Pure. Invariant: one bounded line that
begins with `[Screen:`; labels are quoted as on the screen itself, so none of them can look like its
end.
"""

import re
from collections.abc import Iterator

from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.screen_text import activity_name
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, Observation
from agent.text import on_one_line

START = "[Screen:"
MAX_CHARS = 480
_PHASE = re.compile(r"^Phase: \w+", re.MULTILINE)
_LABEL_CHARS = 48
_PLAIN_LABELS = 6  # How many labels are kept that have neither a value nor a state.


def brief_of(seen: Observation) -> str:
    """Return the line that stands for an observation once it is old."""
    front = seen.foreground
    activity = activity_name(front.activity)
    place = f"{front.package or 'unknown'}/{activity}" if activity else front.package or "unknown"
    parts = [f"{START} {place}"]
    phase = _PHASE.search(seen.screen_text.partition("## Screen State")[0])
    if phase:
        parts.append(phase.group())
    room = MAX_CHARS - sum(map(len, parts))
    if seen.tree_note:
        parts.append("no UI tree")
    plain, left = _PLAIN_LABELS, 0
    for element in seen.elements:
        if element.kind == STATUS_BAR or (element.label == UNLABELED and not element.value):
            continue
        matters = bool(element.value) or element.checkable or element.selected
        if not matters and not plain:
            left += 1
            continue
        said = " ".join(_words(element))
        if len(said) + 2 > room:
            left += 1
            continue
        plain -= not matters
        room -= len(said) + 2
        parts.append(said)
    more = f", and {left} more" if left else ""
    return ", ".join(parts) + more + "]"


def _words(element: Element) -> Iterator[str]:
    yield f'"{_quoted(element.label)}"'
    if element.value:
        yield f'= "{_quoted(on_one_line(element.value, MAX_CHARS))}"'
    if element.checkable:
        yield "CHECKED" if element.checked else "UNCHECKED"
    if element.selected:
        yield "SELECTED"


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + "…"
    return shown.replace('"', "'")
