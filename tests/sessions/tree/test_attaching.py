"""Attach, hold, detach: a driven session outlives its turns, and letting go settles it (A4–A7)."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent import protocol
from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.records import Session, SessionState
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, of_type, waiting_at

CREATED, QUEUED, RUNNING = SessionState.CREATED, SessionState.QUEUED, SessionState.RUNNING
WAITING, COMPLETED = SessionState.WAITING_FOR_USER, SessionState.COMPLETED
FAILED, CANCELLED = SessionState.FAILED, SessionState.CANCELLED
ANN, BOB = ClientInfo("c-ann", "Ann's console"), ClientInfo("c-bob", "Bob's console")


async def draft(stage: Stage, goal: str, *objectives: str, **more: object) -> str:
    targets = tuple(protocol.Target(objective=objective) for objective in objectives)
    op = protocol.SessionCreate(goal=goal, targets=targets, start=False, **more)  # type: ignore[arg-type]
    return (await stage.core.request_as(ANN, op)).session_id


async def attach(stage: Stage, client: ClientInfo, session_id: str, *, drive: bool = True) -> None:
    await stage.core.request_as(client, protocol.SessionAttach(session_id=session_id, drive=drive))


async def children(stage: Stage, parent_id: str) -> tuple[Session, ...]:
    return await stage.store.children(parent_id)


async def test_a_driven_session_stays_live_after_its_turn_and_settles_when_let_go(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["work"] = waiting_at(cue, "worked")
    async with stage.play():
        session_id = await stage.create("work")
        await cue.there()
        await attach(stage, ANN, session_id)
        cue.go.set()
        held = await stage.idle(session_id)
        assert (held.held, held.driver, held.deferred) == (True, ANN.name, COMPLETED)
        assert held.latest_result == "worked"
        await stage.core.request_as(
            ANN, protocol.UserInput(session_id=session_id, text="and again")
        )
        await stage.idle(session_id)
        await stage.core.request_as(ANN, protocol.SessionDetach(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
    assert (session.held, session.driver, session.deferred) == (False, "", None)


async def test_a_turn_that_failed_while_driven_settles_as_failed(stage: Stage) -> None:
    async def fails(context: TaskContext) -> TurnEnd:
        return TurnEnd(completed=False, message="no way")

    stage.parts["fail"] = fails
    async with stage.play():
        session_id = await draft(stage, "fail")
        await attach(stage, ANN, session_id)
        await stage.core.request_as(ANN, protocol.SessionResume(session_id=session_id))
        assert (await stage.idle(session_id)).deferred is FAILED
        await stage.core.leave(ANN)
        await stage.reach(session_id, FAILED)


async def test_attaching_to_a_draft_makes_it_idle_and_takes_the_first_prompt(stage: Stage) -> None:
    async with stage.play():
        session_id = await draft(stage, "")
        await attach(stage, ANN, session_id)
        assert (await stage.store.session(session_id)).state is WAITING
        await stage.core.request_as(
            ANN, protocol.UserInput(session_id=session_id, text="open Settings")
        )
        session = await stage.idle(session_id)
    assert session.goal == "open Settings" and session.latest_result == "done: open Settings"


async def test_a_draft_without_a_goal_is_started_with_a_prompt_only(stage: Stage) -> None:
    async with stage.play():
        session_id = await draft(stage, " ")
        with pytest.raises(UsageError, match="no goal"):
            await stage.do(protocol.SessionStart(session_id=session_id))
        await stage.do(protocol.SessionStart(session_id=session_id, prompt="open Settings"))
        session = await stage.reach(session_id, COMPLETED)
    assert session.goal == "open Settings" and session.latest_result == "done: open Settings"


async def test_any_number_watch_and_one_drives(stage: Stage) -> None:
    async with stage.play():
        session_id = await draft(stage, "work")
        await attach(stage, BOB, session_id, drive=False)
        assert not (await stage.store.session(session_id)).held
        await attach(stage, ANN, session_id)
        with pytest.raises(WrongStateError, match="driven by Ann's console"):
            await stage.core.request_as(
                BOB, protocol.UserInput(session_id=session_id[:6], text="hi")
            )
        await attach(stage, BOB, session_id)
        assert (await stage.store.session(session_id)).driver == BOB.name
        with pytest.raises(WrongStateError, match="driven by Bob's console"):
            await stage.core.request_as(ANN, protocol.SessionResume(session_id=session_id))
        # Who was replaced watches on; that it goes changes nothing.
        await stage.core.leave(ANN)
        assert (await stage.store.session(session_id)).driver == BOB.name


@pytest.mark.parametrize(
    "op",
    [
        lambda one: protocol.SessionMove(session_id=one, serial="phone-2"),
        lambda one: protocol.SessionResume(session_id=one),
        lambda one: protocol.UserInput(session_id=one, text="and more"),
        lambda one: protocol.SessionCompact(session_id=one),
        lambda one: protocol.SessionRollback(session_id=one, turns=1),
        lambda one: protocol.SteerEdit(session_id=one, message_id="m-1", text="other words"),
        lambda one: protocol.SteerWithdraw(session_id=one, message_id="m-1"),
    ],
    ids=["move", "resume", "tell", "compact", "roll back", "edit a hint", "withdraw a hint"],
)
async def test_what_takes_a_session_on_or_changes_what_it_goes_on_with_is_its_drivers(
    tmp_path: Path, op: Callable[[str], protocol.Op]
) -> None:
    stage = Stage(tmp_path, FakeFleet("phone-1", "phone-2"))
    async with stage.play():
        session_id = await stage.create("done", serial="phone-1")
        await stage.reach(session_id, COMPLETED)
        copy = (await stage.do(protocol.SessionFork(session_id=session_id))).session_id
        await attach(stage, ANN, copy)
        before = await stage.msgs(copy)
        with pytest.raises(WrongStateError, match="driven by Ann's console"):
            await stage.core.request_as(BOB, op(copy))
        assert await stage.msgs(copy) == before
        assert (await stage.store.session(copy)).serial == "phone-1"


async def test_who_attaches_first_drives_though_other_words_were_under_way(stage: Stage) -> None:
    cue = Cue()
    stage.parts["work"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("work")
        await cue.there()
        outcomes = await asyncio.gather(
            stage.core.request_as(ANN, protocol.UserInput(session_id=session_id, text="one")),
            attach(stage, BOB, session_id),
            stage.core.request_as(ANN, protocol.UserInput(session_id=session_id, text="two")),
            return_exceptions=True,
        )
        said = [msg.text for msg in of_type(await stage.msgs(session_id), protocol.UserMessage)]
    assert said == ["one"] and isinstance(outcomes[2], WrongStateError)


async def test_whoever_may_only_watch_can_stop_and_cancel(stage: Stage) -> None:
    cue = Cue()
    stage.parts["work"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("work")
        await cue.there()
        await attach(stage, ANN, session_id)
        await stage.core.request_as(BOB, protocol.Interrupt(session_id=session_id))
        assert (await stage.idle(session_id)).deferred is None
        await stage.core.request_as(BOB, protocol.SessionCancel(session_id=session_id))
        session = await stage.reach(session_id, CANCELLED)
        assert not session.held
        with pytest.raises(WrongStateError, match="cannot be driven"):
            await attach(stage, ANN, session_id)
        await attach(stage, ANN, session_id, drive=False)


async def test_children_of_a_driven_planner_are_staged_and_start_when_it_is_let_go(
    stage: Stage,
) -> None:
    stage.fleet = FakeFleet("phone-1", "phone-2")
    async with stage.play():
        parent_id = await draft(stage, "both", "left", "right")
        await attach(stage, ANN, parent_id)
        await stage.core.request_as(ANN, protocol.SessionStart(session_id=parent_id))
        staged = await children(stage, parent_id)
        assert [(c.state, c.held, c.deferred) for c in staged] == [(WAITING, True, QUEUED)] * 2
        await stage.core.request_as(ANN, protocol.SessionDetach(session_id=parent_id))
        parent = await stage.reach(parent_id, COMPLETED)
        ended = await children(stage, parent_id)
    assert [c.latest_result for c in ended] == ["done: left", "done: right"]
    assert not parent.held


async def test_a_held_child_that_ran_settles_after_the_detach_and_the_parent_rolls_up(
    stage: Stage,
) -> None:
    stage.fleet = FakeFleet("phone-1", "phone-2")
    async with stage.play():
        parent_id = await draft(stage, "both", "left", "right")
        await attach(stage, ANN, parent_id)
        await stage.core.request_as(ANN, protocol.SessionStart(session_id=parent_id))
        left, right = await children(stage, parent_id)
        for child in (left, right):
            await stage.do(protocol.UserInput(session_id=child.session_id, text=f"go {child.goal}"))
            assert (await stage.idle(child.session_id)).deferred is COMPLETED
        assert not (await stage.store.session(parent_id)).state.is_terminal
        # One child has a driver of its own: it is not let go with its planner.
        await attach(stage, BOB, right.session_id)
        await stage.core.request_as(ANN, protocol.SessionDetach(session_id=parent_id))
        await stage.reach(left.session_id, COMPLETED)
        assert (await stage.store.session(right.session_id)).held
        assert not (await stage.store.session(parent_id)).state.is_terminal
        await stage.core.leave(BOB)
        await stage.reach(right.session_id, COMPLETED)
        await stage.reach(parent_id, COMPLETED)


async def test_a_terminal_roll_up_waits_while_the_planner_is_driven(stage: Stage) -> None:
    cue = Cue()
    stage.parts["left"] = waiting_at(cue)
    async with stage.play():
        parent_id = await stage.create("one", "left")
        await cue.there()
        await attach(stage, ANN, parent_id)
        [child] = await children(stage, parent_id)
        await stage.do(protocol.SessionCancel(session_id=child.session_id))
        await stage.reach(child.session_id, CANCELLED)
        assert not (await stage.store.session(parent_id)).state.is_terminal
        await stage.core.leave(ANN)
        await stage.reach(parent_id, CANCELLED)


async def test_a_core_that_died_lets_go_of_what_was_driven(stage: Stage) -> None:
    async with stage.play():
        session_id = await draft(stage, "work")
        await attach(stage, ANN, session_id)
        await stage.core.request_as(ANN, protocol.SessionResume(session_id=session_id))
        assert (await stage.idle(session_id)).deferred is COMPLETED
    async with stage.play():
        session = await stage.reach(session_id, COMPLETED)
    assert not session.held and session.driver == ""


async def test_a_held_draft_ends_with_its_client_unless_it_was_started(stage: Stage) -> None:
    async with stage.play():
        lost = await draft(stage, "left lying", target_package="org.virtual.notes", hold=True)
        kept = await draft(stage, "kept", target_package="org.virtual.notes")
        begun = await draft(stage, "begun", target_package="org.virtual.notes", hold=True)
        await stage.core.request_as(ANN, protocol.SessionStart(session_id=begun))
        await stage.reach(begun, COMPLETED)
        await stage.core.leave(ANN)
        assert (await stage.store.session(lost)).state is CANCELLED
        assert (await stage.store.session(kept)).state is CREATED
        assert (await stage.store.session(begun)).state is COMPLETED


async def test_detaching_from_what_one_is_not_attached_to_is_said(stage: Stage) -> None:
    async with stage.play():
        session_id = await draft(stage, "work")
        with pytest.raises(UsageError, match="not attached"):
            await stage.core.request_as(ANN, protocol.SessionDetach(session_id=session_id))
