"""Guess what kind of screen this is, and what leads on from it (CONTRACTS 5.1).

Hints only: nothing is decided by them. Keywords are matched as words, so that "me" does not stand
in "Menu".
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from agent.loop.screen.chat_sides import is_search, sends, takes_message
from agent.loop.screen.elements import UNLABELED, zone
from agent.records import Element
from agent.safety.words import words

_NAVIGATION = (
    *("account", "profile", "more", "settings", "me", "my account", "orders", "order history"),
    *("my orders", "your orders", "past orders", "order details", "track order", "help"),
    *("support", "contact", "get help", "report", "issue", "contact us", "contact store"),
    *("queries", "chat", "live chat", "talk to us", "message us", "back"),
    *("navigate up", "home", "sign in", "log in", "sign out", "log out", "login"),
    *("complaint", "feedback", "main menu"),
)
_ALONE = frozenset({"close", "cancel", "skip", "refund", "return"})
"""Words that lead on by themselves: with another they change something, as "Cancel order" does."""
_LEADS_ON = re.compile(f" (?:{'|'.join(_NAVIGATION)}) ")
_ORDER_NUMBER = re.compile(r"\border\W{0,3}(?:no\W{0,2}|number\W{0,2})?\d{2,}|#\d{2,}", re.I)
_HELP = ("help", "support", "contact", "faq", "chat with us", "get help", "report")
_PROFILE = (
    *("profile", "account", "settings", "sign out", "log out", "edit profile", "my account"),
)
_FEED_CLICKABLES = 15
_TABS = 3


def is_navigation(element: Element) -> bool:
    """Return whether an element leads on to another part of the app."""
    if not element.clickable:
        return False
    if element.label == UNLABELED:
        return element.kind == "icon-btn"
    return element.kind == "tab" or _leads_on(element.label)


@lru_cache(maxsize=4096)
def _leads_on(label: str) -> bool:
    said = _spaced(label)
    return said.strip() in _ALONE or _LEADS_ON.search(said) is not None


def _spaced(label: str) -> str:
    """Return a label's words between single spaces, so that a phrase is found as whole words."""
    return f" {' '.join(words(label))} "


def writes_message(elements: Sequence[Element]) -> bool:
    """Return whether a screen has a field for a message, by its name or by what sends it."""
    if any(map(takes_message, elements)):
        return True
    fields = any(element.editable and not is_search(element) for element in elements)
    return fields and any(map(sends, elements))


def lists_orders(elements: Sequence[Element]) -> bool:
    """Return whether a screen lists orders: one alone is the page of that order."""
    return sum(bool(_ORDER_NUMBER.search(element.label)) for element in elements) >= 2


def layout_of(elements: Sequence[Element]) -> str:
    """Name the pattern of a screen; empty when it is none of the known ones."""
    labels = [_spaced(e.label) for e in elements if e.label != UNLABELED]
    inputs = any(element.editable for element in elements)

    def hits(phrases: tuple[str, ...]) -> int:
        """Count the elements that say one of some phrases: one alone makes no page."""
        return sum(any(f" {phrase} " in label for phrase in phrases) for label in labels)

    if writes_message(elements):
        return "Chat/messaging interface"
    if lists_orders(elements):
        return "Order list/history"
    if hits(_HELP) >= 2:
        return "Help/support page"
    if hits(_PROFILE) >= 2:
        return "Profile/account page"
    if not inputs and sum(element.clickable for element in elements) > _FEED_CLICKABLES:
        return "Home/feed (many items)"
    tabs = sum(element.clickable and zone(element) == 2 for element in elements)
    return f"Screen with bottom navigation ({tabs} tabs)" if tabs >= _TABS else ""
