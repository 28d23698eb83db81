"""Trees: a parent delegates to children on phones of their own, and is what they make of it."""

import asyncio
from pathlib import Path

import pytest

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.records import SessionKind, SessionState
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, of_type, states, waiting_at

COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
CANCELLED, CREATED = SessionState.CANCELLED, SessionState.CREATED
RUNNING, QUEUED = SessionState.RUNNING, SessionState.QUEUED
WAITING = SessionState.WAITING_FOR_USER


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2", "phone-3"))


async def fails(context: TaskContext) -> TurnEnd:
    return TurnEnd(completed=False, message="no signal")


async def test_children_work_in_parallel_on_their_own_phones_and_the_parent_sums_them_up(
    stage: Stage,
) -> None:
    cues = [Cue(), Cue(), Cue()]
    for number, cue in enumerate(cues):
        stage.parts[f"part {number}"] = waiting_at(cue, f"result {number}")
    async with stage.play():
        parent_id = await stage.create("all of it", "part 0", "part 1", "part 2")
        for cue in cues:
            await cue.there()
        children = await stage.store.children(parent_id)
        assert {child.serial for child in children} == {"phone-1", "phone-2", "phone-3"}
        assert {child.kind for child in children} == {SessionKind.GENIE}
        assert (await stage.store.session(parent_id)).state is RUNNING
        for cue in cues:
            cue.go.set()
        parent = await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert parent.kind is SessionKind.AGENT
    assert len(of_type(msgs, protocol.ResultPublished)) == 1
    assert all(f"result {number}" in parent.latest_result for number in range(3))
    assert states(msgs) == [RUNNING, COMPLETED]


async def test_more_children_than_phones_take_their_turns(stage: Stage) -> None:
    async with stage.play():
        parent_id = await stage.create("all of it", *(f"part {n}" for n in range(7)))
        await stage.reach(parent_id, COMPLETED)
        children = await stage.store.children(parent_id)
    assert [child.state for child in children] == [COMPLETED] * 7


async def test_a_parent_waits_while_a_child_asks_and_fails_when_one_failed(stage: Stage) -> None:
    async def asks(context: TaskContext) -> str:
        return await context.ask("Which?", call_id="c", step=1) or "nothing"

    stage.parts["ask"] = asks
    stage.parts["fail"] = fails
    async with stage.play():
        parent_id = await stage.create("both", "ask", "fail")
        await stage.reach(parent_id, WAITING)
        [question] = await stage.store.open_questions()
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="this"))
        parent = await stage.reach(parent_id, FAILED)
    assert "no signal" in parent.latest_error and "this" in parent.latest_error


async def test_cancelling_a_parent_cancels_all_that_has_not_ended_and_keeps_what_has(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        parent_id = await stage.create("both", "long", "short")
        await cue.there()
        children = await stage.store.children(parent_id)
        await stage.reach(children[1].session_id, COMPLETED)
        await stage.do(protocol.SessionCancel(session_id=parent_id))
        await stage.do(protocol.SessionCancel(session_id=parent_id))
        parent = await stage.store.session(parent_id)
        children = await stage.store.children(parent_id)
        aborted = of_type(await stage.msgs(children[0].session_id), protocol.TurnAborted)
    assert parent.state is CANCELLED
    assert [child.state for child in children] == [CANCELLED, COMPLETED]
    assert children[1].latest_result
    assert [end.reason for end in aborted] == [protocol.AbortReason.CANCELLED]


async def test_cancelling_a_tree_that_is_settled_throughout_changes_nothing(stage: Stage) -> None:
    stage.parts["fail"] = fails
    async with stage.play():
        parent_id = await stage.create("both", "fine", "fail")
        await stage.reach(parent_id, FAILED)
        await stage.do(protocol.SessionCancel(session_id=parent_id))
        children = await stage.store.children(parent_id)
        assert (await stage.store.session(parent_id)).state is FAILED
    assert [child.state for child in children] == [COMPLETED, FAILED]


async def test_a_tree_that_was_called_off_resumes_what_it_had_not_done(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        parent_id = await stage.create("both", "long", "short")
        await cue.there()
        _, short = await stage.store.children(parent_id)
        await stage.reach(short.session_id, COMPLETED)
        await stage.do(protocol.SessionCancel(session_id=parent_id))
        cue.go.set()
        await stage.do(protocol.SessionResume(session_id=parent_id))
        parent = await stage.reach(parent_id, COMPLETED)
        children = await stage.store.children(parent_id)
    assert [child.generation for child in children] == [1, 0]
    assert parent.generation == 1
    assert "2 of 2 parts done" in parent.latest_result


async def test_a_settled_parent_resumes_what_did_not_succeed_and_only_that_counts(
    stage: Stage,
) -> None:
    stage.parts["fail"] = fails
    async with stage.play():
        parent_id = await stage.create("both", "fine", "fail")
        await stage.reach(parent_id, FAILED)
        del stage.parts["fail"]
        await stage.do(protocol.SessionResume(session_id=parent_id))
        parent = await stage.reach(parent_id, COMPLETED)
        fine, failed = await stage.store.children(parent_id)
    assert (parent.generation, fine.generation, failed.generation) == (1, 0, 1)
    assert "2 of 2" in parent.latest_result


async def test_a_child_that_is_resumed_alone_takes_its_settled_parent_with_it(stage: Stage) -> None:
    cue = Cue()
    stage.parts["fail"] = fails
    async with stage.play():
        parent_id = await stage.create("both", "fine", "fail")
        await stage.reach(parent_id, FAILED)
        stage.parts["fail"] = waiting_at(cue)
        _, child = await stage.store.children(parent_id)
        await stage.do(protocol.SessionResume(session_id=child.session_id))
        await cue.there()
        assert (await stage.reach(parent_id, RUNNING)).generation == 1
        cue.go.set()
        parent = await stage.reach(parent_id, COMPLETED)
    assert "2 of 2 parts done" in parent.latest_result


async def test_stop_and_resume_reach_every_child(stage: Stage) -> None:
    cues = [Cue(), Cue()]
    for number, cue in enumerate(cues):
        stage.parts[f"part {number}"] = waiting_at(cue)
    async with stage.play():
        parent_id = await stage.create("both", "part 0", "part 1")
        for cue in cues:
            await cue.there()
        await stage.do(protocol.Interrupt(session_id=parent_id))
        await stage.reach(parent_id, WAITING)
        with pytest.raises(WrongStateError):
            await stage.do(protocol.SessionPause(session_id=parent_id))
        for cue in cues:
            cue.go.set()
        await stage.do(protocol.SessionResume(session_id=parent_id))
        await stage.reach(parent_id, COMPLETED)


async def test_a_hint_to_the_parent_reaches_the_children_at_work(stage: Stage) -> None:
    cue = Cue()
    heard: list[str] = []

    async def listens(context: TaskContext) -> str:
        await cue.wait()
        heard.extend(hint.text for hint in context.take_steering())
        return "done"

    stage.parts["listen"] = listens
    async with stage.play():
        parent_id = await stage.create("both", "listen", "short")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=parent_id, text="be quick"))
        cue.go.set()
        await stage.reach(parent_id, COMPLETED)
    assert heard[0] == "be quick"


