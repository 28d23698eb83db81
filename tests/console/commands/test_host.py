"""A command in another's core: which virtual phone it takes, and when it starts one of its own."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import click

from agent.core import Core
from agent.records import DeviceInfo, DeviceState
from console.core.command_settings import to_run
from console.core.device_setup import Phones
from console.core.host import Host

LISTED = DeviceInfo(serial="p1", state=DeviceState.ONLINE, model="Virtual Phone")


class Telling:
    """A core whose pictures of its devices come one after the other; the last one stays."""

    def __init__(self, *pictures: tuple[DeviceInfo, ...]) -> None:
        self._pictures = list(pictures)

    async def overview(self) -> object:
        devices = self._pictures[0]
        if len(self._pictures) > 1:
            del self._pictures[0]
        return SimpleNamespace(devices=devices)


class OnePhone:
    """Phones of this process, of which one is started when it is asked for."""

    def __init__(self) -> None:
        self.started = 0

    async def start(self, count: int) -> tuple[str, ...]:
        self.started += count
        return ("own",)


def host(core: Telling, phones: OnePhone) -> Host:
    async def closed() -> bool:
        return True

    return Host(cast(Core, core), phones=cast(Phones, phones), closed=closed)


async def test_a_phone_that_has_not_said_yet_what_it_is_is_waited_for() -> None:
    phones = OnePhone()
    # The server tells its model at once, and it its Android a moment later.
    known = DeviceInfo(
        serial="p1", state=DeviceState.ONLINE, model="Virtual Phone", android="14", virtual=True
    )
    core = Telling((), (LISTED,), (LISTED,), (known,))
    assert await host(core, phones).start_phone() == "p1"
    assert phones.started == 0


async def test_beside_a_real_phone_a_virtual_one_is_started() -> None:
    phones = OnePhone()
    real = DeviceInfo(serial="usb", state=DeviceState.ONLINE, model="Pixel", android="15")
    own = DeviceInfo(serial="own", state=DeviceState.ONLINE)
    core = Telling((real,), (real, own))
    assert await host(core, phones).start_phone() == "own"
    assert phones.started == 1


def test_a_printed_command_leads_where_this_one_did() -> None:
    root = click.Context(click.Group("switchboard"))
    root.obj = {"data_dir": "/my data", "config": None, "fleet": None, "core": None}
    with click.Context(click.Command("run"), parent=root) as run:
        run.params = {"base_url": "http://user:word@127.0.0.1:8000/v1"}
        assert to_run("sessions resume 3f2a") == (
            "switchboard --data-dir '/my data' sessions resume 3f2a "
            "--base-url http://127.0.0.1:8000/v1"
        )
        assert "--base-url" not in to_run("sessions answer 3f2a ANSWER")
    assert to_run("sessions resume 3f2a") == "switchboard sessions resume 3f2a"


def test_a_printed_command_that_names_something_stored_is_made_for_this_store() -> None:
    root = Path(__file__).parents[3] / "console"
    wrong = [
        f"{path.relative_to(root)}: {line.strip()}"
        for room in ("commands", "core", "runs")
        for path in sorted((root / room).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"switchboard [a-z -]+ \{", line)
    ]
    assert not wrong, "use console.core.command_settings.to_run"
