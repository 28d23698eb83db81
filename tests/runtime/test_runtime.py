"""The façade: the queue of ops, the streams of facts, the picture of a moment, and its death."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.core import Core, TextDelta
from agent.errors import AdbError, RuntimeDiedError, UsageError
from agent.loop.task_context import TaskContext
from agent.records import SessionState, TimeSplit, Usage
from agent.runtime.op_queue import QUEUE_LIMIT
from agent.state.reducer import fold_session
from tests.fakes import FakeFleet
from tests.stage import PATIENCE_S, Cue, Stage, waiting_at

COMPLETED = SessionState.COMPLETED


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2"))


async def chatters(context: TaskContext) -> str:
    for step in range(40):
        await context.emit(protocol.AgentMessage(step=step, text=f"word {step}"))
    return "done"


def test_the_runtime_is_a_core() -> None:
    from agent.runtime.runtime import Runtime

    _: type[Core] = Runtime


# --- ops ----------


async def test_request_raises_what_the_op_failed_with_and_submit_makes_it_an_event(
    stage: Stage,
) -> None:
    async with stage.play():
        with pytest.raises(UsageError, match="nothing-here") as refused:
            await stage.do(protocol.SessionStart(session_id="nothing-here"))
        assert refused.value.event_id == await stage.store.last_event_id()
        submission_id = await stage.core.submit(protocol.SessionStart(session_id="nothing-here"))

        async def told() -> protocol.Event | None:
            for event in await stage.all_events():
                if isinstance(event.msg, protocol.ErrorEvent):
                    return event
            return None

        event = await stage.until(told, "the error")
    assert event.submission_id == submission_id


async def test_events_of_an_op_carry_its_submission(stage: Stage) -> None:
    async with stage.play():
        reply = await stage.do(protocol.SessionCreate(goal="go", start=False))
        [configured] = await stage.store.session_events(reply.session_id)
    assert configured.submission_id == reply.submission_id


async def test_the_65th_op_waits_until_there_is_room(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    async with stage.play():
        create = stage.core._operations.create

        async def slow(op: protocol.SessionCreate, submission_id: str = "") -> object:
            await gate.wait()
            return await create(op, submission_id)

        monkeypatch.setattr(stage.core._operations, "create", slow)
        await stage.core.submit(protocol.SessionCreate(goal="first", start=False))
        await asyncio.sleep(0)
        for number in range(QUEUE_LIMIT):
            async with asyncio.timeout(PATIENCE_S):
                await stage.core.submit(protocol.SessionCreate(goal=f"{number}", start=False))
        one_more = asyncio.create_task(stage.core.submit(protocol.JobList()))
        done, _ = await asyncio.wait({one_more}, timeout=0.05)
        assert not done
        gate.set()
        async with asyncio.timeout(PATIENCE_S):
            await one_more
            await stage.do(protocol.Interrupt())
        assert len(await stage.store.sessions()) == QUEUE_LIMIT + 1


async def test_a_defect_in_one_op_fails_that_op_and_the_core_lives(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_given: object, **_more: object) -> None:
        raise ZeroDivisionError

    async with stage.play():
        monkeypatch.setattr(stage.core._operations, "start", broken)
        with pytest.raises(Exception, match="ZeroDivisionError"):
            await stage.do(protocol.SessionStart(session_id="x"))
        await stage.reach(await stage.create("go"), COMPLETED)


# --- death ----------


async def test_a_closed_core_refuses_everything_instead_of_hanging(stage: Stage) -> None:
    async with stage.play():
        await stage.core.close()
        for call in (stage.core.submit, stage.core.request):
            with pytest.raises(RuntimeDiedError):
                async with asyncio.timeout(30):
                    await call(protocol.Interrupt())
        with pytest.raises(RuntimeDiedError):
            async with stage.core.events():
                pass


async def test_a_core_that_dies_fails_listeners_and_waiting_ops(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def never(op: protocol.SessionCreate, submission_id: str = "") -> object:
        await gate.wait()
        raise AssertionError

    async with stage.play():
        monkeypatch.setattr(stage.core._operations, "create", never)
        waiting = [
            asyncio.create_task(stage.core.request(protocol.SessionCreate(goal=str(number))))
            for number in range(QUEUE_LIMIT + 5)
        ]
        async with stage.core.events() as events:
            await asyncio.sleep(0)

            async def broken(parent: object) -> None:
                raise MemoryError("no more")

            monkeypatch.setattr(stage.core._tree, "settle", broken)
            stage.core._tree._note("anything")
            monkeypatch.setattr(stage.core._registry, "get", broken)
            with pytest.raises(RuntimeDiedError, match="no more"):
                async with asyncio.timeout(PATIENCE_S):
                    async for _ in events:
                        pass
        async with asyncio.timeout(PATIENCE_S):
            outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {RuntimeDiedError}


async def test_shutdown_answers_then_ends_the_stream_after_its_last_fact(stage: Stage) -> None:
    async with stage.play():
        async with stage.core.events() as events:
            await stage.do(protocol.Shutdown())
            async with asyncio.timeout(PATIENCE_S):
                seen = [event.msg async for event in events]
        await stage.core.wait_closed()
    assert seen[-1] == protocol.ShutdownComplete()
    assert stage.fleet.closed


async def test_a_core_that_cannot_start_says_why_and_leaves_nothing_running(stage: Stage) -> None:
    async def refuse() -> None:
        raise AdbError("No adb server answers.", "Start one.")

    stage.fleet.start = refuse  # type: ignore[method-assign]
    before = asyncio.all_tasks()
    with pytest.raises(AdbError):
        async with stage.play():
            pass
    assert {task.get_name() for task in asyncio.all_tasks() - before} <= {"store close"}
    assert stage.fleet.closed


# --- events ----------


async def test_every_listener_gets_every_event_once_from_wherever_it_begins(stage: Stage) -> None:
    stage.parts["chat"] = chatters
    async with stage.play():

        async def listen(after: int | None) -> list[int]:
            seen: list[int] = []
            async with stage.core.events(after=after) as events:
                async for event in events:
                    seen.append(event.event_id)
            return seen

        early = [asyncio.create_task(listen(0)), asyncio.create_task(listen(None))]
        await asyncio.sleep(0)
        first = await stage.create("chat")
        late = [asyncio.create_task(listen(after)) for after in (0, 3, 20)]
        second = await stage.create("chat")
        for session_id in (first, second):
            await stage.reach(session_id, COMPLETED)
        await stage.core.close()
        async with asyncio.timeout(PATIENCE_S):
            everything, live, *resumed = await asyncio.gather(*early, *late)
        stored = [event.event_id for event in await stage.all_events()]
    assert everything == stored
    assert live == stored[stored.index(live[0]) :]
    assert resumed == [stored, stored[3:], stored[20:]]


async def test_a_listener_that_does_not_read_holds_up_nobody(stage: Stage) -> None:
    stage.parts["chat"] = chatters
    async with stage.play(), stage.core.events() as unread:
        await stage.reach(await stage.create("chat"), COMPLETED)
        first = await anext(unread)
    assert first.event_id > 0


async def test_the_overview_is_one_moment_that_events_go_on_from(stage: Stage) -> None:
    async def counts(context: TaskContext) -> str:
        for step in range(1, 60):
            usage = Usage(input_tokens=1, calls=1)
            await context.emit(
                protocol.StepCompleted(step=step, time=TimeSplit(act_ms=1), usage=usage)
            )
        return "done"

    stage.parts["count"] = counts
    async with stage.play():
        ids = [await stage.create("count"), await stage.create("count")]
        moments = []
        while not moments or any(s.state is not COMPLETED for s in moments[-1].sessions):
            async with asyncio.timeout(PATIENCE_S):
                moments.append(await stage.core.overview())
        stored = await stage.all_events()
        final = {session_id: await stage.store.session(session_id) for session_id in ids}
    assert len(moments) > 2
    for moment in moments:
        for session in moment.sessions:
            folded = session
            for event in stored:
                if event.event_id > moment.event_id:
                    folded = fold_session(folded, event) or folded
            assert folded == final[session.session_id]


async def test_deltas_give_the_newest_words_only(stage: Stage) -> None:
    cue = Cue()

    async def speaks(context: TaskContext) -> str:
        await cue.wait()
        for number in range(50):
            context.delta(f"word {number}")
        await asyncio.sleep(0)
        return "done"

    stage.parts["speak"] = speaks
    async with stage.play(), stage.core.deltas() as deltas:
        session_id = await stage.create("speak")
        await cue.there()
        cue.go.set()
        async with asyncio.timeout(PATIENCE_S):
            delta = await anext(deltas)
    assert isinstance(delta, TextDelta)
    assert (delta.session_id, delta.text) == (session_id, "word 49")


async def test_frames_come_from_the_rack(stage: Stage) -> None:
    async with (
        stage.play(),
        stage.core.frames("phone-1", width_px=10, height_px=20, max_hz=5) as frames,
    ):
        assert (await anext(frames)).serial == "phone-1"


# --- devices ----------


async def test_only_real_changes_of_a_device_become_events(stage: Stage) -> None:
    async with stage.play():
        info = stage.fleet.infos["phone-1"]
        for _ in range(5):
            stage.fleet.tell(info)
        stage.fleet.tell(replace(info, model="Pixel"))
        stage.fleet.unplug("phone-2")

        async def gone() -> list[protocol.DeviceChanged] | None:
            told = [
                event.msg
                for event in await stage.all_events()
                if isinstance(event.msg, protocol.DeviceChanged)
            ]
            return told if told[-1].device.state == "gone" else None

        told = await stage.until(gone, "the phone to be gone")
    assert [(t.device.serial, t.device.model, str(t.device.state)) for t in told] == [
        ("phone-1", "", "device"),
        ("phone-2", "", "device"),
        ("phone-1", "Pixel", "device"),
        ("phone-2", "", "gone"),
    ]


async def test_an_adb_server_is_told_of_when_it_goes_away_and_when_it_answers_again(
    stage: Stage,
) -> None:
    async def told(count: int) -> list[protocol.AdbServerChanged] | None:
        found = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.AdbServerChanged)
        ]
        return found if len(found) >= count else None

    async with stage.play():
        stage.fleet.lose_server("shelf:5037", "It went away. Start it.")
        await stage.until(lambda: told(1), "the server to be missed")
        # Who attaches now knows as well as who was there.
        [away] = (await stage.core.overview()).servers_away
        assert (away.address, away.why) == ("shelf:5037", "It went away. Start it.")
        stage.fleet.find_servers()
        news = await stage.until(lambda: told(2), "the server to answer again")
        assert (await stage.core.overview()).servers_away == ()
    assert [(one.address, one.why) for one in news] == [
        ("shelf:5037", "It went away. Start it."),
        ("shelf:5037", ""),
    ]


# --- looking up ----------


async def test_a_session_is_found_by_a_prefix_and_an_unknown_one_is_a_usage_error(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        assert (await stage.core.session(session_id[:6])).session_id == session_id
        assert (await stage.core.history(session_id[:6]))[0].session_id == session_id
        with pytest.raises(UsageError):
            await stage.core.history("zzz")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=session_id[:6]))
        await stage.idle(session_id)
