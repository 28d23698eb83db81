"""A scripted evening: sessions at work, done, asking, failed; two phones; a job."""

from agent import protocol, records
from tests.console.fakes import FakeCore, job, phone

LABELS = ("Back", "Bluetooth", "Connected devices", "Pair new device", "Search settings")


def elements() -> tuple[records.Element, ...]:
    """Make a few numbered rows."""
    return tuple(
        records.Element(
            number=number,
            key=f"e{number}",
            kind="button",
            label=label,
            bounds=records.Bounds(
                left=0.08, top=0.1 * number, right=0.9, bottom=0.1 * number + 0.08
            ),
            clickable=True,
            is_new=number == 4,
        )
        for number, label in enumerate(LABELS, 1)
    )


def configure(core: FakeCore, session_id: str, goal: str, **fields: object) -> None:
    session = records.Session(session_id=session_id, goal=goal, created_ms=core.now_ms, **fields)  # type: ignore[arg-type]
    core.tell(protocol.SessionConfigured(session=session), session_id)


def run(core: FakeCore, session_id: str) -> None:
    """Let a session's turn begin."""
    core.tell(protocol.SessionStateChanged(state=records.SessionState.RUNNING), session_id)
    core.tell(protocol.TaskStarted(turn_id=f"turn-{session_id}"), session_id)


def step(
    core: FakeCore,
    session_id: str,
    number: int,
    thought: str = "The Bluetooth row is in view and its switch is off.",
    *,
    tool: str = "click_element",
    arguments: str = '{"element": 2}',
    result: str = "Bluetooth is on now; the switch changed.",
    outcome: records.ActionOutcome = records.ActionOutcome.DONE,
) -> None:
    seen = elements()
    core.tell(protocol.StepStarted(step=number), session_id)
    core.tell(
        protocol.ObservationRecorded(
            step=number,
            observation=records.Observation(
                started_ms=core.now_ms,
                ended_ms=core.now_ms,
                foreground=records.Foreground(package="com.android.settings"),
                elements=seen,
                change="2 elements are new",
            ),
        ),
        session_id,
    )
    core.tell(protocol.AgentMessage(step=number, text=thought), session_id)
    element = seen[1] if tool == "click_element" else None
    core.tell(
        protocol.ToolCallRequested(
            step=number, call_id=f"c{number}", tool=tool, arguments=arguments, element=element
        ),
        session_id,
    )
    core.tell(
        protocol.ToolCallFinished(step=number, call_id=f"c{number}", outcome=outcome, text=result),
        session_id,
    )
    core.tell(
        protocol.StepCompleted(
            step=number,
            time=records.TimeSplit(observe_ms=420, model_ms=1_900, act_ms=260, settle_ms=610),
            usage=records.Usage(input_tokens=3_100, output_tokens=90, cost_usd=0.0021, calls=1),
        ),
        session_id,
    )


def ask(core: FakeCore, session_id: str, question_id: str, text: str, *options: str) -> None:
    core.tell(
        protocol.RequestUserInput(
            question=records.Question(
                question_id=question_id,
                session_id=session_id,
                text=text,
                asked_ms=core.now_ms,
                options=tuple(records.QuestionOption(label=label) for label in options),
            )
        ),
        session_id,
    )


def evening(core: FakeCore) -> None:
    core.tell(protocol.DeviceChanged(device=phone("phone-1", driver="s1")))
    core.tell(protocol.DeviceChanged(device=phone("phone-2")))
    core.tell(
        protocol.JobChanged(job=job(1, title="Morning digest", next_run_at=core.now_ms + 600_000))
    )
    configure(
        core,
        "s1",
        "Open Settings and turn on Bluetooth, then pair the headphones",
        serial="phone-1",
    )
    run(core, "s1")
    core.tell(
        protocol.PlanUpdate(
            plan=(
                records.PlanItem(step="Open Settings", status=records.PlanStatus.COMPLETED),
                records.PlanItem(step="Turn on Bluetooth", status=records.PlanStatus.IN_PROGRESS),
                records.PlanItem(step="Pair the headphones"),
            )
        ),
        "s1",
    )
    step(
        core,
        "s1",
        1,
        "Settings is on the launcher.",
        tool="launch_app",
        arguments='{"package": "com.android.settings"}',
        result="Settings is in front.",
    )
    for number in range(2, 6):
        step(core, "s1", number)
    configure(core, "s2", 'Write a note saying "milk and eggs"', serial="phone-2")
    run(core, "s2")
    step(core, "s2", 1, "Notes has a button for a new note.")
    ask(
        core,
        "s2",
        "q1",
        "There are two notebooks. Which one should the note go into?",
        "Home",
        "Work",
    )
    configure(core, "s3", "Send Anna the address of the restaurant")
    run(core, "s3")
    step(core, "s3", 1, outcome=records.ActionOutcome.FAILED, result="The button is disabled.")
    core.tell(
        protocol.ErrorEvent(
            message="Messages has no thread with Anna.", remedy="Name the contact as it is stored."
        ),
        "s3",
    )
    core.tell(
        protocol.SessionStateChanged(
            state=records.SessionState.FAILED, reason="Messages has no thread with Anna."
        ),
        "s3",
    )
    configure(core, "s4", "Set an alarm for 6:45")
    run(core, "s4")
    core.tell(protocol.ResultPublished(text="The alarm is set for 6:45, every weekday."), "s4")
    core.tell(protocol.SessionStateChanged(state=records.SessionState.COMPLETED), "s4")
