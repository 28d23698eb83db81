"""Find what a page's last button does by what the page says of it: who sees, what goes, who joins.

Looked at last: a label that is known, a payment and a message come before it. Invariant: a page's
one last button whose words are on no list is asked about; what is listed as harmless, what opens,
chooses or goes on is not.
"""

import re
from functools import lru_cache

from agent.records import EffectVerb, Element
from agent.safety.effects.amounts import amounts
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import OUTCOMES, Meaning, read
from agent.safety.effects.page import ASKING, Page, is_slider
from agent.safety.effects.structure.ending import (
    ends,
    is_nameless,
    is_unread,
    is_unread_choice,
    is_way_out,
    leads_away,
    sign_of,
)
from agent.safety.words import words

V = EffectVerb
M = Meaning
_SAME_LINE = 0.02
_FEW = 2
_LONG = 4
_WIDE = 0.4
_BUTTON = "Button"
_UNITS = re.compile(r"\d{2,7}|\d{1,3}(?:[ ,.]\d{3})+")
_OWN_ADDRESS = re.compile(
    r"\b(?:ftps?|sftp|https?|smb|webdavs?|rtsp)://(?:10\.|127\.|169\.254\.|192\.168\."
    r"|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]+",
    re.IGNORECASE,
)
"""An address of a private network, where somebody beside the phone can reach it."""
_YES = "yes ja oui sí sim tak evet да так ya vâng có はい 是 是的 네 예 نعم हाँ हां ใช่ כן"


def find_outcome(element: Element, page: Page) -> Finding | None:
    """Find what comes of a press by what its page says; None: nothing that is known."""
    answers = (
        _answers_request(element, page)
        or _commits(element, page)
        or _commits_all(element, page)
        or _takes_units(element, page)
        or _says_yes(element, page)
        or _answers_in_unknown_words(element, page)
    )
    if answers is not None or page.is_dialog or page.is_instrument or page.is_toolbar(element):
        return answers
    return (
        _shows_to_everyone(element, page)
        or _joins_call(element, page)
        or _asks_for_money(element, page)
        or _says_outcome(element, page)
        or _consents(element, page)
        or _operates(element, page)
        or _serves(element, page)
        or _is_unknown(element, page)
    )


def _answers_request(element: Element, page: Page) -> Finding | None:
    """Yes beside no, to what somebody asked for: a leave, an expense, a change."""
    reading = read(_title(element))
    alone = M.APPROVE in reading.found and len(words(_title(element))) <= _FEW
    if M.APPROVE not in reading.whole and not alone:
        return None
    beside = page.beside(element, _SAME_LINE)
    if not any(M.DECLINE in read(_title(e)).whole for e in beside):
        return None
    said = f'"{element.label[:60]}" answers what somebody asked for'
    return Finding(V.UNKNOWN, said, element=element)


def _shows_to_everyone(element: Element, page: Page) -> Finding | None:
    """The widest choice of a page about who sees or reaches somebody."""
    if element.checked or M.EVERYONE not in read(_title(element)).whole:
        return None
    above = [e for e in page.texts if e.bounds.bottom <= element.bounds.top + 0.01]
    heading = next((e for e in reversed(above) if M.AUDIENCE in read(e.label).found), None)
    if heading is None:
        return None
    said = f'"{element.label[:60]}" below "{heading.label[:60]}" opens it to everybody'
    return Finding(V.GRANT, said, element=element)


def _joins_call(element: Element, page: Page) -> Finding | None:
    if M.JOIN not in read(_title(element)).whole or page.is_row(element):
        return None
    if not any(M.MEETING in read(e.label).found for e in (*page.texts, *page.pressables)):
        return None
    said = f'"{element.label[:60]}" joins a call, where others see and hear you'
    return Finding(V.UNKNOWN, said, element=element)


def _asks_for_money(element: Element, page: Page) -> Finding | None:
    if M.CLAIM not in read(_title(element)).whole or not page.is_last_button(element):
        return None
    shown = (*page.texts, *page.fields)
    if page.is_home or not any(amounts(e.label) or amounts(e.value) for e in shown):
        return None
    said = f'"{element.label[:60]}" asks somebody for money'
    return Finding(V.UNKNOWN, said, element=element)


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


