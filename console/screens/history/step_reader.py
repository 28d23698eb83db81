"""What a screen with a transcript does to show more of it: a step's record, and the editor.

Not a screen itself; the Deck and the replay are two. Invariants: a record is read once for each
state of its step; an editor shows a copy, and only what is stored.
"""

from __future__ import annotations

import os

from agent.records import Observation
from agent.state.reducer import SessionView, StepItem
from console.input.gate import Wait
from console.screens.base import ConsoleScreen
from console.steps.session_text import session_text, step_text
from console.steps.step_reading import find_record, read_part
from console.steps.step_record import Part, StepRecord
from console.terminal.editor import editor_command, read_in_editor
from widgets.transcript.expansion import Depth
from widgets.transcript.record_lines import Section, record_paragraphs
from widgets.transcript.transcript_view import TranscriptView


class StepReader(ConsoleScreen):
    """Reads steps of the session that is shown."""

    EDITOR_ACTION = "session.editor"

    def __init__(self) -> None:
        super().__init__()
        self._read_last: tuple[str, str, StepRecord] | None = None

    # --- what a screen tells of itself ----------

    @property
    def transcript(self) -> TranscriptView:
        """The transcript that is shown."""
        return self.query_one(TranscriptView)

    def view(self) -> SessionView | None:
        """The session that is shown."""
        raise NotImplementedError

    async def record_of(self, session_id: str, step: StepItem) -> StepRecord:
        """Read the record of a step, as far as it is to be shown here."""
        return await find_record(self.console_app.core, session_id, int(step.key))

    # --- a step's record ----------

    def on_transcript_view_wants(self, event: TranscriptView.Wants) -> None:
        """Read the record of a step that was opened, or that went on while it is open."""
        self.console_app.spawn(self._show_step(event), "reading a stored step")

    async def _show_step(self, event: TranscriptView.Wants) -> None:
        core = self.console_app.core
        record = await self.record_of(event.session_id, event.step)
        sections = tuple(
            [
                Section(part.value, await read_part(core, record, part), part is Part.PROMPT)
                for part in Part
            ]
        )
        opens = self.key_of(self.EDITOR_ACTION)
        if self.is_running and event.view.is_attached:
            written = record_paragraphs(sections, opens)
            event.view.show_record(event.session_id, event.step, written)
            self._read_last = (event.session_id, event.step.key, record)
            self.refresh_all()

    def past_step(self) -> StepItem | None:
        """Return the step under the cursor if its record is open: its moment is looked at."""
        # A frame may still arrive while the screen is being taken down.
        for shown in self.query(TranscriptView):
            return shown.step_open_to_record()
        return None

    def seen_at(self, step: StepItem) -> Observation | None:
        """Return what a step saw, once its record has been read."""
        view, last = self.view(), self._read_last
        if view is None or last is None or last[:2] != (view.session.session_id, step.key):
            return None
        return last[2].observation

    def transcript_keys(self) -> list[tuple[str, str]]:
        """List the keys of the transcript for the footer."""
        word = {
            Depth.BRIEF: "expand",
            Depth.WHOLE: "prompt, reply, screen" if self._is_on_step() else "fold",
            Depth.RECORD: "fold",
        }[self.transcript.depth_under_cursor()]
        return [("space", word), (self.key_of(self.EDITOR_ACTION), "editor"), ("G", "follow")]

    def _is_on_step(self) -> bool:
        return isinstance(self.transcript.item_under_cursor(), StepItem)

    # --- the editor ----------

    def can_open_editor(self) -> bool:
        """Return whether something can be shown in an editor: not in a browser."""
        return self.console_app.has_terminal_to_lend and self.view() is not None

    def open_editor(self) -> None:
        """Show the step under the cursor in the operator's editor, or the whole transcript."""
        view = self.view()
        if self.console_app.is_lending:
            return
        if view is None:
            self.console_app.say("There is nothing here to open.")
            return
        self.console_app.spawn(self._read_in_editor(view), "opening an editor", Wait.NOT)

    async def _read_in_editor(self, view: SessionView) -> None:
        app, shown = self.console_app, self.transcript
        if app.has_terminal_to_lend:
            # Before a long text is written for an editor that is not there.
            editor_command(os.environ)
        session_id = view.session.session_id
        item = shown.item_under_cursor() if shown.has_focus and shown.cursor_key else None
        if isinstance(item, StepItem):
            record = await self.record_of(session_id, item)
            text = await step_text(app.core, view, item, record)
            await read_in_editor(app, text, f"step-{item.number}.txt")
        else:
            await read_in_editor(app, await session_text(view), "transcript.txt")
        self.refresh_all()
