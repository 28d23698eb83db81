"""Find what a page is for by the name of its activity, which is English in every language.

Apps name their pages after what they do: `ReportActivity`, `UploadMenuActivity`, `ForwardActivity`.
What ends such a page does that; on a page that reports somebody, choosing the reason may be all.
"""

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.ending import ends, is_nameless, leads_away
from agent.safety.effects.verbs import RULES

V = EffectVerb
_ENDED = {
    "upload": V.CARRY_OUT,
    "export": V.CARRY_OUT,
    "forward": V.SEND,
    "invite": V.SEND,
    "unsubscribe": V.CANCEL,
    "refund": V.CANCEL,
    "deactivate": V.DELETE,
    "boost": V.SPEND,
    "donate": V.SPEND,
}
_REPORTED = frozenset({"report", "complaint", "abuse", "reason"})
_RUN = frozenset({"scene", "scenes", "routine", "routines"})
_FEW = 3
_MOST_FIELDS = 1


def find_purpose(element: Element, page: Page) -> Finding | None:
    """Find what ends or decides a page that is named for it; None: its name says nothing."""
    if not element.clickable or page.is_toolbar(element) or leads_away(element, page):
        return None
    named = set(page.activity)
    reading = read(element.label.split(" | ", 1)[0])
    if Meaning.OPENER in reading.head | reading.whole:
        return None
    verb = next((_ENDED[word] for word in page.activity if word in _ENDED), None)
    if verb is not None and (ends(element, page) or _answers(element, page)):
        said = f'"{element.label[:60]}" ends a page that may {RULES[verb].says}'
        return Finding(verb, said, element=element)
    if named & _REPORTED and _is_reason(element, page):
        said = f'"{element.label[:60]}" is a reason, and may report or end something at once'
        return Finding(V.UNKNOWN, said, element=element)
    runs = " | " in element.label and page.is_listed(element) and not element.checkable
    if named & _RUN and runs:
        said = f'"{element.label[:60]}" may run at once all that it holds'
        return Finding(V.UNKNOWN, said, element=element)
    return None


def _answers(element: Element, page: Page) -> bool:
    return page.is_dialog and not element.checkable and not is_nameless(element)


def _is_reason(element: Element, page: Page) -> bool:
    """Return whether an element is one of several short lines or tiles, of which one is chosen.

    A report in the sense of figures has values in its lines, or things to filter by.
    """
    if element.checkable or len(page.fields) > _MOST_FIELDS:
        return False
    values = any(" | " in e.label for e in page.pressables)
    tiles = page.is_tile(element)
    return not values and (tiles or page.is_row(element)) and len(page.texts) < _FEW
