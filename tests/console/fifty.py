"""Twelve phones and fifty sessions, ten of which ask and five want an approval."""

from agent import protocol
from agent.records import Question, QuestionKind, QuestionOption, SessionState
from tests.console.fakes import FakeCore, phone
from tests.console.script import ask, configure, run, step

PHONES = 12
SESSIONS = 50
_GOALS = (
    "Turn on Bluetooth",
    "Read the newest message",
    "Set an alarm for 6:45",
    "Find the cheapest train to Porto",
    "Tidy the downloads",
)


def play(core: FakeCore) -> None:
    """Play them: a tree of eight, ten that ask, five approvals, some paused, ended and failed."""
    for number in range(1, PHONES + 1):
        core.tell(protocol.DeviceChanged(device=phone(f"phone-{number}", model=f"Pixel {number}")))
    configure(core, "s1", "Install the update everywhere")
    for number in range(2, 10):
        serial = f"phone-{number - 1}"
        configure(core, f"s{number}", "Install the update", parent_id="s1", serial=serial)
        run(core, f"s{number}")
    for number in range(10, SESSIONS + 1):
        one = f"s{number}"
        tags = ("nightly",) if number % 3 == 0 else ()
        goal = f"{_GOALS[number % 5]} {number}"
        configure(core, one, goal, serial=f"phone-{number % PHONES + 1}", tags=tags)
        if number <= 40:
            run(core, one)
            step(core, one, 1)
        if 10 <= number < 20:
            ask(core, one, f"q{number}", "Which Ben is meant?", "Ben Adams", "Ben Baker")
        elif 20 <= number < 25:
            _ask_approval(core, one, f"a{number}")
        elif 25 <= number < 28:
            core.tell(protocol.SessionFlagsChanged(paused=True), one)
        elif 35 <= number <= 38:
            core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), one)
        elif number in (39, 40):
            core.tell(protocol.ErrorEvent(message="The app closed by itself."), one)
            core.tell(protocol.SessionStateChanged(state=SessionState.FAILED), one)


def _ask_approval(core: FakeCore, session_id: str, question_id: str) -> None:
    question = Question(
        question_id=question_id,
        session_id=session_id,
        kind=QuestionKind.APPROVAL,
        text=f"May I do this? Send “On my way” to Ana ({session_id})",
        options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
        asked_ms=core.now_ms,
    )
    core.tell(protocol.RequestUserInput(question=question), session_id)