def _consents(element: Element, page: Page) -> Finding | None:
    """A page of consents: a switch that is turned on, a choice that allows all, its last button."""
    reading = read(_title(element))
    widest = {M.PERMIT, M.SCOPE} <= reading.found
    if element.checkable and not element.checked and widest:
        return Finding(V.GRANT, f'"{element.label[:60]}" allows all of them', element=element)
    if M.CONSENT not in read(page.title).found or _speaks_of_cookies(page):
        return None
    if element.checkable and element.checked:
        return None
    if not element.checkable and (M.OPENER in reading.found or not _is_final(element, page)):
        return None
    said = f'"{element.label[:60]}" of "{page.title[:60]}" gives somebody access'
    return Finding(V.GRANT, said, element=element)


def _speaks_of_cookies(page: Page) -> bool:
    return any("cookie" in e.label.casefold() for e in page.texts)


def _operates(element: Element, page: Page) -> Finding | None:
    """A control that is named for something in the world, or stands on the line of one."""
    if element.editable or leads_away(element, page) or _opens(element):
        return None
    if not (_starts(element, page) or _toggles(element, page) or _is_named(element, page)):
        return None
    said = f'"{element.label[:60]}" operates a device in the real world'
    return Finding(V.UNKNOWN, said, element=element)


def _starts(element: Element, page: Page) -> bool:
    """Return whether a button ends a page about a thing in the world: "Start" below "Oven"."""
    goes = M.PROCEED in read(_title(element)).whole
    about = any(M.DEVICE in read(e.label).found for e in page.texts)
    return goes and about and _is_final(element, page)


def _toggles(element: Element, page: Page) -> bool:
    """Return whether a sign without words stands on the line of a thing in the world."""
    beside = page.beside(element, _SAME_LINE)
    named = any(M.DEVICE in read(_title(e)).found for e in beside)
    return is_nameless(element) and named and not page.is_toolbar(element)


def _is_named(element: Element, page: Page) -> bool:
    """Return whether a control has a thing's name, alone or with how it stands: "Valve Closed"."""
    name, *values = element.label.split(" | ")
    own = read(name)
    last = name.rsplit(" ", 1)
    states = [*values, *last[1:]]
    shows = any(M.OPERATED in read(text).whole for text in states)
    control = page.is_tile(element) or element.checkable
    listed = page.is_row(element) and not element.checkable
    return M.DEVICE in own.found and not listed and (control or shows or M.DEVICE in own.whole)


def _commits(element: Element, page: Page) -> Finding | None:
    """The last button of a page that says something, in a word that hands it in."""
    reading = read(_title(element))
    asks = M.CLAIM in reading.head and page.is_last_button(element) and not page.is_home
    if not (_is_final(element, page) or asks):
        return None
    said = f'"{element.label[:60]}" submits what this page says'
    values = (*page.texts, *page.pressables)
    filled = bool(page.filled) or any(" | " in e.label or e.checked for e in values)
    if M.PUBLISH in reading.head:
        return Finding(V.PUBLISH, said, element=element)
    if asks and (page.filled or any(e.checked for e in page.pressables)):
        return Finding(V.UNKNOWN, said, element=element)
    if M.COMMIT in reading.head and (filled or len(page.texts) > _FEW):
        return Finding(V.UNKNOWN, said, element=element)
    if M.SLIDE in reading.head and is_slider(element) and M.OPENER not in reading.found:
        return Finding(V.UNKNOWN, said, element=element)
    return None


def _commits_all(element: Element, page: Page) -> Finding | None:
    """A word that hands in, lets in or grants, for all at once: "Admit all"."""
    reading = read(_title(element))
    if M.COMMIT not in reading.head or M.SCOPE not in reading.found or page.is_row(element):
        return None
    said = f'"{element.label[:60]}" does it for all of them at once'
    return Finding(V.UNKNOWN, said, element=element)


def _says_yes(element: Element, page: Page) -> Finding | None:
    """A yes of more words than one to what a page asks: "Yes, I open it"."""
    said_words = words(_title(element))
    asks = [e for e in page.texts if e.label.rstrip()[-1:] in ASKING]
    if len(said_words) < _FEW or said_words[0] not in _yes() or not asks or page.says_done:
        return None
    reading = read(_title(element))
    if page.is_row(element) or (reading.found & {M.HARMLESS, M.OPENER, M.SEARCH}):
        return None
    said = f'"{element.label[:60]}" says yes to "{asks[-1].label[:60]}"'
    return Finding(V.UNKNOWN, said, element=element)


@lru_cache(maxsize=1)
def _yes() -> frozenset[str]:
    return frozenset(words(_YES))


