"""Ending a turn early: stop, cancel, resume, pause and steering."""

import asyncio

import pytest

from agent import protocol
from agent.errors import WrongStateError
from agent.loop.task_context import TaskContext
from agent.records import SessionState, TimeSplit, Usage
from agent.state.session_fold import fold_all
from tests.fakes import asked_of
from tests.stage import Cue, Stage, ends, of_type, states, waiting_at

COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
CANCELLED, CREATED = SessionState.CANCELLED, SessionState.CREATED
QUEUED, RUNNING = SessionState.QUEUED, SessionState.RUNNING
WAITING = SessionState.WAITING_FOR_USER


async def test_an_interrupt_waits_for_no_stubborn_task_and_it_can_say_no_more(stage: Stage) -> None:
    cue = Cue()
    let_go = asyncio.Event()
    late: list[BaseException] = []

    async def stubborn(context: TaskContext) -> str:
        try:
            await cue.wait()
        except asyncio.CancelledError:
            await let_go.wait()
        try:
            await context.emit(protocol.AgentMessage(step=1, text="too late"))
        except BaseException as error:
            late.append(error)
            raise
        return "too late"

    stage.parts["long"] = stubborn
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        # It does not let go before all this is done.
        await stage.do(protocol.Interrupt(session_id=session_id))
        session = await stage.idle(session_id)
        let_go.set()
        second = await stage.create("after it")
        await stage.reach(second, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert session.state is WAITING
    assert [end.reason for end in of_type(msgs, protocol.TurnAborted)] == [
        protocol.AbortReason.INTERRUPTED
    ]
    assert of_type(msgs, protocol.AgentMessage) == [] and of_type(msgs, protocol.TaskComplete) == []
    assert [type(error) for error in late] == [asyncio.CancelledError]


async def test_a_stopped_session_goes_on_with_the_same_prompt_when_it_is_resumed(
    stage: Stage,
) -> None:
    cue = Cue()
    seen: list[tuple[str, int]] = []

    async def part(context: TaskContext) -> str:
        seen.append((asked_of(context), len(context.history)))
        if len(seen) == 1:
            await cue.wait()
        return "done"

    stage.parts["goal"] = part
    async with stage.play():
        session_id = await stage.create("goal")
        await cue.there()
        await stage.do(protocol.Interrupt())
        await stage.idle(session_id)
        await stage.do(protocol.SessionResume(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
    assert [prompt for prompt, _ in seen] == ["goal", "goal"]
    assert seen[1][1] > seen[0][1]
    assert session.generation == 0


async def test_stopping_what_does_not_run_changes_nothing(stage: Stage) -> None:
    async with stage.play():
        session_id = await stage.create("go")
        await stage.reach(session_id, COMPLETED)
        before = await stage.msgs(session_id)
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.do(protocol.Interrupt())
        assert await stage.msgs(session_id) == before


async def test_a_session_stopped_while_it_waits_for_a_phone_had_no_turn_to_abort(
    stage: Stage,
) -> None:
    stage.fleet.unplug("phone-1")
    async with stage.play():
        session_id = await stage.create("go", serial="phone-1")
        await stage.do(protocol.Interrupt(session_id=session_id))
        session = await stage.idle(session_id)
        assert ends(await stage.msgs(session_id)) == []
        assert session.stopped
        stage.fleet.plug("phone-1")
        await stage.do(protocol.SessionResume(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
        assert not session.stopped


@pytest.mark.parametrize("again", ["a resume", "a prompt"])
async def test_what_was_stopped_in_its_queue_waits_again_once_it_is_set_to_work(
    stage: Stage, again: str
) -> None:
    stage.fleet.unplug("phone-1")
    async with stage.play():
        session_id = await stage.create("go", serial="phone-1")
        await stage.do(protocol.Interrupt())
        assert (await stage.idle(session_id)).stopped
        if again == "a resume":
            await stage.do(protocol.SessionResume(session_id=session_id))
        else:
            await stage.do(protocol.UserInput(session_id=session_id, text="something else"))
        session = await stage.reach(session_id, QUEUED)
        assert not session.stopped
        assert session == fold_all(None, await stage.store.session_events(session_id))


async def test_cancel_is_final_and_idempotent(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        await stage.do(protocol.SessionCancel(session_id=session_id))
        assert (await stage.store.session(session_id)).state is CANCELLED
        before = await stage.msgs(session_id)
        await stage.do(protocol.SessionCancel(session_id=session_id))
        assert await stage.msgs(session_id) == before
        assert [end.reason for end in of_type(before, protocol.TurnAborted)] == [
            protocol.AbortReason.CANCELLED
        ]


async def test_a_terminal_session_is_left_only_by_a_resume_into_a_new_generation(
    stage: Stage,
) -> None:
    async with stage.play():
        session_id = await stage.create("go")
        await stage.reach(session_id, COMPLETED)
        with pytest.raises(WrongStateError, match="Resume"):
            await stage.do(protocol.UserInput(session_id=session_id, text="more"))
        await stage.do(protocol.SessionResume(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert session.generation == 1
    assert len(ends(msgs)) == 2


async def test_a_running_session_needs_no_resume(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        with pytest.raises(WrongStateError, match="RUNNING"):
            await stage.do(protocol.SessionResume(session_id=session_id))


# --- pausing and steering ----------


async def test_a_paused_session_waits_at_its_next_checkpoint_until_it_is_resumed(
    stage: Stage,
) -> None:
    cue = Cue()
    passed: list[bool] = []

    async def part(context: TaskContext) -> str:
        await cue.wait()
        await context.checkpoint()
        passed.append(context.session.paused)
        return "done"

    stage.parts["steps"] = part
    async with stage.play():
        session_id = await stage.create("steps")
        await cue.there()
        await stage.do(protocol.SessionPause(session_id=session_id))
        cue.go.set()
        for _ in range(20):
            await asyncio.sleep(0)
        session = await stage.store.session(session_id)
        assert session.paused and session.state is RUNNING and passed == []
        await stage.do(protocol.SessionResume(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
        flags = of_type(await stage.msgs(session_id), protocol.SessionFlagsChanged)
    assert passed == [False]
    assert [flag.paused for flag in flags] == [True, False]


async def test_input_to_a_running_turn_is_steering_that_a_step_takes_up(stage: Stage) -> None:
    cue = Cue()

    async def part(context: TaskContext) -> str:
        await cue.wait()
        [hint] = context.take_steering()
        await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=1))
        assert context.take_steering() == ()
        return hint.text

    stage.parts["walk"] = part
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="go left"))
        cue.go.set()
        session = await stage.reach(session_id, COMPLETED)
        [message] = of_type(await stage.msgs(session_id), protocol.UserMessage)
    assert message.steer and session.latest_result == "go left"


async def test_steering_that_comes_too_late_for_the_last_step_gets_a_turn_of_its_own(
    stage: Stage,
) -> None:
    cue = Cue()
    turns: list[tuple[str, ...]] = []

    async def part(context: TaskContext) -> str:
        if not turns:
            turns.append(())
            await cue.wait()
            return "first"
        hints = context.take_steering()
        for hint in hints:
            await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=2))
        turns.append(tuple(hint.text for hint in hints))
        return "second"

    stage.parts["walk"] = part
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="and back"))
        cue.go.set()
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert turns == [(), ("and back",)]
    assert session.latest_result == "second"
    assert len(of_type(msgs, protocol.TaskComplete)) == 2 and states(msgs) == [
        QUEUED,
        RUNNING,
        COMPLETED,
    ]


async def test_input_to_an_idle_session_begins_a_turn_with_that_prompt(stage: Stage) -> None:
    cue = Cue()
    prompts: list[str] = []

    async def part(context: TaskContext) -> str:
        prompts.append(asked_of(context))
        if len(prompts) == 1:
            await cue.wait()
        return "done"

    stage.parts["goal"] = part
    async with stage.play():
        session_id = await stage.create("goal")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.do(protocol.UserInput(session_id=session_id, text="something else"))
        await stage.reach(session_id, COMPLETED)
    assert prompts == ["goal", "something else"]


async def test_a_prompt_has_a_fresh_limit_of_steps_and_a_stopped_one_keeps_its_own(
    stage: Stage,
) -> None:
    cue = Cue()
    limits: list[int] = []

    async def part(context: TaskContext) -> str:
        limits.append(context.limits.max_steps)
        step = context.session.steps + 1
        await context.emit(protocol.StepCompleted(step=step, time=TimeSplit(), usage=Usage()))
        if len(limits) == 1:
            await cue.wait()
        return "done"

    stage.parts["goal"] = part
    async with stage.play():
        session_id = await stage.create("goal")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.until(lambda: _third(limits), "the third turn")
    assert limits == [30, 30, 32]


async def _third(limits: list[int]) -> bool | None:
    return True if len(limits) == 3 else None
