"""A phone that goes away under a session: what is flagged, until when, and how it goes on."""

from pathlib import Path

from agent.errors import DeviceLostError
from agent.loop.task_context import TaskContext
from agent.protocol import SessionFlagsChanged, SessionMove
from agent.records import Session, SessionState
from agent.state.reducer import attention, from_overview
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, of_type


async def flagged(stage: Stage, session_id: str, *, lost: bool) -> Session:
    """Wait until a session is, or is no more, lost."""

    async def there() -> Session | None:
        session = await stage.store.session(session_id)
        return session if session.lost is lost else None

    return await stage.until(there, f"{session_id} to have lost={lost}")


async def test_a_loss_during_a_model_call_is_flagged_at_once_with_its_end(tmp_path: Path) -> None:
    stage, thinking = Stage(tmp_path, FakeFleet("p1")), Cue()
    stage.set(recovery={"device_grace_s": 60.0})

    async def think(context: TaskContext) -> str:
        before_ms = context.disturbed_ms
        await thinking.wait()
        await context.checkpoint()
        assert context.disturbed_ms > before_ms
        assert context.device.serial == "p1"
        return "done"

    stage.parts["go"] = think
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await thinking.there()
        began_ms = stage.clock()
        stage.fleet.unplug("p1")
        lost = await flagged(stage, session_id, lost=True)
        assert began_ms + 50_000 < lost.lost_until_ms <= stage.clock() + 60_000
        [waits] = attention(from_overview(await stage.core.overview()))
        assert waits.text == "p1 is away" and waits.until_ms == lost.lost_until_ms
        thinking.go.set()
        stage.fleet.plug("p1")
        back = await flagged(stage, session_id, lost=False)
        assert back.lost_until_ms == 0
        await stage.reach(session_id, SessionState.COMPLETED)
        told = of_type(await stage.msgs(session_id), SessionFlagsChanged)
        assert "p1 is away; waiting up to 60 s" in told[0].reason
        assert [change.reason for change in told[1:]] == ["p1 is back"]


async def test_a_phone_that_stays_away_ends_the_wait_when_its_countdown_says(
    tmp_path: Path,
) -> None:
    stage, thinking = Stage(tmp_path, FakeFleet("p1")), Cue()
    stage.set(recovery={"device_grace_s": 0.2})
    ends: list[str] = []

    async def think(context: TaskContext) -> str:
        await thinking.wait()
        try:
            await context.checkpoint()
        except DeviceLostError as error:
            ends.append(error.message)
        return "gave up"

    stage.parts["go"] = think
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await thinking.there()
        stage.fleet.unplug("p1")
        await flagged(stage, session_id, lost=True)
        thinking.go.set()
        await stage.reach(session_id, SessionState.COMPLETED)
        assert ends and "p1" in ends[0]


async def test_an_operator_moves_a_session_from_a_lost_phone_to_another(tmp_path: Path) -> None:
    stage, thinking = Stage(tmp_path, FakeFleet("p1", "p2")), Cue()
    phones: list[str] = []

    async def work(context: TaskContext) -> str:
        phones.append(context.device.serial)
        if context.device.serial == "p1":
            await thinking.wait()
        return f"done on {context.device.serial}"

    stage.parts["go"] = work
    async with stage.play():
        session_id = await stage.create("go", serial="p1")
        await thinking.there()
        stage.fleet.unplug("p1")
        await flagged(stage, session_id, lost=True)
        await stage.do(SessionMove(session_id=session_id, serial="p2"))
        done = await stage.reach(session_id, SessionState.COMPLETED)
        assert (done.serial, done.lost, phones) == ("p2", False, ["p1", "p2"])
