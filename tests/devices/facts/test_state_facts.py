"""The keyboard, the screen and the size of a display, as every version says them."""

import re

import pytest

from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import (
    read_natural_size,
    read_size,
    read_viewport_rotation,
    read_viewport_size,
)
from agent.devices.facts.snapshot import read_snapshot
from tests.devices.facts.shapes import (
    COVER,
    Shown,
    displays_text,
    input_method_text,
    on,
    policy_text,
    windows_text,
)

ANDROIDS = (9, 10, 11, 12, 13, 14, 15, 16)
MAIN = Shown()


def told(fact: Fact[bool]) -> bool | None:
    return fact.value if isinstance(fact, Known) else None


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
@pytest.mark.parametrize(("keyboard", "shown"), [("shown", True), ("hidden", False)])
def test_the_insets_of_the_display_outrank_what_the_service_says(
    android: int, keyboard: str, shown: bool
) -> None:
    displays = displays_text(android, [on(COVER, keyboard="shown"), on(MAIN, keyboard=keyboard)])
    said = input_method_text(android, shown=not shown, view=not shown)
    assert told(read_keyboard_shown(said, displays)) is shown
    assert told(read_keyboard_shown(said, displays, 1)) is True


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
def test_a_keyboard_of_hardware_is_not_shown(android: int) -> None:
    displays = displays_text(android, [on(MAIN, keyboard="flat")])
    assert told(
        read_keyboard_shown(input_method_text(android, shown=True, view=True), displays)
    ) is (False)
    by_view = input_method_text(android, shown=True, view=False)
    assert told(read_keyboard_shown(by_view)) is False


@pytest.mark.parametrize(
    ("frame", "shown"),
    [
        # The bar of a keyboard of hardware, at the foot and floating; emulators of Android 15, 16.
        ("[0,2337][1080,2400]", False),
        ("[336,2274][744,2400]", False),
        ("[0,1500][1080,2400]", True),
        ("Rect(0, 1500 - 1080, 2400)", True),
        ("Rect(0, 2400 - 1080, 2400)", False),
    ],
)
def test_a_bar_is_no_keyboard(frame: str, shown: bool) -> None:
    text = displays_text(16, [COVER, on(MAIN, keyboard="shown")])
    text = re.sub(r"type=ime frame=\S+", f"type=ime frame={frame}", text)
    assert told(read_keyboard_shown("mInputShown=true", text)) is shown


@pytest.mark.parametrize("android", ANDROIDS)
@pytest.mark.parametrize("shown", [True, False])
def test_the_service_is_read_where_no_insets_are_printed(android: int, shown: bool) -> None:
    bits = 3 if shown else 0
    # The input method's own flag stays set after hiding since Android 14.
    view = shown or android >= 14
    said = input_method_text(android, shown=shown, view=view, bits=bits)
    assert told(read_keyboard_shown(said)) is shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("mIsInputViewShown=true", None),
        ("mWindowVisible=false\nmIsInputViewShown=true", False),
        ("mWindowVisible=true\nmIsInputViewShown=true", True),
        ("mInputShown=true\nmInputShown=false", None),
        ("mInputShown=true mDisplayIdToShowIme=2", False),
        ("mImeWindowVis=1\nmInputShown=true", False),
        ("mImeWindowVis=0x3\nmInputShown=true", True),
        ("", None),
        ("Can't find service: input_method", None),
        ("mShowRequested=true mInputSho", None),
    ],
)
def test_a_keyboard_is_as_known_as_its_evidence(said: str, shown: bool | None) -> None:
    assert told(read_keyboard_shown(said)) is shown


@pytest.mark.parametrize(
    ("said", "awake"),
    [
        ("  mWakefulness=Awake\n  mWakefulnessChanging=false", True),
        ("  mWakefulness=Dozing\nDisplay Power: state=DOZE", False),
        ("WARNING: linker\r\n  mWakefulness=Asleep\r\n", False),
        ("  mWakefulness=Dreaming", False),
        ("Display Power: state=ON", True),
        ("Display Power: com.android.server.power.PowerManagerService$1@3f1", None),
        ("  mWakefulness=Wach", None),
        ("  mWakefulnessRaw=Awake", None),
        ("Can't find service: power", None),
        ("", None),
    ],
)
def test_a_phone_is_awake_when_it_says_so(said: str, awake: bool | None) -> None:
    assert told(read_awake(said)) is awake


@pytest.mark.parametrize("android", ANDROIDS)
def test_a_turned_display_is_read_as_it_is_turned(android: int) -> None:
    text = displays_text(android, [COVER, on(MAIN, turned=True)])
    size = read_size(text)
    assert isinstance(size, Known)
    assert size.value == (2400, 1080)
    wrapped = text.replace(" cur=", "\n      cur=").replace("\n", "\r\n")
    assert read_size(wrapped) == Known(value=(2400, 1080), line=read_size(wrapped).line)  # type: ignore[union-attr]


def test_the_viewport_of_a_display_says_its_size_too() -> None:
    # DisplayManagerService.dumpInternal, Android 10 to 14: the external display stands first.
    said = (
        "  mViewports=[DisplayViewport{type=EXTERNAL, valid=true, isActive=true, displayId=2, "
        "uniqueId='local:3', physicalPort=1, orientation=0, logicalFrame=Rect(0, 0 - 1920, 1080), "
        "physicalFrame=Rect(0, 0 - 1920, 1080), deviceWidth=1920, deviceHeight=1080}, "
        "DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, "
        "uniqueId='local:1', physicalPort=0, orientation=1, logicalFrame=Rect(0, 0 - 2400, 1080), "
        "physicalFrame=Rect(0, 0 - 2400, 1080), deviceWidth=2400, deviceHeight=1080}]"
    )
    size, turns = read_viewport_size(said), read_viewport_rotation(said)
    assert (size.value, turns.value) == ((2400, 1080), 1)  # type: ignore[union-attr]
    assert isinstance(read_viewport_size(said, 5), Unknown)


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("Physical size: 1080x2400\nOverride size: 720x1600", (720, 1600)),
        ("WARNING: linker: x\r\nPhysical size: 1080x2400\r\n", (1080, 2400)),
        ("Physical size: 0x0", None),
        ("Physical size: 99999999x1", None),
        ("Physical size: 10", None),
        ("cur=1x2", None),
        ("", None),
    ],
)
def test_the_size_before_a_turn_is_the_overridden_one(
    said: str, size: tuple[int, int] | None
) -> None:
    found = read_natural_size(said)
    assert (found.value if isinstance(found, Known) else None) == size


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
def test_a_snapshot_holds_each_fact_by_itself(android: int) -> None:
    shown = (COVER, on(MAIN, keyboard="shown", locked=True))
    answers = {
        "displays": displays_text(android, shown) + windows_text(android, shown),
        "policy": policy_text(android, showing=True),
        "input-method": input_method_text(android, shown=True, view=True),
    }
    facts = read_snapshot(answers)
    assert [one.number for one in facts.displays.value] == [0, 1]  # type: ignore[union-attr]
    assert told(facts.keyboard_shown) is True
    assert facts.keyguard.value.showing  # type: ignore[union-attr]
    # What was not asked, or said nothing, is unknown; never "no" and never empty.
    unsaid = (facts.awake, facts.battery, facts.users, facts.packages, facts.notifications)
    assert all(isinstance(one, Unknown) for one in (*unsaid, facts.launchable.packages))
