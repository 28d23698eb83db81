"""Run as a program: a console whose every foreign string is hostile, on its terminal."""

from __future__ import annotations

import asyncio
import sys

from agent.protocol import (
    AgentMessage,
    DeviceChanged,
    ErrorEvent,
    JobChanged,
    PlanUpdate,
    RequestUserInput,
    SessionConfigured,
    StepStarted,
    ToolCallFinished,
    ToolCallRequested,
    UserMessage,
    WarningEvent,
)
from agent.records import (
    ActionOutcome,
    Bounds,
    Element,
    Job,
    PlanItem,
    Question,
    QuestionOption,
    Session,
)
from console.app import run_console
from tests.console.fakes import FakeCore, job, phone

MARKUP = "[@click=app.exit(9)]press[/] [/nothing] [bold"
CLIPBOARD = "\x1b]52;c;aG9zdGlsZQ==\x07"
CLEAR = "\x1b[2J\x1b[3J\x1bc\x9b2J"
BIDI = "\u202eevil\u2066\u200f"
TITLE = "\x1b]0;owned\x1b\\\x9d0;owned2\x9c"
HOSTILE = f"LBL{MARKUP}{CLIPBOARD}{CLEAR}{BIDI}{TITLE}\x00\x08\x7f\udc80\nsecond"
LONG = HOSTILE + "A" * 100_000


def play(core: FakeCore) -> None:
    """Put hostile text wherever a phone or a model can."""
    core.tell(DeviceChanged(device=phone("phone-1", model=HOSTILE, note=HOSTILE)))
    wake = core.now_ms + 60_000
    core.tell(
        JobChanged(job=job(1, title=LONG, prompt=LONG, last_result=LONG[:4000], next_run_at=wake))
    )
    assert isinstance(core.state.jobs[1], Job)
    session = Session(
        session_id="s1",
        goal=LONG,
        title=HOSTILE,
        serial="phone-1",
        created_ms=core.now_ms,
        target_package=HOSTILE,
    )
    core.tell(SessionConfigured(session=session), "s1")
    core.tell(PlanUpdate(plan=(PlanItem(step=LONG), PlanItem(step=HOSTILE))), "s1")
    core.tell(UserMessage(text=LONG, message_id=HOSTILE), "s1")
    core.tell(StepStarted(step=1), "s1")
    core.tell(AgentMessage(step=1, text=LONG), "s1")
    element = Element(
        number=1,
        key="k",
        kind=HOSTILE,
        label=LONG,
        bounds=Bounds(left=float("nan"), top=-5, right=9, bottom=float("inf")),
    )
    call = ToolCallRequested(step=1, call_id="c", tool=HOSTILE, arguments=HOSTILE, element=element)
    core.tell(call, "s1")
    core.tell(ToolCallFinished(step=1, call_id="c", outcome=ActionOutcome.FAILED, text=LONG), "s1")
    core.tell(ErrorEvent(message=LONG, remedy=HOSTILE), "s1")
    core.tell(WarningEvent(message=HOSTILE), "s1")
    question = Question(
        question_id="q1",
        session_id="s1",
        text=LONG,
        header=HOSTILE,
        asked_ms=core.now_ms,
        options=(
            QuestionOption(label=HOSTILE, description=LONG),
            QuestionOption(label=LONG),
        ),
    )
    core.tell(RequestUserInput(question=question), "s1")


async def main() -> int:
    core = FakeCore()
    play(core)
    return await run_console(core, title=HOSTILE)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
