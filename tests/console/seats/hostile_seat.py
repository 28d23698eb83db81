"""Run as a program: a console whose every foreign string is hostile, on its terminal."""

import asyncio
import sys

from agent import protocol, records
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
    core.tell(protocol.DeviceChanged(device=phone("phone-1", model=HOSTILE, note=HOSTILE)))
    wake = core.now_ms + 60_000
    core.tell(
        protocol.JobChanged(
            job=job(1, title=LONG, prompt=LONG, last_result=LONG[:4000], next_run_at=wake)
        )
    )
    assert isinstance(core.state.jobs[1], records.Job)
    session = records.Session(
        session_id="s1",
        goal=LONG,
        title=HOSTILE,
        serial="phone-1",
        created_ms=core.now_ms,
        target_package=HOSTILE,
    )
    core.tell(protocol.SessionConfigured(session=session), "s1")
    core.tell(
        protocol.PlanUpdate(plan=(records.PlanItem(step=LONG), records.PlanItem(step=HOSTILE))),
        "s1",
    )
    core.tell(protocol.UserMessage(text=LONG, message_id=HOSTILE), "s1")
    core.tell(protocol.StepStarted(step=1), "s1")
    core.tell(protocol.AgentMessage(step=1, text=LONG), "s1")
    element = records.Element(
        number=1,
        key="k",
        kind=HOSTILE,
        label=LONG,
        bounds=records.Bounds(left=float("nan"), top=-5, right=9, bottom=float("inf")),
    )
    call = protocol.ToolCallRequested(
        step=1, call_id="c", tool=HOSTILE, arguments=HOSTILE, element=element
    )
    core.tell(call, "s1")
    core.tell(
        protocol.ToolCallFinished(
            step=1, call_id="c", outcome=records.ActionOutcome.FAILED, text=LONG
        ),
        "s1",
    )
    core.tell(protocol.ErrorEvent(message=LONG, remedy=HOSTILE), "s1")
    core.tell(protocol.WarningEvent(message=HOSTILE), "s1")
    question = records.Question(
        question_id="q1",
        session_id="s1",
        text=LONG,
        header=HOSTILE,
        asked_ms=core.now_ms,
        options=(
            records.QuestionOption(label=HOSTILE, description=LONG),
            records.QuestionOption(label=LONG),
        ),
    )
    core.tell(protocol.RequestUserInput(question=question), "s1")


async def main() -> int:
    core = FakeCore()
    play(core)
    return await run_console(core, title=HOSTILE)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
