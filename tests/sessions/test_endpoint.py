"""The endpoint of a session's model: recorded when it is begun, kept by what goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.records import SessionState
from agent.sessions.rollout.rollout_write import export_rollout
from tests.stage import Cue, Stage, of_type, waiting_at

COMPLETED = SessionState.COMPLETED
BEGUN = "https://begun.example/v1"
OTHER = "https://other.example/v1"


def use(stage: Stage, base_url: str) -> None:
    stage.set(model={"name": "m", "base_url": base_url})


async def test_children_forks_and_later_cores_keep_the_endpoint(stage: Stage) -> None:
    use(stage, "https://user:word@begun.example/v1?key=secret")
    async with stage.play():
        made = await stage.create("all of it", "a part", serial="")
        await stage.reach(made, COMPLETED)
    use(stage, OTHER)
    async with stage.play():
        tree = [await stage.store.session(made), *await stage.store.children(made)]
        assert [one.endpoint for one in tree] == [BEGUN] * 2
        copy = (await stage.do(protocol.SessionFork(session_id=made))).session_id
        assert (await stage.store.session(copy)).endpoint == BEGUN
        await stage.do(protocol.SessionResume(session_id=made))
        await stage.reach(made, COMPLETED)
        # The model was made for the record, which is what says where it is asked.
        assert (await stage.store.session(made)).endpoint == BEGUN
        new = await stage.create("another goal")
        assert (await stage.store.session(new)).endpoint == OTHER


async def test_an_operator_moves_a_session_to_the_endpoint_of_the_core_and_to_no_other(
    stage: Stage,
) -> None:
    use(stage, BEGUN)
    async with stage.play():
        made = await stage.create("anything")
        await stage.reach(made, COMPLETED)
    use(stage, OTHER)
    async with stage.play():
        with pytest.raises(UsageError, match=OTHER):
            wanted = protocol.SessionResume(session_id=made, endpoint="https://third.example/v1")
            await stage.do(wanted)
        assert (await stage.store.session(made)).state is COMPLETED
        await stage.do(protocol.SessionResume(session_id=made, endpoint=BEGUN))
        await stage.reach(made, COMPLETED)
        assert not of_type(await stage.msgs(made), protocol.SessionEndpointChosen)
        await stage.do(protocol.SessionResume(session_id=made, endpoint=f"{OTHER}/"))
        await stage.reach(made, COMPLETED)
        assert (await stage.store.session(made)).endpoint == OTHER
        # A fork has the past of the original, and so the endpoint that was chosen in it.
        copy = (await stage.do(protocol.SessionFork(session_id=made))).session_id
        assert (await stage.store.session(copy)).endpoint == OTHER


async def test_a_turn_is_not_moved_while_it_is_open(stage: Stage) -> None:
    use(stage, BEGUN)
    cue = Cue()
    stage.parts["wait"] = waiting_at(cue)
    async with stage.play():
        made = await stage.create("wait")
        await cue.there()
        await stage.do(protocol.SessionPause(session_id=made))
        await stage.do(protocol.SessionResume(session_id=made, endpoint=BEGUN))
        with pytest.raises((UsageError, WrongStateError)):
            await stage.do(protocol.SessionResume(session_id=made, endpoint=OTHER))


async def test_a_client_that_expects_another_endpoint_creates_nothing(stage: Stage) -> None:
    use(stage, BEGUN)
    async with stage.play():
        with pytest.raises(UsageError, match="--base-url"):
            await stage.do(protocol.SessionCreate(goal="anything", endpoint=OTHER))
        assert await stage.store.sessions() == ()
        reply = await stage.do(protocol.SessionCreate(goal="anything", endpoint=BEGUN))
        assert (await stage.store.session(reply.session_id)).endpoint == BEGUN


async def test_an_imported_session_is_asked_where_this_computers_settings_say(
    stage: Stage, tmp_path: Path
) -> None:
    use(stage, BEGUN)
    async with stage.play():
        made = await stage.create("anything")
        await stage.reach(made, COMPLETED)
    use(stage, OTHER)
    async with stage.play():
        await stage.do(protocol.SessionResume(session_id=made, endpoint=OTHER))
        await stage.reach(made, COMPLETED)
        path = tmp_path / "one.jsonl"
        await export_rollout(stage.core, made, path)
        assert BEGUN in path.read_text()
        own = (await stage.do(protocol.SessionImport(path=str(path), as_new=True))).session_id
        assert (await stage.store.session(own)).endpoint == ""
