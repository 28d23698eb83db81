"""Find what a page's last button does by what the page says of it: who sees, what goes, who joins.

Looked at last: a label that is known, a payment, a message and a dialog come before it. Invariant:
a page's one last button whose words nobody has listed is asked about; what is listed as harmless,
what opens, chooses or goes on is not.
"""

from __future__ import annotations

from agent.records import EffectVerb, Element
from agent.safety.effects.amounts import amounts
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.ending import (
    ends,
    is_nameless,
    is_unread,
    leads_away,
    sign_of,
)

V = EffectVerb
M = Meaning
_SAME_LINE = 0.02
_FEW = 2
_BUTTON = "Button"


def find_outcome(element: Element, page: Page) -> Finding | None:
    """Find what comes of a press by what its page says; None: nothing that is known."""
    answers = _answers_request(element, page)
    if answers is not None or page.is_dialog or page.is_instrument or page.is_toolbar(element):
        return answers
    return (
        _shows_to_everyone(element, page)
        or _joins_call(element, page)
        or _asks_for_money(element, page)
        or _says_outcome(element, page)
        or _is_unknown(element, page)
    )


def _answers_request(element: Element, page: Page) -> Finding | None:
    """Yes beside no, to what somebody asked for: a leave, an expense, a change."""
    if M.APPROVE not in read(_title(element)).whole:
        return None
    beside = page.beside(element, _SAME_LINE)
    if not any(M.DECLINE in read(_title(e)).whole for e in beside):
        return None
    said = f'"{element.label[:60]}" answers what somebody asked for'
    return Finding(V.SEND, said, element=element)


def _shows_to_everyone(element: Element, page: Page) -> Finding | None:
    """The widest choice of a page about who sees or reaches somebody."""
    if element.checked or M.EVERYONE not in read(_title(element)).whole:
        return None
    above = [e for e in page.texts if e.bounds.bottom <= element.bounds.top + 0.01]
    heading = next((e for e in reversed(above) if M.AUDIENCE in read(e.label).found), None)
    if heading is None:
        return None
    said = f'"{element.label[:60]}" below "{heading.label[:60]}" lets everybody in'
    return Finding(V.PROTECTION, said, element=element)


def _joins_call(element: Element, page: Page) -> Finding | None:
    if M.JOIN not in read(_title(element)).whole or page.is_row(element):
        return None
    if not any(M.MEETING in read(e.label).found for e in (*page.texts, *page.pressables)):
        return None
    said = f'"{element.label[:60]}" joins a call, where others see and hear'
    return Finding(V.CALL, said, element=element)


def _asks_for_money(element: Element, page: Page) -> Finding | None:
    if M.CLAIM not in read(_title(element)).whole or not page.is_last_button(element):
        return None
    shown = (*page.texts, *page.fields)
    if page.is_home or not any(amounts(e.label) or amounts(e.value) for e in shown):
        return None
    said = f'"{element.label[:60]}" asks somebody for money'
    return Finding(V.SEND, said, element=element)


def _says_outcome(element: Element, page: Page) -> Finding | None:
    """The last button of a page on which a sentence says what will be seen or gone."""
    title = read(_title(element))
    if not (ends(element, page) or page.is_last_button(element)) or M.OPENER in title.whole:
        return None
    if leads_away(element, page) or page.says_done:
        return None
    for meaning, verb in ((M.ERASED, V.DELETE), (M.SEEN, V.PUBLISH)):
        told = next((e for e in page.texts if meaning in read(e.label).found), None)
        if told is not None:
            said = f'"{element.label[:60]}" ends a page that says "{told.label[:60]}"'
            return Finding(verb, said, element=element)
    return None


def _is_unknown(element: Element, page: Page) -> Finding | None:
    """The one last button of a page, in words that are not known.

    In an alphabet of which nothing on the page is known, every button would be.
    """
    if not element.class_name.endswith(_BUTTON) or not page.is_last_button(element):
        return None
    if is_nameless(element) or sign_of(element) or not ends(element, page):
        return None
    if is_unread(page) and not element.label.isascii():
        return None
    if len(page.texts) < _FEW and not page.filled:
        # A name alone hands nothing in.
        return None
    reading = read(_title(element))
    if reading.whole or reading.head or not any(map(str.isalpha, element.label)):
        return None
    if element.label[:1].isdigit() and not amounts(element.label):
        # "10 days", "3 of 12": how much is shown.
        return None
    said = f'"{element.label[:60]}" ends the page, and does what is not known'
    return Finding(V.UNKNOWN, said, element=element)


def _title(element: Element) -> str:
    return element.label.split(" | ", 1)[0]
