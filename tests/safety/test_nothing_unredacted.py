"""What an operator writes: no card, password or secret answer is in any byte that is kept."""

import logging
from pathlib import Path

from agent import protocol
from agent.loop.task_context import TaskContext
from agent.records import SessionState
from console.core.logs import keep_log
from tests.fakes import FakeFleet
from tests.stage import Stage

CARD = "4111 1111 1111 1111"
PASSWORD = "hunter2-in-the-goal"
SECRET_ANSWER = "my-secret-answer"
SAID = f"pay with {CARD}, password: {PASSWORD}"


def kept(directory: Path) -> bytes:
    """Read every byte below a directory."""
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def test_secrets_of_the_operator_are_in_no_byte_that_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeFleet("phone"))
    heard: list[str | None] = []

    async def part(context: TaskContext) -> str:
        heard.append(await context.ask("Which?", call_id="c1", step=1))
        heard.append(await context.ask("Password?", call_id="c2", step=1, secret=True))
        for hint in context.take_steering():
            await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=1))
        return "done"

    async with stage.play():
        clean_goal = (await stage.do(protocol.SessionCreate(goal=SAID, start=False))).session_id
        goal = (await stage.store.session(clean_goal)).goal
        told = [
            msg for msg in await stage.msgs(clean_goal) if isinstance(msg, protocol.TextRedacted)
        ]
        assert (told[0].kinds, told[0].where) == (("CARD", "PASSWORD"), "goal")
        stage.parts[goal] = part
        await stage.do(protocol.JobCreate(title="a job", prompt=SAID, next_run_at=1 << 47))
        session_id = await stage.create(SAID)
        await stage.reach(session_id, SessionState.WAITING_FOR_USER)
        await stage.do(protocol.UserInput(session_id=session_id, text=f"and {SAID}"))
        [first] = await stage.store.open_questions()
        await stage.do(
            protocol.UserInputAnswer(question_id=first.question_id, answer=f"use {SAID}")
        )

        async def asked() -> str | None:
            found = [q for q in await stage.store.open_questions() if q.secret]
            return found[0].question_id if found else None

        secret = await stage.until(asked, "the secret question")
        await stage.do(protocol.UserInputAnswer(question_id=secret, answer=SECRET_ANSWER))
        await stage.reach(session_id, SessionState.COMPLETED)
    assert heard[1] == SECRET_ANSWER
    everything = kept(tmp_path)
    assert b"[CARD REDACTED]" in everything
    for secret_bytes in (CARD, CARD.replace(" ", ""), PASSWORD, SECRET_ANSWER):
        assert secret_bytes.encode() not in everything


def test_the_log_holds_no_key_and_no_card(tmp_path: Path) -> None:
    with keep_log(tmp_path):
        try:
            raise ValueError(f"card {CARD}, key sk-proj-abcdefghijklmnop1234")
        except ValueError:
            logging.getLogger("x").exception("it broke with password: %s", PASSWORD)
    said = kept(tmp_path)
    assert b"it broke" in said
    for secret in (CARD, PASSWORD, "abcdefghijklmnop"):
        assert secret.encode() not in said
