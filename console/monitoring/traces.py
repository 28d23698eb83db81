"""Events as traces: a trace a turn, with its steps, model calls, tool calls and waits as spans.

Names and attributes follow OpenTelemetry's conventions for generative AI where these have a word
(`invoke_agent`, `chat`, `execute_tool`, `gen_ai.*`). Spans have the times of the stored events, so
a trace says the same whenever it is made. Invariant: what is in a span is a name, a number or a
state, never a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from agent import protocol
from agent.core import Overview
from agent.records import ActionOutcome, Session
from console.monitoring.labels import LabelValues
from console.monitoring.metrics import MOST_TOOLS

MOST_TURNS = 1_000  # How many turns may be open at once; the oldest is ended before one more.
Value: TypeAlias = str | int | float | bool
_NOT_DONE = (ActionOutcome.FAILED, ActionOutcome.UNKNOWN)


@dataclass
class _Turn:
    """The open spans of a session's turn."""

    root: Span
    step: Span | None = None
    seen_ns: int = 0
    chosen_ns: int = 0
    calls: dict[str, Span] = field(default_factory=dict)
    questions: dict[str, Span] = field(default_factory=dict)

    def open_spans(self) -> list[Span]:
        """Return every span that has not ended, the inner ones first."""
        steps = [self.step] if self.step is not None else []
        return [*self.questions.values(), *self.calls.values(), *steps, self.root]


