"""Where a support case stands, from the newest screen alone (CONTRACTS 5.5).

Only for goals that ask a shop or a service for help; every other goal has no phase. Hints only:
nothing is decided by them but how a screen is written.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from agent.language.tokens import has_phrase
from agent.loop.screen.screen_kind import lists_orders, writes_message
from agent.records import Element
from agent.safety.words import words


class Phase(StrEnum):
    """Where the case stands."""

    NAVIGATING = "NAVIGATING_TO_SUPPORT"
    ON_ORDER_PAGE = "ON_ORDER_PAGE"
    ON_SUPPORT_PAGE = "ON_SUPPORT_PAGE"
    IN_CHAT = "IN_CHAT"


GUIDANCE = {
    Phase.NAVIGATING: "Look for account, orders or help; what a page sells leads nowhere.",
    Phase.ON_ORDER_PAGE: "Find the order that the goal is about, then its help.",
    Phase.ON_SUPPORT_PAGE: "Choose the issue that fits best, then a chat or a message.",
    Phase.IN_CHAT: "Say what is wrong and what is wanted; read each reply before you answer.",
}
_SUPPORT_GOALS = (
    *("refund", "complaint", "complain", "customer support", "customer service", "customer care"),
    *("support agent", "contact support", "live chat", "wrong item", "missing item", "damaged"),
    *("my order", "return order", "get help with", "money back", "s support", "their support"),
    *("ask support", "tell support", "chat with support", "the support", "help desk"),
)
_SUPPORT = ("support", "contact", "faq")
_ORDER = ("help", "support", "track", "details")
COLLAPSE_FROM = 10  # Fewer other items than this hide nothing that leads on.


@lru_cache(maxsize=256)
def is_support_goal(goal: str) -> bool:
    """Return whether a goal asks somebody else's support for something."""
    said = words(goal)
    return any(has_phrase(said, tuple(phrase.split())) for phrase in _SUPPORT_GOALS)


def phase_of(elements: Sequence[Element]) -> Phase:
    """Return which page a support case is on."""
    said = words(" \n ".join(f"{e.label} {e.value}" for e in elements[:200]))

    def has(*phrases: str) -> bool:
        return any(has_phrase(said, tuple(phrase.split())) for phrase in phrases)

    if writes_message(elements):
        return Phase.IN_CHAT
    if has("help") and has(*_SUPPORT):
        return Phase.ON_SUPPORT_PAGE
    if lists_orders(elements) or (has("order", "orders") and has(*_ORDER)):
        return Phase.ON_ORDER_PAGE
    return Phase.NAVIGATING
