"""Targets: the vectors of roll-up with policy and of the relaunch guard, and the typed calls."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from agent.devices.device import Capture, Device
from agent.devices.display import Display
from agent.errors import DeviceError, WrongStateError
from agent.protocol import SessionCancel, SessionCreate, Target, TargetControl, TargetObserved
from agent.records import (
    Frame,
    LiveFrame,
    Point,
    Session,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
)
from agent.sessions.presentation import (
    agrees,
    derived_runtime,
    roll_up_presented,
    summary_line,
)
from agent.tasks.task import TaskContext
from agent.tools.relaunch import launch, refusal
from tests.fakes import FakeDevice, FakeRack
from tests.stage import Cue, Stage, of_type, waiting_at

ATTACHED, CHOICE = TargetPresentation.ATTACHED, TargetPresentation.AGENT_CHOICE
HIDDEN, SHOWN = TargetPresentation.DETACHED_HIDDEN, TargetPresentation.DETACHED_SHOWN
COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
RUNNING = SessionState.RUNNING
APP = "org.example.app"
_drawn = io.BytesIO()
Image.new("RGB", (1080, 2400), "navy").save(_drawn, "PNG")
PICTURE = _drawn.getvalue()

# --- roll-up + policy ----------


def child(
    required: TargetPresentation,
    actual: TargetPresentation,
    state: SessionState = COMPLETED,
    session_id: str = "c",
) -> Session:
    return Session(
        session_id=session_id,
        goal="g",
        created_ms=1,
        state=state,
        target_package=APP,
        required_presentation=required,
        presentation=actual,
    )


def test_required_attached_and_actually_hidden_keeps_the_parent_running_and_asks_to_attach() -> (
    None
):
    rolled = roll_up_presented([child(ATTACHED, HIDDEN)])
    assert (rolled.state, rolled.attach) == (RUNNING, ("c",))


def test_required_hidden_and_actually_shown_fails_the_parent_with_the_mismatch() -> None:
    rolled = roll_up_presented([child(HIDDEN, SHOWN)])
    assert rolled.state is FAILED
    assert rolled.mismatches == (
        "Delegated session completed without the required final presentation; "
        f"{APP}: required DETACHED_HIDDEN, actual DETACHED_SHOWN",
    )


@pytest.mark.parametrize(
    ("required", "actual", "state"),
    [
        (ATTACHED, ATTACHED, COMPLETED),
        (ATTACHED, HIDDEN, RUNNING),
        (ATTACHED, SHOWN, RUNNING),
        (HIDDEN, ATTACHED, FAILED),
        (HIDDEN, HIDDEN, COMPLETED),
        (HIDDEN, SHOWN, FAILED),
        (SHOWN, ATTACHED, FAILED),
        (SHOWN, HIDDEN, FAILED),
        (SHOWN, SHOWN, COMPLETED),
        (CHOICE, ATTACHED, COMPLETED),
        (CHOICE, HIDDEN, COMPLETED),
        (CHOICE, SHOWN, COMPLETED),
    ],
)
def test_the_table_of_required_and_actual_presentation(
    required: TargetPresentation, actual: TargetPresentation, state: SessionState
) -> None:
    assert roll_up_presented([child(required, actual)]).state is state
    assert agrees(required, actual) is (state is COMPLETED)


def test_what_could_not_be_attached_fails_and_only_completed_children_are_held_to_it() -> None:
    assert roll_up_presented([child(ATTACHED, HIDDEN)], {"c"}).state is FAILED
    working = child(ATTACHED, HIDDEN, RUNNING, "d")
    assert roll_up_presented([child(HIDDEN, SHOWN), working]).state is RUNNING
    cancelled = child(HIDDEN, ATTACHED, SessionState.CANCELLED, "e")
    assert roll_up_presented([child(CHOICE, ATTACHED), cancelled]).state is COMPLETED


def test_a_runtime_that_no_phone_told_is_derived() -> None:
    assert derived_runtime(HIDDEN, detached=True, package=APP) is TargetRuntime.DETACHED_HIDDEN
    assert derived_runtime(ATTACHED, detached=True, package=APP) is TargetRuntime.DETACHED_LAUNCHING
    assert derived_runtime(ATTACHED, detached=False, package=APP) is TargetRuntime.ATTACHED
    assert derived_runtime(ATTACHED, detached=False, package="") is TargetRuntime.NONE


def test_the_outcome_of_a_call_is_one_line_and_says_whether_recovery_may_help() -> None:
    lost = TargetResult(
        status=TargetStatus.NO_DETACHED_DISPLAY, runtime=TargetRuntime.MISSING, message="gone"
    )
    line = summary_line(TargetAction.SHOW, lost)
    assert line == (
        "Detached target show -> NO_DETACHED_DISPLAY (runtime=MISSING, display=none): gone"
    )
    needs = {
        status: TargetResult(status=status, runtime=TargetRuntime.ATTACHED).needs_recovery
        for status in TargetStatus
    }
    assert {status for status, recovers in needs.items() if recovers} == {
        TargetStatus.NO_DETACHED_DISPLAY,
        TargetStatus.NO_TARGET_TASK,
    }
    assert TargetResult(status=TargetStatus.OK, runtime=TargetRuntime.MISSING).needs_recovery


# --- relaunch guard ----------


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("am start -n target/.X", 64),
        ("monkey -p target 1", 64),
        ("cmd activity start-activity --user 0 -p target", 64),
        ("am start-activity --package target", 64),
        ("am start --user 0 target/.Main", 64),
        ("am start --component=target/.X", 64),
        ("cd /sdcard && am start -n target/.X", 64),
        ("sh -c 'am start -n target/.X'", 64),
        ("/system/bin/am start -n target/.X", 64),
        ("am start -n other/.X", 0),
        ("monkey -p other 1", 0),
        ("cmd activity start-activity --user 0 -p other", 0),
        ("input tap 1 2", 0),
        ("am force-stop target", 0),
        ("echo am start -n target/.X", 0),
        ("am start -n 'target", 0),
        ("", 0),
    ],
)
def test_relaunch_guard_vectors(command: str, code: int) -> None:
    assert refusal(command, target_package="target", detached=True) == code
    assert refusal(command, target_package="target", detached=False) == 0


async def test_relaunch_guard_keeps_launches_on_the_main_display_off_a_detached_app() -> None:
    rack = FakeRack("phone-1")
    device = await rack.device("phone-1")
    rack.displays["phone-1"] = Screens(device)
    detached = child(HIDDEN, HIDDEN, RUNNING)
    with pytest.raises(DeviceError, match="exit code 64"):
        await launch(device, APP, detached)
    await launch(device, "org.example.other", detached)
    await launch(device, APP, child(ATTACHED, ATTACHED, RUNNING))
    # A display itself has no displays: what is started there stays there.
    del rack.displays["phone-1"]
    await launch(device, APP, detached)
    started = [deed for deed in device.done if deed.startswith("launch")]
    assert started == ["launch org.example.other", f"launch {APP}", f"launch {APP}"]


# --- the typed calls ----------


class OneDisplay:
    """A display on a phone that can have them."""

    def __init__(self, owner: Screens, number: int) -> None:
        self._owner = owner
        self.number = number
        self.size = (100, 200)
        self.is_open = True
        self.apps: list[str] = []

    @property
    def device(self) -> Device:
        return self._owner.device

    async def start_app(self, package: str, *, timeout_s: float = 10.0) -> None:
        if package == "org.example.absent":
            raise DeviceError(f"{package} has nothing to start.")
        self.apps.append(package)

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        frame = Frame(digest="", width_px=1080, height_px=2400, captured_ms=1)
        return Capture(frame=frame, data=PICTURE)

    def frames(self, *, width_px: int, height_px: int, max_hz: float) -> AsyncIterator[LiveFrame]:
        raise DeviceError("nothing is drawn here")

    async def attach(self, package: str, *, timeout_s: float = 10.0) -> None:
        if self._owner.refuses_attach:
            raise DeviceError("it will not move")
        self.apps.remove(package)

    async def close(self) -> None:
        self.is_open = False


class Screens:
    """The displays of one phone."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.all: list[OneDisplay] = []
        self.refuses_attach = False
        self.stuck: Cue | None = None

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        return ""

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        if self.stuck is not None:
            await self.stuck.wait()
        self.all.append(OneDisplay(self, len(self.all) + 1))
        return self.all[-1]

    def opened(self) -> tuple[Display, ...]:
        return tuple(one for one in self.all if one.is_open)


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeRack("phone-1"))


