"""Events as metrics: what is counted, timed and held, on OpenTelemetry's instruments.

Invariants: a counter grows by stored events alone, each once, and begins at 0 for all of its labels
before it grows, those of a tool or a model as soon as that is seen; no label has more values than
its bound; what a label says is a state, a kind or a name, never a text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from agent import protocol
from agent.core import Overview
from agent.errors import ErrorKind
from agent.records import (
    ActionOutcome,
    DeviceInfo,
    DeviceState,
    GoalVerdict,
    Question,
    RunOutcome,
    RunStatus,
    Session,
    SessionState,
    VerifiedBy,
)
from agent.safety.capabilities import Decision
from console.monitoring.labels import LabelValues

MOST_TOOLS = 100
MOST_MODELS = 20
_TOKEN_KINDS = ("input", "cached_input", "output")
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
_DELAYS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics:
    """What is known of a core, as instruments of a meter.

    Names are OpenTelemetry's; Prometheus shows `switchboard.steps` as `switchboard_steps_total`.

    Args:
        meter: makes the instruments.
        now_s: seconds since 1970.
    """

    def __init__(self, meter: Meter, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self.is_up = False
        self._sessions: dict[str, SessionState] = {}
        self._models: dict[str, str] = {}
        self._phones: dict[str, DeviceInfo] = {}
        self._questions: dict[str, Question] = {}
        self._tools = LabelValues(MOST_TOOLS)
        self._model_names = LabelValues(MOST_MODELS)
        self._pending: dict[tuple[str, str], str] = {}

        def gauge(name: str, read: Callable[[], Iterable[Observation]], said: str) -> None:
            def observe(_options: CallbackOptions) -> Iterable[Observation]:
                return read()

            meter.create_observable_gauge(f"switchboard.{name}", [observe], description=said)

        gauge("core.up", self._up, "1 while the core answers, 0 while it does not")
        gauge("sessions", self._live, "Sessions that have not ended, by state")
        gauge("phones", self._reachable, "Phones, by what adb says of them")
        gauge("phones.driven", self._driven, "Phones that a session or an operator drives")
        gauge("questions.open", self._open, "Questions and approvals that wait for an answer")

        def count(name: str, said: str, unit: str = "") -> Callable[..., None]:
            return meter.create_counter(f"switchboard.{name}", unit, said).add

        self._ended = count("sessions.ended", "Sessions that ended, by the state they ended in")
        self._aborted = count("turns.aborted", "Turns that ended early, by reason")
        self._steps = count("steps", "Steps of observe, think and act that ended")
        self._calls = count("tool.calls", "Tool calls, by tool and outcome")
        self._decisions = count("policy.decisions", "What the policy said of actions")
        self._verdicts = count("verifications", "Checks whether a goal is met, by verdict")
        self._tokens = count("model.tokens", "Tokens of model calls, by model and kind")
        self._cost = count("model.cost", "What model calls cost", "USD")
        self._retries = count("model.retries", "Model calls that failed and were tried again")
        self._errors = count("errors", "Failures that were reported, by kind")
        self._runs = count("job.runs", "Runs of jobs that ended, by outcome")
        self._step_time = meter.create_histogram(
            "switchboard.step.duration",
            "s",
            "Where the time of a step went",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._waits = meter.create_histogram(
            "switchboard.question.wait",
            "s",
            "How long questions were open, by kind and end",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        for add, labels in (
            (self._steps, [{}]),
            (self._ended, _each("state", (one for one in SessionState if one.is_terminal))),
            (self._aborted, _each("reason", protocol.AbortReason)),
            (self._decisions, _each("decision", Decision)),
            (self._errors, _each("kind", ErrorKind)),
            (self._runs, _each("outcome", RunOutcome)),
            (self._verdicts, _VERDICTS),
        ):
            _begin(add, labels)
        self._begun: set[tuple[str, str]] = set()
        """The tools and models whose counters have begun."""
        self._delay = meter.create_histogram(
            "switchboard.event.delay",
            "s",
            "Time from an event to its arrival here",
            explicit_bucket_boundaries_advisory=_DELAYS,
        )

    def begin(self, overview: Overview) -> None:
        """Take what there is at one moment; events after it follow."""
        self._sessions.clear()
        self._models.clear()
        for session in overview.sessions:
            self._hold(session)
        self._phones = {device.serial: device for device in overview.devices}
        self._questions = {one.question_id: one for one in overview.questions}

    def take(self, event: protocol.Event, *, is_live: bool) -> None:
        """Take one stored event.

        Args:
            event: each once, in order.
            is_live: it came as it happened, so the time that it took says something.
        """
        if is_live:
            self._delay.record(max(0.0, self._now_s() - event.ts_ms / 1000))
        match event.msg:
            case protocol.SessionConfigured(session=session):
                self._hold(session)
            case protocol.SessionStateChanged(state=state):
                self._move(event.session_id, state)
            case protocol.SessionsDeleted(session_ids=gone):
                for session_id in gone:
                    self._sessions.pop(session_id, None)
                    self._models.pop(session_id, None)
            case protocol.TurnAborted(reason=reason):
                self._aborted(1, {"reason": reason.value})
            case protocol.ToolCallRequested(tool=tool, call_id=call_id, decision=decision):
                name = self._pending[event.session_id, call_id] = self._tools.of(tool)
                self._begin_tool(name)
                if decision:
                    self._decisions(1, {"decision": decision})
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                tool = self._pending.pop((event.session_id, call_id), "unknown")
                self._calls(1, {"tool": tool, "outcome": outcome.value})
            case protocol.StepCompleted():
                self._step(event.session_id, event.msg)
            case protocol.VerificationRecorded(verification=found):
                self._verdicts(
                    1, {"verdict": found.verdict.value, "verified_by": found.verified_by.value}
                )
            case protocol.RequestUserInput(question=question):
                self._questions[question.question_id] = question
            case protocol.QuestionAnswered(question_id=question_id):
                self._close(question_id, event.ts_ms, "answered")
            case protocol.QuestionClosed(question_id=question_id):
                self._close(question_id, event.ts_ms, "closed")
            case protocol.DeviceChanged(device=device):
                self._phones[device.serial] = device
            case protocol.RunChanged(run=run) if run.status is RunStatus.ENDED:
                outcome_of = "" if run.outcome is None else run.outcome.value
                self._runs(1, {"outcome": outcome_of})
            case protocol.ErrorEvent(kind=kind):
                self._errors(1, {"kind": kind.value})
            case protocol.StreamError():
                self._retries(1, {"model": self._model(event.session_id)})
            case _:
                pass

    # --- held ----------

    def move(self, session_id: str, session: Session | None) -> None:
        """Take in that a session came to this host, or, without one, that it left."""
        if session is not None:
            self._hold(session)
            return
        self._sessions.pop(session_id, None)
        for key in [key for key, one in self._questions.items() if one.session_id == session_id]:
            del self._questions[key]

    def _hold(self, session: Session) -> None:
        self._models[session.session_id] = session.model
        self._begin_model(self._model(session.session_id))
        if not session.state.is_terminal:
            self._sessions[session.session_id] = session.state

    def _begin_tool(self, tool: str) -> None:
        if ("tool", tool) not in self._begun:
            self._begun.add(("tool", tool))
            _begin(self._calls, ({"tool": tool, **one} for one in _each("outcome", ActionOutcome)))

    def _begin_model(self, model: str) -> None:
        if ("model", model) not in self._begun:
            self._begun.add(("model", model))
            _begin(self._tokens, ({"model": model, **one} for one in _each("kind", _TOKEN_KINDS)))
            _begin(self._cost, [{"model": model}])
            _begin(self._retries, [{"model": model}])

    def _move(self, session_id: str, state: SessionState) -> None:
        if not state.is_terminal:
            self._sessions[session_id] = state
            return
        self._ended(1, {"state": state.value})
        self._sessions.pop(session_id, None)
        for key in [key for key in self._pending if key[0] == session_id]:
            del self._pending[key]

    def _close(self, question_id: str, at_ms: int, end: str) -> None:
        question = self._questions.pop(question_id, None)
        if question is not None:
            waited_s = max(0.0, (at_ms - question.asked_ms) / 1000)
            self._waits.record(waited_s, {"kind": question.kind.value, "end": end})

    def _step(self, session_id: str, step: protocol.StepCompleted) -> None:
        self._steps(1)
        for part, took_ms in (
            ("observe", step.time.observe_ms),
            ("model", step.time.model_ms),
            ("act", step.time.act_ms),
            ("settle", step.time.settle_ms),
        ):
            self._step_time.record(took_ms / 1000, {"part": part})
        model = self._model(session_id)
        for kind, tokens in (
            ("input", step.usage.input_tokens),
            ("cached_input", step.usage.cached_input_tokens),
            ("output", step.usage.output_tokens),
        ):
            if tokens:
                self._tokens(tokens, {"model": model, "kind": kind})
        if step.usage.cost_usd:
            self._cost(step.usage.cost_usd, {"model": model})

    def _model(self, session_id: str) -> str:
        return self._model_names.of(self._models.get(session_id, ""))

    # --- read by the exporters, in a thread of theirs ----------

    def _up(self) -> Iterable[Observation]:
        return [Observation(int(self.is_up))]

    def _live(self) -> Iterable[Observation]:
        found = Counter(state.value for state in [*self._sessions.values()])
        states = [state.value for state in SessionState if not state.is_terminal]
        return _observed(found, states, "state")

    def _reachable(self) -> Iterable[Observation]:
        found = Counter(device.state.value for device in [*self._phones.values()])
        return _observed(found, [state.value for state in DeviceState], "state")

    def _driven(self) -> Iterable[Observation]:
        return [Observation(sum(bool(device.driver) for device in [*self._phones.values()]))]

    def _open(self) -> Iterable[Observation]:
        found = Counter(question.kind.value for question in [*self._questions.values()])
        return _observed(found, ["question", "approval"], "kind")


def _each(label: str, values: Iterable[str]) -> list[dict[str, str]]:
    """Return the labels of a counter with one label, for each of its values."""
    return [{label: str(value)} for value in values]


_VERDICTS = [
    {"verdict": verdict.value, "verified_by": by.value}
    for verdict in GoalVerdict
    for by in VerifiedBy
]


def _begin(add: Callable[..., None], labels: Iterable[Mapping[str, str]]) -> None:
    """Have a counter say 0 of labels: the first value that Prometheus hears of is no increase."""
    for one in labels:
        add(0, dict(one))


def _observed(found: Mapping[str, int], values: Iterable[str], label: str) -> Iterable[Observation]:
    # Every value is told, a 0 too: an alert cannot compare with a series that is not there.
    return [Observation(found.get(value, 0), {label: value}) for value in values]
