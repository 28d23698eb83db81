"""Whatever happens to a phone's text on its way, a fact that is read is right, or it is unknown.

Warnings between its lines, line ends of old shells, doubled, dropped and wrapped lines, an output
that ends in the middle: 200 texts a run here, and any number with `--hypothesis-profile`.
"""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.devices.facts.displays import DisplayFacts, read_displays
from agent.devices.facts.fact import Fact, Known
from agent.devices.facts.foreground import read_front
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.keyguard import read_locked
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import read_viewport_size
from agent.devices.facts.snapshot import read_snapshot
from agent.devices.facts.windows import read_secure
from tests.devices.facts.shapes import (
    NAME,
    OTHERS,
    Shown,
    bare_text,
    displays_text,
    on,
    policy_text,
    window_record,
    windows_text,
)

ANDROIDS = (9, 10, 11, 12, 13, 14, 15, 16)
WARNINGS = st.sampled_from(
    [
        "WARNING: linker: /system/lib64/libx.so has text relocations.",
        "Can't find service: miui.security",
        "Failure calling service window: Failed transaction (2147483646)",
        "警告：不支持的操作",
        "",
        "mCurrentUserId=10 mSomethingNew=[a, b]",
    ]
)
HEADINGS = ("Display: mDisplayId=", "WINDOW MANAGER ", "Window #", "KeyguardServiceDelegate")


@st.composite
def changed(draw: st.DrawFn, text: str) -> str:
    """Draw one text that something happened to, some of it more than once."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["warn", "double", "drop", "wrap", "words", "new key"])):
            case "warn":
                lines.insert(at, draw(WARNINGS))
            case "double":
                lines.insert(at, lines[at])
            case "drop" if not any(heading in lines[at] for heading in HEADINGS):
                del lines[at]
            case "wrap" if " " in lines[at].strip():
                head, _, tail = lines[at].strip().partition(" ")
                indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
                lines[at : at + 1] = [indent + head, f"{indent}    {tail}"]
            case "words":
                lines[at] += " mMakersWord=0"
            case _:
                lines.insert(at, "    mBrandNew=true mVersion=17")
    changed_text = draw(st.sampled_from(["\n", "\r\n", "\r\r\n"])).join(lines)
    cut = draw(st.one_of(st.just(len(changed_text)), st.integers(0, len(changed_text))))
    return changed_text[:cut]


@st.composite
def phones(draw: st.DrawFn) -> tuple[int, tuple[Shown, ...], bool]:
    """Draw a version, its displays in any order, and whether the window in front is secure."""
    android = draw(st.sampled_from(ANDROIDS))
    main = Shown(
        turned=draw(st.booleans()),
        locked=draw(st.booleans()) and android >= 10,
        keyboard=draw(st.sampled_from(["hidden", "shown", "flat"])),
    )
    if main.locked:
        main = on(main, focus="StatusBar" if android == 10 else "NotificationShade")
    others = draw(st.lists(st.sampled_from(OTHERS), unique=True, max_size=2))
    order = tuple(draw(st.permutations([main, *others])))
    return android, order, draw(st.booleans())


def main_of(order: tuple[Shown, ...]) -> Shown:
    return next(one for one in order if one.number == 0)


def written(android: int, order: tuple[Shown, ...], secure: bool) -> str:
    main = main_of(order)
    flags = "LAYOUT_IN_SCREEN SECURE SPLIT_TOUCH" if secure else "LAYOUT_IN_SCREEN SPLIT_TOUCH"
    records = [
        window_record(android, "com.bank/com.bank.Old", "77", flags="SECURE"),
        window_record(android, main.focus or "", main.token, flags=flags),
        window_record(android, "com.bank/com.bank.Other", "78", flags="SECURE"),
    ]
    return displays_text(android, order) + windows_text(android, order, records)


def right_or_unknown(fact: Fact[object], truth: object) -> None:
    if isinstance(fact, Known):
        assert fact.value == truth, (fact, truth)


FEW = settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))


@FEW
@given(st.data())
def test_no_fact_of_a_changed_text_is_wrong(data: st.DataObject) -> None:
    android, order, secure = data.draw(phones())
    main = main_of(order)
    text = data.draw(changed(written(android, order, secure)))
    right_or_unknown(read_secure(text), secure)
    width, height = main.size
    size = (height, width) if main.turned else main.size
    displays = read_displays(text)
    found: dict[int, DisplayFacts] = {}
    if isinstance(displays, Known):
        found = {one.number: one for one in displays.value}
    for one in order:
        if its := found.get(one.number):
            right_or_unknown(its.size, size if one.number == 0 else one.size)
            right_or_unknown(its.rotation, int(one.turned))
            right_or_unknown(its.keyguard_showing, one.locked)
    front = read_front(text)
    if isinstance(front, Known) and front.value.package:
        assert front.value.package == NAME
        assert not main.locked or android == 10
    if android >= 10:
        right_or_unknown(read_locked(text), main.locked)
        shown = read_keyboard_shown("", text)
        if main.keyboard != "flat":
            right_or_unknown(shown, main.keyboard == "shown")


@FEW
@given(st.data())
def test_no_copy_of_the_last_anr_gets_through(data: st.DataObject) -> None:
    android, order, _ = data.draw(phones())
    old = on(Shown(), focus="com.old/com.old.Main", app="com.old/.Main")
    text = data.draw(changed(bare_text(android, order, before=(old,))))
    front = read_front(text)
    if isinstance(front, Known):
        # Where the live part was cut off, only the copy is left: nothing is read of it.
        assert front.value.package != "com.old"


@FEW
@given(st.data())
def test_no_lock_of_a_changed_text_is_wrong(data: st.DataObject) -> None:
    android = data.draw(st.sampled_from((7, 8, *ANDROIDS, 17)))
    showing = data.draw(st.booleans())
    text = data.draw(changed(policy_text(android, showing=showing)))
    right_or_unknown(read_locked(text), showing)


@pytest.mark.parametrize(
    "line",
    [
        "Display: mDisplayId=0",
        "mFocusedApp=ActivityRecord{1 u0 " * 8,
        "mCurrentFocus=Window{1 u0 " * 8,
        "Window #0 Window{1 u0 a/b}: fl=A B C",
        "InsetsSource type=ime " * 8,
        "DisplayViewport{valid=true displayId=0 " * 8,
        "KeyguardServiceDelegate showing=",
        "{" * 300,
        "mWakefulness=" * 20,
    ],
)
def test_readers_take_time_in_proportion_to_the_text(line: str) -> None:
    def seconds(times: int) -> float:
        text = f"{line}\n" * times + line * times
        began = time.process_time()
        read_snapshot({"displays": text})
        read_secure(text)
        read_front(text)
        read_locked(text)
        read_awake(text)
        read_viewport_size(text)
        return time.process_time() - began

    short = min(seconds(200) for _ in range(3))
    # Eight times the text takes some eight times as long; a square of it would be sixty-four.
    assert seconds(1600) < 30 * max(short, 0.005)
