"""Find that a gesture or a choice answers other people: a card about a person, a vote, a picture.

Invariant: by where things stand and how a person is written ("Maja, 31"), in no language.
"""

import re

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.page import Page

V = EffectVerb
_PERSON = re.compile(r"[^\W\d_][^\W\d_'’.-]*(?: [^\W\d_]+)?, (?:1[89]|[2-9]\d)(?:[,·|].*)?")
_MOVING = re.compile(r"\b(?:gif|sticker)\b", re.IGNORECASE)
_PICKERS = frozenset({"gif", "gifs", "sticker", "stickers"})
_FEW = 2
_WIDE = 0.5


def find_answer_to_person(page: Page, direction: str, element: Element | None) -> Finding | None:
    """Find that a stroke over the one person that a page shows answers them."""
    card = person_of(page)
    if card is None or direction not in {"left", "right", "up"}:
        return None
    if direction == "up" and (element is None or element.number != card.number):
        # Further down stands more about them.
        return None
    if element is not None and element.scrollable and page.is_row(element):
        return None
    said = f'a swipe answers "{card.label[:60]}", who may be told'
    return Finding(V.PUBLISH, said, element=card)


def person_of(page: Page) -> Element | None:
    """Return the one person, with an age, that a page is about; None: none, or a list of them."""
    found = [e for e in page.elements if not e.editable and _PERSON.fullmatch(e.label.strip())]
    return found[0] if len(found) == 1 and not page.is_row(found[0]) else None


def find_shared_choice(element: Element, page: Page) -> Finding | None:
    """Find that a choice is told to others: a vote in a chat, a moving picture."""
    return _votes(element, page) or _sends_picture(element, page)


def _votes(element: Element, page: Page) -> Finding | None:
    """A choice among messages: above the field in which one writes, and no form's."""
    writing = page.composer
    if not element.checkable or writing is None or writing.value or page.is_dialog:
        return None
    below = [e for e in page.pressables if e.bounds.top >= writing.bounds.bottom]
    if element.bounds.bottom > writing.bounds.top or any(_is_wide(e) for e in below):
        return None
    said = f'"{element.label[:60]}" is chosen in a conversation, where others see it'
    return Finding(V.SEND, said, element=element)


def _sends_picture(element: Element, page: Page) -> Finding | None:
    """A moving picture of a chat's picker, which is sent by one press."""
    picks = set(page.activity) & _PICKERS or page.composer is not None
    named = _MOVING.search(element.label) and len(element.label.split()) >= _FEW
    if not (picks and named and element.clickable) or page.is_row(element):
        return None
    return Finding(V.SEND, f'"{element.label[:60]}" may be sent at once', element=element)


def _is_wide(element: Element) -> bool:
    return element.bounds.right - element.bounds.left > _WIDE