def _takes_units(element: Element, page: Page) -> Finding | None:
    """A button that is nothing but a number: what something costs in a game's or shop's units."""
    if not _UNITS.fullmatch(element.label.strip()) or element.checkable or page.digits:
        return None
    numbers = [e for e in page.pressables if e.label.strip()[:1].isdigit()]
    asks = page.is_dialog or (page.is_last_button(element) and len(page.pressables) <= _LONG)
    if len(numbers) > 1 or page.is_instrument or not page.title or not asks:
        return None
    if page.is_row(element) or page.is_toolbar(element):
        return None
    said = f'"{element.label[:60]}" is a bare number: what "{page.title[:60]}" costs'
    return Finding(V.SPEND, said, element=element)


def _answers_in_unknown_words(element: Element, page: Page) -> Finding | None:
    """The button beside a dialog's known way out, in words that are on no list."""
    if not page.is_dialog or not element.class_name.endswith(_BUTTON) or element.checkable:
        return None
    others = [e for e in page.pressables if e is not element and not page.is_toolbar(e)]
    if len(page.texts) < _FEW or page.is_toolbar(element) or leads_away(element, page):
        return None
    if is_nameless(element) or sign_of(element) or not any(leads_away(e, page) for e in others):
        return None
    reading = read(_title(element))
    known = (reading.whole | reading.head) - OUTCOMES | reading.head & {M.HARMLESS}
    if known or not any(map(str.isalpha, element.label)):
        return None
    said = f'"{element.label[:60]}" answers "{page.title[:60]}", and its effect is not known'
    return Finding(V.UNKNOWN, said, element=element)


def _serves(element: Element, page: Page) -> Finding | None:
    """What starts a page that shows an address of this phone: others then read its files."""
    at = next((e for e in page.texts if _OWN_ADDRESS.search(e.label)), None)
    if at is None or not _is_final(element, page) or _opens(element):
        return None
    said = f'"{element.label[:60]}" opens this phone to others at "{at.label[:60]}"'
    return Finding(V.CARRY_OUT, said, element=element)


def _is_final(element: Element, page: Page) -> bool:
    """Return whether an element is the last button, also with ways out beside it."""
    if page.is_row(element) or page.is_tile(element) or element.checkable:
        return False
    if leads_away(element, page):
        return False
    if page.is_last_button(element) or is_slider(element):
        return True
    others = [
        e
        for e in page.pressables
        if e.bounds.top >= element.bounds.bottom and not (page.is_tile(e) or page.is_row(e))
    ]
    others += page.beside(element, _SAME_LINE)
    if _is_only_button(element, page):
        return True
    return bool(others) and all(leads_away(e, page) or _declines(e) for e in others)


def _is_only_button(element: Element, page: Page) -> bool:
    """Return whether an element is the one button of a page of few controls; lines follow it."""
    buttons = [e for e in page.pressables if e.class_name.endswith(_BUTTON) and not e.checkable]
    wide = element.bounds.right - element.bounds.left > _WIDE
    return wide and buttons == [element] and len(page.pressables) <= _LONG


def _declines(element: Element) -> bool:
    return M.DECLINE in read(_title(element)).whole


def _opens(element: Element) -> bool:
    reading = read(_title(element))
    return bool((reading.head | reading.whole) & {M.OPENER, M.SEARCH, M.HARMLESS, M.FOLDER})


def _is_unknown(element: Element, page: Page) -> Finding | None:
    """The one last button of a page, in words that are not known.

    In an alphabet of which nothing on the page is known, every button would be.
    """
    if not element.class_name.endswith(_BUTTON) or not _is_final(element, page):
        return None
    if is_nameless(element) or sign_of(element):
        return None
    # Several things are ticked; one alone may be a language or a filter.
    chosen = sum(e.checked for e in page.pressables) >= _FEW
    choice = is_unread_choice(element, page)
    if choice and is_way_out(element, [element, *page.beside(element)]):
        return None
    if is_unread(page) and not element.label.isascii() and not (chosen or choice):
        return None
    if len(page.texts) < _FEW and not page.filled and not chosen:
        # A name alone hands nothing in.
        return None
    reading = read(_title(element))
    known = (reading.whole | reading.head) - OUTCOMES | reading.head & {M.HARMLESS}
    if known or not any(map(str.isalpha, element.label)):
        return None
    if element.label[:1].isdigit() and not amounts(element.label):
        # "10 days", "3 of 12": how much is shown.
        return None
    said = f'"{element.label[:60]}" is the last button here, and its effect is not known'
    return Finding(V.UNKNOWN, said, element=element)


def _title(element: Element) -> str:
    return element.label.split(" | ", 1)[0]
