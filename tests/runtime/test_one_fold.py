"""In one process a committed event is folded into its session's record once, by the store."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from agent.protocol import Event, EventMsg
from agent.records import Session, SessionState
from agent.runtime.runtime import Runtime
from agent.state import session_fold
from agent.state.commit import Commit
from agent.state.reducer import State, reduce, reduce_commit
from console.core.event_bridge import Bridge
from tests.fakes import FakeFleet
from tests.stage import PATIENCE_S, Stage

SETTLED = (SessionState.COMPLETED, SessionState.FAILED)


async def until_shown(bridge: Bridge, core: Runtime) -> State:
    """Return the picture once it holds all that is stored."""
    async with asyncio.timeout(PATIENCE_S):
        await bridge.reached((await core.overview()).event_id)
    return bridge.state


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, FakeFleet("phone-1"))


async def test_store_core_and_console_fold_an_event_once_between_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    folds: Counter[int] = Counter()
    folded: list[EventMsg] = []
    fold = session_fold._fold_fact

    def counted(session: Session, msg: EventMsg) -> Session:
        folds[id(msg)] += 1
        folded.append(msg)
        return fold(session, msg)

    async with stage.play():
        bridge = Bridge(stage.core, lambda _message: True)
        await bridge.start()
        monkeypatch.setattr(session_fold, "_fold_fact", counted)
        session_id = await stage.create("write it down")
        await stage.reach(session_id, *SETTLED)
        state = await until_shown(bridge, stage.core)
        await bridge.close()
        monkeypatch.undo()
        assert len(folds) > 5, "nothing was folded"
        assert set(folds.values()) == {1}, [type(m).__name__ for m in folded if folds[id(m)] > 1]
        record = await stage.store.session(session_id)
        assert state.sessions[session_id].session == record


async def test_who_folds_by_itself_has_the_same_picture(stage: Stage) -> None:
    async with stage.play():
        commits: list[Commit] = []
        stage.store.subscribe(commits.append)
        for goal in ("one", "two"):
            await stage.reach(await stage.create(goal), *SETTLED)
        # As over the socket: events alone, one after the other.
        events = [event for commit in commits for event in commit.events]
        alone, shared = State(), State()
        for event in events:
            alone = reduce(alone, event)
        for commit in commits:
            assert commit.sessions.keys() >= {e.session_id for e in commit.events if e.session_id}
            shared = reduce_commit(shared, commit)
        assert shared == alone
        assert len(shared.sessions) == 2


async def test_a_commit_that_was_read_in_part_is_followed_from_there(stage: Stage) -> None:
    async with stage.play():
        first = (await stage.core.overview()).event_id
        async with stage.core.commits(after=first) as commits, stage.core.events() as events:
            session_id = await stage.create("one", start=False)
            seen: list[Event] = []
            async with asyncio.timeout(PATIENCE_S):
                last = (await anext(events)).event_id
                while not seen or seen[-1].event_id < last:
                    seen += (await anext(commits)).events
        assert [event.event_id for event in seen] == sorted({event.event_id for event in seen})
        assert {event.session_id for event in seen} == {session_id}
