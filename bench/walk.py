"""Walk the console as an operator does on a busy day: tasks, keys, seconds, and what came of them.

`python -m bench walk` sets the scene of `scripts/busy_day.py` anew for each terminal (two minutes
each), opens the real console on a pty, types, and asks the core whether the task is done; with
`--mouse` it presses and drags instead. Over a link every byte is held back for half of its round
trip each way, and passes at no more than its rate. The seconds are the console's and the core's:
nobody thinks in them.
"""

import argparse
import asyncio
import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import time
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pyte
from msgspec.structs import replace

from agent.config import load_settings
from agent.core import Core, Overview
from agent.protocol import SessionCreate
from agent.records import QuestionKind, SessionState

sys.path.insert(0, str(Path(__file__).parent.parent))

BOUND_S = 90.0
_LOOK_S = 0.05
_CHUNK_BYTES = 65_536
_READ_S = 0.6  # A card is read before it is answered.
_TURN_S = 0.15  # Between two notches of the wheel.
_KITTY = re.compile(rb"\x1b\[[<>=?][0-9;]*u")
ENTER, ESC, DOWN = "\r", "\x1b", "\x1b[B"
_SHIFT = 4  # Held while the mouse is pressed (xterm's ctlseqs, mode 1006).
_WHEEL_UP, _WHEEL_DOWN = 64, 65
_MOST_TURNS = 40  # Of the wheel, until what is looked for must have been seen.


class Link(NamedTuple):
    """What lies between the operator and the console."""

    round_trip_s: float = 0.0
    bytes_per_s: float = 0.0  # 0: as fast as it goes.


class StepTime(NamedTuple):
    name: str
    keys: int
    seconds: float
    tripped: str


class Place(NamedTuple):
    columns: int
    rows: int
    link: Link = Link()

    def __str__(self) -> str:
        size = f"{self.columns}×{self.rows}"
        if not self.link.round_trip_s:
            return size
        return (
            f"{size}, {self.link.round_trip_s * 1000:.0f} ms, {self.link.bytes_per_s / 1e6:g} MB/s"
        )


PLACES = (Place(160, 50), Place(100, 30), Place(60, 20), Place(160, 50, Link(0.2, 2e6)))


