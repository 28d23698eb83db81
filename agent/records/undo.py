"""Define what takes an effect back: one act on the phone, offered while it can be reached.

Who finds these is `agent.loop.undo`. Invariant: an offer names what would be pressed or typed as
the screen shows it, so a person can judge it without trusting a guess.
"""

from enum import StrEnum

from agent.records.observation import Element
from agent.records.record import Record


class UndoHow(StrEnum):
    """What is done to take an effect back."""

    PRESS = "press"
    """Press what changed once more: a switch, a star, the choice that was made before."""
    CHOOSE = "choose"
    """Press the row that changed, then its old choice."""
    TYPE = "type"
    """Replace what the field holds by its old text."""
    APP_OFFER = "app_offer"
    """Press the button that the app shows beside what it announced. Only its label says what it
    does."""


class UndoOffer(Record, frozen=True, kw_only=True):
    """One effect and the act that takes it back."""

    step: int
    """The step of the act that had the effect."""
    effect: int
    """The effect's number."""
    how: UndoHow
    element: Element
    """What is pressed or typed into, on the newest screen."""
    text: str = ""
    """The old text or choice; empty where nothing is typed or chosen, and for an empty field."""
    what: str
    """What is taken back, as a line."""
    says: str
    """What would be done, as a sentence."""
    asks: str = ""
    """The question of the approval that the act itself needs; empty: it needs none."""
    seen_ms: int = 0
    """When the screen with the element was seen."""
    until_ms: int = 0
    """When the app has taken its button away at the latest, as far as is known; 0: the act can be
    done as long as its page is in front."""
