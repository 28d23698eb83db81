"""A session as a file: a page, a film or a rollout.

Invariants: a file that is there is never written over; one that was asked for in a browser goes to
that browser, and nothing of it stays on this computer.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from console.input.gate import Wait
from console.keys.controllers import Controller
from console.report.missing import missing_frames
from console.report.writing import Kind, write
from console.screens.base.console_screen import ConsoleScreen
from console.screens.dialogs.export import ExportScreen
from console.screens.history.tape import TapeController

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

_FOLDER = "exports"


class ExportController(Controller):
    """Exports.

    Args:
        screen: the replay.
        tape: what it plays, and where it is said how far an export is.
    """

    def __init__(self, screen: ConsoleScreen, tape: TapeController) -> None:
        self._screen = screen
        self._tape = tape

    @property
    def _app(self) -> "ConsoleApp":
        return self._screen.console_app

    def do_replay_export(self) -> None:
        """Write the session as a page, a film or a rollout."""
        self._app.spawn(self._offer(), "reading what is stored", Wait.OPENS)

    async def _offer(self) -> None:
        missing = await missing_frames(self._app.core, self._tape.session_id)
        if self._screen.is_current:
            self._app.push_screen(ExportScreen(missing.words), self._export)

    def _export(self, kind: Kind | None) -> None:
        if kind is not None:
            self._app.spawn(self._write(kind), f"writing {kind.value}", Wait.NOT)

    async def _write(self, kind: Kind) -> None:
        try:
            await export(self._app, self._tape.session_id, kind, self._show_progress)
        finally:
            self._tape.doing = ""

    def _show_progress(self, done: int, total: int) -> None:
        # From a thread: only a string is set, and the screen's next tick shows it.
        self._tape.doing = f"writing {100 * done // max(1, total)} %"


async def export(
    app: "ConsoleApp", session_id: str, kind: Kind, told: Callable[[int, int], None]
) -> None:
    """Write a session beside the data, or for the browser that the console is in.

    Raises:
        UsageError: it has nothing for this kind of file.
        StoreError: the file cannot be written.
    """
    name = f"session-{session_id}.{kind.suffix}"
    if app.is_web:
        with tempfile.TemporaryDirectory(prefix="switchboard-") as passing:
            place = Path(passing) / name
            await write(app.core, session_id, place, kind, told)
            # Open, it can be read to its end without a name.
            file = await asyncio.to_thread(place.open, "rb")
        app.deliver_binary(file, save_filename=name, mime_type=kind.mime_type)
        app.say(f"{name} is saved in this browser's downloads.")
        return
    folder = (app.data_dir or Path.cwd()) / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = _free(folder / name)
    await write(app.core, session_id, place, kind, told)
    app.say(f"Written: {place}")


def _free(place: Path) -> Path:
    """Return the place itself, or the first beside it that is free."""
    number = 2
    wanted = place
    while place.exists():
        place = wanted.with_stem(f"{wanted.stem}-{number}")
        number += 1
    return place
