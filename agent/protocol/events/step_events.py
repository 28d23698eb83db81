"""Define the events of a step: observe, think, act."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import (
    ActionOutcome,
    BudgetKind,
    Effect,
    Element,
    Observation,
    PlanItem,
    Point,
    SeenEffect,
    TimeSplit,
    Usage,
)


class StepStarted(EventBase, frozen=True, kw_only=True, tag="step_started"):
    """Observe–think–act begins."""

    step: int


class ObservationRecorded(EventBase, frozen=True, kw_only=True, tag="observation_recorded"):
    """What the session saw."""

    step: int
    observation: Observation


class AgentMessage(EventBase, frozen=True, kw_only=True, tag="agent_message"):
    """What the model said beside its tool call."""

    step: int
    text: str


class ToolCallRequested(EventBase, frozen=True, kw_only=True, tag="tool_call_requested"):
    """The model chose a tool; for an action the intent, stored before the phone is touched."""

    step: int
    call_id: str
    tool: str
    arguments: str
    """JSON object, as the model wrote it, cleaned."""
    kind: str = "action"
    """observe, action or control."""
    element: Element | None = None
    point: Point | None = None
    path: tuple[Point, ...] = ()
    """The places of a gesture that touches several, in order; none of a secret's."""
    prompt_digest: str = ""
    reply_digest: str = ""
    capability: str = ""
    """What it takes to be allowed; empty when no rule had to be asked."""
    risk: str = ""
    decision: str = ""
    """What the policy said of it: allow, ask or block."""
    rule: str = ""
    """The rule that decided; empty where none matched."""
    also: tuple[str, ...] = ()
    """The rules that matched too."""
    reason: str = ""
    """Why it is asked about or refused, a clause."""


class ToolCallFinished(EventBase, frozen=True, kw_only=True, tag="tool_call_finished"):
    """The outcome of the tool call; the text is what the model reads."""

    step: int
    call_id: str
    outcome: ActionOutcome
    text: str


class EffectsSeen(EventBase, frozen=True, kw_only=True, tag="effects_seen"):
    """What was seen to have changed, beside navigation; stored with the observation that shows it.

    An act without this event had no effect that was seen.
    """

    step: int
    """The step whose observation shows them; each effect names the step of its act."""
    effects: tuple[SeenEffect, ...]


class StepCompleted(EventBase, frozen=True, kw_only=True, tag="step_completed"):
    """Observe–think–act ended."""

    step: int
    time: TimeSplit
    usage: Usage
    counted: bool = True  # Whether the step counts against the limit; updating the plan does not.


class PlanUpdate(EventBase, frozen=True, kw_only=True, tag="plan_update"):
    """The plan as it now is."""

    plan: tuple[PlanItem, ...]
    explanation: str = ""


class FactsUpdate(EventBase, frozen=True, kw_only=True, tag="facts_update"):
    """What the session asked to remember, as it now is."""

    facts: tuple[str, ...]


class BudgetExtended(EventBase, frozen=True, kw_only=True, tag="budget_extended"):
    """The operator extended a budget by this amount."""

    kind: BudgetKind
    amount: float


class AllowanceUsed(EventBase, frozen=True, kw_only=True, tag="allowance_used"):
    """An effect passed without asking, under an allowance or a clause of a warrant; stored before
    the phone is touched.
    """

    call_id: str
    at: int  # The allowance's place among the session's, from 0; −1: a warrant's clause.
    amount: int  # In the unit of its limit: messages, or hundredths of the currency.
    effect: Effect  # What passed, as an approval would state it.
    element: Element | None = None
    warrant_id: str = ""
    clause: int = 0  # Of the warrant, from 1.


class StreamError(EventBase, frozen=True, kw_only=True, tag="stream_error"):
    """A model call failed and will be tried again."""

    message: str
    attempt: int
    delay_ms: int


AnyStepEvent: TypeAlias = (
    StepStarted
    | ObservationRecorded
    | AgentMessage
    | ToolCallRequested
    | ToolCallFinished
    | EffectsSeen
    | StepCompleted
    | PlanUpdate
    | FactsUpdate
    | BudgetExtended
    | AllowanceUsed
    | StreamError
)