class Traces:
    """The turns that go on, as spans.

    Args:
        tracer: makes the spans.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._models: dict[str, str] = {}
        self._phones: dict[str, str] = {}
        self._turns: dict[str, _Turn] = {}
        self._tools = LabelValues(MOST_TOOLS)

    def begin(self, overview: Overview) -> None:
        """Take the names of what there is at one moment."""
        for session in overview.sessions:
            self._name(session)

    def take(self, event: protocol.Event) -> None:
        """Take one stored event; each once, in order."""
        at_ns, session_id = event.ts_ms * 1_000_000, event.session_id
        match event.msg:
            case protocol.SessionConfigured(session=session):
                self._name(session)
                return
            case protocol.SessionAssigned(serial=serial):
                self._phones[session_id] = serial
                return
            case protocol.SessionsDeleted(session_ids=gone):
                for one in gone:
                    self._end(one, at_ns, "deleted")
                    self._models.pop(one, None)
                    self._phones.pop(one, None)
                return
            case protocol.TaskStarted(kind=kind):
                self._end(session_id, at_ns, "unfinished")
                self._start(session_id, at_ns, kind)
                return
            case _:
                turn = self._turns.get(session_id)
        if turn is None:
            # It began before anybody followed.
            return
        match event.msg:
            case protocol.TaskComplete():
                self._end(session_id, at_ns, "")
            case protocol.TurnAborted(reason=reason):
                # A person's stop is an end as good as any.
                failed = reason in (protocol.AbortReason.FAILED, protocol.AbortReason.RECOVERED)
                self._end(session_id, at_ns, reason.value, failed=failed)
            case protocol.StepStarted(step=step):
                if turn.step is not None:
                    turn.step.end(at_ns)
                turn.step = self._span(turn.root, f"step {step}", at_ns, {"switchboard.step": step})
                turn.seen_ns = turn.chosen_ns = 0
            case protocol.ObservationRecorded():
                turn.seen_ns = turn.seen_ns or at_ns
            case protocol.ToolCallRequested():
                turn.chosen_ns = turn.chosen_ns or at_ns
                _end_of(turn.calls, event.msg.call_id, at_ns)
                turn.calls[event.msg.call_id] = self._call(turn, event.msg, at_ns)
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                span = turn.calls.pop(call_id, None)
                if span is not None:
                    span.set_attribute("switchboard.outcome", outcome.value)
                    if outcome in _NOT_DONE:
                        span.set_status(Status(StatusCode.ERROR, outcome.value))
                    span.end(at_ns)
            case protocol.StepCompleted():
                self._complete(session_id, turn, event.msg, at_ns)
            case protocol.StreamError(attempt=attempt):
                _inner(turn).add_event("model call failed", {"attempt": attempt}, at_ns)
            case protocol.RequestUserInput(question=question):
                _end_of(turn.questions, question.question_id, at_ns)
                turn.questions[question.question_id] = self._span(
                    _inner(turn),
                    "wait for operator",
                    at_ns,
                    {"switchboard.question.kind": question.kind.value},
                )
            case protocol.QuestionAnswered(question_id=question_id):
                _close(turn, question_id, at_ns, "answered")
            case protocol.QuestionClosed(question_id=question_id):
                _close(turn, question_id, at_ns, "closed")
            case protocol.VerificationRecorded(verification=found):
                said = {"verdict": found.verdict.value, "verified_by": found.verified_by.value}
                turn.root.add_event("verification", said, at_ns)
            case _:
                pass

    def finish(self, at_ns: int) -> None:
        """End what is open: nobody follows any more."""
        for session_id in tuple(self._turns):
            self._end(session_id, at_ns, "unfinished")

    def _name(self, session: Session) -> None:
        self._models[session.session_id] = session.model
        if session.serial:
            self._phones[session.session_id] = session.serial

    def _start(self, session_id: str, at_ns: int, kind: str) -> None:
        if len(self._turns) >= MOST_TURNS:
            self._end(next(iter(self._turns)), at_ns, "unfinished")
        said: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "switchboard",
            "gen_ai.conversation.id": session_id,
            "switchboard.turn.kind": kind,
        }
        if serial := self._phones.get(session_id):
            said["switchboard.phone"] = serial
        root = self._tracer.start_span(
            "invoke_agent switchboard", start_time=at_ns, attributes=said
        )
        self._turns[session_id] = _Turn(root)

    def _end(self, session_id: str, at_ns: int, reason: str, *, failed: bool = False) -> None:
        turn = self._turns.pop(session_id, None)
        if turn is None:
            return
        if reason:
            turn.root.set_attribute("switchboard.turn.ended", reason)
        if failed:
            turn.root.set_status(Status(StatusCode.ERROR, reason))
        for span in turn.open_spans():
            span.end(at_ns)

    def _call(self, turn: _Turn, call: protocol.ToolCallRequested, at_ns: int) -> Span:
        tool = self._tools.of(call.tool)
        said: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "switchboard.tool.kind": call.kind,
        }
        if call.decision:
            said["switchboard.policy.decision"] = call.decision
        return self._span(_inner(turn), f"execute_tool {tool}", at_ns, said)

    def _complete(
        self, session_id: str, turn: _Turn, step: protocol.StepCompleted, at_ns: int
    ) -> None:
        if turn.step is None:
            return
        if turn.seen_ns and step.usage.calls:
            model = self._models.get(session_id, "")
            said: dict[str, Value] = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": model,
                "gen_ai.usage.input_tokens": step.usage.input_tokens,
                "gen_ai.usage.output_tokens": step.usage.output_tokens,
                "switchboard.model_ms": step.time.model_ms,
                "switchboard.cost_usd": step.usage.cost_usd,
            }
            name = f"chat {model}".rstrip()
            chat = self._span(turn.step, name, turn.seen_ns, said, SpanKind.CLIENT)
            chat.end(max(turn.seen_ns, turn.chosen_ns or at_ns))
        for part, took_ms in (
            ("observe_ms", step.time.observe_ms),
            ("act_ms", step.time.act_ms),
            ("settle_ms", step.time.settle_ms),
        ):
            turn.step.set_attribute(f"switchboard.{part}", took_ms)
        turn.step.end(at_ns)
        turn.step = None

    def _span(
        self,
        parent: Span,
        name: str,
        at_ns: int,
        said: Mapping[str, Value],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(
            name,
            context=trace.set_span_in_context(parent),
            start_time=at_ns,
            attributes=said,
            kind=kind,
        )


def _inner(turn: _Turn) -> Span:
    return turn.step if turn.step is not None else turn.root


def _close(turn: _Turn, question_id: str, at_ns: int, end: str) -> None:
    span = turn.questions.pop(question_id, None)
    if span is not None:
        span.set_attribute("switchboard.question.ended", end)
        span.end(at_ns)


def _end_of(spans: dict[str, Span], key: str, at_ns: int) -> None:
    # An id that comes twice must not leave a span without an end.
    span = spans.pop(key, None)
    if span is not None:
        span.end(at_ns)
