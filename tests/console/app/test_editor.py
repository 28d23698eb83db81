"""The operator's editor: which one, what it is given, and what becomes of the copy."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from agent.errors import UsageError
from agent.protocol import QuestionAnswered, RequestUserInput, ToolCallRequested
from agent.records import Question
from console.terminal.editor import editor_command, private_copy
from tests.console.conftest import Open
from tests.console.fakes import FakeCore
from tests.console.screens.test_replay_acts import REPLY, replaying
from tests.console.script import configure, evening, run, step

SCRIPT = """
import os, stat, sys
record, path = sys.argv[1], sys.argv[-1]
modes = [stat.S_IMODE(os.stat(p).st_mode) for p in (path, os.path.dirname(path))]
said = f"{path}\\n{modes[0]:o} {modes[1]:o}\\n" + open(path, encoding="utf-8").read()
open(record + ".part", "w", encoding="utf-8").write(said)
os.rename(record + ".part", record)
sys.exit(int(sys.argv[2]))
"""


class Opened(NamedTuple):
    place: Path
    modes: str
    text: str


class Editor:
    def __init__(self, folder: Path) -> None:
        self.record = folder / "record"
        self._script = folder / "editor.py"
        self._script.write_text(SCRIPT, encoding="utf-8")

    def command(self, status: int = 0) -> str:
        return shlex.join([sys.executable, str(self._script), str(self.record), str(status)])

    def opened(self) -> Opened:
        place, modes, text = self.record.read_text("utf-8").split("\n", 2)
        return Opened(Path(place), modes, text)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    made = Editor(tmp_path)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", made.command())
    # Without a terminal there is none to lend; what is given to the editor is the same.
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)
    return made


LONG = "line of a prompt\n" * 500


def talked(core: FakeCore) -> None:
    evening(core)
    configure(core, "e1", "Log in")
    run(core, "e1")
    core.blobs |= {"prompt-1": (LONG + "THE END").encode(), "reply-1": REPLY}
    step(core, "e1", 1, "The first thought.")
    step(core, "e1", 2, "The second thought.")
    core.tell(
        ToolCallRequested(
            step=2,
            call_id="z2",
            tool="wait",
            arguments="{}",
            prompt_digest="prompt-1",
            reply_digest="reply-1",
        ),
        "e1",
    )
    pin = Question(question_id="p1", session_id="e1", text="The PIN?", asked_ms=1, secret=True)
    core.tell(RequestUserInput(question=pin), "e1")
    core.tell(QuestionAnswered(question_id="p1", answer="4711-secret"), "e1")


async def test_e_opens_the_whole_transcript_and_no_secret_is_in_it(
    console: Open, editor: Editor
) -> None:
    async with console(play=talked) as seat:
        seat.deck.select("e1")
        seat.deck.refresh_all()
        await seat.press("e")
        await seat.until(editor.record.exists, "the editor")
        await seat.until(lambda: not seat.app.redraw.is_paused, "the console again")
        opened = editor.opened()
        assert opened.modes == "600 700"
        assert not opened.place.parent.exists()
        assert "Changes made here are not saved." in opened.text
        for told in ("Log in", "The first thought.", "The second thought.", "The PIN?", "•••"):
            assert told in opened.text
        assert "4711" not in opened.text


async def test_e_on_a_step_opens_all_that_was_stored_of_it(console: Open, editor: Editor) -> None:
    async with console(play=talked) as seat:
        seat.deck.select("e1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) == 3, "the transcript")
        seat.deck.panes.go_to("middle", view)
        await seat.press("k", "e")
        await seat.until(editor.record.exists, "the editor")
        await seat.until(lambda: not seat.app.redraw.is_paused, "the console again")
        text = editor.opened().text
        assert editor.opened().place.name == "step-2.txt"
        assert "The second thought." in text
        assert "The first thought." not in text
        assert "Connected devices" in text, "the screen"
        assert text.count("line of a prompt") == 500
        assert "THE END" in text
        assert "→ click_element" in text, "the reply"


async def test_the_replay_opens_the_transcript_up_to_its_place(
    console: Open, editor: Editor
) -> None:
    async with console(play=talked) as seat:
        await replaying(seat, "e1")
        await seat.press("home", "l", "e")
        await seat.until(editor.record.exists, "the editor")
        await seat.until(lambda: not seat.app.redraw.is_paused, "the console again")
        assert "The first thought." in editor.opened().text
        assert "The second thought." not in editor.opened().text


async def test_an_editor_that_fails_is_said_and_the_console_goes_on(
    console: Open, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor.command(status=3))
    async with console(play=talked) as seat:
        await seat.press("e")
        await seat.see("ended with 3")
        assert not seat.app.redraw.is_paused
        assert not editor.opened().place.exists()


async def test_without_an_editor_or_a_terminal_it_says_what_to_do(
    console: Open, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(play=talked) as seat:
        monkeypatch.delenv("EDITOR")
        await seat.press("e")
        await seat.see("set $VISUAL or $EDITOR")
        monkeypatch.setattr(HeadlessDriver, "can_suspend", False)
        assert not seat.deck.can("session.editor"), "offered where there is no terminal"
        await seat.press("e")
        await seat.see("An editor needs a terminal")
        assert not editor.record.exists()


def test_visual_goes_before_editor_and_words_stay_words() -> None:
    found = {"PATH": os.environ["PATH"], "VISUAL": "sh -c 'a b'", "EDITOR": "ls"}
    assert editor_command(found) == ["sh", "-c", "a b"]
    assert editor_command(found | {"VISUAL": "  "}) == ["ls"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "No editor is set"),
        ({"EDITOR": "no-such-editor-anywhere -x"}, "is not there"),
        ({"EDITOR": "vi 'unclosed"}, "is not a command"),
        ({"VISUAL": "''"}, "is not there"),
    ],
)
def test_what_is_no_editor_is_said_with_what_to_do(said: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        editor_command({"PATH": os.environ["PATH"]} | said)
    assert "export EDITOR" in caught.value.remedy


def test_copies_that_a_killed_console_left_are_removed_and_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "opened"
    dead = 2**22 + 1  # Above the highest process number that Linux gives (proc(5), pid_max).
    for name in (f"{dead}-x", f"{os.getppid()}-y", "not-ours"):
        (folder / name).mkdir(parents=True)
    with private_copy("a text", "a.txt", tmp_path) as place:
        assert place.read_text("utf-8") == "a text"
        left = {entry.name for entry in folder.iterdir()} - {place.parent.name}
    assert left == {f"{os.getppid()}-y", "not-ours"}
    assert not place.parent.exists()


def test_a_copy_goes_also_when_what_reads_it_breaks(tmp_path: Path) -> None:
    def read() -> None:
        with private_copy("a text", "a.txt", tmp_path) as place:
            kept.append(place)
            raise KeyError

    kept: list[Path] = []
    breaks: Callable[[], None] = read
    with pytest.raises(KeyError):
        breaks()
    assert not kept[0].parent.exists()
