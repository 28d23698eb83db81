"""What can be done with a replayed session: read a step's record, branch from it, write files.

The half of the replay that is not the tape. Invariants: branching copies, and changes nothing of
the session that is replayed; a file that is there is never written over.
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

from agent.protocol import SessionFork, SessionReplay
from agent.records import DeviceState
from agent.state.reducer import StepItem
from console.input.gate import Wait
from console.report.missing import missing_frames
from console.report.writing import Kind, write
from console.screens.dialogs.export import ExportScreen
from console.screens.history.step_reader import StepReader
from console.steps.step_reading import read_part
from console.steps.step_record import Part, StepRecord, record_at
from widgets.base.header_line import PartsLine
from widgets.lists.session_rows import device_name
from widgets.transcript.record_pane import RecordPane

if TYPE_CHECKING:
    from console.screens.history.replay import ReplayScreen

_FOLDER = "exports"


class ReplayActs(StepReader):
    """The replay's actions beside the tape's."""

    EDITOR_ACTION = "replay.editor"
    part = Part.TREE
    shows_record = False
    """Whether the record stands beside the transcript."""
    exporting = ""
    """How far an export is, in words."""

    @property
    def replay(self) -> ReplayScreen:
        """Itself, by its own type."""
        from console.screens.history.replay import ReplayScreen

        assert isinstance(self, ReplayScreen)
        return self

    def _record(self) -> StepRecord | None:
        tape = self.replay.playback
        return record_at(tape.events, tape.position) if tape is not None else None

    # --- the record of a step ----------

    def show_record(self) -> None:
        """Show the part of the record that is chosen, of the step at this place."""
        self.set_class(self.shows_record, "-record")
        record = self._record()
        if not self.shows_record or record is None:
            return
        parts: list[tuple[str, str]] = [(f" step {record.step or '–'}  ", "$muted")]
        for part in Part:
            style = "bold $foreground on $cursor" if part is self.part else "$muted"
            parts += [(f" {part.value} ", style), (" ", "")]
        parts.append((" i changes", "$faint"))
        self.query_one("#record-tabs", PartsLine).show(tuple(parts))
        self.console_app.spawn(self._show_part(record, self.part), "reading a stored step")

    async def _show_part(self, record: StepRecord, part: Part) -> None:
        parts = await read_part(self.console_app.core, record, part)
        # Another place of the tape may be shown by now.
        if self.is_running and self.is_attached and (record, part) == (self._record(), self.part):
            key = f"{part.value}:{record.step}:{record.digest_of(part)}"
            self.query_one(RecordPane).show_text(key, parts)

    def do_replay_record(self) -> None:
        """Show the next part of the step's record: tree, prompt, reply, none."""
        listed = list(Part)
        if not self.shows_record:
            self.shows_record, self.part = True, listed[0]
        elif self.part is listed[-1]:
            self.shows_record = False
            self.focus_now(self.query_one("#transcript"))
        else:
            self.part = listed[listed.index(self.part) + 1]
        self.refresh_all()

    async def record_of(self, session_id: str, step: StepItem) -> StepRecord:
        """Return the record of a step as far as the tape has come."""
        tape = self.replay.playback
        if tape is None:
            return await super().record_of(session_id, step)
        # A step's key is the seq of the event that it began with.
        start = bisect_left(tape.events, int(step.key), key=lambda event: event.seq)
        ends = next((stop for stop in tape.stops if stop > start), len(tape.events))
        return record_at(tape.events, min(ends, tape.position))

    def do_replay_editor(self) -> None:
        """Show the step under the cursor in an editor, else the transcript up to here."""
        self.open_editor()

    # --- branching ----------

    def do_replay_branch(self) -> None:
        """Begin a new session with the past up to the step at this place, at the second press."""
        record = self._record()
        if record is None or not record.step:
            self.console_app.say("Go to a step first: the branch starts after it.")
            return
        step = record.step if record.is_whole else record.step - 1
        if step < 1:
            self.console_app.say("No step has ended here: go one step forward.")
            return
        subject = f"{self.replay.session_id}/{step}"
        key = self.key_of("replay.branch")
        sentence = f"{key} again branches a new session from step {step}"
        if self.console_app.two_acts.confirm("replay.branch", subject, sentence):
            self.console_app.spawn(self._branch(step), "branching a session")

    async def _branch(self, step: int) -> None:
        op = SessionFork(session_id=self.replay.session_id, after_step=step)
        reply = await self.console_app.ask(op)
        if reply is None or not reply.session_id:
            return
        said = f"Session {reply.session_id} has the past up to step {step}. "
        self.console_app.say(said + "p to continue, i to write. The phone was not rewound.")
        self.console_app.show_session(reply.session_id)

    # --- doing it again ----------

    def do_replay_again(self) -> None:
        """Do what the session did again on a phone, at the second press."""
        tape, state = self.replay.playback, self.console_app.bridge.state
        if tape is None:
            return
        view = tape.state().sessions.get(self.replay.session_id)
        wanted = view.session.serial if view is not None else ""
        online = [d for d in state.devices.values() if d.state is DeviceState.ONLINE]
        free = sorted((d for d in online if not d.driver), key=lambda d: d.serial != wanted)
        if not free:
            self.console_app.say("No phone is free to do it again on.")
            return
        serial = free[0].serial
        name = device_name(serial, state.devices)
        sentence = f"{self.key_of('replay.again')} again does all of this again on {name}"
        if self.console_app.two_acts.confirm("replay.again", serial, sentence):
            self.console_app.spawn(self._again(serial), "doing a session again")

    async def _again(self, serial: str) -> None:
        op = SessionReplay(session_id=self.replay.session_id, serial=serial)
        reply = await self.console_app.ask(op)
        if reply is not None and reply.session_id:
            self.console_app.show_session(reply.session_id)

    # --- files ----------

    def do_replay_export(self) -> None:
        """Write the session as a page, a film or a rollout."""
        self.console_app.spawn(self._offer(), "reading what is stored", Wait.OPENS)

    async def _offer(self) -> None:
        missing = await missing_frames(self.console_app.core, self.replay.session_id)
        if self.is_current:
            self.console_app.push_screen(ExportScreen(missing.words), self._export)

    def _export(self, kind: Kind | None) -> None:
        if kind is not None:
            self.console_app.spawn(self._write(kind), f"writing {kind.value}", Wait.NOT)

    async def _write(self, kind: Kind) -> None:
        app, session_id = self.console_app, self.replay.session_id
        folder = (app.data_dir or Path.cwd()) / _FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = _free(folder / f"session-{session_id}.{kind.suffix}")
        try:
            await write(app.core, session_id, place, kind, self._told)
        finally:
            self.exporting = ""
        app.say(f"Written: {place}")

    def _told(self, done: int, total: int) -> None:
        # From a thread: only a string is set, and the screen's next tick shows it.
        self.exporting = f"writing {100 * done // max(1, total)} %"


def _free(place: Path) -> Path:
    """Return the place itself, or the first beside it that is free."""
    number = 2
    wanted = place
    while place.exists():
        place = wanted.with_stem(f"{wanted.stem}-{number}")
        number += 1
    return place
