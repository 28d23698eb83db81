"""The record of sessions over a real core: forks, rollbacks, keeping, deleting, clearing."""

import pytest

from agent import protocol
from agent.errors import StoreError, UsageError, WrongStateError
from agent.loop.task_context import TaskContext
from agent.records import Session, SessionState
from agent.sessions.rules.retention import TreeView, beyond_newest, clear, loose, oldest_first
from agent.state.reducer import State, reduce
from agent.store.store import EventDraft
from tests.fakes import asked_of
from tests.stage import Cue, Stage, of_type, waiting_at

COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER


async def frame_named(stage: Stage, session_id: str, data: bytes) -> str:
    """Store a blob, and an event of the session that names it."""
    digest = await stage.store.blobs.put(data, "application/json")

    call = protocol.ToolCallRequested(
        step=1, call_id="c", tool="tap", arguments="{}", prompt_digest=digest
    )
    await stage.store.append(EventDraft(session_id, call))
    return digest


async def done(stage: Stage, goal: str) -> str:
    session_id = await stage.create(goal)
    await stage.reach(session_id, COMPLETED)
    return session_id


# --- forks ----------


async def test_a_fork_has_a_new_id_and_names_what_it_was_forked_from(stage: Stage) -> None:
    async with stage.play():
        origin = await done(stage, "look around")
        own = (await stage.do(protocol.SessionFork(session_id=origin))).session_id
        session = await stage.store.session(own)
        assert own != origin
        assert session.forked_from == origin
        assert session.state is WAITING and session.turn_id == ""
        await stage.do(protocol.UserInput(session_id=own, text="go on"))
        await stage.reach(own, COMPLETED)
        assert (await stage.store.session(origin)).state is COMPLETED


async def test_a_fork_before_a_message_has_what_came_before_it(stage: Stage) -> None:
    cue = Cue()
    stage.parts["plan"] = waiting_at(cue)
    async with stage.play():
        origin = await stage.create("plan")
        await cue.there()
        for text in ("first", "second"):
            await stage.do(protocol.UserInput(session_id=origin, text=text))
        await stage.do(protocol.Interrupt(session_id=origin))
        await stage.idle(origin)
        for before, messages in ((0, []), (1, []), (2, ["first"]), (3, ["first", "second"])):
            own = await stage.do(protocol.SessionFork(session_id=origin, before_message=before))
            told = of_type(await stage.msgs(own.session_id), protocol.UserMessage)
            assert [msg.text for msg in told] == messages
        drafted = await stage.do(protocol.SessionFork(session_id=origin, before_message=0))
        session = await stage.store.session(drafted.session_id)
        assert session.state is SessionState.CREATED


# --- rollbacks ----------


async def test_rollback_1_hides_the_last_turn_from_the_model_and_the_transcript(
    stage: Stage,
) -> None:
    seen: list[list[str]] = []

    async def part(context: TaskContext) -> str:
        seen.append(
            [e.msg.text for e in context.history if isinstance(e.msg, protocol.UserMessage)]
        )
        return f"did {asked_of(context)}"

    stage.parts["start"] = part
    async with stage.play():
        session_id = await done(stage, "start")
        own = (await stage.do(protocol.SessionFork(session_id=session_id))).session_id
        for text in ("wrong way", "right way"):
            await stage.do(protocol.UserInput(session_id=own, text=text))
            await stage.reach(own, COMPLETED)
            await stage.do(
                protocol.SessionRollback(session_id=own)
            ) if text == "wrong way" else None
            if text == "wrong way":
                assert (await stage.store.session(own)).latest_result == ""
                await stage.do(protocol.SessionResume(session_id=own))
                await stage.reach(own, COMPLETED)
                own = (await stage.do(protocol.SessionFork(session_id=own))).session_id
        assert seen[-1] == ["right way"]
        events = await stage.store.session_events(own)
        state = State()
        for event in events:
            state = reduce(state, event)
        texts = [getattr(item, "text", "") for item in state.sessions[own].transcript.items]
        assert "wrong way" not in texts and "right way" in texts


async def test_what_was_rolled_back_is_hidden_and_not_deleted(stage: Stage) -> None:
    async with stage.play():
        session_id = await done(stage, "look around")
        before = await stage.store.session_events(session_id)
        await stage.do(protocol.SessionRollback(session_id=session_id))
        after = await stage.store.session_events(session_id)
        assert after[: len(before)] == before
        assert isinstance(after[-1].msg, protocol.SessionRolledBack)
        assert (await stage.store.session(session_id)).state is COMPLETED
        with pytest.raises(UsageError, match="no turn"):
            await stage.do(protocol.SessionRollback(session_id=session_id))


