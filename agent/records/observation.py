"""Define observations of a screen (nodes, elements) and the outcomes of actions."""

from __future__ import annotations

from enum import StrEnum

from agent.records.devices import Foreground, Frame
from agent.records.record import Bounds, Record


class UiNode(Record, frozen=True, kw_only=True):
    """One node of a UI tree, as the device reported it, in document order."""

    text: str = ""
    description: str = ""
    hint: str = ""
    resource_id: str = ""
    class_name: str = ""
    package: str = ""
    bounds: Bounds
    depth: int = 0
    parent: int = -1  # Index of the parent in the tree's node list; −1 for a root.
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False


class Element(Record, frozen=True, kw_only=True):
    """A numbered node that a model may name."""

    number: int
    key: str
    """Stable across captures: resource id, class, label and position cell."""
    kind: str
    label: str
    more: str = ""
    """What else it says, which is no part of the label: the rest of a long one, a description under
    a text, texts inside. Judged, not shown to a model."""
    value: str = ""
    """What an editable field holds; always empty for a password."""
    bounds: Bounds
    resource_id: str = ""
    class_name: str = ""
    package: str = ""
    clickable: bool = False
    editable: bool = False
    scrollable: bool = False
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focused: bool = False
    selected: bool = False
    password: bool = False
    long_clickable: bool = False
    is_new: bool = False
    parent: int = 0
    """Number of the element that it lies in, such as its row or its list; 0 for none."""
    length: int = 0
    """How many characters a secret field shows; what they are is not kept."""


class Observation(Record, frozen=True, kw_only=True):
    """Frame, elements and foreground app of one moment."""

    started_ms: int
    ended_ms: int
    foreground: Foreground
    elements: tuple[Element, ...] = ()
    fingerprint: str = ""
    change: str = ""
    screen_text: str = ""
    frame: Frame | None = None
    tree_digest: str = ""
    tree_started_ms: int = 0
    tree_ended_ms: int = 0
    """When the tree's reading began and ended; 0 without a tree. The frame has its own two ends."""
    tree_note: str = ""
    """Why there is no UI tree, when there is none."""
    toast: str = ""
    """What a toast said since the observation before."""
    picture_change: float = 0.0
    """The share of the picture that differs from the observation before, in [0, 1]; measured only
    where no element changed."""
    is_loading: bool = False
    """The screen still said that it was loading when the wait for it ended."""
    is_silent: bool = False
    """A large part of the screen has no names in the tree, and its picture was not read."""


class ActionOutcome(StrEnum):
    """How an action ended; a timed-out one is unknown until the next observation."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class PlanStatus(StrEnum):
    """Where one item of a plan stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class PlanItem(Record, frozen=True, kw_only=True):
    """One sub-goal."""

    step: str
    status: PlanStatus = PlanStatus.PENDING


class Usage(Record, frozen=True, kw_only=True):
    """What model calls cost so far."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    """Of the input tokens, those that went into the endpoint's cache, where that has a price."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    calls: int = 0

    def plus(self, other: Usage) -> Usage:
        """Add two usages."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            calls=self.calls + other.calls,
        )


class TimeSplit(Record, frozen=True, kw_only=True):
    """Where the milliseconds of a step, or of a session, went."""

    observe_ms: int = 0
    model_ms: int = 0
    act_ms: int = 0
    settle_ms: int = 0
    idle_ms: int = 0

    def plus(self, other: TimeSplit) -> TimeSplit:
        """Add two splits."""
        return TimeSplit(
            observe_ms=self.observe_ms + other.observe_ms,
            model_ms=self.model_ms + other.model_ms,
            act_ms=self.act_ms + other.act_ms,
            settle_ms=self.settle_ms + other.settle_ms,
            idle_ms=self.idle_ms + other.idle_ms,
        )
