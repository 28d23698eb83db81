"""The console before its core: what it shows and takes meanwhile, and how it ends without one."""

import asyncio
import fcntl
import os
import pty
import select
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

import pytest
from textual.events import Key

from agent.config import load_settings
from agent.core import Core
from agent.errors import StoreError
from agent.protocol import Interrupt, JobList
from agent.store.database.schema import APPLICATION_ID
from console.app import SwitchboardApp
from console.core.core_opening import flush_pending
from console.core.deferred_core import DeferredCore
from console.core.device_setup import Phones
from console.core.host import Host
from support.adb import free_port
from tests.console.conftest import Seat
from tests.console.fakes import FakeCore
from tests.console.screens.test_phone_text import Phone, taps
from tests.console.script import evening
from tests.end_to_end.harness import end_all_of

ROOT = Path(__file__).parent.parent.parent.parent
BOUND_S = 90.0
CTRL_Q = b"\x11"
LEFT = b"\x1b[?1049l"  # A terminal is given back its own screen (xterm, DECRST 1049).


async def _never() -> bool:
    await asyncio.Event().wait()
    return True


def _host(core: FakeCore) -> Host:
    return Host(cast(Core, core), phones=cast(Phones, None), closed=_never)


@asynccontextmanager
async def waiting(
    tmp_path: Path, core: FakeCore, coming: DeferredCore, *, looks: bool = False
) -> AsyncIterator[tuple[SwitchboardApp, Seat]]:
    """Run a console whose core is not there yet; `looks`: it shows what is stored meanwhile."""
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    app = SwitchboardApp(coming, settings=settings)
    if looks:
        app.first_look = coming.first_look
    try:
        async with app.run_test(size=(160, 50)) as pilot:
            yield app, Seat(app, pilot, core)
            assert app.errors.recent_s == []
    finally:
        await app.close()


async def test_the_console_says_that_it_opens_and_fills_in_when_the_core_is_there(
    tmp_path: Path,
) -> None:
    core, coming = FakeCore(), DeferredCore()
    evening(core)
    async with waiting(tmp_path, core, coming) as (app, seat):
        await seat.see("opening …")
        await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
        text = seat.text()
        assert "Opening …" in text
        for known_later in ("No sessions", "Nothing is waiting", "No devices", "0 devices"):
            assert known_later not in text
        # The other screens know as little, and say so.
        for key, unknown in (("2", "No devices"), ("4", "Nothing is stored")):
            await seat.press(key)
            assert unknown not in seat.text()
        await seat.press("1")
        await seat.pilot.resize_terminal(100, 30)
        # What is asked meanwhile is carried out, once.
        await seat.press("ctrl+x")
        assert core.ops == []
        coming.set_host(_host(core))
        await seat.until(lambda: app.bridge.state.event_id == len(core.stored), "the picture")
        await seat.until(lambda: core.ops == [Interrupt()], "the op of the key")
        await seat.until(lambda: "pening …" not in seat.text(), "the end of the opening")


async def test_keys_for_a_phone_or_a_question_wait_until_the_core_has_told_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
    idle, core, coming = Phone(), FakeCore(), DeferredCore()
    idle.play(core)
    async with waiting(tmp_path, core, coming) as (app, seat):
        await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
        typed = (("t", "t"), ("down", None), ("enter", "\r"), ("z", "z"), ("w", "w"))
        for name, character in typed:
            app.post_message(Key(name, character))
        await seat.until(lambda: app.gate.waiting == len(typed) - 1, "keys that wait")
        assert core.ops == []
        coming.set_host(_host(core))
        await seat.until(lambda: taps(seat) == ["Bluetooth"], "the tap of enter")
        await seat.until(lambda: app.gate.is_idle, "the end of the keys")


async def test_keys_that_move_in_a_list_wait_until_there_is_one(tmp_path: Path) -> None:
    core, coming = FakeCore(), DeferredCore()
    evening(core)
    async with waiting(tmp_path, core, coming) as (app, seat):
        await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
        typed = (("G", "G"), ("up", None), ("enter", "\r"), ("p", "p"))
        for name, character in typed:
            app.post_message(Key(name, character))
        await seat.until(lambda: app.gate.waiting == len(typed) - 1, "keys that wait")
        coming.set_host(_host(core))
        await seat.until(lambda: app.gate.is_idle, "the end of the keys")
        ids = [row.key for row in seat.deck.sessions.rows]
        assert len(ids) > 2
        assert seat.deck.selected == ids[-2]
        assert seat.deck.focused is not seat.deck.sessions, "enter opened the row"


async def test_what_is_stored_is_shown_while_the_core_is_still_opened(tmp_path: Path) -> None:
    core, coming = FakeCore(), DeferredCore()
    evening(core)
    async with waiting(tmp_path, core, coming, looks=True) as (app, seat):
        await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
        coming.set_stored(await core.overview())
        await seat.until(lambda: bool(app.bridge.state.sessions), "what is stored")
        await seat.until(lambda: "Sessions 4" in seat.text(), "the sessions")
        assert "opening …" in seat.text()
        # What had failed before is no news, neither now nor when the core is there.
        old = app.seen
        coming.set_host(_host(core))
        await seat.until(lambda: "pening …" not in seat.text(), "the end of the opening")
        assert app.seen == old


async def test_another_process_s_core_is_not_looked_at_before_it_answers() -> None:
    core, coming = FakeCore(), DeferredCore()
    looking = asyncio.ensure_future(coming.first_look())
    coming.set_host(_host(core))
    assert await asyncio.wait_for(looking, BOUND_S) is None


