"""Define the events of an effect that the operator takes back."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import ActionOutcome, UndoOffer


class UndoStarted(EventBase, frozen=True, kw_only=True, tag="undo_started"):
    """The operator takes an effect back; stored before the phone is touched."""

    serial: str
    offer: UndoOffer


class UndoFinished(EventBase, frozen=True, kw_only=True, tag="undo_finished"):
    """What the act came to."""

    serial: str
    step: int
    effect: int
    said: str
    outcome: ActionOutcome
    is_back: bool = False
    """Whether the screen after it shows that the effect is gone."""
    detail: str = ""


AnyUndoEvent: TypeAlias = UndoStarted | UndoFinished