async def screens_of(stage: Stage) -> Screens:
    screens = Screens(await stage.rack.device("phone-1"))
    stage.rack.displays["phone-1"] = screens
    return screens


async def delegate(stage: Stage, presentation: TargetPresentation, package: str = APP) -> str:
    target = Target(objective="there", package=package, presentation=presentation)
    reply = await stage.do(SessionCreate(goal="delegates", targets=(target,)))
    return reply.session_id


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
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    async with stage.play():
        parent_id = await delegate(stage, HIDDEN)
        await cue.there()
        [child_session] = await stage.store.children(parent_id)
        screens.all[0].is_open = False
        control = TargetControl(session_id=child_session.session_id, action=TargetAction.SHOW)
        shown = (await stage.do(control)).target
        assert shown is not None and shown.status is TargetStatus.OK
        assert shown.runtime is TargetRuntime.DETACHED_SHOWN and shown.display == 2
        assert screens.all[1].apps == [APP]
        capture = TargetControl(session_id=child_session.session_id, action=TargetAction.CAPTURE)
        taken = (await stage.do(capture)).target
        assert taken is not None
        small = Image.open(io.BytesIO(await stage.store.read_blob(taken.digest)))
        assert (small.format, max(small.size)) == ("JPEG", 480)
        close = TargetControl(session_id=child_session.session_id, action=TargetAction.CLOSE)
        closed = (await stage.do(close)).target
        again = (await stage.do(close)).target
        assert closed is not None and closed.runtime is TargetRuntime.NONE
        assert again is not None and again.status is TargetStatus.NO_DETACHED_DISPLAY
        assert len(screens.all) == 2, "closing recovers nothing"


