"""Targets of sessions on displays of their own: hidden, shown, attached and recovered."""

import asyncio
import io

import pytest
from PIL import Image

from agent.codex_bridge.session_object import session_object
from agent.errors import WrongStateError
from agent.loop.task_context import TaskContext
from agent.protocol import SessionCancel, SessionCreate, Target, TargetControl, TargetObserved
from agent.records import (
    Point,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetRuntime,
    TargetStatus,
)
from tests.fakes import FakeDevice
from tests.sessions.screens import Screens
from tests.stage import Cue, Stage, of_type, waiting_at

ATTACHED, CHOICE = TargetPresentation.ATTACHED, TargetPresentation.AGENT_CHOICE
HIDDEN, SHOWN = TargetPresentation.DETACHED_HIDDEN, TargetPresentation.DETACHED_SHOWN
COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
APP = "org.example.app"


async def screens_of(stage: Stage) -> Screens:
    screens = Screens(await stage.fleet.device("phone-1"))
    stage.fleet.displays["phone-1"] = screens
    return screens


async def delegate(stage: Stage, presentation: TargetPresentation, package: str = APP) -> str:
    target = Target(objective="there", package=package, presentation=presentation)
    reply = await stage.do(SessionCreate(goal="delegates", targets=(target,)))
    return reply.session_id


async def delegated(stage: Stage, presentation: TargetPresentation) -> tuple[str, str, Cue]:
    """Return a parent and its child, which is at work until the cue."""
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    parent_id = await delegate(stage, presentation)
    await cue.there()
    [child] = await stage.store.children(parent_id)
    return parent_id, child.session_id, cue


async def test_a_child_that_must_stay_hidden_works_on_a_display_of_its_own_from_the_start(
    stage: Stage,
) -> None:
    screens = await screens_of(stage)
    async with stage.play():
        parent_id = await delegate(stage, HIDDEN)
        await stage.reach(parent_id, COMPLETED)
        [done] = await stage.store.children(parent_id)
    assert (done.presentation, done.target_runtime) == (HIDDEN, TargetRuntime.DETACHED_HIDDEN)
    assert done.target_display == 1 and screens.all[0].apps == [APP]
    assert not screens.all[0].is_open, "the displays end with the core"


async def test_a_child_that_must_be_shown_is_shown_when_it_is_done(stage: Stage) -> None:
    await screens_of(stage)
    async with stage.play():
        parent_id = await delegate(stage, SHOWN)
        await stage.reach(parent_id, COMPLETED)
        [done] = await stage.store.children(parent_id)
        told = of_type(await stage.msgs(done.session_id), TargetObserved)
    assert [one.runtime for one in told] == [
        TargetRuntime.DETACHED_HIDDEN,
        TargetRuntime.DETACHED_SHOWN,
    ]


@pytest.mark.parametrize("package", [APP, "org.example.absent"])
async def test_a_phone_or_an_app_that_cannot_be_detached_fails_the_child_with_the_reason(
    stage: Stage, package: str
) -> None:
    if package != APP:
        await screens_of(stage)
    async with stage.play():
        parent_id = await delegate(stage, HIDDEN, package)
        parent = await stage.reach(parent_id, FAILED)
    assert "cannot work detached" in parent.latest_error


async def test_a_lost_target_is_recovered_by_hiding_it_anew_once(stage: Stage) -> None:
    screens = await screens_of(stage)
    async with stage.play():
        _parent_id, child, _cue = await delegated(stage, HIDDEN)
        screens.all[0].is_open = False
        control = TargetControl(session_id=child, action=TargetAction.SHOW)
        shown = (await stage.do(control)).target
        assert shown is not None and shown.status is TargetStatus.OK
        assert shown.runtime is TargetRuntime.DETACHED_SHOWN and shown.display == 2
        assert screens.all[1].apps == [APP]
        capture = TargetControl(session_id=child, action=TargetAction.CAPTURE)
        taken = (await stage.do(capture)).target
        assert taken is not None
        small = Image.open(io.BytesIO(await stage.store.blobs.read(taken.digest)))
        assert (small.format, max(small.size)) == ("JPEG", 480)
        close = TargetControl(session_id=child, action=TargetAction.CLOSE)
        closed = (await stage.do(close)).target
        again = (await stage.do(close)).target
        assert closed is not None and closed.runtime is TargetRuntime.NONE
        assert again is not None and again.status is TargetStatus.NO_DETACHED_DISPLAY
        assert len(screens.all) == 2, "closing recovers nothing"


