"""Lend the terminal to the operator's own editor, with a private copy of a text in it.

Nothing is changed by it: what is written into the copy is dropped, and the copy says so.
Invariants: the copy is readable by its owner alone and gone when the editor has ended; the core and
the console go on meanwhile and only their pictures wait; whatever the editor came to, the terminal
is taken back.
"""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from agent.errors import SwitchboardError, UsageError
from agent.text import one_line
from console.keys.keymap import Keymap
from console.terminal.signals import keyboard_lent

_FOLDER = "opened"
_NAMES = ("VISUAL", "EDITOR")
_HOW = 'Name one before the console is started, as in: export EDITOR="nano"'
_NOT_KEPT = "A copy to read. Changes made here are not saved.\n\n"
_WAITING = (
    "sh",
    "-c",
    '"$@"; code=$?; printf "\\nPress enter to go back. "; read -r _; exit $code',
    "sh",
)
"""Runs the words after it, and waits for enter, so that their last lines can be read."""
_CLOSE_S = 2.0  # How long an editor may take to end when the console is ended under it.


class Drawing(Protocol):
    """What draws on the terminal."""

    def pause(self) -> None:
        """Draw nothing until `resume`."""

    def resume(self) -> None:
        """Draw again, all that was missed."""


class TerminalOwner(Protocol):
    """The console, as a program sees it that the terminal is lent to."""

    keys: Keymap
    data_dir: Path | None

    @property
    def redraw(self) -> Drawing:
        """What waits meanwhile."""

    @property
    def has_terminal_to_lend(self) -> bool:
        """Whether another program could have the terminal for a while; a browser is none."""

    def suspend(self) -> AbstractContextManager[None]:
        """Leave the terminal to another program within the context."""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """Return the words of the operator's editor: `$VISUAL`, else `$EDITOR` (environ(7)).

    Raises:
        UsageError: neither is set, or what is set is no command of this machine.
    """
    for name in _NAMES:
        said = environ.get(name, "").strip()
        if not said:
            continue
        try:
            words = shlex.split(said)
        except ValueError as error:
            what = f"${name} is not a command: {one_line(said, 80)} ({error})."
            raise UsageError(what, _HOW) from None
        if not words or shutil.which(words[0], path=environ.get("PATH")) is None:
            what = f"The editor of ${name} is not there: {one_line(said, 80)}."
            raise UsageError(what, _HOW)
        return words
    raise UsageError("No editor is set: set $VISUAL or $EDITOR.", _HOW)


@contextmanager
def private_copy(text: str, name: str, data_dir: Path | None) -> Iterator[Path]:
    """Keep a text in a file that only its owner may read, for as long as the block lasts.

    Args:
        text: what the file holds.
        name: the file's name, without a folder.
        data_dir: where to keep it; the system's place for such files when None.

    Raises:
        OSError: it cannot be written.
    """
    folder = None if data_dir is None else data_dir / _FOLDER
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _drop_orphans(folder)
    # mkdtemp makes it 0700; by the process in its name what a crash leaves is known as such.
    own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder))
    try:
        place = own / name
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        yield place
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _drop_orphans(folder: Path) -> None:
    """Remove the copies of processes that are gone: one that was killed could not."""
    for left in folder.iterdir():
        number = left.name.partition("-")[0]
        if number.isascii() and number.isdigit() and not _lives(int(number)):
            shutil.rmtree(left, ignore_errors=True)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


async def read_in_editor(app: TerminalOwner, text: str, name: str) -> None:
    """Show a text in the operator's editor, and come back when that has ended.

    Raises:
        UsageError: there is no terminal to lend, or no editor.
        SwitchboardError: the copy could not be written, or the editor failed.
    """
    if not app.has_terminal_to_lend:
        what = "An editor needs a terminal, and this console is not on one."
        raise UsageError(what, f"Copy it on the Deck: {app.keys.name('session.copy')}.")
    words = editor_command(os.environ)
    try:
        with private_copy(_NOT_KEPT + text, name, app.data_dir) as place:
            code = await lend_terminal(app, [*words, str(place)])
    except OSError as error:
        what = f"The copy for the editor could not be written: {error.strerror or error}."
        raise SwitchboardError(what, "Check that the data directory has free space.") from error
    if code:
        what = f"The editor ended with {code}: {one_line(Path(words[0]).name, 60)}."
        raise SwitchboardError(what, f"Try it in a shell: {one_line(shlex.join(words), 80)}")


async def lend_terminal(app: TerminalOwner, command: list[str], *, waits: bool = False) -> int:
    """Run a program on the terminal.

    Args:
        app: the console, whose pictures wait meanwhile; the core goes on.
        command: the program and its words.
        waits: keep its last lines on the terminal until enter is pressed.

    Returns:
        Its exit status, or the signal that ended it.
    """
    app.redraw.pause()
    try:
        # Textual resumes only when nothing was raised inside, but for the end of the console.
        with keyboard_lent(), app.suspend():
            return await _run([*_WAITING, *command] if waits else command)
    finally:
        app.redraw.resume()


async def _run(command: list[str]) -> int:
    try:
        process = await asyncio.create_subprocess_exec(*command)
    except OSError:
        # It was there a moment ago; the status is that of a shell that does not find a command.
        return 127
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _CLOSE_S)
            except TimeoutError:
                process.kill()