class Seat:
    """The console on a pty, whose bytes come and go over a link."""

    def __init__(self, place: Place, command: list[str], home: Path) -> None:
        self.screen = pyte.Screen(place.columns, place.rows)
        self.keys = 0
        self._link = place.link
        self._stream = pyte.ByteStream(self.screen)
        self._arriving: deque[tuple[float, bytes]] = deque()
        self._free_at_s = 0.0
        pid, self._master = pty.fork()
        if pid == 0:
            environment = {**os.environ, "HOME": str(home), "TERM": "xterm-256color"}
            os.execvpe(command[0], command, {**environment, "COLORTERM": "truecolor"})
        self._pid = pid
        size = struct.pack("HHHH", place.rows, place.columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        os.set_blocking(self._master, False)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    async def press(self, *keys: str) -> None:
        """Type keys, one after the other; they are under way for half a round trip."""
        for key in keys:
            self.keys += 1
            await self._pass(self._link.round_trip_s / 2)
            os.write(self._master, key.encode())
            await self._pass(_LOOK_S)

    async def write(self, text: str) -> None:
        """Type a text, a key for each letter."""
        await self.press(*text)

    async def click(self, text: str, *, times: int = 1) -> None:
        """Press the mouse on a text once it is seen and has stood; counted as a key each time."""
        await self.click_at(*await self.place(text), times=times)

    async def click_at(self, column: int, row: int, *, held: int = 0, times: int = 1) -> None:
        """Press the mouse at a place, counted from 1."""
        sent = f"\x1b[<{held};{column};{row}"
        self.keys += times - 1
        await self.press(f"{sent}M{sent}m" * times)

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press the mouse at a place and draw it to another, counted from 1; counted as one key."""
        (column, row), (to_column, to_row) = start, end
        down, moved = f"\x1b[<0;{column};{row}M", f"\x1b[<32;{to_column};{to_row}M"
        await self.press(f"{down}{moved}\x1b[<0;{to_column};{to_row}m")

    async def turn_until(
        self, wheel: int, at: tuple[int, int], find: Callable[[], tuple[int, int] | None], what: str
    ) -> tuple[int, int]:
        """Turn the wheel at a place until something is found; a turn of it counts as one key."""
        column, row = at
        for turn in range(_MOST_TURNS):
            if (found := find()) is not None:
                return found
            self.keys += turn == 0
            os.write(self._master, f"\x1b[<{wheel};{column};{row}M".encode())
            await self._pass(self._link.round_trip_s + _TURN_S)
        raise TimeoutError(f"{what} did not come\n{self.text}")

    def find(self, text: str) -> tuple[int, int] | None:
        """Return where a text begins, the first of several, counted from 1."""
        for row, line in enumerate(self.screen.display, 1):
            if text in line:
                return line.index(text) + 1, row
        return None

    async def place(self, text: str) -> tuple[int, int]:
        """Return where a text begins, the first of several, counted from 1."""
        await self.see(text)
        await self.rest(_READ_S)
        await self.see(text)
        found = self.find(text)
        assert found is not None
        return found

    async def see(self, *texts: str) -> None:
        """Wait until one of some texts is on the screen."""
        await self.until(lambda: any(text in self.text for text in texts), " or ".join(texts))

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        until_s = time.monotonic() + BOUND_S
        while not holds():
            if time.monotonic() > until_s:
                raise TimeoutError(f"{what} did not come\n{self.text}")
            await self._pass(_LOOK_S)

    async def rest(self, seconds: float) -> None:
        """Look at the screen for a time."""
        await self._pass(seconds)

    def close(self) -> None:
        os.kill(self._pid, 15)
        os.waitpid(self._pid, 0)
        os.close(self._master)

    async def _pass(self, seconds: float) -> None:
        """Let time pass, and what comes over the link arrive."""
        until_s = time.monotonic() + seconds
        while True:
            now_s = time.monotonic()
            if now_s >= self._free_at_s:
                try:
                    data = os.read(self._master, _CHUNK_BYTES)
                except BlockingIOError:
                    data = b""
                if data:
                    rate = self._link.bytes_per_s
                    self._free_at_s = now_s + (len(data) / rate if rate else 0.0)
                    self._arriving.append((self._free_at_s + self._link.round_trip_s / 2, data))
            while self._arriving and self._arriving[0][0] <= now_s:
                self._stream.feed(_without_kitty(self._arriving.popleft()[1]))
            if now_s >= until_s:
                return
            await asyncio.sleep(0.005)


def _without_kitty(data: bytes) -> bytes:
    """Leave out what pyte does not know: kitty's keyboard protocol, asked for and taken back."""
    return _KITTY.sub(b"", data)


class Walk:
    """One walk: a seat, the core behind it, and what each task took."""

    def __init__(self, seat: Seat, core: Core, data_dir: Path, command: list[str]) -> None:
        self.seat = seat
        self.core = core
        self.data_dir = data_dir
        self.command = command
        self.took: list[StepTime] = []

    async def task(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do a task; keep its keys, its seconds and where it tripped."""
        before, began_s = self.seat.keys, time.monotonic()
        tripped = ""
        try:
            await work()
        except (TimeoutError, AssertionError) as error:
            tripped = str(error).splitlines()[0]
            print(str(error), file=sys.stderr, flush=True)
        seconds = time.monotonic() - began_s
        self.took.append(StepTime(name, self.seat.keys - before, seconds, tripped))
        print(f"  {name}: {self.seat.keys - before} keys, {seconds:.1f} s {tripped}", flush=True)
        await self._home()

    async def core_until(self, what: str, holds: Callable[[Overview], bool]) -> None:
        """Wait until the core holds something."""
        until_s = time.monotonic() + BOUND_S
        while not holds(await self.core.overview()):
            if time.monotonic() > until_s:
                raise TimeoutError(f"{what} did not come\n{self.seat.text}")
            await self.seat.rest(_LOOK_S)

    async def _home(self) -> None:
        keys = self.seat.keys
        await self.seat.press(ESC, ESC, ESC, ESC, ESC, ESC, "1", "g")
        self.seat.keys = keys

    async def all(self) -> None:
        await self.task("approve the three actions of jobs, each read", self.approve_jobs)
        await self.task("answer three questions, one by one", self.answer_three)
        await self.task("answer the seven that are left at once", self.answer_rest)
        await self.task("approve two messages, each read", self.approve_two)
        await self.task("find the session whose phone was lost", self.find_lost)
        await self.task("read why a job failed, and run it again", self.run_again)
        await self.task("stop three sessions at once", self.stop_three)
        await self.task("clear what is read, and take that back", self.dismiss)
        await self.task("make a film of yesterday's session", self.film)
        await self.task("take the wheel and give it back", self.drive)
        await self.task("read a phone as text, and press an entry", self.press_entry)
        await self.task("make a pane wider, and let the screen decide again", self.resize)
        await self.task("group the sessions by an action found by name", self.by_name)
        await self.task("connect a model by its key", self.connect)

    async def all_by_mouse(self) -> None:
        await self.task("approve the actions of three jobs, each read", self.click_approvals)
        await self.task("answer three questions, one by one", self.click_answers)
        await self.task("stop three sessions that stand together", self.click_stop)
        await self.task("copy a sentence of a transcript", self.drag_copy)
        await self.task("drive a phone: take the wheel, tap, hand back", self.click_drive)
        await self.task("go to the end of yesterday's session", self.drag_timeline)

    # --- tasks by mouse ----------

    async def _click_option(self, kind: QuestionKind, mark: str, option: str, times: int) -> None:
        """Go to the next card by what the header says, and press an option of it."""
        asked = (await self.core.overview()).questions
        before = {question.question_id for question in asked if question.kind is kind}
        await self.seat.click("? ")
        await self.seat.see(mark)
        for _ in range(times):
            await self.seat.click(option)
        await self.core_until(
            f"the settling of “{mark}”",
            lambda now: not before <= {question.question_id for question in now.questions},
        )

    async def click_approvals(self) -> None:
        for _ in range(3):
            await self._click_option(QuestionKind.APPROVAL, "◆ Job", "1  Approve", 2)

    async def click_answers(self) -> None:
        for _ in range(3):
            await self._click_option(QuestionKind.QUESTION, "? Question", "1  “Ben", 1)

    async def click_stop(self) -> None:
        column, row = await self.seat.place("─Sessions ")
        await self.seat.click_at(column + 10, row + 1)
        await self.seat.click_at(column + 10, row + 3, held=_SHIFT)
        await self.seat.click("x stop 3")
        await self.seat.until(lambda: self.seat.text.count(" stopped ") >= 3, "three stopped")

    def _listed(self, goal: str) -> tuple[int, int] | None:
        """Return where a session stands in its list; phones and questions name its goal as well."""
        top, end = self.seat.find("─Sessions "), self.seat.find("─Waiting for you")
        if top is None or end is None:
            return None
        for row in range(top[1], end[1] - 1):
            pane = self.seat.screen.display[row].partition("▏")[0]
            if goal in pane:
                return pane.index(goal) + 1, row + 1
        return None

    async def drag_copy(self) -> None:
        goal, said = "tell Ben", "is what the goal asks"
        _, top = await self.seat.place("─Sessions ")
        found = await self.seat.turn_until(
            _WHEEL_DOWN, (10, top + 2), lambda: self._listed(goal), goal
        )
        # Where one pane has the screen, a second press opens what the first one chose.
        await self.seat.click_at(*found, times=2 if self.seat.screen.columns < 80 else 1)
        await self.seat.rest(_READ_S)
        middle = self.seat.screen.columns * 5 // 8, self.seat.screen.lines // 3
        column, row = await self.seat.turn_until(
            _WHEEL_UP, middle, lambda: self.seat.find(said), said
        )
        await self.seat.drag((column, row), (column + 20, row))
        await self.seat.see("Copied")

    @property
    def _middle(self) -> tuple[int, int]:
        return self.seat.screen.columns // 2, self.seat.screen.lines // 2

    async def _click_screen(self, tab: str, then: str) -> None:
        """Go to a screen by its tab or, where a small terminal shows none, by the palette."""
        if self.seat.find(tab) is not None:
            await self.seat.click(tab)
        else:
            await self.seat.click("^p palette")
            await self.seat.place("enter does it")
            row = f"   {tab[2:]}   "
            found = await self.seat.turn_until(
                _WHEEL_DOWN, self._middle, lambda: self.seat.find(row), tab
            )
            await self.seat.click_at(found[0] + 3, found[1], times=2)
        await self.seat.see(then)

    async def click_drive(self) -> None:
        driven = (await self.core.overview()).devices[-1].serial

        def has_wheel(now: Overview) -> bool:
            return any(one.driver == "operator" for one in now.devices if one.serial == driven)

        await self._click_screen("2 Wall", "←↓↑→ move")
        port, middle = driven.rpartition(":")[2], self._middle
        tile = await self.seat.turn_until(_WHEEL_DOWN, middle, lambda: self.seat.find(port), port)
        await self.seat.click_at(*tile, times=2)
        await self.seat.click("w drive")
        await self.core_until("the wheel", has_wheel)
        await self.seat.click_at(self.seat.screen.columns // 6, self.seat.screen.lines // 2)
        await self.seat.click("esc hand back")
        # Its session waited: it is told nothing.
        await self.seat.click("enter hand back")
        await self.core_until("the hand-back", lambda now: not has_wheel(now))

    async def drag_timeline(self) -> None:
        await self._click_screen("4 History", "enter replay")
        await self.seat.click("F filters")
        await self.seat.click(" on:yesterday   ", times=2)
        await self.seat.click("write a note", times=2)
        _, row = await self.seat.place("event 0 of")
        await self.seat.drag((2, row - 1), (self.seat.screen.columns, row - 1))
        await self.seat.until(
            lambda: bool(re.search(r"event (\d+) of \1\b", self.seat.text)), "the end"
        )

    # --- tasks ----------

    async def _settle(self, kind: QuestionKind, mark: str, key: str) -> None:
        """Go to the next card of a kind, read it, press a key, and see that it was settled."""
        asked = (await self.core.overview()).questions
        before = {question.question_id for question in asked if question.kind is kind}
        await self.seat.press("!")
        await self.seat.see(mark)
        await self.seat.rest(_READ_S)
        await self.seat.press(key)
        await self.core_until(
            f"the settling of “{mark}”",
            lambda now: not before <= {question.question_id for question in now.questions},
        )

    async def approve_jobs(self) -> None:
        for _ in range(3):
            await self._settle(QuestionKind.APPROVAL, "◆ Job", "a")

    async def answer_three(self) -> None:
        for _ in range(3):
            await self._settle(QuestionKind.QUESTION, "? Question", "1")

    async def answer_rest(self) -> None:
        await self.seat.press("/")
        await self.seat.write("Ben")
        await self.seat.press(ENTER, "*", "!")
        await self.seat.until(lambda: "? Question" in self.seat.text, "a question of the marked")
        await self.seat.rest(_READ_S)
        # Both at once: what the first one arms is forgotten before a host at work has drawn it.
        await self.seat.press("1", "1")
        await self.core_until(
            "all answers",
            lambda now: not any(q.kind is QuestionKind.QUESTION for q in now.questions),
        )

    async def approve_two(self) -> None:
        for _ in range(2):
            await self._settle(QuestionKind.APPROVAL, "◆ Approval", "a")

    async def find_lost(self) -> None:
        fault = [*self.command, "phone", "fault", "virtual-8", "disconnect", "--for", "40"]
        process = await asyncio.create_subprocess_exec(*fault, stdout=asyncio.subprocess.DEVNULL)
        await process.wait()
        await self.core_until("the loss", lambda now: any(one.lost for one in now.sessions))
        await self.seat.press(":")
        await self.seat.see("Palette")
        await self.seat.write("device away")
        await self.seat.see("! device away", "device away ")
        await self.seat.press(ENTER)
        # A small screen has one line for it, over the card that waits.
        await self.seat.see("waiting up to", "! device away  tell")

    async def run_again(self) -> None:
        [failing] = [job for job in (await self.core.overview()).jobs if "Frob" in job.prompt]
        await self.seat.press("3", "/")
        await self.seat.write("frob")
        await self.seat.press(ENTER, ENTER)
        await self.seat.see("No app called")
        await self.seat.press(ESC, "r")
        await self.core_until(
            "the run",
            lambda now: any(
                job.id == failing.id and job.updated_at > failing.updated_at for job in now.jobs
            ),
        )

    async def stop_three(self) -> None:
        goal = "turn on Bluetooth, then turn on Dark theme, then turn off Wi-Fi, then open Contacts"
        free = [one.serial for one in (await self.core.overview()).devices if not one.driver][:3]
        names = [
            (await self.core.request(SessionCreate(goal=goal, serial=one))).session_id
            for one in free
        ]
        await self.seat.press("/")
        await self.seat.write("wi-fi")
        await self.seat.press(ENTER, "*", "x")
        await self.core_until(
            "three stopped",
            lambda now: all(
                one.state is not SessionState.RUNNING
                for one in now.sessions
                if one.session_id in names
            ),
        )

    async def dismiss(self) -> None:
        def dismissed(now: Overview) -> int:
            return sum(one.dismissed for one in now.sessions)

        before = dismissed(await self.core.overview())
        await self.seat.press("D")
        await self.core_until("the dismissal", lambda now: dismissed(now) > before)
        await self.seat.press("U")
        await self.core_until("the return", lambda now: dismissed(now) == before)

    async def film(self) -> None:
        await self.seat.press("4")
        await self.seat.see("sessions")
        await self.seat.press("F", "j", ENTER)
        await self.seat.see("on:yesterday")
        await self.seat.see("write a note")
        await self.seat.press("j", "j", ENTER)
        await self.seat.see("event")
        await self.seat.press("E")
        await self.seat.see("Write as")
        await self.seat.press("j", ENTER)
        films = self.data_dir / "exports"
        await self.seat.until(lambda: any(films.glob("*.mp4")), "the film")

    async def _to_free_phone(self) -> None:
        """Select, with no key counted, a session that has ended: its phone waits for nobody."""
        keys = self.seat.keys
        await self.seat.press(":")
        await self.seat.see("Palette")
        await self.seat.write("wi-fi")
        await self.seat.press(ENTER)
        await self.seat.rest(1.0)
        self.seat.keys = keys

    async def drive(self) -> None:
        await self._to_free_phone()
        await self.seat.press("w")
        await self.seat.see("hand back", "hands back")
        await self.seat.press(ESC)
        await self.seat.until(
            lambda: "hands back" not in self.seat.text and "hand back" not in self.seat.text,
            "the hand-back",
        )

    async def press_entry(self) -> None:
        await self._to_free_phone()
        await self.seat.press("t")
        await self.seat.see("text read")
        await self.seat.press(DOWN, DOWN, ENTER)
        await self.seat.see("hand back", "hands back")

    async def resize(self) -> None:
        before = self.seat.text
        await self.seat.press(">", ">", ">")
        await self.seat.rest(1.0)
        changed = self.seat.text != before
        await self.seat.press("=")
        assert changed, "nothing moved"

    async def by_name(self) -> None:
        await self.seat.press(":")
        await self.seat.see("Palette")
        await self.seat.write("group")
        await self.seat.press(ENTER)
        await self.seat.see("by state", "asks you")

    async def connect(self) -> None:
        await self.seat.press(":")
        await self.seat.see("Palette")
        await self.seat.write("models setup groq --no-test --in-file")
        await self.seat.press(ENTER)
        await self.seat.see("by number or name")
        await self.seat.press("1", ENTER)
        await self.seat.see("Key for Groq")
        await self.seat.write("gsk-1234")
        await self.seat.press(ENTER)
        await self.seat.see("Press enter")
        await self.seat.press(ENTER)
        await self.seat.see("you start here", "that you start")


async def _walk(
    place: Place, folder: Path, command: list[str], *, by_mouse: bool
) -> list[StepTime]:
    from agent.rpc.remote_core import connect_or_none

    data_dir = folder / "data"
    settings = replace(load_settings(config_file=data_dir / "config.toml"), data_dir=data_dir)
    core = await connect_or_none(settings, name="walk")
    assert core is not None
    seat = Seat(place, command, folder)
    walk = Walk(seat, core, data_dir, command)
    try:
        await seat.see("wait for you", "waiting")
        await (walk.all_by_mouse() if by_mouse else walk.all())
    finally:
        seat.close()
        await core.close()
        process = await asyncio.create_subprocess_exec(*command, "daemon", "stop")
        await process.wait()
    return walk.took


def main(options: list[str] | None = None) -> None:
    """Walk at each terminal, or at those that are named, and print the table."""
    from scripts import busy_day

    parser = argparse.ArgumentParser(prog="python -m bench walk", description=__doc__)
    parser.add_argument("--at", type=int, nargs="*", help="which terminals: 0 to 3")
    parser.add_argument("--mouse", action="store_true", help="point and press instead of typing")
    given = parser.parse_args(options or [])
    chosen = given.at
    places = PLACES if chosen is None else tuple(PLACES[n] for n in chosen)
    columns = []
    for place in places:
        print(f"{place}:", flush=True)
        with tempfile.TemporaryDirectory(prefix="walk-", ignore_cleanup_errors=True) as folder:
            command = busy_day.set_scene(Path(folder) / "data")
            columns.append(asyncio.run(_walk(place, Path(folder), command, by_mouse=given.mouse)))
    print(f"\n| task | {' | '.join(f'{place}: keys, seconds' for place in places)} |")
    print(f"|---|{'---|' * len(places)}")
    for row in zip(*columns, strict=True):
        cells = [tripped or f"{keys}, {seconds:.1f}" for _, keys, seconds, tripped in row]
        print(f"| {row[0][0]} | {' | '.join(cells)} |")