async def test_a_completed_child_is_attached_before_its_parent_completes(stage: Stage) -> None:
    screens = await screens_of(stage)
    async with stage.play():
        parent_id, child, cue = await delegated(stage, ATTACHED)
        hide = TargetControl(session_id=child, action=TargetAction.ENSURE_HIDDEN)
        hidden = (await stage.do(hide)).target
        assert hidden is not None and hidden.runtime is TargetRuntime.DETACHED_HIDDEN
        cue.go.set()
        await stage.reach(parent_id, COMPLETED)
        [done] = await stage.store.children(parent_id)
    assert done.presentation is ATTACHED and screens.all[0].apps == []


async def test_a_child_that_cannot_be_attached_fails_its_parent_and_not_itself(
    stage: Stage,
) -> None:
    screens = await screens_of(stage)
    screens.refuses_attach = True
    async with stage.play():
        parent_id, child, cue = await delegated(stage, ATTACHED)
        await stage.do(TargetControl(session_id=child, action=TargetAction.ENSURE_HIDDEN))
        cue.go.set()
        parent = await stage.reach(parent_id, FAILED)
        [done] = await stage.store.children(parent_id)
    assert done.state is COMPLETED
    assert "required ATTACHED, actual DETACHED_HIDDEN" in parent.latest_error


async def test_a_display_that_does_not_open_holds_up_nobodys_cancel(stage: Stage) -> None:
    screens = await screens_of(stage)
    async with stage.play():
        parent_id, child, _cue = await delegated(stage, CHOICE)
        screens.stuck = Cue()
        hide = TargetControl(session_id=child, action=TargetAction.ENSURE_HIDDEN)
        hiding = asyncio.create_task(stage.core.request(hide))
        await screens.stuck.there()
        await stage.do(SessionCancel(session_id=parent_id))
        assert not hiding.done()
        screens.stuck.go.set()
        result = (await hiding).target
    assert result is not None and result.status is TargetStatus.OK


async def test_only_a_session_with_an_app_of_its_own_can_be_shown(stage: Stage) -> None:
    async with stage.play():
        session_id = await stage.create("anything")
        with pytest.raises(WrongStateError):
            await stage.do(TargetControl(session_id=session_id, action=TargetAction.SHOW))


async def test_an_app_that_the_operator_hides_in_mid_turn_is_worked_on_where_it_then_is(
    stage: Stage,
) -> None:
    screens = await screens_of(stage)
    apart = FakeDevice(stage.fleet, "phone-1")
    screens.device = apart
    between = Cue()

    async def part(context: TaskContext) -> str:
        await context.device.tap(Point(x=0.1, y=0.1))
        await between.wait()
        await context.device.tap(Point(x=0.2, y=0.2))
        return "done"

    stage.parts["there"] = part
    async with stage.play():
        op = SessionCreate(goal="there", target_package=APP, serial="phone-1")
        session_id = (await stage.do(op)).session_id
        await between.there()
        moved = await stage.do(
            TargetControl(session_id=session_id, action=TargetAction.ENSURE_HIDDEN)
        )
        assert moved.target is not None and moved.target.status is TargetStatus.OK
        between.go.set()
        await stage.reach(session_id, COMPLETED)
    main = await stage.fleet.device("phone-1")
    assert [deed for deed in main.done if deed.startswith("tap")] == ["tap 0.1 0.1"]
    assert [deed for deed in apart.done if deed.startswith("tap")] == ["tap 0.2 0.2"]


async def test_an_app_that_the_operator_names_works_on_the_main_display_and_says_that_it_is_there(
    stage: Stage,
) -> None:
    screens = await screens_of(stage)
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    async with stage.play():
        op = SessionCreate(goal="there", target_package=APP, serial="phone-1")
        session_id = (await stage.do(op)).session_id
        await cue.there()
        working = await stage.store.session(session_id)
        assert session_object(working)["targetRuntime"] == "ATTACHED"
        assert working.presentation is ATTACHED
        cue.go.set()
        await stage.reach(session_id, COMPLETED)
    assert not screens.all