async def test_an_open_turn_is_not_rolled_back(stage: Stage) -> None:
    cue = Cue()
    stage.parts["wait"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("wait")
        await cue.there()
        with pytest.raises(WrongStateError, match="is open"):
            await stage.do(protocol.SessionRollback(session_id=session_id))


# --- retention ----------


async def pruned(stage: Stage, *session_ids: str) -> None:
    """Wait until sessions have been pruned."""

    async def there() -> bool | None:
        records = [await stage.store.session(one) for one in session_ids]
        return all(record.pruned for record in records) or None

    await stage.until(there, f"{session_ids} to be pruned")


async def test_frames_outlive_many_newer_trees_and_go_by_their_age_but_of_none_that_is_active(
    stage: Stage,
) -> None:
    stage.set(retention={"keep_trees": 2, "keep_days": 14})
    async with stage.play():
        ended = [await done(stage, f"goal {number}") for number in range(12)]
        active = [await stage.create(f"draft {number}", start=False) for number in range(3)]
        blobs = {one: await frame_named(stage, one, one.encode()) for one in (*ended, *active)}
        assert (await stage.do(protocol.SessionPrune())).session_ids == ()
        stage.now_ms = stage.clock() + 13 * 86_400_000
        await stage.do(protocol.SessionKeep(session_id=ended[2]))
        assert (await stage.do(protocol.SessionPrune())).session_ids == ()
        for digest in blobs.values():
            await stage.store.blobs.read(digest)
        stage.now_ms += 2 * 86_400_000
        loose = [one for one in ended if one != ended[2]]
        assert set((await stage.do(protocol.SessionPrune())).session_ids) == set(loose)
        for session_id, digest in blobs.items():
            if session_id in loose:
                with pytest.raises(StoreError, match="gone"):
                    await stage.store.blobs.read(digest)
            else:
                assert await stage.store.blobs.read(digest) == session_id.encode()
                assert not (await stage.store.session(session_id)).pruned
        assert of_type(await stage.msgs(ended[0]), protocol.ToolCallRequested)


async def test_the_oldest_ended_trees_lose_their_frames_while_all_take_more_than_may_be(
    stage: Stage,
) -> None:
    async with stage.play():
        kept, first, second, third = [await done(stage, f"goal {number}") for number in range(4)]
        await stage.do(protocol.SessionKeep(session_id=kept))
        digests = {
            one: await frame_named(stage, one, one.encode() * 1000)
            for one in (kept, first, second, third)
        }
        assert (await stage.do(protocol.SessionPrune())).session_ids == ()
        took = await stage.store.blobs.size_bytes()
    each = len(first) * 1000
    assert took >= 4 * each
    # Room for two of the four: the kept one and the newest.
    stage.set(retention={"keep_gb": (took - 1.5 * each) / 1e9})
    async with stage.play():
        await pruned(stage, first, second)
        assert (await stage.do(protocol.SessionPrune())).session_ids == ()
        assert await stage.store.blobs.size_bytes() <= took - 2 * each
        for session_id in (kept, third):
            assert not (await stage.store.session(session_id)).pruned
            await stage.store.blobs.read(digests[session_id])


async def test_a_tree_with_one_running_child_is_not_a_candidate_and_a_kept_one_stays(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["slow"] = waiting_at(cue)
    stage.set(retention={"keep_days": 0})
    async with stage.play():
        tree = await stage.create("parent", "slow")
        await cue.there()
        kept = await stage.create("kept", start=False)
        await stage.do(protocol.SessionKeep(session_id=kept))
        await stage.do(protocol.SessionCancel(session_id=kept))
        loose = await stage.create("loose", start=False)
        await stage.do(protocol.SessionCancel(session_id=loose))
        await pruned(stage, loose)
        assert (await stage.do(protocol.SessionPrune())).session_ids == ()
        assert not (await stage.store.session(kept)).pruned
        await stage.do(protocol.SessionKeep(session_id=kept, kept=False))
        assert (await stage.do(protocol.SessionPrune())).session_ids == (kept,)
        assert not (await stage.store.session(tree)).pruned
        await stage.do(protocol.SessionCancel(session_id=tree))
        await pruned(stage, tree)


async def test_a_tree_that_went_on_after_its_frames_were_dropped_loses_the_new_ones_too(
    stage: Stage,
) -> None:
    stage.set(retention={"keep_days": 14})
    async with stage.play():
        tree = await stage.create("parent", "part")
        await stage.reach(tree, COMPLETED)
        [part] = await stage.store.children(tree)
        digests = []
        for again in (False, True):
            if again:
                await stage.do(protocol.SessionResume(session_id=tree))
                await stage.reach(part.session_id, COMPLETED)
                await stage.reach(tree, COMPLETED)
            data = f"seen {again}".encode()
            digests.append(await frame_named(stage, part.session_id, data))
            stage.now_ms = stage.clock() + 15 * 86_400_000
            assert (await stage.do(protocol.SessionPrune())).session_ids == (tree,)
        for digest in digests:
            with pytest.raises(StoreError, match="gone"):
                await stage.store.blobs.read(digest)


async def test_a_blob_that_two_sessions_name_goes_with_the_second(stage: Stage) -> None:
    async with stage.play():
        first, second = await done(stage, "one"), await done(stage, "two")
        digest = await frame_named(stage, first, b"the same screen")
        assert await frame_named(stage, second, b"the same screen") == digest
        await stage.do(protocol.SessionDelete(session_id=first))
        assert await stage.store.blobs.read(digest) == b"the same screen"
        await stage.do(protocol.SessionDelete(session_id=second))
        with pytest.raises(StoreError, match="gone"):
            await stage.store.blobs.read(digest)


# --- deleting ----------


async def test_a_deleted_session_is_gone_from_the_store_and_from_the_picture(stage: Stage) -> None:
    async with stage.play():
        session_id = await done(stage, "look around")
        picture = await stage.core.overview()
        assert session_id in [one.session_id for one in picture.sessions]
        assert (await stage.do(protocol.SessionDelete(session_id=session_id))).session_ids == (
            session_id,
        )
        assert await stage.store.session_events(session_id) == ()
        for look in (stage.store.session, stage.core.history):
            with pytest.raises(UsageError):
                await look(session_id)
        with pytest.raises(UsageError):
            await stage.do(protocol.SessionResume(session_id=session_id))
        told = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.SessionsDeleted)
        ]
        assert told == [protocol.SessionsDeleted(session_ids=(session_id,))]


