"""What a core finds when the one before it died: closing leaves turns open, as a crash does."""

import asyncio

import pytest

from agent import protocol
from agent.errors import StoreError
from agent.loop.task_context import TaskContext
from agent.records import SessionState, TimeSplit, Usage
from agent.store.store import EventDraft, Lease
from tests.stage import PATIENCE_S, Cue, Stage, of_type, waiting_at

COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER
QUEUED = SessionState.QUEUED


async def test_a_turn_that_died_with_its_core_is_aborted_once_however_often_the_core_dies(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
    for _ in range(3):
        async with stage.play():
            session = await stage.store.session(session_id)
            assert session.state is WAITING and session.turn_id == ""
            aborted = of_type(await stage.msgs(session_id), protocol.TurnAborted)
            assert [end.reason for end in aborted] == [protocol.AbortReason.RECOVERED]


async def test_a_recovered_session_goes_on_where_it_was_and_reads_its_own_history(
    stage: Stage,
) -> None:
    cue = Cue()
    steps: list[int] = []

    async def part(context: TaskContext) -> str:
        done = [e.msg.step for e in context.history if isinstance(e.msg, protocol.StepCompleted)]
        for step in range(len(done) + 1, 4):
            steps.append(step)
            await context.emit(protocol.StepCompleted(step=step, time=TimeSplit(), usage=Usage()))
            if step == 2 and not cue.reached.is_set():
                await cue.wait()
        return f"{len(done)} before"

    stage.parts["three steps"] = part
    async with stage.play():
        session_id = await stage.create("three steps")
        await cue.there()
        before = await stage.all_events()
    async with stage.play():
        assert (await stage.all_events())[: len(before)] == before
        await stage.do(protocol.SessionResume(session_id=session_id))
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert steps == [1, 2, 3] and session.latest_result == "2 before"
    assert [c.after_step for c in of_type(msgs, protocol.SessionContinued)] == [2]
    assert len(of_type(msgs, protocol.TaskStarted)) == 2
    assert (
        len(of_type(msgs, protocol.TurnAborted)) == len(of_type(msgs, protocol.TaskComplete)) == 1
    )


async def test_a_hint_that_no_step_applied_survives_the_core(stage: Stage) -> None:
    cue = Cue()
    heard: list[str] = []

    async def part(context: TaskContext) -> str:
        if not cue.reached.is_set():
            await cue.wait()
        for hint in context.take_steering():
            heard.append(hint.text)
            await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=1))
        return "done"

    stage.parts["walk"] = part
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="left"))
    async with stage.play():
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
    assert heard == ["left"]


async def test_a_session_that_was_queued_or_paused_becomes_idle_without_flags(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        paused_id = await stage.create("long")
        await cue.there()
        await stage.do(protocol.SessionPause(session_id=paused_id))
        queued_id = await stage.create("queued")
        assert (await stage.store.session(queued_id)).state is QUEUED
    async with stage.play():
        for session_id in (paused_id, queued_id):
            session = await stage.store.session(session_id)
            assert session.state is WAITING and not session.paused
        cue.go.set()
        for session_id in (paused_id, queued_id):
            await stage.do(protocol.SessionResume(session_id=session_id))
            await stage.reach(session_id, COMPLETED)


async def test_the_setting_resumes_by_itself_what_was_at_work(stage: Stage) -> None:
    stage.set(recovery={"auto_resume": True, "retries": 1})
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
    cue.go.set()
    async with stage.play():
        await stage.reach(session_id, COMPLETED)


class FailingStore:
    """Fails the store's appends on demand, with the store's own error."""

    def __init__(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails = False
        self.refusals = 0
        self.has_refused_often = asyncio.Event()
        append = stage.store.append

        async def guarded(
            *drafts: EventDraft, under: Lease | None = None
        ) -> tuple[protocol.Event, ...]:
            if self.fails:
                self.refusals += 1
                if self.refusals == 4:
                    self.has_refused_often.set()
                raise StoreError("The disk is full.", "Free some space.")
            return await append(*drafts, under=under)

        monkeypatch.setattr(stage.store, "append", guarded)


async def test_a_session_whose_facts_cannot_be_stored_stops_and_says_so_once_they_can(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.sessions.turns.turn_closing._STORE_RETRY_S", (0.01,) * 2000)
    cue = Cue()
    said: list[str] = []

    async def part(context: TaskContext) -> str:
        await cue.wait()
        await context.emit(protocol.AgentMessage(step=1, text="unstored"))
        said.append("went on")
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
        session = await stage.idle(session_id)
        msgs = await stage.msgs(session_id)
    assert said == [] and session.latest_error == "The disk is full."
    assert of_type(msgs, protocol.AgentMessage) == []
    assert len(of_type(msgs, protocol.TurnAborted)) == 1
