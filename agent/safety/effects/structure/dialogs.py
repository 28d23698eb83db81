"""Find what a dialog's agreeing button may do when neither it nor the question names an effect.

An app asks a person where it does not want to decide itself. What it warns of in its text counts,
and so does a dialog in a language that the lexicon does not have.
"""

from __future__ import annotations

import unicodedata

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.ending import (
    ends,
    goes_on,
    is_unread,
    leads_away,
    sign_of,
)

V = EffectVerb
M = Meaning
_SAME_LINE = 0.02


def find_agreeing(element: Element, page: Page) -> Finding | None:
    """Find what a button agrees to by what its dialog or page warns of; None: of nothing."""
    if page.is_toolbar(element) or leads_away(element, page):
        return None
    if not page.is_dialog:
        return _accepts_warning(element, page)
    if page.is_listed(element) or (sign_of(element) and not goes_on(element)):
        return None
    if page.fields and not page.refusals:
        return None
    choices = [e for e in page.pressables if not page.is_toolbar(e)]
    said = f'"{element.label[:60]}" of "{page.title[:60]}"'
    asked = read(page.title)
    if M.SIGN_IN in asked.found and not page.fields and len(choices) > 1:
        return Finding(V.SIGN_IN, f"{said} lets somebody sign in", element=element)
    if M.OUTSIDER in page.question.found and len(choices) > 1:
        return Finding(V.SEND, f"{said} tells or lets in other people", element=element)
    if M.WARNING in page.statement.found and (page.refusals or len(choices) > 1):
        return Finding(V.UNKNOWN, f"{said} agrees to what the dialog warns of", element=element)
    if is_unread(page) and len(choices) > 1 and not _is_way_out(element, choices):
        why = f"{said} agrees to something in a language that is not read"
        return Finding(V.UNKNOWN, why, element=element)
    return None


def _accepts_warning(element: Element, page: Page) -> Finding | None:
    """A page that says what is lost, and ends by going on."""
    if not (goes_on(element) and ends(element, page)) or page.says_done:
        return None
    warns = next((e for e in page.texts if M.WARNING in read(e.label).found), None)
    if warns is None:
        return None
    said = f'"{element.label[:60]}" goes on although "{warns.label[:60]}"'
    return Finding(V.UNKNOWN, said, element=element)


def _is_way_out(element: Element, choices: list[Element]) -> bool:
    """Tell whether a button stands where Android puts the one that leads away.

    Side by side it is at the beginning of the line, one below the other at the bottom.
    """
    line = [e for e in choices if abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE]
    if len(line) > 1:
        first = max if _is_from_right(element.label) else min
        return element is first(line, key=lambda e: e.bounds.left)
    return element is max(choices, key=lambda e: e.bounds.top)


def _is_from_right(text: str) -> bool:
    return any(unicodedata.bidirectional(c) in {"R", "AL"} for c in text)
