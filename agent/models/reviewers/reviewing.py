"""Who reads the acts of a session before they are done: a model, a program like one, or nobody.

Not the reading (`agent.loop.acting.act_reviews`) and not the rules (`agent.safety`).
"""

import msgspec

from agent.models.model import Model

MODEL = "model"
SAME = "same"
OFF = "off"
PROGRAM = "program"
TIMEOUT_S = 2.0


class Reviewing(msgspec.Struct, frozen=True, kw_only=True):
    """Who reviews a session's acts; without a model: nobody, and rules decide alone."""

    model: Model | None = None
    timeout_s: float = TIMEOUT_S
    """How long an answer is waited for; after that the operator is asked."""
    is_same: bool = False
    """Whether the model is the one that does the work."""
    off: str = ""
    """Why nobody reviews though somebody should: the model did badly; empty otherwise."""
