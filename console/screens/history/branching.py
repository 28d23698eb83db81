"""New sessions from a replayed one: a branch after a step, or all of it again on a phone.

Invariant: branching copies, and changes nothing of the session that is replayed.
"""

from typing import TYPE_CHECKING

from agent.protocol import SessionFork, SessionReplay
from agent.records import DeviceState
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.screens.history.record import RecordController
from console.screens.history.tape import TapeController
from widgets.lists.session_rows import device_name

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


class BranchController(Controller):
    """Branches.

    Args:
        screen: the replay.
        tape: what it plays.
        record: knows the step at this place.
    """

    def __init__(
        self, screen: ConsoleScreen, tape: TapeController, record: RecordController
    ) -> None:
        self._screen = screen
        self._tape = tape
        self._record = record

    @property
    def _app(self) -> "ConsoleApp":
        return self._screen.console_app

    def do_replay_branch(self) -> None:
        """Begin a new session with the past up to the step at this place, at the second press."""
        record = self._record.at_place()
        if record is None or not record.step:
            self._app.say("Go to a step first: the branch starts after it.")
            return
        step = record.step if record.is_whole else record.step - 1
        if step < 1:
            self._app.say("No step has ended here: go one step forward.")
            return
        subject = f"{self._tape.session_id}/{step}"
        key = self._screen.key_of("replay.branch")
        sentence = f"{key} again branches a new session from step {step}"
        if self._app.two_presses.confirm("replay.branch", subject, sentence):
            self._app.spawn(self._branch(step), "branching a session")

    async def _branch(self, step: int) -> None:
        op = SessionFork(session_id=self._tape.session_id, after_step=step)
        reply = await self._app.ask(op)
        if reply is None or not reply.session_id:
            return
        said = f"Session {reply.session_id} has the past up to step {step}. "
        self._app.say(said + "p to continue, i to write. The phone was not rewound.")
        self._app.navigation.show_session(reply.session_id)

    # --- repeating it ----------

    def do_replay_again(self) -> None:
        """Repeat what the session did on a phone, at the second press."""
        tape, state = self._tape.playback, self._app.bridge.state
        if tape is None:
            return
        view = tape.state().sessions.get(self._tape.session_id)
        wanted = view.session.serial if view is not None else ""
        online = [d for d in state.devices.values() if d.state is DeviceState.ONLINE]
        free = sorted((d for d in online if not d.driver), key=lambda d: d.serial != wanted)
        if not free:
            self._app.say("No phone is free to repeat it on.")
            return
        serial = free[0].serial
        name = device_name(serial, state.devices)
        sentence = f"{self._screen.key_of('replay.again')} again repeats the session on {name}"
        if self._app.two_presses.confirm("replay.again", serial, sentence):
            self._app.spawn(self._again(serial), "repeating a session")

    async def _again(self, serial: str) -> None:
        op = SessionReplay(session_id=self._tape.session_id, serial=serial)
        reply = await self._app.ask(op)
        if reply is not None and reply.session_id:
            self._app.navigation.show_session(reply.session_id)
