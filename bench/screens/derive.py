"""Answer a question from a written screen by rules, the way a careful reader would.

A rule finds the one line that says what was asked, by its row (the line itself, the line it is
indented below, the nearest coordinates, else the first one after the row's line) and takes what
that line says. Invariant: nothing is used that is not in the text; None where the text says it not
at all, or of several lines alike.
"""

import re
from collections.abc import Sequence

from bench.screens.formats import Entry, Written
from bench.screens.questions import Kind, Question

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(:?)')
"""What a line quotes; the name of a property is followed by a colon."""
_SHOWN = {
    "on": ("[CHECKED]", "isChecked=True", '"is_checked": True'),
    "off": ("[UNCHECKED]", "isChecked=False", '"is_checked": False'),
    "selected": ("[SELECTED]", '"is_selected": True'),
    "disabled": ("[DISABLED]",),
}
_MIDDLE = 0.5
_NEAR = 2  # How many lines below a label a switch without a name of its own still belongs to it.


def derive(question: Question, written: Written) -> tuple[str, ...]:
    """Return the answers that the text gives, several where it says them alike; none where none.

    A number, words, a state, or `me` and `them`.
    """
    match question.kind:
        case Kind.NUMBER:
            return tuple(str(e.number) for e in _find(question.what, question.more, written))
        case Kind.SAYS:
            said = _flat(question.what)
            return (question.what,) if any(said in _flat(e.text) for e in written.entries) else ()
        case Kind.STATE:
            return _state(question, written)
        case Kind.BY:
            return _side(question.what, written)


def _find(label: str, row: str, written: Written) -> tuple[Entry, ...]:
    entries = written.entries
    found = tuple(entry for entry in entries if _names(entry, label))
    if not row or len(found) < 2:
        return found
    at = next((n for n, entry in enumerate(entries) if _names(entry, row)), None)
    own = tuple(entry for entry in found if _names(entry, row))
    if own or at is None:
        return own
    if written.tells_places:
        line = entries[at].bounds.center_y
        return (min(found, key=lambda entry: abs(entry.bounds.center_y - line)),)
    return tuple(entry for entry in entries[at + 1 :] if entry in found)[:1]


def _state(question: Question, written: Written) -> tuple[str, ...]:
    states = ("on", "off") if question.is_toggle else ("selected", "disabled")
    entries = written.entries
    named = [n for n, entry in enumerate(entries) if _names(entry, question.what)]
    nameless = [
        entry
        for n in named
        for entry in entries[n + 1 : n + 1 + _NEAR]
        if not _labels(entry) and question.is_toggle
    ]
    for group in ([entries[n] for n in named], nameless):
        said = [s for entry in group for s in states if any(m in entry.text for m in _SHOWN[s])]
        if said:
            # Of a label and its switch, the one that is on says so.
            return ("on",) if "on" in said else tuple(dict.fromkeys(said))
    return ()


def _side(text: str, written: Written) -> tuple[str, ...]:
    entry = next((e for e in written.entries if _flat(text) in _flat(e.text)), None)
    if entry is None:
        return ()
    for mine, theirs in ((" (me)", " (them)"), (" (right)", " (left)")):
        if mine in entry.text or theirs in entry.text:
            return ("me" if mine in entry.text else "them",)
    if not written.tells_places:
        return ()
    return ("me" if entry.bounds.center_x > _MIDDLE else "them",)


def _names(entry: Entry, label: str) -> bool:
    if label.startswith("id="):
        return label in entry.text.split()
    return any(label == part.strip() for part in _labels(entry))


def _labels(entry: Entry) -> Sequence[str]:
    """Return what a line quotes, whole and by parts; an id is no label."""
    return [
        part
        for text, colon in _QUOTED.findall(entry.text)
        if not colon and ":id/" not in text
        for part in (text, *text.split(" | "))
    ]


def _flat(text: str) -> str:
    return " ".join(text.replace('"', "'").split())
