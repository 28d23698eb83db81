"""What a phone says of its windows is read by display, whatever the version and the order."""

import itertools

import pytest

from agent.devices.facts.displays import read_displays
from agent.devices.facts.fact import Known, Unknown
from agent.devices.facts.focus import Cover
from agent.devices.facts.foreground import read_front
from agent.devices.facts.keyguard import read_keyguard, read_locked
from agent.devices.facts.sizes import read_size
from agent.devices.facts.windows import read_secure
from tests.devices.facts.shapes import (
    CLUSTER,
    COVER,
    HDMI,
    NAME,
    Shown,
    bare_text,
    displays_text,
    on,
    policy_text,
    window_record,
    windows_text,
)

ANDROIDS = (9, 10, 11, 12, 13, 14, 15, 16)
MAIN = Shown()
ORDERS = tuple(itertools.permutations((MAIN, COVER, CLUSTER, HDMI)))


def windows_of(android: int, displays: tuple[Shown, ...]) -> str:
    return displays_text(android, displays) + windows_text(android, displays)


def value_of(fact: object) -> object:
    assert isinstance(fact, Known), fact
    assert fact.line
    return fact.value


@pytest.mark.parametrize("android", ANDROIDS)
@pytest.mark.parametrize("order", ORDERS[::5])
def test_display_0_is_read_wherever_it_stands(android: int, order: tuple[Shown, ...]) -> None:
    text = windows_of(android, order)
    assert value_of(read_size(text)) == (1080, 2400)
    assert value_of(read_front(text)).package == NAME  # type: ignore[attr-defined]
    sizes = {one.number: value_of(one.size) for one in value_of(read_displays(text))}  # type: ignore[attr-defined]
    assert sizes == {one.number: one.size for one in order}


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
@pytest.mark.parametrize("order", ORDERS[::7])
def test_a_display_without_focus_has_an_app_of_its_own(
    android: int, order: tuple[Shown, ...]
) -> None:
    front = value_of(read_front(windows_of(android, order), CLUSTER.number))
    assert front.package == "com.example.cluster"  # type: ignore[attr-defined]
    shell = value_of(read_front(windows_of(android, order), COVER.number))
    assert shell.package == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize("android", ANDROIDS)
def test_a_display_that_is_not_there_is_unknown(android: int) -> None:
    text = windows_of(android, (MAIN, COVER))
    assert isinstance(read_size(text, 7), Unknown)
    assert isinstance(read_front(text, 7), Unknown)
    assert isinstance(read_secure(text, 7), Unknown)
    assert isinstance(read_keyguard(displays_text(android, (COVER,))), Unknown)


@pytest.mark.parametrize("android", ANDROIDS)
def test_the_copy_of_the_last_anr_is_never_read(android: int) -> None:
    old = on(MAIN, focus="com.old/com.old.Main", app="com.old/.Main", turned=True, locked=True)
    text = bare_text(android, (COVER, MAIN), before=(old, COVER))
    assert value_of(read_front(text)).package == NAME  # type: ignore[attr-defined]
    assert value_of(read_size(text)) == (1080, 2400)
    assert value_of(read_locked(text)) is False


@pytest.mark.parametrize("android", ANDROIDS)
def test_lines_without_headings_are_read_as_the_last_ones(android: int) -> None:
    old = on(MAIN, focus="com.old/com.old.Main", app="com.old/.Main")
    text = bare_text(android, (MAIN,), before=(old,))
    kept = ("mCurrentFocus=", "mFocusedApp=")
    lines = "\n".join(line for line in text.splitlines() if any(key in line for key in kept))
    assert value_of(read_front(lines)).package == NAME  # type: ignore[attr-defined]


@pytest.mark.parametrize("android", (7, *ANDROIDS, 17))
@pytest.mark.parametrize("locked", [True, False])
def test_the_lock_is_known_on_every_version(android: int, locked: bool) -> None:
    assert value_of(read_locked(policy_text(android, showing=locked))) is locked


@pytest.mark.parametrize("android", [8, *ANDROIDS, 17])
def test_a_lock_screen_under_a_call_is_covered_and_still_there(android: int) -> None:
    keyguard = value_of(read_keyguard(policy_text(android, showing=True, occluded=True)))
    assert keyguard.showing  # type: ignore[attr-defined]
    assert value_of(keyguard.covered) is True  # type: ignore[attr-defined]


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
@pytest.mark.parametrize("order", ORDERS[::5])
def test_a_locked_second_display_is_not_a_locked_phone(
    android: int, order: tuple[Shown, ...]
) -> None:
    text = displays_text(android, [on(one, locked=one.number == 1) for one in order])
    assert value_of(read_locked(text)) is False
    assert value_of(read_locked(text, 1)) is True
    # The policy speaks of the main display, and says nothing of another one.
    with_policy = policy_text(android, showing=False) + text
    if android > 10:
        assert value_of(read_locked(with_policy, 1)) is True
    assert isinstance(read_locked(policy_text(android, showing=True), 1), Unknown)


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 9])
@pytest.mark.parametrize("locked", [True, False])
def test_behind_the_lock_screen_no_app_is_in_front(android: int, locked: bool) -> None:
    title = "StatusBar" if android == 10 else "NotificationShade"
    front = value_of(read_front(displays_text(android, [on(MAIN, focus=title, locked=locked)])))
    assert front.cover is Cover.SHADE  # type: ignore[attr-defined]
    assert front.package == ("" if locked else NAME)  # type: ignore[attr-defined]


@pytest.mark.parametrize("android", [one for one in ANDROIDS if one > 10])
def test_an_app_over_the_lock_screen_is_in_front(android: int) -> None:
    call = on(MAIN, focus="com.example.dialer/.Call", locked=True)
    front = value_of(read_front(displays_text(android, [call])))
    assert front.package == "com.example.dialer"  # type: ignore[attr-defined]


@pytest.mark.parametrize("android", (8, *ANDROIDS))
@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize("order", ORDERS[::9])
def test_a_secure_window_is_the_focused_one_with_the_flag(
    android: int, secure: bool, order: tuple[Shown, ...]
) -> None:
    flags = "LAYOUT_IN_SCREEN SECURE SPLIT_TOUCH" if secure else "LAYOUT_IN_SCREEN SPLIT_TOUCH"
    assert MAIN.focus
    records = [
        window_record(android, "com.bank/com.bank.Old", "77", flags="SECURE"),
        window_record(android, "com.bank/com.bank.Cover", "78", display=1, flags="SECURE"),
        window_record(android, MAIN.focus, MAIN.token, flags=flags),
    ]
    text = displays_text(android, order) + windows_text(android, order, records)
    assert value_of(read_secure(text)) is secure


@pytest.mark.parametrize("android", ANDROIDS)
def test_flags_that_are_not_printed_are_unknown(android: int) -> None:
    text = windows_of(android, (MAIN,))
    assert isinstance(read_secure(text.replace(" fl=", " gr=")), Unknown)
    # The text ends within the record of the window in front.
    cut = text[: text.index(f"Window{{{MAIN.token} u0 {MAIN.focus}}}:") + 90]
    assert isinstance(read_secure(cut), Unknown)


@pytest.mark.parametrize("android", ANDROIDS)
def test_a_phone_that_lists_no_window_says_nothing_of_secure_ones(android: int) -> None:
    assert isinstance(read_secure(displays_text(android, (MAIN,))), Unknown)
    assert isinstance(read_displays(displays_text(android, (MAIN,))), Known)
