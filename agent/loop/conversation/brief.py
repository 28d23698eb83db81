"""What an old screen showed, in one line: its title, first labels, field values and switches.

A page that was shown before is told by what is new on it. Not the masking (that is
`agent.loop.conversation.masking`). Pure. Invariant: one bounded line that begins with `[Screen:`;
labels are quoted as on the screen itself, so none of them can look like its end.
"""

import re

from agent.loop.by_identity import by_identity
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
_NEWS = 6  # How many elements are named as new, and how many as gone.


def place_of(seen: Observation) -> str:
    """Return the app and the page that a line names."""
    front = seen.foreground
    activity = activity_name(front.activity)
    return f"{front.package or 'unknown'}/{activity}" if activity else front.package or "unknown"


def brief_of(seen: Observation, before: Observation | None = None) -> str:
    """Return the line that stands for an observation once it is old.

    Args:
        before: the same page as it was last told of; what is as it was then is not told again.
    """
    whole = _whole_line(seen)
    if before is None:
        return whole
    news = _news_line(seen, before)
    return news if len(news) < len(whole) else whole


def _news_line(seen: Observation, before: Observation) -> str:
    """Return the line of a page by what is new on it and what has gone."""
    had, has = _quoted_elements(before), _quoted_elements(seen)
    parts = [f"{START} {place_of(seen)} again"]
    phase = _PHASE.search(seen.screen_text.partition("## Screen State")[0])
    if phase and phase.group() not in before.screen_text:
        parts.append(phase.group())
    for name, ones in (
        ("now", [one for one in dict.fromkeys(has) if one not in had]),
        ("gone", [one for one in dict.fromkeys(had) if one not in has]),
    ):
        shown = ones[:_NEWS]
        more = f" and {len(ones) - _NEWS} more" if len(ones) > _NEWS else ""
        if shown:
            parts.append(f"{name} {', '.join(shown)}{more}")
    return ", ".join(parts)[: MAX_CHARS - 1] + "]"


def _whole_line(seen: Observation) -> str:
    parts = [f"{START} {place_of(seen)}"]
    phase = _PHASE.search(seen.screen_text.partition("## Screen State")[0])
    if phase:
        parts.append(phase.group())
    room = MAX_CHARS - sum(map(len, parts))
    if seen.tree_note:
        parts.append("no UI tree")
    plain, left = _PLAIN_LABELS, 0
    for element in _telling(seen):
        matters = bool(element.value) or element.checkable or element.selected
        if not matters and not plain:
            left += 1
            continue
        said = _quoted_words(element)
        if len(said) + 2 > room:
            left += 1
            continue
        plain -= not matters
        room -= len(said) + 2
        parts.append(said)
    more = f", and {left} more" if left else ""
    return ", ".join(parts) + more + "]"


def _telling(seen: Observation) -> list[Element]:
    """Return the elements that say something, and are the app's."""
    return [e for e in seen.elements if e.kind != STATUS_BAR and (e.label != UNLABELED or e.value)]


@by_identity
def _quoted_elements(seen: Observation) -> list[str]:
    return [_quoted_words(element) for element in _telling(seen)]


def _quoted_words(element: Element) -> str:
    said = f'"{_quoted(element.label)}"'
    if element.value:
        said += f' = "{_quoted(on_one_line(element.value, MAX_CHARS))}"'
    if element.checkable:
        said += " CHECKED" if element.checked else " UNCHECKED"
    return f"{said} SELECTED" if element.selected else said


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + "…"
    return shown.replace('"', "'")
