"""Define the event of an act's review."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import ActReview, Usage


class ActReviewed(EventBase, frozen=True, kw_only=True, tag="act_reviewed"):
    """A reviewer read an act before it was done; stored before the phone is touched.

    An answer that was known from before cost nothing and took no time.
    """

    step: int
    call_id: str
    review: ActReview
    question_sha256: str = ""
    """Of the question, in hex: the same question has this answer, after a restart too."""
    view_sha256: str = ""
    """Of the operator's words, the screen and the act: what only moved the view does so again."""
    took_ms: int = 0
    usage: Usage = Usage()


AnyActReviewEvent: TypeAlias = ActReviewed
