"""The rooms inside the packages: small floors, imports one way, a picture that is true."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from scripts.class_sizes import class_sizes
from scripts.rooms import (
    CONSOLE_PICTURE,
    PICTURE,
    ROOT,
    Graph,
    circle,
    imports,
    modules,
    pictures,
    rooms,
)

# One worker reads the sources, and no other needs to.
pytestmark = pytest.mark.xdist_group("doors")

MOST_ON_A_FLOOR = 20
ONE_WAY = (
    "agent",
    "agent.devices",
    "agent.devices.scrcpy",
    "agent.language",
    "agent.loop",
    "agent.models",
    "agent.protocol",
    "agent.safety",
    "agent.sessions",
    "agent.store",
    "agent.tools",
    "console",
    "console.commands",
    "console.screens",
    "widgets",
)
"""The packages whose rooms import each other one way."""

MOST_METHODS = 40


@cache
def graph() -> Graph:
    return imports()


def test_no_floor_holds_more_modules_than_a_reader_can_see() -> None:
    others = ("bench", "scripts", "tests", "virtual_phone/src", "virtual_phone/tests")
    floors = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in (
            *modules().values(),
            *(path for room in others for path in (ROOT / room).rglob("*.py")),
        )
        if path.name != "__init__.py"
    )
    assert {room: n for room, n in floors.items() if n > MOST_ON_A_FLOOR} == {}


def test_no_class_has_more_methods_than_a_reader_can_keep_apart() -> None:
    assert {k: n for k, n in class_sizes().items() if n > MOST_METHODS} == {}


@pytest.mark.parametrize("package", ONE_WAY)
def test_rooms_of_a_package_import_each_other_one_way(package: str) -> None:
    assert circle(rooms(graph(), package)) == []


def test_no_module_is_in_a_circle() -> None:
    assert circle(graph()) == []


@pytest.mark.parametrize("picture", [PICTURE, CONSOLE_PICTURE], ids=lambda one: one.name)
def test_the_pictures_of_the_rooms_are_drawn_from_the_imports(picture: Path) -> None:
    assert picture.read_text(encoding="utf-8") == pictures()[picture], "run: make docs"
