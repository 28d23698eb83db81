"""Events as spans, as a collector gets them."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent import protocol
from console.monitoring.traces import MOST_TURNS, Traces
from tests.monitoring.facts import BEGAN_MS, PRIVATE, Facts, a_session


@dataclass
class Collected:
    """Traces, and the spans that ended."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    traces: Traces = field(init=False)
    began: int = 0

    def __post_init__(self) -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.traces = Traces(provider.get_tracer("test"))

    def take(self, facts: Facts) -> None:
        for event in facts.events:
            self.traces.take(event)

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}


def test_a_turn_is_a_trace_of_steps_calls_and_waits() -> None:
    collected = Collected()
    collected.take(a_session())
    spans = collected.spans()
    root, step = spans["invoke_agent switchboard"], spans["step 1"]
    assert sorted(spans) == [
        "chat a-model",
        "execute_tool tap",
        "invoke_agent switchboard",
        "step 1",
        "wait for operator",
    ]
    assert root.parent is None and root.context is not None and step.context is not None
    assert {span.context.trace_id for span in spans.values() if span.context} == {
        root.context.trace_id
    }
    assert step.parent is not None and step.parent.span_id == root.context.span_id
    for name in ("chat a-model", "execute_tool tap", "wait for operator"):
        parent = spans[name].parent
        assert parent is not None and parent.span_id == step.context.span_id
    assert root.attributes is not None and root.attributes["gen_ai.conversation.id"] == "s1"
    assert root.attributes["switchboard.phone"] == "phone-1"
    chat = spans["chat a-model"].attributes
    assert chat is not None and chat["gen_ai.usage.input_tokens"] == 1000
    # Times are those of the stored events, not of when they were followed.
    assert root.start_time == (BEGAN_MS + 300) * 1_000_000
    assert root.end_time == (BEGAN_MS + 1200) * 1_000_000
    waited = spans["wait for operator"]
    assert waited.end_time is not None and waited.start_time is not None
    assert waited.end_time - waited.start_time == 100_000_000


def test_no_text_of_a_session_is_in_a_span() -> None:
    collected = Collected()
    collected.take(a_session())
    told = "\n".join(span.to_json() for span in collected.spans().values())
    assert "execute_tool tap" in told
    assert not [text for text in (*PRIVATE, "PRIVATE") if text in told]


@pytest.mark.parametrize(
    ("reason", "is_error"),
    [(protocol.AbortReason.FAILED, True), (protocol.AbortReason.INTERRUPTED, False)],
)
def test_a_turn_that_failed_is_an_error_and_a_stopped_one_is_not(
    reason: protocol.AbortReason, is_error: bool
) -> None:
    collected = Collected()
    collected.take(
        Facts().add(
            protocol.TaskStarted(turn_id="t"),
            protocol.StepStarted(step=1),
            protocol.TurnAborted(turn_id="t", reason=reason),
        )
    )
    root = collected.spans()["invoke_agent switchboard"]
    assert root.status.is_ok is not is_error
    assert root.attributes is not None
    assert root.attributes["switchboard.turn.ended"] == reason.value
    assert "step 1" in collected.spans()


def test_a_turn_of_a_deleted_session_and_one_too_many_end() -> None:
    collected = Collected()
    for at in range(MOST_TURNS + 1):
        collected.take(Facts(session_id=f"s{at}").add(protocol.TaskStarted(turn_id="t")))
    assert len(collected.exporter.get_finished_spans()) == 1
    collected.take(Facts(session_id="").add(protocol.SessionsDeleted(session_ids=("s1", "s2"))))
    assert len(collected.exporter.get_finished_spans()) == 3


@given(st.lists(st.sampled_from(a_session().events), max_size=40))
def test_every_span_that_began_ends_whatever_the_order_of_events(events: list[object]) -> None:
    collected = Collected()
    for event in events:
        collected.traces.take(event)  # type: ignore[arg-type]
    collected.traces.finish(BEGAN_MS * 1_000_000)
    ended = collected.exporter.get_finished_spans()
    known = {span.context.span_id for span in ended if span.context is not None}
    assert {span.parent.span_id for span in ended if span.parent is not None} <= known
    begun = sum(isinstance(event.msg, protocol.TaskStarted) for event in events)  # type: ignore[attr-defined]
    assert sum(span.parent is None for span in ended) == begun
