"""A loss that may pass is not the end: the session goes on by itself, a bounded number of times."""

import asyncio

import pytest

from agent.core import ClientInfo
from agent.errors import DeviceLostError, ModelError
from agent.loop.task_context import TaskContext
from agent.protocol import (
    AbortReason,
    RecoveryScheduled,
    SessionAttach,
    SessionPause,
    SessionResume,
    TaskComplete,
    TaskStarted,
    TurnAborted,
)
from agent.records import SessionState
from tests.sessions.recovery.test_recovery import FailingStore
from tests.stage import PATIENCE_S, Cue, Stage, of_type, states, waiting_at

COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER
RUNNING = SessionState.RUNNING


@pytest.fixture(autouse=True)
def _at_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.sessions.rules.next_turn.RECOVERY_PAUSES_S", (0.001,))
    stage.set(recovery={"auto_resume": True, "retries": 3, "device_grace_s": 5.0})


class Failing:
    """Fails so many times, then meets the goal."""

    def __init__(self, times: int, error: Exception) -> None:
        self.left = times
        self.error = error

    async def __call__(self, context: TaskContext) -> str:
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return "done at last"


AWAY = DeviceLostError("phone-1 is away.")
UNREACHABLE = ModelError("The endpoint is not there.", retryable=True)


@pytest.mark.parametrize("error", [AWAY, UNREACHABLE])
async def test_an_unattached_session_goes_on_by_itself_up_to_three_times(
    stage: Stage, error: Exception
) -> None:
    stage.parts["try"] = Failing(3, error)
    async with stage.play():
        session_id = await stage.create("try")
        await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert [one.attempt for one in of_type(msgs, RecoveryScheduled)] == [1, 2, 3]
    assert [end.reason for end in of_type(msgs, TurnAborted)] == [AbortReason.FAILED] * 3
    assert len(of_type(msgs, TaskStarted)) == 4 and len(of_type(msgs, TaskComplete)) == 1
    assert WAITING not in states(msgs)


async def test_after_the_third_time_it_is_idle_and_an_operator_takes_it_on(stage: Stage) -> None:
    stage.parts["try"] = Failing(5, AWAY)
    async with stage.play():
        session_id = await stage.create("try")
        session = await stage.idle(session_id)
        assert not session.state.is_terminal and session.latest_error == "phone-1 is away."
        assert len(of_type(await stage.msgs(session_id), RecoveryScheduled)) == 3
        await stage.do(SessionResume(session_id=session_id))
        await stage.idle(session_id)
        await stage.do(SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)


async def test_an_attached_session_only_closes_its_turn_and_is_idle(stage: Stage) -> None:
    cue = Cue()

    async def part(context: TaskContext) -> str:
        await cue.wait()
        raise AWAY

    stage.parts["try"] = part
    async with stage.play():
        session_id = await stage.create("try")
        await cue.there()
        await stage.do(SessionAttach(session_id=session_id))
        cue.go.set()
        await stage.idle(session_id)
        msgs = await stage.msgs(session_id)
    assert of_type(msgs, RecoveryScheduled) == []
    assert [end.reason for end in of_type(msgs, TurnAborted)] == [AbortReason.FAILED]


async def test_an_endpoint_that_refuses_for_the_moment_is_tried_again_by_itself(
    stage: Stage,
) -> None:
    refused = ModelError("Too many requests.", retryable=True, status=429)
    stage.parts["try"] = Failing(9, refused)
    async with stage.play():
        session_id = await stage.create("try")
        await stage.idle(session_id)
        scheduled = of_type(await stage.msgs(session_id), RecoveryScheduled)
    assert [one.attempt for one in scheduled] == [1, 2, 3]


async def test_restarts_count_until_a_turn_is_finished_and_then_the_operator_is_waited_for(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
    for attempt in (1, 2, 3):
        cue.reached.clear()
        async with stage.play():
            await cue.there()
            msgs = await stage.msgs(session_id)
            assert [one.attempt for one in of_type(msgs, RecoveryScheduled)][-1] == attempt
    async with stage.play():
        session = await stage.idle(session_id)
        assert "resuming it failed" in session.latest_error
        cue.go.set()
        await stage.do(SessionResume(session_id=session_id))
        done = await stage.reach(session_id, COMPLETED)
    assert done.recoveries == 0


async def test_a_session_that_was_paused_stays_idle_after_a_restart(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        await stage.do(SessionPause(session_id=session_id))
    async with stage.play():
        await stage.idle(session_id)
        assert of_type(await stage.msgs(session_id), RecoveryScheduled) == []


async def test_a_tree_that_died_with_its_core_completes_after_the_restart(stage: Stage) -> None:
    stage.fleet.plug("phone-2")
    cues = [Cue(), Cue()]
    for number, cue in enumerate(cues):
        stage.parts[f"part {number}"] = waiting_at(cue, f"result {number}")
    async with stage.play():
        parent_id = await stage.create("both", "part 0", "part 1")
        for cue in cues:
            await cue.there()
    for cue in cues:
        cue.go.set()
    async with stage.play():
        parent = await stage.reach(parent_id, COMPLETED)
    assert "result 0" in parent.latest_result and "result 1" in parent.latest_result


async def test_one_that_waits_in_line_after_a_restart_keeps_its_place_when_it_is_driven(
    stage: Stage,
) -> None:
    goals = ("first", "second", "third")
    cues = {goal: Cue() for goal in goals}
    stage.parts.update({goal: waiting_at(cue) for goal, cue in cues.items()})
    async with stage.play():
        _, second, third = [await stage.create(goal, serial="phone-1") for goal in goals]
        await cues["first"].there()
    cues["first"].reached.clear()
    async with stage.play():
        await cues["first"].there()
        await stage.reach(second, SessionState.QUEUED)
        await stage.reach(third, SessionState.QUEUED)
        driver = ClientInfo(client_id="c-1", name="ann")
        await stage.core.request_as(driver, SessionAttach(session_id=second, drive=True))
        working = {task.get_name() for task in asyncio.all_tasks()}
        assert f"turn of session {second}" not in working
        cues["first"].go.set()
        await cues["second"].there()
        assert (await stage.store.session(third)).state is SessionState.QUEUED
        cues["second"].go.set()
        await cues["third"].there()


async def test_what_goes_on_by_itself_does_so_also_when_its_end_was_stored_late(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.sessions.turns.turn_closing._STORE_RETRY_S", (0.01,) * 2000)
    cue = Cue()
    turns: list[int] = []

    async def part(context: TaskContext) -> str:
        turns.append(1)
        if len(turns) == 1:
            await cue.wait()
            raise AWAY
        return "done"

    stage.parts["long"] = part
    async with stage.play():
        disk = FailingStore(stage, monkeypatch)
        session_id = await stage.create("long")
        await cue.there()
        disk.fails = True
        cue.go.set()
        async with asyncio.timeout(PATIENCE_S):
            await disk.has_refused_often.wait()
        disk.fails = False
        await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert [one.attempt for one in of_type(msgs, RecoveryScheduled)] == [1]
    assert [len(of_type(msgs, kind)) for kind in (TurnAborted, TaskStarted, TaskComplete)] == [
        1,
        2,
        1,
    ]
