"""What a screen with a transcript does to show more of it: a step's record, and the editor.

Not a screen itself; the Deck and the replay are two. Invariants: a record is read once for each
state of its step; an editor shows a copy, and only what is stored.
"""

import os
from collections.abc import Awaitable, Callable

from agent.records import Observation
from agent.state.reducer import SessionView, StepItem
from console.input.gate import Wait
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.steps.session_text import session_text, step_text
from console.steps.step_reading import find_record, read_part
from console.steps.step_record import Part, StepRecord
from console.terminal.editor import editor_command, read_in_editor
from widgets.transcript.expansion import Depth
from widgets.transcript.record_lines import Section, record_paragraphs
from widgets.transcript.transcript_view import TranscriptView

ReadRecord = Callable[[str, StepItem], Awaitable[StepRecord]]


class StepReader(Controller):
    """Reads steps of the session that is shown.

    Args:
        screen: the screen with the transcript.
        view: returns the session that is shown.
        editor_action: the action that opens the editor there.
        record_of: reads the record of a step, as far as it is to be shown; from the store if None.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        view: Callable[[], SessionView | None],
        editor_action: str,
        record_of: ReadRecord | None = None,
    ) -> None:
        self._screen = screen
        self._view = view
        self._editor_action = editor_action
        self._record_of = record_of or self._stored_record
        self._read_last: tuple[str, str, StepRecord] | None = None

    @property
    def _transcript(self) -> TranscriptView:
        return self._screen.query_one(TranscriptView)

    async def _stored_record(self, session_id: str, step: StepItem) -> StepRecord:
        return await find_record(self._screen.console_app.core, session_id, int(step.key))

    # --- a step's record ----------

    def on_transcript_view_wants(self, event: TranscriptView.Wants) -> None:
        """Read the record of a step that was opened, or that went on while it is open."""
        self._screen.console_app.spawn(self._show_step(event), "reading a stored step")

    async def _show_step(self, event: TranscriptView.Wants) -> None:
        core = self._screen.console_app.core
        record = await self._record_of(event.session_id, event.step)
        sections = tuple(
            [
                Section(
                    part.value,
                    await read_part(core, record, part),
                    from_end=part is Part.PROMPT,
                    hang=part.hang,
                )
                for part in Part
            ]
        )
        if self._screen.is_running and event.view.is_attached:
            written = record_paragraphs(sections, self._opens)
            event.view.show_record(event.session_id, event.step, written)
            self._read_last = (event.session_id, event.step.key, record)
            self._screen.refresh_all()

    def past_step(self) -> StepItem | None:
        """Return the step under the cursor if its record is open: its moment is looked at."""
        # A frame may still arrive while the screen is being taken down.
        shown = self._screen.query_one_optional(TranscriptView)
        return None if shown is None else shown.step_open_to_record()

    def seen_at(self, step: StepItem) -> Observation | None:
        """Return what a step saw, once its record has been read."""
        view, last = self._view(), self._read_last
        if view is None or last is None or last[:2] != (view.session.session_id, step.key):
            return None
        return last[2].observation

    def keys(self) -> list[tuple[str, str]]:
        """List the keys of the transcript for the footer."""
        word = {
            Depth.BRIEF: "expand",
            Depth.WHOLE: "prompt, reply, screen" if self._is_on_step() else "fold",
            Depth.RECORD: "fold",
        }[self._transcript.depth_under_cursor()]
        opens = self._opens
        return [("space", word), *([(opens, "editor")] if opens else ()), ("G", "follow")]

    @property
    def _opens(self) -> str:
        """The key of the editor; a browser has no terminal to lend to one."""
        app = self._screen.console_app
        return "" if app.is_web else self._screen.key_of(self._editor_action)

    def _is_on_step(self) -> bool:
        return isinstance(self._transcript.item_under_cursor(), StepItem)

    # --- the editor ----------

    def can(self, action_id: str) -> bool:
        if action_id != "session.editor":
            return True
        # In a browser there is no terminal for an editor.
        return self._screen.console_app.has_terminal_to_lend and self._view() is not None

    def do_session_editor(self) -> None:
        """Show the step under the cursor in an editor, else the whole transcript."""
        view = self._view()
        if self._screen.console_app.redraw.is_paused:
            return
        if view is None:
            self._screen.console_app.say("There is nothing here to open.")
            return
        self._screen.console_app.spawn(self._read_in_editor(view), "opening an editor", Wait.NOT)

    do_replay_editor = do_session_editor

    async def _read_in_editor(self, view: SessionView) -> None:
        app, shown = self._screen.console_app, self._transcript
        if app.has_terminal_to_lend:
            # Before a long text is written for an editor that is not there.
            editor_command(os.environ)
        session_id = view.session.session_id
        item = shown.item_under_cursor() if shown.has_focus and shown.cursor_key else None
        if isinstance(item, StepItem):
            record = await self._record_of(session_id, item)
            text = await step_text(app.core, view, item, record)
            await read_in_editor(app, text, f"step-{item.number}.txt")
        else:
            await read_in_editor(app, await session_text(view), "transcript.txt")
        self._screen.refresh_all()
