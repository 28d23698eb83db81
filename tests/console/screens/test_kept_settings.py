"""Settings that keys change: in the file before the console ends, whatever is under way then."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from agent.config import load_settings
from console.app import SwitchboardApp
from console.app_parts import settings_writer
from console.app_parts.settings_writer import SettingsWriter


class App:
    def __init__(self, data_dir: Path) -> None:
        self.environ = {"SWITCHBOARD_DATA_DIR": str(data_dir)}
        self.settings = load_settings(environ=self.environ)
        self.tasks: list[asyncio.Task[Any]] = []
        self.said: list[str] = []

    def spawn(self, work: Coroutine[Any, Any, Any], *_options: object) -> None:
        self.tasks.append(asyncio.create_task(work))

    def say(self, text: str, **_tone: str) -> None:
        self.said.append(text)

    def report(self, error: Exception, _name: str) -> None:
        self.said.append(str(error))

    def kept(self) -> SettingsWriter:
        return SettingsWriter(cast(SwitchboardApp, self))

    def sort(self) -> str:
        return load_settings(environ=self.environ).ui.sort


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_writer, "QUIET_S", 0.0)


async def test_a_write_that_has_not_begun_at_the_end_loses_nothing(tmp_path: Path) -> None:
    free = threading.Event()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    busy = asyncio.get_running_loop().run_in_executor(None, free.wait)
    app = App(tmp_path)
    kept = app.kept()
    kept.keep(sort="newest")
    for _ in range(5):  # The writer is at its thread, which is not to be had.
        await asyncio.sleep(0)
    app.tasks[0].cancel()
    await asyncio.wait(app.tasks)
    kept.close()
    assert app.sort() == "newest"
    free.set()
    await busy


async def test_a_change_during_a_write_is_written_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(tmp_path)
    kept = app.kept()
    write = settings_writer.write_setting
    begun, go_on = threading.Event(), threading.Event()

    def slow(path: Path, name: str, value: object) -> None:
        begun.set()
        assert go_on.wait(30)
        write(path, name, value)

    monkeypatch.setattr(settings_writer, "write_setting", slow)
    kept.keep(sort="newest")
    assert await asyncio.to_thread(begun.wait, 30)
    kept.keep(sort="state")
    go_on.set()
    await asyncio.wait_for(asyncio.gather(*app.tasks), 30)
    assert app.sort() == "state"


async def test_a_file_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[ui\n")
    app = App.__new__(App)
    app.settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path / "other")})
    app.settings = settings_writer.replace(app.settings, config_file=tmp_path / "config.toml")
    app.tasks, app.said = [], []
    kept = app.kept()
    kept.keep(sort="newest")
    await asyncio.wait_for(asyncio.gather(*app.tasks), 30)
    kept.close()
    assert len(app.said) == 1 and "config.toml" in app.said[0]