async def test_what_has_not_ended_is_not_deleted(stage: Stage) -> None:
    async with stage.play():
        draft = await stage.create("later", start=False)
        with pytest.raises(WrongStateError, match="has not ended"):
            await stage.do(protocol.SessionDelete(session_id=draft))


async def test_clear_without_all_is_refused_and_with_it_only_kept_trees_remain(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["slow"] = waiting_at(cue)
    async with stage.play():
        ended = await done(stage, "ended")
        kept = await done(stage, "kept")
        await stage.do(protocol.SessionKeep(session_id=kept))
        tree = await stage.create("parent", "slow", "slow")
        await cue.there()
        with pytest.raises(UsageError, match=r"^sessions clear requires --all$"):
            await stage.do(protocol.SessionClear())
        cleared = await stage.do(protocol.SessionClear(all=True))
        assert set(cleared.session_ids) == {ended, tree}
        assert cleared.remaining_ids == (kept,)
        assert list(cleared.failed_ids) == [kept]
        assert [one.session_id for one in await stage.store.sessions()] == [kept]


async def test_33_stubborn_sessions_end_the_clear_and_are_listed_as_remaining() -> None:
    stubborn = [f"s{number}" for number in range(33)]
    passes = 0

    async def present() -> list[str]:
        nonlocal passes
        passes += 1
        return stubborn

    async def drop(session_id: str) -> None:
        raise WrongStateError(f"{session_id} does not go.")

    cleared = await clear(present, drop)
    assert cleared.cleared == ()
    assert set(cleared.failed) == set(cleared.remaining) == set(stubborn)
    assert passes == 2


async def test_a_clear_has_at_most_32_passes() -> None:
    left = [f"s{number}" for number in range(40)]
    passes = 0

    async def present() -> list[str]:
        return list(left)

    async def drop(session_id: str) -> None:
        nonlocal passes
        if session_id == left[0]:
            passes += 1
            left.remove(session_id)
        else:
            raise WrongStateError("later")

    cleared = await clear(present, drop)
    assert passes <= 40 and len(cleared.remaining) == len(left)


async def test_trees_are_pruned_by_themselves_as_they_end(stage: Stage) -> None:
    stage.set(retention={"keep_days": 0})
    async with stage.play():
        await pruned(stage, await done(stage, "first"))


def test_of_trees_that_changed_in_the_same_millisecond_the_older_goes_first() -> None:
    newest_first = [
        TreeView(root=Session(session_id=f"s{number}", goal="g", created_ms=1, state=COMPLETED))
        for number in (3, 2, 1)
    ]
    ids = [tree.session_ids for tree in oldest_first(loose(newest_first))]
    assert ids == [("s1",), ("s2",), ("s3",)]


def test_displays_of_one_jobs_sessions_are_counted_apart() -> None:
    trees = [
        TreeView(
            root=Session(
                session_id=f"s{number}",
                goal="water",
                created_ms=number,
                job_id=job_id,
                state=COMPLETED,
            )
        )
        for number, job_id in enumerate((0, 0, 8, 7, 7))
    ]
    for pages in ([trees], [trees[:1], trees[1:]], [[one] for one in trees]):
        seen: dict[int, int] = {}
        beyond = [tree for page in pages for tree in beyond_newest(page, 1, seen)]
        assert [tree.root.session_id for tree in beyond] == ["s1", "s4"]