async def test_a_completed_child_is_attached_before_its_parent_completes(stage: Stage) -> None:
    screens = await screens_of(stage)
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    async with stage.play():
        parent_id = await delegate(stage, ATTACHED)
        await cue.there()
        [child_session] = await stage.store.children(parent_id)
        hide = TargetControl(session_id=child_session.session_id, action=TargetAction.ENSURE_HIDDEN)
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
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    async with stage.play():
        parent_id = await delegate(stage, ATTACHED)
        await cue.there()
        [child_session] = await stage.store.children(parent_id)
        await stage.do(
            TargetControl(session_id=child_session.session_id, action=TargetAction.ENSURE_HIDDEN)
        )
        cue.go.set()
        parent = await stage.reach(parent_id, FAILED)
        [done] = await stage.store.children(parent_id)
    assert done.state is COMPLETED
    assert "required ATTACHED, actual DETACHED_HIDDEN" in parent.latest_error


async def test_a_display_that_does_not_open_holds_up_nobodys_cancel(stage: Stage) -> None:
    screens = await screens_of(stage)
    cue = Cue()
    stage.parts["there"] = waiting_at(cue)
    async with stage.play():
        parent_id = await delegate(stage, CHOICE)
        await cue.there()
        [child_session] = await stage.store.children(parent_id)
        screens.stuck = Cue()
        hide = TargetControl(session_id=child_session.session_id, action=TargetAction.ENSURE_HIDDEN)
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
    apart = FakeDevice(stage.rack, "phone-1")
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
    main = await stage.rack.device("phone-1")
    assert [deed for deed in main.done if deed.startswith("tap")] == ["tap 0.1 0.1"]
    assert [deed for deed in apart.done if deed.startswith("tap")] == ["tap 0.2 0.2"]
