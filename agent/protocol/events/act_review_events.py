"""Define the event of an act's review."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import ActReview, Usage


class ActReviewed(EventBase, frozen=True, kw_only=True, tag="act_reviewed"):
    """A reviewer read an act before it was done; stored before the phone is touched."""

    step: int
    call_id: str
    review: ActReview
    question_sha256: str = ""
    """Of the question, in hex: the same question has this answer, after a restart too."""
    took_ms: int = 0
    usage: Usage = Usage()


AnyActReviewEvent: TypeAlias = ActReviewed
