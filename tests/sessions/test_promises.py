"""What random lifecycles found (`tests.sessions.lifecycle`), each by itself and plainly."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.records import SessionState, TargetPresentation, TargetRuntime
from tests.sessions.lifecycle.words import said
from tests.sessions.lifecycle.world import PATIENCE_S, PHONES, World
from tests.stage import Cue, Stage, waiting_at

RUNNING, WAITING = SessionState.RUNNING, SessionState.WAITING_FOR_USER
COMPLETED, FAILED, CANCELLED = (SessionState.COMPLETED, SessionState.FAILED, SessionState.CANCELLED)
HIDDEN = TargetPresentation.DETACHED_HIDDEN
ANN, BEN = ClientInfo("c-ann", "Ann"), ClientInfo("c-ben", "Ben")


async def hidden_tree(world: World, *goals: str) -> str:
    targets = tuple(
        protocol.Target(
            objective=said(goal), serial=serial, package="org.example.app", presentation=HIDDEN
        )
        for goal, serial in zip(goals, PHONES, strict=False)
    )
    reply = await world.ask("ann", protocol.SessionCreate(goal=said("quick"), targets=targets))
    return reply.session_id


async def until(found: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await found():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited in vain for {what}") from None


@pytest.mark.parametrize(
    ("ends", "op"),
    [
        (COMPLETED, lambda top: protocol.NoticeDone(session_id=top)),
        (COMPLETED, lambda top: protocol.SessionDelete(session_id=top)),
        (RUNNING, lambda top: protocol.SessionCancel(session_id=top)),
        (COMPLETED, lambda top: protocol.SessionPrune()),
    ],
    ids=["done", "delete", "cancel", "prune"],
)
async def test_displays_are_closed_once_nobody_can_want_them_any_more(
    tmp_path: Path, ends: SessionState, op: Callable[[str], protocol.Op]
) -> None:
    world = World(tmp_path)
    if isinstance(op(""), protocol.SessionPrune):
        world.keep_trees(0)
    await world.begin()
    try:
        word = "quick" if ends is COMPLETED else "hangs"
        top = await hidden_tree(world, word, word)

        async def is_up() -> bool:
            return (await world.store.session(top)).state is ends and (
                ends is COMPLETED or sum(world.fleet.open_displays().values()) == 2
            )

        await until(is_up, "the tree")
        await world.ask("ann", op(top))

        async def is_closed() -> bool:
            return not any(world.fleet.open_displays().values())

        await until(is_closed, "the displays to close")
        if not isinstance(op(top), protocol.SessionDelete):

            async def is_told() -> bool:
                found = await world.store.children(top)
                return all(child.target_runtime is TargetRuntime.NONE for child in found)

            await until(is_told, "the records to say so")
    finally:
        await world.end()


@pytest.mark.parametrize("is_at_work", [True, False])
async def test_a_session_that_is_moved_leaves_no_display_behind_and_works_on_its_own_phone(
    tmp_path: Path, is_at_work: bool
) -> None:
    world = World(tmp_path)
    await world.begin()
    try:
        top = await hidden_tree(world, "hangs")

        async def hangs() -> bool:
            return world.fleet.open_displays()[PHONES[0]] == 1 and bool(world.gates.shown)

        await until(hangs, "the display")
        [child] = await world.store.children(top)
        if not is_at_work:
            await world.ask("ann", protocol.Interrupt(session_id=child.session_id))
        await world.ask("ann", protocol.SessionMove(session_id=child.session_id, serial=PHONES[1]))
        if not is_at_work:
            await until(nothing_open(world), "the display to close")
            await world.ask("ann", protocol.SessionResume(session_id=child.session_id))

        async def moved() -> bool:
            open_now = world.fleet.open_displays()
            there = world.fleet.driven_by()[PHONES[1]] == child.session_id
            return there and (open_now[PHONES[0]], open_now[PHONES[1]]) == (0, 1)

        await until(moved, "the display on the new phone")
    finally:
        await world.end()


def nothing_open(world: World) -> Callable[[], Awaitable[bool]]:
    async def is_closed() -> bool:
        return not any(world.fleet.open_displays().values())

    return is_closed


async def test_a_session_that_waits_in_line_since_a_restart_is_moved_out_of_it(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    await world.begin()
    try:
        ids = []
        for _ in range(2):
            op = protocol.SessionCreate(goal=said("hangs"), serial=PHONES[0])
            ids.append((await world.ask("ann", op)).session_id)
        await world.end()
        await world.begin()

        async def waits() -> bool:
            heads = world.fleet.driven_by()
            return heads[PHONES[0]] in ids

        await until(waits, "the first of the line")
        [second] = [one for one in ids if one != world.fleet.driven_by()[PHONES[0]]]
        await world.ask("ann", protocol.SessionMove(session_id=second, serial=PHONES[1]))

        async def works() -> bool:
            return world.fleet.driven_by()[PHONES[1]] == second

        await until(works, "its turn on the other phone")
    finally:
        await world.end()


async def test_a_copy_of_a_draft_whose_goal_lost_a_secret_is_a_draft(stage: Stage) -> None:
    async with stage.play():
        draft = await stage.create("pay with 4111 1111 1111 1111", start=False)
        copy = (await stage.do(protocol.SessionFork(session_id=draft))).session_id
        assert (await stage.store.session(copy)).state is SessionState.CREATED


async def test_what_was_redacted_in_a_session_goes_with_it(stage: Stage) -> None:
    async with stage.play():
        goal = "pay with 4111 1111 1111 1111"
        first = protocol.SessionCreate(goal=goal, request_id="r", serial="phone-1")
        session_id = (await stage.do(first)).session_id
        await stage.reach(session_id, COMPLETED)
        await stage.do(protocol.SessionDelete(session_id=session_id))
        # The same request makes a session with the same id.
        assert (await stage.do(replace(first, goal="look"))).session_id == session_id
        await stage.reach(session_id, COMPLETED)
        with pytest.raises(WrongStateError, match="Nothing that was redacted"):
            await stage.do(protocol.SessionLetThrough(session_id=session_id))


async def test_what_a_client_drove_is_let_go_when_it_leaves_though_one_of_it_was_deleted(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["work"] = waiting_at(cue)
    async with stage.play():
        gone = await stage.create("gone", start=False)
        driven = await stage.create("work")
        await cue.there()
        draft = protocol.SessionCreate(goal="draft", start=False, hold=True)
        draft_id = (await stage.core.request_as(ANN, draft)).session_id
        for session_id in (gone, driven):
            await stage.core.request_as(
                ANN, protocol.SessionAttach(session_id=session_id, drive=True)
            )
        await stage.do(protocol.SessionCancel(session_id=gone))
        await stage.do(protocol.SessionDelete(session_id=gone))
        await stage.core.leave(ANN)
        assert not (await stage.store.session(driven)).held
        assert (await stage.store.session(draft_id)).state is CANCELLED


async def test_a_held_draft_ends_with_the_core_that_its_client_was_connected_to(
    stage: Stage,
) -> None:
    async with stage.play():
        held = protocol.SessionCreate(goal="draft", start=False, hold=True)
        draft_id = (await stage.core.request_as(ANN, held)).session_id
        driven_id = (await stage.core.request_as(ANN, held)).session_id
        await stage.core.request_as(ANN, protocol.SessionAttach(session_id=driven_id, drive=True))
        mine = await stage.create("mine", start=False)
    async with stage.play():
        assert (await stage.store.session(draft_id)).state is CANCELLED
        assert (await stage.store.session(driven_id)).state is WAITING
        assert (await stage.store.session(mine)).state is SessionState.CREATED


@pytest.mark.parametrize("crashes", [False, True])
async def test_new_words_take_the_place_of_the_question_that_was_open(
    tmp_path: Path, crashes: bool
) -> None:
    world = World(tmp_path)
    await world.begin()
    try:
        asks = protocol.SessionCreate(goal=said("asks"), serial="phone-1")
        session_id = (await world.ask("ann", asks)).session_id

        async def is_asked() -> bool:
            return bool(await world.store.open_questions())

        await until(is_asked, "the question")
        if crashes:
            await world.end()
            await world.begin()
        else:
            await world.ask("ann", protocol.Interrupt(session_id=session_id))
        await world.ask("ann", protocol.UserInput(session_id=session_id, text=said("quick")))

        async def is_done() -> bool:
            return (await world.store.session(session_id)).state is COMPLETED

        await until(is_done, "the new words to be done")
        assert world.gates.shown[session_id] == "quick"
    finally:
        await world.end()


async def test_words_that_were_said_before_a_hint_count_when_they_are_said_again(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    await world.begin()
    try:
        op = protocol.SessionCreate(goal=said("hangs"), serial=PHONES[0])
        session_id = (await world.ask("ann", op)).session_id
        await world.ask("ann", protocol.SessionAttach(session_id=session_id, drive=True))

        async def is_asked() -> bool:
            return world.gates.shown.get(session_id) == "hangs"

        async def is_idle() -> bool:
            return (await world.store.session(session_id)).state is WAITING

        await until(is_asked, "the goal")
        await world.ask("ann", protocol.UserInput(session_id=session_id, text=said("quick")))
        world.gates.let_go(session_id)
        await until(is_idle, "the hint to be done")
        await world.ask("ann", protocol.UserInput(session_id=session_id, text=said("hangs")))
        await until(is_asked, "the goal that was said again")
        assert session_id in world.turns()
    finally:
        await world.end()


async def test_a_part_of_a_settled_tree_starts_or_hears_nothing_without_its_parent(
    stage: Stage,
) -> None:
    async with stage.play():
        parent_id = await stage.create("both", "one", "two", start=False)
        one, two = await stage.store.children(parent_id)
        await stage.do(protocol.SessionCancel(session_id=one.session_id))
        await stage.reach(parent_id, CANCELLED)
        for op in (
            protocol.SessionStart(session_id=two.session_id),
            protocol.UserInput(session_id=two.session_id, text="go"),
            protocol.SessionAttach(session_id=two.session_id, drive=True),
        ):
            with pytest.raises(WrongStateError, match=parent_id):
                await stage.do(op)
        await stage.do(protocol.SessionResume(session_id=two.session_id))
        assert (await stage.reach(parent_id, COMPLETED)).generation == 1


async def test_a_part_that_goes_on_just_as_its_tree_settles_is_not_left_without_its_parent(
    stage: Stage,
) -> None:
    async def part(context: object) -> str:
        await asyncio.Event().wait()
        return "never"

    stage.parts["hangs"] = part
    async with stage.play():
        for _ in range(10):
            parent_id = await stage.create("both", "one", "hangs")
            one, hangs = await stage.store.children(parent_id)
            await stage.reach(one.session_id, COMPLETED)
            await stage.reach(hangs.session_id, RUNNING)
            # The cancellation settles the tree, which is told as the part is to go on.
            await asyncio.gather(
                stage.do(protocol.SessionCancel(session_id=hangs.session_id)),
                stage.do(protocol.SessionResume(session_id=hangs.session_id)),
            )
            await stage.reach(hangs.session_id, RUNNING)
            await stage.reach(parent_id, RUNNING)
            await stage.do(protocol.SessionCancel(session_id=parent_id))


async def test_a_late_hint_defers_nothing_that_a_stop_of_its_turn_could_leave_behind(
    stage: Stage,
) -> None:
    cues = [Cue(), Cue()]
    calls = iter(cues)

    async def part(context: object) -> str:
        await next(calls).wait()
        return "done"

    stage.parts["work"] = part
    async with stage.play():
        session_id = await stage.create("work")
        await cues[0].there()
        await stage.core.request_as(ANN, protocol.SessionAttach(session_id=session_id, drive=True))
        await stage.core.request_as(ANN, protocol.UserInput(session_id=session_id, text="and more"))
        cues[0].go.set()
        await cues[1].there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.core.leave(ANN)
        left = await stage.store.session(session_id)
    assert (left.state, left.held, left.deferred) == (WAITING, False, None)


async def test_what_waits_in_line_since_a_restart_hears_the_operator(stage: Stage) -> None:
    stage.set(recovery={"auto_resume": True, "retries": 3})
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        await stage.create("first", serial="phone-1")
        await cue.there()
        second = await stage.create("second", serial="phone-1")
    again = Cue()
    stage.parts["first"] = waiting_at(again)
    async with stage.play():
        await again.there()
        await stage.reach(second, SessionState.QUEUED)
        await stage.do(protocol.UserInput(session_id=second, text="other words"))
        again.go.set()
        done = await stage.reach(second, COMPLETED)
    assert done.latest_result == "done: other words"


async def test_a_fork_ends_before_a_message_or_after_a_step_and_not_both(stage: Stage) -> None:
    async with stage.play():
        session_id = await stage.create("done")
        await stage.reach(session_id, COMPLETED)
        with pytest.raises(UsageError, match="not both"):
            await stage.do(
                protocol.SessionFork(session_id=session_id, before_message=0, after_step=1)
            )


async def test_who_waits_in_line_is_told_who_has_the_phone(stage: Stage) -> None:
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        first = await stage.create("first", serial="phone-1")
        await cue.there()
        second = await stage.create("second", serial="phone-1")
        queued = [
            msg for msg in await stage.msgs(second) if isinstance(msg, protocol.SessionStateChanged)
        ]
    assert queued[0].reason == f"waiting for phone-1, which {first} drives"