async def test_a_task_that_takes_no_hint_is_begun_once_more_for_it_and_not_for_ever(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["deaf"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("deaf")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="be quick"))
        cue.go.set()
        await stage.reach(session_id, COMPLETED)
        turns = of_type(await stage.msgs(session_id), protocol.TaskStarted)
    assert len(turns) == 2


async def test_a_draft_tree_starts_as_one(stage: Stage) -> None:
    async with stage.play():
        parent_id = await stage.create("both", "one", "two", start=False)
        children = await stage.store.children(parent_id)
        assert {child.state for child in children} == {CREATED}
        await stage.do(protocol.SessionStart(session_id=parent_id))
        await stage.reach(parent_id, COMPLETED)


async def test_targets_are_checked_and_said_once(stage: Stage) -> None:
    async with stage.play():
        for bad in (
            protocol.Target(objective=" "),
            protocol.Target(objective="x", serial="nowhere"),
        ):
            with pytest.raises(UsageError):
                await stage.do(
                    protocol.SessionCreate(
                        goal="both", targets=(protocol.Target(objective="a"), bad)
                    )
                )
        assert await stage.store.sessions() == ()
        twice = (protocol.Target(objective="a"), protocol.Target(objective="a"))
        reply = await stage.do(protocol.SessionCreate(goal="both", targets=twice))
    assert len(reply.child_ids) == 1


async def test_a_tree_survives_the_death_of_its_core(stage: Stage) -> None:
    cues = [Cue(), Cue()]
    for number, cue in enumerate(cues):
        stage.parts[f"part {number}"] = waiting_at(cue)
    async with stage.play():
        parent_id = await stage.create("all", "part 0", "part 1", "short")
        for cue in cues:
            await cue.there()
        short = (await stage.store.children(parent_id))[2]
        await stage.reach(short.session_id, COMPLETED)
    for cue in cues:
        cue.go.set()
    async with stage.play():
        await stage.reach(parent_id, WAITING)
        await stage.do(protocol.SessionResume(session_id=parent_id))
        parent = await stage.reach(parent_id, COMPLETED)
    assert "3 of 3" in parent.latest_result


async def test_cancelling_a_tree_stops_all_its_phones_at_once(stage: Stage) -> None:
    cues = [Cue(), Cue(), Cue()]
    stopped: list[float] = []

    def tapping(cue: Cue):  # type: ignore[no-untyped-def]
        async def part(context: TaskContext) -> str:
            try:
                await cue.wait()
            finally:
                stopped.append(asyncio.get_running_loop().time())
            return "done"

        return part

    for number, cue in enumerate(cues):
        stage.parts[f"part {number}"] = tapping(cue)
    async with stage.play():
        parent_id = await stage.create("all", "part 0", "part 1", "part 2")
        for cue in cues:
            await cue.there()
        began = asyncio.get_running_loop().time()
        await stage.do(protocol.SessionCancel(session_id=parent_id))
    assert len(stopped) == 3
    assert max(stopped) - began < 0.2


async def test_pausing_a_parent_holds_the_child_that_was_taken_on_alone_and_itself(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["fail"] = fails
    async with stage.play():
        parent_id = await stage.create("both", "fine", "fail")
        await stage.reach(parent_id, FAILED)
        stage.parts["fail"] = waiting_at(cue)
        _, child = await stage.store.children(parent_id)
        await stage.do(protocol.SessionResume(session_id=child.session_id))
        await cue.there()
        await stage.do(protocol.SessionPause(session_id=parent_id))
        assert (await stage.store.session(parent_id)).paused
        assert (await stage.store.session(child.session_id)).paused
        await stage.do(protocol.SessionResume(session_id=parent_id))
        assert not (await stage.store.session(child.session_id)).paused
        cue.go.set()
        parent = await stage.reach(parent_id, COMPLETED)
    assert parent.generation == 1
