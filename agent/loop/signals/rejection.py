"""Recognise that an app answered a press with a refusal: a toast or a new text that says so.

Pure. A form that is not accepted stays, and says why in a toast or beside a field. Invariant: only
short texts that were not on the screen before the press count, and only where the page stayed.
"""

import re
from collections.abc import Sequence

from agent.records import Element, Observation
from agent.text import one_line

_MAX_CHARS = 160
_MOST_NEW = 3  # A page that shows more new texts than this went on to something else.
_MOST_GONE = 2  # What a refusal may take the place of, such as the words that asked for a PIN.
_REFUSES = re.compile(
    r"\b(?:can(?:no|')t|can not|could ?n(?:o|')t|could not|unable to|fail(?:ed|ure)|error|invalid"
    r"|incorrect|wrong|not (?:valid|allowed|accepted|possible|available|found|enough|saved|sent)"
    r"|(?:is|are) required|required field|must (?:be|have|not|contain)|please (?:enter|choose"
    r"|select|fill|check|try)|enter an? (?:valid|\w+ (?:first|to))|try again|too (?:short|long"
    r"|small|large|many)|already (?:exists|taken|used|in use)|denied|insufficient"
    r"|do(?:es)? ?n(?:o|')t (?:match|exist|work)|no (?:internet|connection|network)|went wrong"
    r"|ungültig|fehlgeschlagen|fehler|erforderlich|nicht möglich"
    r"|invalide|échec|erreur|obligatoire|impossible de"
    r"|inválid[oa]|error|obligatori[oa]|no se pudo|no se puede"
    r"|non valid[oa]|errore|impossibile|obbligatori[oa])\b",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\W*(?:please\s+)?(?:enter|choose|select|fill|pick|type|add|set|provide)\s"
    r"(?:an?|the|your|at|in|one|some)\b",
    re.IGNORECASE,
)


def rejection(before: Observation, after: Observation) -> str:
    """Return what the app said against a press; empty where it printed nothing against it."""
    if after.toast and (refuses(after.toast) or _is_demand(before, after)):
        return one_line(after.toast, _MAX_CHARS)
    if before.foreground != after.foreground:
        return ""
    was, now = _labels(before.elements), _labels(after.elements)
    new = [label for label in now if label not in was]
    gone = len(was.keys() - now.keys())
    # A page that lost much of what it had is another page, whatever it says.
    if len(new) > _MOST_NEW or gone > _MOST_GONE or 2 * gone > len(was):
        return ""
    return next((one_line(label, _MAX_CHARS) for label in new if refuses(label)), "")


def _is_demand(before: Observation, after: Observation) -> bool:
    """Return whether a toast asks for something, and nothing else came of the press."""
    return before.fingerprint == after.fingerprint and _DEMANDS.match(after.toast) is not None


def refuses(text: str) -> bool:
    """Return whether a short text says that something was not accepted or did not work."""
    return len(text) <= _MAX_CHARS and _REFUSES.search(text.replace("’", "'")) is not None


def _labels(elements: Sequence[Element]) -> dict[str, None]:
    return dict.fromkeys([e.label for e in elements if not e.editable])
