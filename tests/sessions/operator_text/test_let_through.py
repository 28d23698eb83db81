"""What the operator lets through: for one session, in its turns, and in whatever it becomes."""

import logging
from pathlib import Path

import pytest

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.conversation.model_call import tidy
from agent.loop.conversation.prompts import operator_text
from agent.loop.task_context import TaskContext
from agent.records import SessionState
from agent.safety.capabilities import Decision
from agent.safety.effects.texts import judge_text
from agent.safety.redacting.redaction import redact, redact_secrets
from agent.sessions.rollout.rollout_write import export_rollout
from agent.sessions.rules.operator_text import secrets_in
from console.core.logs import keep_log
from tests.digits import holds_number
from tests.fakes import asked_of
from tests.safety.test_nothing_unredacted import kept
from tests.stage import Stage

GOAL = "open the shed, the door PIN is: 2580"
REDACTED = "open the shed, the door [PIN REDACTED]"
COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER


def seen_by_a_turn() -> tuple[str, ...]:
    """Return what a turn judges, stores, is sent and is shown of texts with codes."""
    judged = judge_text("PIN is: 2580").decision
    return (
        redact_secrets(GOAL),
        operator_text(GOAL),
        tidy("the PIN is: 2580"),
        redact("Door PIN: 2 5 8 0"),
        redact("Door PIN: 9931"),
        judged.value,
    )


CLEAR = (
    GOAL,
    GOAL,
    "the PIN is: 2580",
    "Door PIN: 2 5 8 0",
    "Door [PIN REDACTED]",
    Decision.ALLOW.value,
)


