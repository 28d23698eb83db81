"""The recipes of docs/recipes.md, each line of them as a shell runs it, and the verbs' statuses."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.adb import free_port
from tests.end_to_end.harness import SWITCHBOARD, Workshop, base_environment, end_all_of
from tests.end_to_end.test_daemon import daemon

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
RECIPES = re.findall(
    r"^([^\n]+):\n\n```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.M | re.S
)
MAX_LINES = 10


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workshop, str]]:
    folder = tmp_path_factory.mktemp("recipes")
    environment = base_environment(folder)
    environment["ADB_SERVER_SOCKET"] = f"tcp:127.0.0.1:{free_port()}"
    workshop = Workshop(folder / "data", environment)
    try:
        with daemon(workshop, "--phones", "1"):
            yield workshop, workshop.call("devices", "--json").json["data"][0]["serial"]
    finally:
        end_all_of(folder / "data")


def test_there_are_ten_short_recipes() -> None:
    assert len(RECIPES) == 10
    assert all(len(lines.splitlines()) <= MAX_LINES for _, lines in RECIPES)


@pytest.mark.parametrize(("title", "lines"), RECIPES, ids=[title for title, _ in RECIPES])
def test_a_recipe_does_what_it_says(
    phone: tuple[Workshop, str], tmp_path: Path, title: str, lines: str
) -> None:
    workshop, serial = phone
    program = tmp_path / "switchboard"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(SWITCHBOARD)} "$@"\n')
    program.chmod(0o755)
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=tmp_path,
        env={
            **workshop.environment,
            "PHONE": serial,
            "PATH": f"{tmp_path}:{workshop.environment['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, f"{title}\n{run.stdout}\n{run.stderr}"


@pytest.mark.slow
def test_each_end_has_its_status(phone: tuple[Workshop, str]) -> None:
    workshop, serial = phone
    assert workshop.call("devices", "tap", serial, "no such thing").code == 1
    assert workshop.call("devices", "swipe", serial, "sideways").code == 2
    assert workshop.call("devices", "launch", "nosuchphone", "Clock").code == 2
    workshop.call("devices", "press", serial, "HOME")
    # Nobody can say what is at that point, and nobody is there to be asked.
    assert workshop.call("devices", "tap", serial, "0.5,0.5", "--wait", "3").code == 3
    found = workshop.call("devices", "look", serial, "--json")
    assert found.code == 0 and found.json["elements"]
    states = {one["stateLabel"] for one in workshop.call("sessions", "list", "--json").json["data"]}
    assert states <= {"COMPLETED", "FAILED", "CANCELLED"}
    devices = json.loads(workshop.call("devices", "--json").out)["data"]
    assert [one["driver"] for one in devices] == [""]
