"""What a verb of the command line prints, as it comes, in a dialog.

Runs one process without a terminal and shows its output. Invariants: closing the dialog ends the
process; its output is cleaned, and so much of it is kept as can be read.
"""

import asyncio
import shlex
import signal
from collections import deque
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from agent.child_process import end_child
from agent.text import clean, one_line
from console.input.gate import Wait
from console.screens.dialogs.dialog import Dialog, foot

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

MOST_LINES = 2000
_MOST_CHARS = 1000  # Of one line.
_CHUNK_BYTES = 65_536
_SHOW_S = 0.1
_END_S = 3.0  # How long a process may take to end once it was asked to.


class OutputScreen(Dialog[None]):
    """The output of one command.

    Args:
        words: the command as it was typed.
        command: the process's own words.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "leave", "Back", show=False, priority=True),
        Binding("y", "copy", "Copy", show=False),
        Binding("down,j", "scroll(1)", show=False, priority=True),
        Binding("up,k", "scroll(-1)", show=False, priority=True),
        Binding("pagedown,ctrl+d", "page(1)", show=False, priority=True),
        Binding("pageup,ctrl+u", "page(-1)", show=False, priority=True),
    ]

    def __init__(self, words: list[str], command: list[str]) -> None:
        super().__init__()
        self._title = one_line(shlex.join(["switchboard", *words]), 200)
        self._command = command
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._is_left = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="output") as dialog:
            dialog.border_title = Content(self._title)
            dialog.border_subtitle = Content("running · ") + foot(("esc", "stops it"))
            with VerticalScroll():
                yield Static(id="printed", markup=False)

    @property
    def _app(self) -> "ConsoleApp":
        from console.base_app import ConsoleApp

        assert isinstance(self.app, ConsoleApp)
        return self.app

    def on_mount(self) -> None:
        # Beside the keys: it may take as long as a phone or a model does.
        self._app.spawn(self._run(), self._title, Wait.NOT)
        self.set_interval(_SHOW_S, self._show)

    @property
    def text(self) -> str:
        """What was printed, as far as it is kept."""
        return "\n".join(self._lines)

    def _show(self) -> None:
        printed = self.query_one("#printed", Static)
        if self.text != str(printed.content):
            printed.update(Content(self.text))

    async def _run(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._lines.append(f"It could not be started: {error.strerror or error}.")
            self._say_end("could not be started")
            return
        self._process = process
        if self._is_left:
            process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        rest = b""
        while data := await process.stdout.read(_CHUNK_BYTES):
            *whole, rest = (rest + data).split(b"\n")
            rest = rest[-_CHUNK_BYTES:]
            self._lines.extend(_line(one) for one in whole)
        if rest:
            self._lines.append(_line(rest))
        code = await process.wait()
        self._say_end("done" if code == 0 else f"ended with status {code}")

    def _say_end(self, how: str) -> None:
        if self.is_running and self.is_attached:
            self._show()
            dialog = self.query_one("#output", Vertical)
            dialog.border_subtitle = Content(f"{how} · ") + foot(("y", "copy"), ("esc", "back"))

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by half a page."""
        pane = self.query_one(VerticalScroll)
        pane.scroll_relative(y=by * max(1, pane.size.height // 2), animate=False)

    def action_copy(self) -> None:
        self._app.copy(self.text)

    def action_leave(self) -> None:
        """Close the dialog; what still runs is interrupted, as by ctrl+c."""
        self._is_left = True
        process = self._process
        if process is not None and process.returncode is None:
            self._app.spawn(_ended(process), "ending a command", Wait.NOT)
        self.dismiss(None)

    async def on_unmount(self) -> None:
        """End what runs with the console."""
        if self._process is not None and self._process.returncode is None:
            await _ended(self._process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Interrupt a process, and kill it where that does not help."""
    await end_child(process, signals=[signal.SIGINT, signal.SIGTERM], within_s=_END_S)


def _line(data: bytes) -> str:
    return clean(data.decode(errors="replace").rstrip("\r"), _MOST_CHARS)
