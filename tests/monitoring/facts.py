"""Events of a session, as a core would store them."""

from dataclasses import dataclass, field

from agent import protocol, records

PRIVATE = ("PRIVATE goal", "PRIVATE argument", "PRIVATE question", "PRIVATE answer", "PRIVATE text")
BEGAN_MS = 1_800_000_000_000


@dataclass
class Facts:
    """Stored facts of one session, a tenth of a second apart."""

    events: list[protocol.Event] = field(default_factory=list)
    session_id: str = "s1"

    def add(self, *msgs: protocol.EventMsg) -> "Facts":
        for msg in msgs:
            at = len(self.events) + 1
            self.events.append(
                protocol.Event(
                    event_id=at,
                    session_id=self.session_id,
                    seq=at,
                    ts_ms=BEGAN_MS + 100 * at,
                    msg=msg,
                )
            )
        return self


def observed() -> protocol.ObservationRecorded:
    """Return what a session saw, as little as may be."""
    screen = records.Observation(
        started_ms=BEGAN_MS,
        ended_ms=BEGAN_MS,
        foreground=records.Foreground(package="PRIVATE.app"),
        screen_text=PRIVATE[4],
    )
    return protocol.ObservationRecorded(step=1, observation=screen)


def a_session() -> Facts:
    """Return the facts of a session of one step that asked for an approval and ended well."""
    session = records.Session(
        session_id="s1", goal=PRIVATE[0], created_ms=BEGAN_MS, model="a-model", serial="phone-1"
    )
    question = records.Question(
        question_id="q1",
        session_id="s1",
        text=PRIVATE[2],
        asked_ms=BEGAN_MS + 700,
        kind=records.QuestionKind.APPROVAL,
    )
    return Facts().add(
        protocol.SessionConfigured(session=session),
        protocol.SessionStateChanged(state=records.SessionState.RUNNING),
        protocol.TaskStarted(turn_id="t1"),
        protocol.StepStarted(step=1),
        observed(),
        protocol.ToolCallRequested(
            step=1, call_id="c1", tool="tap", arguments=PRIVATE[1], decision="ask", risk=PRIVATE[4]
        ),
        protocol.RequestUserInput(question=question),
        protocol.QuestionAnswered(question_id="q1", answer=PRIVATE[3]),
        protocol.ToolCallFinished(
            step=1, call_id="c1", outcome=records.ActionOutcome.DONE, text=PRIVATE[4]
        ),
        protocol.StepCompleted(
            step=1,
            time=records.TimeSplit(observe_ms=20, model_ms=100, act_ms=300, settle_ms=40),
            usage=records.Usage(input_tokens=1000, output_tokens=50, cost_usd=0.25, calls=1),
        ),
        protocol.VerificationRecorded(
            verification=records.Verification(
                verified_by=records.VerifiedBy.VERIFIER, verdict=records.GoalVerdict.MET
            )
        ),
        protocol.TaskComplete(turn_id="t1", last_agent_message=PRIVATE[4]),
        protocol.SessionStateChanged(state=records.SessionState.COMPLETED),
    )
