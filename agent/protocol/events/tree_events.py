"""Define the events of session trees: plans, targets, recovery, steering, reviews."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.protocol.ops.session_ops import Target
from agent.records import Review, TargetPresentation, TargetRuntime, Usage


class TargetsPlanned(EventBase, frozen=True, kw_only=True, tag="targets_planned"):
    """The planner chose who does what; the children are stored with this."""

    targets: tuple[Target, ...]
    child_ids: tuple[str, ...]
    reason: str = ""


class TargetObserved(EventBase, frozen=True, kw_only=True, tag="target_observed"):
    """Where the session's app was found on its phone."""

    presentation: TargetPresentation
    runtime: TargetRuntime
    display: int = 0
    message: str = ""


class RecoveryScheduled(EventBase, frozen=True, kw_only=True, tag="recovery_scheduled"):
    """A turn was lost to a transient failure; the session will retry."""

    attempt: int
    limit: int
    wait_ms: int = 0
    reason: str = ""


class SteerEdited(EventBase, frozen=True, kw_only=True, tag="steer_edited"):
    """The operator changed a hint that no step had applied."""

    message_id: str
    text: str


class SteerWithdrawn(EventBase, frozen=True, kw_only=True, tag="steer_withdrawn"):
    """The operator withdrew a hint that no step had applied."""

    message_id: str


class ReviewPublished(EventBase, frozen=True, kw_only=True, tag="review_published"):
    """What a review of the session found."""

    review: Review
    usage: Usage = Usage()  # What asking for it took.


class HistoryCompacted(EventBase, frozen=True, kw_only=True, tag="history_compacted"):
    """This text replaces what the model remembers of everything before it; the events stay."""

    text: str
    usage: Usage = Usage()  # What asking for it took.
    tokens_before: int = 0  # What the conversation had, about; 0: not counted.
    tokens_after: int = 0
    automatic: bool = False  # Whether nobody asked for it: the context window was nearly full.


AnyTreeEvent: TypeAlias = (
    TargetsPlanned
    | TargetObserved
    | RecoveryScheduled
    | SteerEdited
    | SteerWithdrawn
    | ReviewPublished
    | HistoryCompacted
)
