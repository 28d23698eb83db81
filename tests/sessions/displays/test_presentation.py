"""The rules of presentation: required against actual, and the relaunch guard."""

import pytest

from agent.errors import DeviceError
from agent.records import (
    Session,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
)
from agent.sessions.rules.presentation import (
    agrees,
    derived_runtime,
    rollup_presented,
    summary_line,
)
from agent.tools.relaunch import launch, refusal
from tests.fakes import FakeFleet
from tests.sessions.screens import Screens

ATTACHED, CHOICE = TargetPresentation.ATTACHED, TargetPresentation.AGENT_CHOICE
HIDDEN, SHOWN = TargetPresentation.DETACHED_HIDDEN, TargetPresentation.DETACHED_SHOWN
COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
RUNNING = SessionState.RUNNING
APP = "org.example.app"


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
    rolled = rollup_presented([child(ATTACHED, HIDDEN)])
    assert (rolled.state, rolled.attach) == (RUNNING, ("c",))


def test_required_hidden_and_actually_shown_fails_the_parent_with_the_mismatch() -> None:
    rolled = rollup_presented([child(HIDDEN, SHOWN)])
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
    assert rollup_presented([child(required, actual)]).state is state
    assert agrees(required, actual) is (state is COMPLETED)


def test_what_could_not_be_attached_fails_and_only_completed_children_are_held_to_it() -> None:
    assert rollup_presented([child(ATTACHED, HIDDEN)], {"c"}).state is FAILED
    working = child(ATTACHED, HIDDEN, RUNNING, "d")
    assert rollup_presented([child(HIDDEN, SHOWN), working]).state is RUNNING
    cancelled = child(HIDDEN, ATTACHED, SessionState.CANCELLED, "e")
    assert rollup_presented([child(CHOICE, ATTACHED), cancelled]).state is COMPLETED


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
    fleet = FakeFleet("phone-1")
    device = await fleet.device("phone-1")
    fleet.displays["phone-1"] = Screens(device)
    detached = child(HIDDEN, HIDDEN, RUNNING)
    with pytest.raises(DeviceError, match="exit code 64"):
        await launch(device, APP, detached)
    await launch(device, "org.example.other", detached)
    await launch(device, APP, child(ATTACHED, ATTACHED, RUNNING))
    # A display itself has no displays: what is started there stays there.
    del fleet.displays["phone-1"]
    await launch(device, APP, detached)
    started = [deed for deed in device.done if deed.startswith("launch")]
    assert started == ["launch org.example.other", f"launch {APP}", f"launch {APP}"]