async def test_a_caller_that_gives_up_does_not_keep_the_core_from_the_others() -> None:
    core, coming = FakeCore(), DeferredCore()
    evening(core)
    first = asyncio.ensure_future(coming.overview())
    second = asyncio.ensure_future(coming.overview())
    await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
    first.cancel()
    await asyncio.wait({first})
    coming.set_host(_host(core))
    assert (await second).event_id == len(core.stored)
    async with coming.events(after=0) as events:
        assert (await anext(events)).event_id == 1


async def test_a_stop_that_was_pressed_is_carried_out_though_the_console_was_left_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    core, coming = FakeCore(), DeferredCore()
    pressed = asyncio.ensure_future(coming.request(Interrupt()))
    looked = asyncio.ensure_future(coming.request(JobList()))
    await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
    for caller in (pressed, looked):
        caller.cancel()
    await asyncio.wait({pressed, looked})
    assert coming.pending_ops == 1
    holding = asyncio.ensure_future(_never())
    leaving = asyncio.ensure_future(flush_pending(coming, holding))
    coming.set_host(_host(core))
    await asyncio.wait_for(leaving, BOUND_S)
    holding.cancel()
    assert core.ops == [Interrupt()] and coming.pending_ops == 0
    assert "executed before the console closes" in capsys.readouterr().err


async def test_what_cannot_be_carried_out_because_no_core_came_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def failing() -> bool:
        raise StoreError("It is another program's.", "Look.")

    coming = DeferredCore()
    pressed = asyncio.ensure_future(coming.request(Interrupt()))
    await asyncio.wait_for(coming.wanted.wait(), BOUND_S)
    holding = asyncio.ensure_future(failing())
    await asyncio.wait_for(flush_pending(coming, holding), BOUND_S)
    assert "were not executed" in capsys.readouterr().err
    assert isinstance(holding.exception(), StoreError)
    pressed.cancel()
    await asyncio.wait({pressed})


def test_the_first_paint_imports_nothing_of_a_core_a_picture_or_another_screen() -> None:
    before = (
        "console.core.deferred_core, console.commands.console, console.core.hangup, "
        "console.core.core_opening"
    )
    listed = subprocess.run(
        [sys.executable, "-c", f"import sys, console.app, {before}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout.split()
    later = {
        "PIL",
        "agent.runtime.runtime",
        "agent.safety.policy",
        "agent.store.embedded.sqlite_store",
        "aiosqlite",
        "av",
        "console.core.host",
        "console.screens.history.history",
        "console.screens.jobs.jobs",
        "console.screens.history.replay",
        "console.screens.settings",
        "console.screens.wall",
        "numpy",
        "openai",
    }
    assert "console.screens.deck.deck" in listed
    assert later.isdisjoint(listed)


class _Console:
    """The real program on a real terminal, with a data directory and no phones."""

    def __init__(self, home: Path) -> None:
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self.written = b""
        self.missed_port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "SWITCHBOARD_DATA_DIR": str(home / "data"),
                "ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{self.missed_port}",
                "ADB_MDNS": "0",
                "ADB_USB": "0",
            },
            start_new_session=True,
        )
        os.close(theirs)

    def see(self, text: bytes) -> None:
        """Read until a text was written."""
        until = time.monotonic() + BOUND_S
        while text not in self.written:
            assert time.monotonic() < until, self.written[-2_000:]
            assert self._read(), self.written[-2_000:]

    def press(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def end(self) -> int:
        """Read until nobody writes any more; returns the exit code."""
        until = time.monotonic() + BOUND_S
        while self._read():
            assert time.monotonic() < until, self.written[-2_000:]
        return self.process.wait(BOUND_S)

    def _read(self) -> bool:
        if select.select([self.terminal], [], [], 0.2)[0]:
            try:
                self.written += os.read(self.terminal, 65_536)
            except OSError:
                return False
        return True

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@contextmanager
def _console(home: Path) -> Iterator[_Console]:
    opened = _Console(home)
    try:
        yield opened
    finally:
        opened.close()
        end_all_of(home / "data")


def _broken(data: Path) -> None:
    (data / "switchboard.db").write_bytes(b"no database, but long enough" * 200)


def _newer(data: Path) -> None:
    database = sqlite3.connect(data / "switchboard.db")
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute("PRAGMA user_version = 999")
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("spoil", "why"), [(_broken, b"switchboard.db"), (_newer, b"made by a newer Switchboard")]
)
def test_a_console_that_gets_no_core_gives_the_terminal_back_and_says_why(
    tmp_path: Path, spoil: Callable[[Path], None], why: bytes
) -> None:
    (tmp_path / "data").mkdir()
    spoil(tmp_path / "data")
    with _console(tmp_path) as console:
        assert console.end() == 1
        shown, _, after = console.written.rpartition(LEFT)
        assert b"Switchboard" in shown
        assert why in after
        assert b"Traceback" not in after


def test_the_first_keys_count_and_a_console_that_is_left_while_it_opens_opens_again(
    tmp_path: Path,
) -> None:
    with _console(tmp_path) as console:
        console.see(b"Switchboard")
        console.press(CTRL_Q)
        assert console.end() == 0
        assert LEFT in console.written
    with _console(tmp_path) as console:
        console.see(b"Switchboard")
        # In the middle of the opening: a key, and a terminal of another size.
        console.press(b"?")
        fcntl.ioctl(console.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        console.see(b"Keys")
        console.press(b"\x1b")
        console.see(b"No sessions yet")
        # The operator's adb server is missed: that is said, and keeps nobody out.
        console.see(f"adb at 127.0.0.1:{console.missed_port} is away".encode())
        console.see(b"start-server")
        console.press(CTRL_Q)
        assert console.end() == 0
