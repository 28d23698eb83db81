"""Whether a page on the way to support is one that only sells or pays (CONTRACTS 5.4).

Only for goals that ask a shop or a service for help, and only while nothing on the page leads to
it. Pure, and a hint: it warns, and what led there is banned by its stable key. Invariant: judged by
what is written on the page, never by what the model expected.
"""

import re
from collections.abc import Sequence

from agent.loop.screen.screen_kind import is_navigation, layout_of
from agent.loop.screen.support_phase import Phase, phase_of
from agent.records import Element, Observation
from agent.safety.words import words

PRODUCTS, PRODUCTS_WHERE_LOST = 4, 2
"""So many elements that sell make a page one that sells; fewer do where one has looked around."""
FEW_WAYS_ON = 1
LOST_AFTER = 3
"""Screens in a row from which no way to support was seen."""
_WALLETS = frozenset({"wallet", "mywallet"})
_SELLS = re.compile(
    r" (?:add to (?:cart|bag|basket)|buy|price|mrp|discount|offers?|deals?|sale|size|quantity|qty"
    r"|customi[sz]e|in stock|out of stock|sold out|ratings?|reviews?|free delivery|best ?sellers?) "
)
_PRICE = re.compile(r"[$€£₹¥]\s?\d|\d\s?(?:€|kr\b|zł)")
_ORDERED = re.compile(
    r" (?:orders?|delivered|cancelled|canceled|refunded|returned|track|trips?|rides?) "
)
"""What was bought has a price too, and is where a case begins."""
_LEADING_PAGES = ("Chat", "Order list", "Help", "Profile")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


def misleads(observation: Observation, searched: int) -> bool:
    """Return whether a screen leads away from support.

    Args:
        searched: how many screens in a row showed no way to it, this one counted.
    """
    name = observation.foreground.activity.rsplit(".", 1)[-1].rsplit("/", 1)[-1]
    parts = {part.casefold() for part in _PARTS.split(name)}
    if parts & _WALLETS:
        return True
    if layout_of(observation.elements).startswith(_LEADING_PAGES):
        return False
    selling = sum(map(_sells, observation.elements))
    ways = sum(map(_leads_on, observation.elements))
    if selling >= PRODUCTS and ways <= FEW_WAYS_ON:
        return True
    return selling >= PRODUCTS_WHERE_LOST and ways == 0 and searched >= LOST_AFTER


def is_searching(elements: Sequence[Element]) -> bool:
    """Return whether the way to support is still looked for."""
    return phase_of(elements) is Phase.NAVIGATING


def _leads_on(element: Element) -> bool:
    # The way back is on every page, and leads to none that is new.
    return is_navigation(element) and element.kind != "nav-btn"


def _sells(element: Element) -> bool:
    said = f" {' '.join(words(element.label))} "
    if _ORDERED.search(said):
        return False
    return bool(_SELLS.search(said) or _PRICE.search(element.label))