class Watched:
    """A part of a session that keeps what its turns see."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    async def __call__(self, context: TaskContext) -> str:
        self.seen.append(seen_by_a_turn())
        return "done"


async def test_typing_judging_and_recording_let_the_same_texts_through(stage: Stage) -> None:
    stage.parts[GOAL] = part = Watched()
    async with stage.play():
        made = await stage.do(protocol.SessionCreate(goal=GOAL, let_through=True))
        done = await stage.reach(made.session_id, COMPLETED)
        assert (done.goal, done.let_through, done.redacted) == (GOAL, ("2580",), ())
        assert part.seen == [CLEAR]
    # Outside of the session's turns nothing is let through.
    assert redact_secrets(GOAL) == REDACTED


async def test_a_session_beside_it_is_let_have_nothing(stage: Stage) -> None:
    stage.parts[REDACTED] = part = Watched()
    async with stage.play():
        await stage.do(protocol.SessionCreate(goal=GOAL, let_through=True))
        other = await stage.do(protocol.SessionCreate(goal=GOAL))
        done = await stage.reach(other.session_id, COMPLETED)
        assert (done.goal, done.let_through, done.redacted) == (REDACTED, (), ("PIN",))
    assert part.seen[0][0] == REDACTED
    assert part.seen[0][-1] == Decision.ASK.value


async def test_what_was_taken_out_can_be_let_through_afterwards(stage: Stage) -> None:
    heard: list[str] = []

    async def part(context: TaskContext) -> str:
        await context.ask("Go on?", call_id="c1", step=1)
        heard.extend(hint.text for hint in context.take_steering())
        return "done"

    stage.parts[REDACTED] = part
    async with stage.play():
        session_id = (await stage.do(protocol.SessionCreate(goal=GOAL))).session_id
        await stage.reach(session_id, WAITING)
        assert not holds_number(kept(stage.directory), "2580")
        assert protocol.TextRedacted(kinds=("PIN",), where="goal") in await stage.msgs(session_id)
        await stage.do(protocol.SessionLetThrough(session_id=session_id))
        [question] = await stage.store.open_questions()
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="yes"))
        done = await stage.reach(session_id, COMPLETED)
        assert (done.let_through, done.redacted) == (("2580",), ())
        with pytest.raises(WrongStateError, match="Nothing that was redacted"):
            await stage.do(protocol.SessionLetThrough(session_id=session_id))
    assert heard == [GOAL]


async def test_a_session_that_has_ended_goes_on_with_what_is_let_through(stage: Stage) -> None:
    prompts: list[str] = []

    async def part(context: TaskContext) -> str:
        prompts.append(asked_of(context))
        return "done"

    stage.parts[REDACTED] = stage.parts[GOAL] = part
    async with stage.play():
        session_id = (await stage.do(protocol.SessionCreate(goal=GOAL))).session_id
        await stage.reach(session_id, COMPLETED)
        await stage.do(protocol.SessionLetThrough(session_id=session_id))

        async def again() -> bool | None:
            return True if len(prompts) == 2 else None

        await stage.until(again, "the second turn")
        done = await stage.reach(session_id, COMPLETED)
        assert (prompts, done.let_through) == ([REDACTED, GOAL], ("2580",))


async def test_a_core_that_was_started_again_holds_nothing_that_was_redacted(stage: Stage) -> None:
    async with stage.play():
        session_id = (await stage.do(protocol.SessionCreate(goal=GOAL))).session_id
        await stage.reach(session_id, COMPLETED)
    async with stage.play():
        await stage.do(protocol.SessionResume(session_id=session_id))
        with pytest.raises(WrongStateError, match="Nothing that was redacted") as caught:
            await stage.do(protocol.SessionLetThrough(session_id=session_id))
        assert "--let-through" in caught.value.remedy


async def test_a_hint_an_answer_and_a_prompt_can_be_let_through(stage: Stage) -> None:
    heard: list[str | None] = []

    async def part(context: TaskContext) -> str:
        heard.append(await context.ask("Which code?", call_id="c1", step=1))
        await context.ask("Go on?", call_id="c2", step=2)
        heard.extend(hint.text for hint in context.take_steering())
        return "done"

    stage.parts["go"] = part
    async with stage.play():
        session_id = (await stage.do(protocol.SessionCreate(goal="", start=False))).session_id
        prompt = "the PIN is: 1001"
        stage.parts[prompt] = part
        await stage.do(
            protocol.SessionStart(session_id=session_id, prompt=prompt, let_through=True)
        )
        await stage.reach(session_id, WAITING)
        [question] = await stage.store.open_questions()
        said = protocol.UserInputAnswer(
            question_id=question.question_id, answer="the PIN is: 1002", let_through=True
        )
        await stage.do(said)

        async def asked() -> str | None:
            found = [q for q in await stage.store.open_questions() if q.call_id == "c2"]
            return found[0].question_id if found else None

        again = await stage.until(asked, "the second question")
        told = protocol.UserInput(session_id=session_id, text="the PIN is: 1003", let_through=True)
        await stage.do(told)
        hints = [
            m
            for m in await stage.msgs(session_id)
            if isinstance(m, protocol.UserMessage) and m.steer
        ]
        edit = protocol.SteerEdit(
            session_id=session_id,
            message_id=hints[-1].message_id,
            text="the PIN is: 1004",
            let_through=True,
        )
        await stage.do(edit)
        await stage.do(protocol.UserInputAnswer(question_id=again, answer="yes"))
        done = await stage.reach(session_id, COMPLETED)
    assert done.let_through == ("1001", "1002", "1003", "1004")
    assert heard == ["the PIN is: 1002", "the PIN is: 1004"]


async def test_an_answer_that_lost_a_secret_says_so_in_the_session(stage: Stage) -> None:
    async def part(context: TaskContext) -> str:
        return str(await context.ask("Which?", call_id="c1", step=1))

    stage.parts["ask"] = part
    async with stage.play():
        session_id = await stage.create("ask")
        await stage.reach(session_id, WAITING)
        [question] = await stage.store.open_questions()
        await stage.do(
            protocol.UserInputAnswer(question_id=question.question_id, answer="PIN: 2580")
        )
        done = await stage.reach(session_id, COMPLETED)
        assert (done.redacted, done.latest_result) == (("PIN",), "[PIN REDACTED]")
        assert protocol.TextRedacted(kinds=("PIN",), where="answer") in await stage.msgs(session_id)


async def test_resume_rollback_and_fork_keep_it(stage: Stage) -> None:
    stage.parts[GOAL] = part = Watched()
    async with stage.play():
        origin = (await stage.do(protocol.SessionCreate(goal=GOAL, let_through=True))).session_id
        await stage.reach(origin, COMPLETED)
    async with stage.play():
        await stage.do(protocol.SessionResume(session_id=origin))
        await stage.reach(origin, COMPLETED)
        await stage.do(protocol.SessionRollback(session_id=origin))
        assert (await stage.store.session(origin)).let_through == ("2580",)
        fork = (await stage.do(protocol.SessionFork(session_id=origin))).session_id
        assert (await stage.store.session(fork)).let_through == ("2580",)
        await stage.do(protocol.UserInput(session_id=fork, text=GOAL))
        await stage.reach(fork, COMPLETED)
    assert part.seen == [CLEAR, CLEAR, CLEAR]


async def test_the_children_of_a_tree_have_it_and_hear_of_it_later(stage: Stage) -> None:
    async def waits(context: TaskContext) -> str:
        await context.ask("Go on?", call_id="c1", step=1)
        return redact_secrets("PIN is: 77123")

    objective = "left, PIN is: 2580"
    stage.parts[objective] = waits
    async with stage.play():
        made = await stage.do(
            protocol.SessionCreate(
                goal="both", targets=(protocol.Target(objective=objective),), let_through=True
            )
        )
        [child_id] = made.child_ids
        child = await stage.reach(child_id, WAITING)
        assert (child.goal, child.let_through) == (objective, ("2580",))
        told = protocol.UserInput(
            session_id=made.session_id, text="and the PIN is: 77123", let_through=True
        )
        await stage.do(told)
        assert (await stage.store.session(child_id)).let_through == ("2580", "77123")
        [question] = await stage.store.open_questions()
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="yes"))
        done = await stage.reach(child_id, COMPLETED)
        assert done.latest_result == "PIN is: 77123"


async def test_an_import_lets_nothing_through_whatever_its_file_says(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        origin = (await stage.do(protocol.SessionCreate(goal=GOAL, let_through=True))).session_id
        await stage.reach(origin, COMPLETED)
        told = protocol.UserInput(session_id=origin, text="and the PIN is: 77123", let_through=True)
        await stage.do(protocol.SessionResume(session_id=origin))
        await stage.reach(origin, COMPLETED)
        with pytest.raises(WrongStateError):
            await stage.do(told)
        path = tmp_path / "one.jsonl"
        await export_rollout(stage.core, origin, path)
        assert "text_let_through" in path.read_text()
        own = (await stage.do(protocol.SessionImport(path=str(path), as_new=True))).session_id
        assert (await stage.store.session(own)).let_through == ()
        assert not [m for m in await stage.msgs(own) if isinstance(m, protocol.TextLetThrough)]


async def test_a_job_that_a_session_creates_and_the_log_hold_none_of_it(
    stage: Stage, tmp_path: Path
) -> None:
    async def part(context: TaskContext) -> str:
        logging.getLogger("x").warning("the PIN is: 2580")
        op = protocol.JobCreate(title="a job", prompt="the PIN is: 2580", next_run_at=1 << 47)
        reply = await context.request(op)
        return reply.job.prompt if reply.job is not None else ""

    stage.parts[GOAL] = part
    async with stage.play():
        with keep_log(tmp_path / "log"):
            made = await stage.do(protocol.SessionCreate(goal=GOAL, let_through=True))
            done = await stage.reach(made.session_id, COMPLETED)
        assert done.latest_result == "the [PIN REDACTED]"
    log = kept(tmp_path / "log")
    assert b"the [PIN REDACTED]" in log
    assert not holds_number(log, "2580")


def test_more_than_one_session_may_have_is_refused() -> None:
    with pytest.raises(UsageError, match="33 texts"):
        secrets_in([f"PIN is: {number}" for number in range(1000, 1033)])
