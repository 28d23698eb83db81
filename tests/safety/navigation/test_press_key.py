"""What a press is known by: whatever tells a control from its twin makes another press of it."""

from collections.abc import Callable, Mapping

import msgspec
import pytest
from msgspec.structs import replace

from agent.records import Element, Observation
from agent.safety.effects.acts import Act, ActKind
from agent.safety.navigation.known_presses import KnownPresses
from agent.safety.navigation.press_key import PressKey, press_key
from bench.redteam.screens import observe

APP = "com.home.app"
VERSIONS = {APP: 7}
PAGE = """app com.home.app .Main
title Devices
row Front door | Locked
row Hallway | 2 lamps
row Study | 1 lamp
row Kitchen | 3 lamps
button Add a device
text All is well"""
PRESSED = "Study"


def screen(text: str = PAGE) -> Observation:
    return observe(text, at_ms=1)


def element(page: Observation, label: str = PRESSED) -> Element:
    return next(e for e in page.elements if e.label.startswith(label))


def key(
    page: Observation, label: str = PRESSED, versions: Mapping[str, int] = VERSIONS
) -> PressKey | None:
    act = Act(kind=ActKind.PRESS, element=element(page, label))
    return press_key((act,), page, versions)


def with_pressed(page: Observation, **changed: object) -> Observation:
    pressed = element(page)
    changed_one = replace(pressed, **changed)
    elements = tuple(changed_one if e is pressed else e for e in page.elements)
    return replace(page, elements=elements)


def test_the_same_press_is_known_again_whatever_its_neighbours_tell() -> None:
    first = key(screen())
    assert first is not None
    other = (
        PAGE.replace("2 lamps", "5 lamps").replace("Locked", "Open").replace("1 lamp", "9 lamps")
    )
    assert key(screen(other)) == first


@pytest.mark.parametrize("label", ["Study", "Add a device"])
def test_a_press_that_was_stored_is_the_same_press(label: str) -> None:
    page = screen(f"{PAGE}\nrow Help\nrow About")
    stored = msgspec.json.decode(msgspec.json.encode(element(page, label)), type=Element)
    act = Act(kind=ActKind.PRESS, element=stored)
    found = press_key((act,), page, VERSIONS)
    assert found is not None and found == key(page, label)


TWINS: dict[str, Callable[[Observation], Observation]] = {
    "another name": lambda page: with_pressed(page, label="Study lamp"),
    "another build of its row": lambda page: with_pressed(page, label="Study | on | 1 lamp"),
    "another class": lambda page: with_pressed(page, class_name="android.view.View"),
    "another id": lambda page: with_pressed(page, resource_id="com.home.app:id/toggle"),
    "another kind": lambda page: with_pressed(page, kind="chip"),
    "held for long": lambda page: with_pressed(page, long_clickable=True),
    "chosen": lambda page: with_pressed(page, selected=True),
    "another page's text": lambda _: screen(PAGE.replace("All is well", "A press rings the bell")),
    "another page's title": lambda _: screen(PAGE.replace("title Devices", "title Scenes")),
    "another activity": lambda _: screen(PAGE.replace(".Main", ".Scenes")),
    "another button beside it": lambda _: screen(PAGE.replace("Add a device", "Run it")),
    "an amount on the page": lambda _: screen(PAGE.replace("All is well", "All is well $5.00")),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_is_another_press(twin: str) -> None:
    assert key(TWINS[twin](screen())) != key(screen())


def test_another_version_of_the_app_is_another_press() -> None:
    page = screen()
    assert key(page, versions={APP: 8}) != key(page)
    assert key(page, versions={"com.other.app": 7}) is None


UNKNOWABLE: dict[str, Callable[[Observation], Observation]] = {
    "a switch": lambda page: with_pressed(page, checkable=True),
    "a field": lambda page: with_pressed(page, editable=True),
    "of another app": lambda page: with_pressed(page, package="com.android.systemui"),
    "what cannot be pressed": lambda page: with_pressed(page, clickable=False),
    "on a page of the web": lambda page: replace(
        page, elements=(*page.elements, replace(page.elements[0], kind="webview"))
    ),
    "on a page that is not told": lambda page: replace(page, is_silent=True),
    "with something ticked": lambda _: screen(f"{PAGE}\nradio Ana Silva on"),
    "with a filled field": lambda _: screen(f"{PAGE}\nfield Name = Ada"),
}


@pytest.mark.parametrize("one", UNKNOWABLE)
def test_what_may_commit_something_is_never_known(one: str) -> None:
    assert key(UNKNOWABLE[one](screen())) is None


ENDS = (
    ("app com.home.app .Form\ntitle Form\nfield Name\nbutton Hand in", "Hand in"),
    ("app com.home.app .Main\ntitle Ring the bell?\nbutton Not now\nbutton Ring", "Ring"),
    ("app com.home.app .Pin\ntitle PIN\nkeypad OK", "7"),
)


@pytest.mark.parametrize(("text", "label"), ENDS)
def test_what_ends_a_page_is_never_known(text: str, label: str) -> None:
    assert key(screen(text), label) is None


@pytest.mark.parametrize("kind", [kind for kind in ActKind if kind is not ActKind.PRESS])
def test_only_a_press_is_known(kind: ActKind) -> None:
    page = screen()
    act = Act(kind=kind, element=element(page), text="x")
    assert press_key((act,), page, VERSIONS) is None
    press = Act(kind=ActKind.PRESS, element=element(page))
    assert press_key((press, press), page, VERSIONS) is None


def test_only_what_is_known_passes() -> None:
    page = screen()
    act = Act(kind=ActKind.PRESS, element=element(page))
    found = key(page)
    assert found is not None
    assert KnownPresses(VERSIONS, frozenset({found})).has((act,), page)
    assert not KnownPresses({APP: 8}, frozenset({found})).has((act,), page)
    assert not KnownPresses(VERSIONS).has((act,), page)
