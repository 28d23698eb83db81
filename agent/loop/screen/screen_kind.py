"""Guess what kind of screen this is, and what leads on from it (CONTRACTS 5.1).

Hints only: nothing is decided by them. Keywords are matched as words, so that "me" does not stand
in "Menu".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agent.loop.screen.elements import UNLABELED, zone
from agent.records import Element
from agent.safety.words import words

_NAVIGATION = (
    *("account", "profile", "more", "settings", "me", "my account", "orders", "order history"),
    *("my orders", "your orders", "past orders", "order details", "track order", "help"),
    *("support", "contact", "get help", "report", "issue", "contact us", "contact store"),
    *("queries", "chat", "live chat", "talk to us", "message us", "back", "close", "cancel"),
    *("navigate up", "home", "skip", "sign in", "log in", "sign out", "log out", "login"),
    *("refund", "return", "complaint", "feedback", "main menu"),
)
_LEADS_ON = re.compile(f" (?:{'|'.join(_NAVIGATION)}) ")
_ORDERS = ("order", "orders", "delivered", "cancelled", "in progress", "track")
_HELP = ("help", "support", "contact", "faq", "chat with us", "get help", "report")
_PROFILE = (
    *("profile", "account", "settings", "sign out", "log out", "edit profile", "my account"),
)
_COMPOSE = ("send", "type", "message")
_FEED_CLICKABLES = 15
_TABS = 3


def is_navigation(element: Element) -> bool:
    """Tell whether an element leads on to another part of the app."""
    if not element.clickable:
        return False
    if element.label == UNLABELED:
        return element.kind == "icon-btn"
    return element.kind == "tab" or _leads_on(element.label)


@lru_cache(maxsize=4096)
def _leads_on(label: str) -> bool:
    return _LEADS_ON.search(_spaced(label)) is not None


def _spaced(label: str) -> str:
    """Give a label's words between single spaces, so that a phrase is found as whole words."""
    return f" {' '.join(words(label))} "


def layout_of(elements: Sequence[Element]) -> str:
    """Name the pattern of a screen; empty when it is none of the known ones."""
    every = "|".join(_spaced(e.label) for e in elements if e.label != UNLABELED)
    inputs = any(element.editable for element in elements)

    def hits(phrases: tuple[str, ...]) -> int:
        return sum(f" {phrase} " in every for phrase in phrases)

    if inputs and hits(_COMPOSE):
        return "Chat/messaging interface"
    if hits(_ORDERS) + int(any("#" in element.label for element in elements)) >= 2:
        return "Order list/history"
    if hits(_HELP) >= 2:
        return "Help/support page"
    if hits(_PROFILE) >= 2:
        return "Profile/account page"
    if not inputs and sum(element.clickable for element in elements) > _FEED_CLICKABLES:
        return "Home/feed (many items)"
    tabs = sum(element.clickable and zone(element) == 2 for element in elements)
    return f"Screen with bottom navigation ({tabs} tabs)" if tabs >= _TABS else ""
