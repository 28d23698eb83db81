"""The patterns that the loop is made of, so that each can be switched off to measure what it does.

Only for measuring: `[loop] without` and `python -m bench exercises --without`. Each pattern is
asked about in one line, where it works. Safety is no pattern and cannot be switched off.
"""

from collections.abc import Set
from enum import StrEnum
from typing import TypeAlias


class Pattern(StrEnum):
    """What can be left out of a step."""

    VERIFICATION = "verification"
    """Results say what an action came to; without it every action that was sent is called OK."""
    CHANGES = "changes"
    """Each screen says how it differs from the one before."""
    TRACKER = "tracker"
    """The model's plan stands above each screen."""
    MASKING = "masking"
    """Old screens become one line."""
    SETTLE = "settle"
    """A screen is watched until it holds still; without it the first look counts."""
    FIRST_SCREEN = "first_screen"
    """The first screen of a turn is waited for until there is something to use."""
    CONVERSATION = "conversation"
    """The model is shown what it did before; without it only the goal and the newest screen."""
    OSCILLATION = "oscillation"
    """Warn of going back and forth between two screens."""
    STAGNATION = "stagnation"
    """Warn of actions that change nothing, and ask the operator in the end."""
    SCROLL_BUDGET = "scroll_budget"
    """Warn of scrolling on and on."""
    DUPLICATES = "duplicates"
    """Refuse the third same action that changes nothing."""
    WRONG_APP = "wrong_app"
    """Warn when another app is in front, and bring the session's own back."""
    NO_TOOL = "no_tool"
    """Remind a model that only talks to call a tool."""
    BANS = "bans"
    """Refuse elements that led nowhere, and say of a page that it leads away from support."""
    NAVIGATION_FIRST = "navigation_first"
    """On the way to support, content that leads nowhere has no numbers, and a long search is told
    to plan anew."""
    APP_CARDS = "app_cards"
    """Tell the model what is known of the app."""
    FINISH_CHECK = "finish_check"
    """Refuse a first claim of success while items of the plan are open."""


Without: TypeAlias = Set[Pattern]  # The patterns that are switched off.

NOTHING: Without = frozenset()
