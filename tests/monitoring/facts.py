"""Events of a session, as a core would store them."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol import (
    Event,
    EventMsg,
    ObservationRecorded,
    QuestionAnswered,
    RequestUserInput,
    SessionConfigured,
    SessionStateChanged,
    StepCompleted,
    StepStarted,
    TaskComplete,
    TaskStarted,
    ToolCallFinished,
    ToolCallRequested,
    VerificationRecorded,
)
from agent.records import (
    ActionOutcome,
    Foreground,
    GoalVerdict,
    Observation,
    Question,
    QuestionKind,
    Session,
    SessionState,
    TimeSplit,
    Usage,
    Verification,
    VerifiedBy,
)

PRIVATE = ("PRIVATE goal", "PRIVATE argument", "PRIVATE question", "PRIVATE answer", "PRIVATE text")
BEGAN_MS = 1_800_000_000_000


@dataclass
class Facts:
    """Stored facts of one session, a tenth of a second apart."""

    events: list[Event] = field(default_factory=list)
    session_id: str = "s1"

    def add(self, *msgs: EventMsg) -> Facts:
        """Store facts."""
        for msg in msgs:
            at = len(self.events) + 1
            self.events.append(
                Event(
                    event_id=at,
                    session_id=self.session_id,
                    seq=at,
                    ts_ms=BEGAN_MS + 100 * at,
                    msg=msg,
                )
            )
        return self


def observed() -> ObservationRecorded:
    """Return what a session saw, as little as may be."""
    screen = Observation(
        started_ms=BEGAN_MS,
        ended_ms=BEGAN_MS,
        foreground=Foreground(package="PRIVATE.app"),
        screen_text=PRIVATE[4],
    )
    return ObservationRecorded(step=1, observation=screen)


def a_session() -> Facts:
    """Return the facts of a session of one step that asked for an approval and ended well."""
    session = Session(
        session_id="s1", goal=PRIVATE[0], created_ms=BEGAN_MS, model="a-model", serial="phone-1"
    )
    question = Question(
        question_id="q1",
        session_id="s1",
        text=PRIVATE[2],
        asked_ms=BEGAN_MS + 700,
        kind=QuestionKind.APPROVAL,
    )
    return Facts().add(
        SessionConfigured(session=session),
        SessionStateChanged(state=SessionState.RUNNING),
        TaskStarted(turn_id="t1"),
        StepStarted(step=1),
        observed(),
        ToolCallRequested(
            step=1, call_id="c1", tool="tap", arguments=PRIVATE[1], decision="ask", risk=PRIVATE[4]
        ),
        RequestUserInput(question=question),
        QuestionAnswered(question_id="q1", answer=PRIVATE[3]),
        ToolCallFinished(step=1, call_id="c1", outcome=ActionOutcome.DONE, text=PRIVATE[4]),
        StepCompleted(
            step=1,
            time=TimeSplit(observe_ms=20, model_ms=100, act_ms=300, settle_ms=40),
            usage=Usage(input_tokens=1000, output_tokens=50, cost_usd=0.25, calls=1),
        ),
        VerificationRecorded(
            verification=Verification(verified_by=VerifiedBy.VERIFIER, verdict=GoalVerdict.MET)
        ),
        TaskComplete(turn_id="t1", last_agent_message=PRIVATE[4]),
        SessionStateChanged(state=SessionState.COMPLETED),
    )
