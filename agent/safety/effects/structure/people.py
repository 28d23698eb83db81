"""Find that a press reaches other people: by a filled form, a reaction, a heading that sends."""

import re
import unicodedata

from msgspec.structs import replace

from agent.records import EffectVerb, Element
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.labels import find_named
from agent.safety.effects.lexicon import OUTCOMES, Meaning, read
from agent.safety.effects.page import HEAD, Page
from agent.safety.effects.structure.ending import (
    GOING_ON,
    ends,
    is_nameless,
    is_next_step,
    is_unread,
    sign_of,
)
from agent.safety.effects.structure.fields import is_amount, is_composer, is_search
from agent.safety.words import id_words

V = EffectVerb
M = Meaning
_HEARTS = frozenset("♥❤♡👍👎★⭐☆✕✖×💬💌")  # Signs of which two side by side judge somebody.
_LIKING = frozenset("♥❤♡👍⭐★")
_REACTIONS = range(3, 9)
"""How many pictures side by side are reactions; a keyboard's picker has more of them."""
_NEAR = 0.08
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.\w+|\+?\d[\d\s()-]{6,}")
_ACCOUNT = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}")
"""An account number as ISO 13616 writes it."""
_SAVING_IDS = frozenset({"save", "add", "note", "task", "todo"})


def find_reaching(element: Element, page: Page, context: Context) -> Finding | None:
    """Find that an element sends or publishes; None: nothing says so."""
    return (
        _reacts(element, page)
        or _invites(element, page)
        or _hands_in(element, page)
        or _signs(element, page)
        or _under_heading(element, page)
    )


def _reacts(element: Element, page: Page) -> Finding | None:
    """A like, a follow, a reaction: one press that others see."""
    if not element.clickable or element.checkable:
        return None
    title = element.label.split(" | ", 1)[0]
    whole = read(title).whole
    beside = page.beside(element)
    said = f'"{element.label[:60]}" is seen by others'
    company = any(read(e.label).whole & {M.SOCIAL, M.ADDRESSING} for e in beside)
    if M.SOCIAL in whole:
        return Finding(V.PUBLISH, said, element=element)
    if M.BINDING in whole and company:
        return Finding(V.PUBLISH, said, element=element)
    sign = sign_of(element)
    if sign in _LIKING and (company or any(sign_of(e) in _HEARTS for e in beside)):
        return Finding(V.PUBLISH, said, element=element)
    pictures = [e for e in beside if _is_picture(e)]
    if _is_picture(element) and len(pictures) + 1 in _REACTIONS:
        writing = page.composer is not None and not page.composer.value
        if writing or page.lists_messages:
            return Finding(V.SEND, said, element=element)
    return None


def _is_picture(element: Element) -> bool:
    label = element.label.strip()
    return 0 < len(label) <= 2 and unicodedata.category(label[0]) == "So"


def _invites(element: Element, page: Page) -> Finding | None:
    """A form with a field for other people, or for one's own way back into an account."""
    if not ends(element, page):
        return None
    for field in page.filled:
        reading = read(field.label).found
        said = f'"{element.label[:60]}" hands in "{field.value[:60]}"'
        if M.PROTECTION in reading and _ADDRESS.search(field.value):
            return Finding(V.PROTECTION, said, element=element)
        if M.OUTSIDER in reading:
            return Finding(V.SEND, said, element=element)
        if _ACCOUNT.fullmatch(field.value.strip()):
            return Finding(V.SPEND, f"{said}, an account that is paid", element=element)
    return None


def _hands_in(element: Element, page: Page) -> Finding | None:
    """A text and, beside it or at the end of a page that cannot be read, what takes it away."""
    said = f'"{element.label[:60]}" may send what was written'
    for field in page.filled:
        if field.password or is_amount(field) or page.is_dialog:
            continue
        beside = (
            element.bounds.left >= field.bounds.right - 0.03
            and abs(element.bounds.center_y - field.bounds.center_y) < 0.03
        )
        silent = is_nameless(element) and not set(id_words(element.resource_id)) & _SAVING_IDS
        strange = is_unread(page) and not is_search(field) and not sign_of(element)
        if beside and (silent or strange or sign_of(element) in GOING_ON):
            return Finding(V.SEND, said, element=element)
        below = 0 <= element.bounds.top - field.bounds.bottom < _NEAR
        if below and sign_of(element) in GOING_ON and is_composer(field):
            return Finding(V.SEND, said, element=element)
        reading = read(element.label.split(" | ", 1)[0])
        unknown = not reading.found - OUTCOMES and not sign_of(element)
        last = unknown and page.is_last_button(element) and any(map(str.isalpha, field.value))
        if ends(element, page) and (is_unread(page) or last):
            return Finding(V.SEND, said, element=element)
    return None


def _signs(element: Element, page: Page) -> Finding | None:
    if not ends(element, page) or not is_next_step(element):
        return None
    if not any(M.SIGNATURE in read(e.label).found for e in (*page.texts, *page.fields)):
        return None
    said = f'"{element.label[:60]}" hands in what is signed'
    return Finding(V.SEND, said, element=element)


def _under_heading(element: Element, page: Page) -> Finding | None:
    """A page or sheet whose heading sends or shares: its rows choose when, its last button how."""
    for heading in page.texts:
        if heading.bounds.bottom > element.bounds.top + 0.01:
            continue
        near = element.bounds.top - heading.bounds.bottom < HEAD * 2
        if len(heading.label) > 60 or not near or not _sends(heading):
            continue
        said = f'"{element.label[:60]}" below "{heading.label[:60]}" may send it'
        chosen = any(e.checked or e.selected for e in page.pressables)
        if chosen and (is_nameless(element) or is_next_step(element)) and ends(element, page):
            return Finding(V.SEND, said, element=element)
        writing = page.composer is not None and page.composer.value
        below = element.clickable and element.bounds.top > heading.bounds.top
        leads = read(element.label).head & {M.OPENER, M.REFUSE}
        if writing and below and page.is_row(element) and not leads:
            return Finding(V.SEND, said, element=element)
    return None


def _sends(heading: Element) -> bool:
    found = read(heading.label)
    if M.CARRY in found.found or M.SCHEDULING in found.whole:
        return True
    button = replace(heading, label=heading.label.rstrip(" …."), clickable=True)
    named = find_named(button)
    return named is not None and named.verb in {V.SEND, V.CARRY_OUT}
