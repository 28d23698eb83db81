"""Mark sessions on the Deck and act on all of them at once.

While sessions are marked, session keys apply to all of them. Invariants: the footer shows an act
and its number of sessions before the key is pressed; the result for each session is shown after it;
ending all and answering for all take two presses.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent.protocol import SessionCreate, UserInputAnswer
from agent.records import Question
from agent.state.reducer import State
from agent.text import counted, one_line
from console.keys.actions import Action
from console.keys.controllers import Controller
from console.palette.handles import servers_in
from console.screens.deck import batch
from console.screens.deck.batch import Act, Plan, Step, plan_for, sessions
from console.screens.deck.running import BatchRunner
from widgets.base.rows import Parts
from widgets.lists.row_marks import Marks
from widgets.lists.session_rows import device_name
from widgets.questions.composer import Composer, Mode, Purpose

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

EACH_PHONE = "\0each"
"""What the choice begins with that starts a session on each phone of the marked sessions; their
serials follow.
"""
_BATCHED = {
    "session.stop": Act.STOP,
    "session.cancel": Act.CANCEL,
    "session.write": Act.WRITE,
    "notice.done": Act.DISMISS,
    "notice.send": Act.SEND,
}
_OWN = frozenset({"view.mark", "view.mark_range", "view.mark_all", "session.tag", "session.rename"})
_OF_TARGETS = frozenset({"session.tag", "session.rename"})
"""What takes the selected session where none is marked."""


class MarkController(Controller):
    """The marks of the Deck's list.

    Args:
        deck: whose list it is.
        runner: sends the ops.
    """

    def __init__(self, deck: "BaseDeck", runner: BatchRunner) -> None:
        self._deck = deck
        self._runner = runner
        self.marks = Marks()
        self._asks: Purpose | None = None
        """What the composer is asked for, with the sessions that its text is for."""

    # --- what is meant ----------

    @property
    def _state(self) -> State:
        return self._deck.console_app.bridge.state

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the sessions that an act applies to: the marked ones, else the selected one."""
        marked = self.marks.in_order(self._deck.listed_ids())
        if marked:
            return marked
        return (self._deck.selected,) if self._deck.selected in self._state.sessions else ()

    def _plan(self, action_id: str) -> Plan:
        act = _BATCHED.get(action_id)
        if act is None:
            pauses = plan_for(Act.PAUSE, self.targets, self._state)
            return pauses if pauses.steps else plan_for(Act.RESUME, self.targets, self._state)
        return plan_for(act, self.targets, self._state)

    def owns(self, action_id: str) -> bool:
        if action_id in _OWN:
            return True
        batched = action_id in _BATCHED or action_id == "session.pause"
        return batched and bool(self.marks.ids)

    def can(self, action_id: str) -> bool:
        if action_id in _OWN:
            return bool(self.targets if action_id in _OF_TARGETS else self._deck.listed_ids())
        return bool(self._plan(action_id).steps)

    def word(self, action: Action) -> str:
        if action.id in _OWN:
            return ""
        plan = self._plan(action.id)
        return f"{plan.act.value} {plan.count_words}"

    # --- marking ----------

    def do_view_mark(self) -> None:
        """Mark the session under the cursor, and move to the next."""
        self.marks.toggle(self._deck.selected)
        self._deck.sessions.action_move(1)
        # At once: the list tells of it later, and the footer would change twice.
        self._deck.select(self._deck.sessions.cursor_key or self._deck.selected)
        self._deck.refresh_all()

    def do_view_mark_range(self) -> None:
        """Mark all from the last mark to the cursor."""
        self.marks.span(self._deck.selected, self._deck.listed_ids())
        self._deck.refresh_all()

    def do_view_mark_all(self) -> None:
        """Mark all listed sessions, or none."""
        self.marks.mark_all(self._deck.listed_ids())
        self._deck.refresh_all()

    def mark(self, session_ids: Sequence[str]) -> None:
        """Mark these sessions only, as far as they are listed, and select the first of them."""
        listed = set(self._deck.listed_ids())
        found = [one for one in session_ids if one in listed]
        self.marks.clear()
        self.marks.mark_all(found)
        if found:
            self._deck.select(found[0])
        self._deck.refresh_all()

    def toggle(self, session_id: str) -> None:
        """Mark or unmark a clicked session."""
        self.marks.toggle(session_id)
        self._deck.refresh_all()

    def span_to(self, session_id: str, since: str) -> None:
        self.marks.span(session_id, self._deck.listed_ids(), since)
        self._deck.refresh_all()

    def back(self) -> bool:
        if self._asks is not None:
            self._asks = None
            self._deck.refresh_all()
            self._deck.panes.go_to("left", self._deck.sessions)
            return True
        if self.marks.ids and self._deck.focused is self._deck.sessions:
            self.marks.clear()
            self._deck.refresh_all()
            return True
        return False

    # --- acts ----------

    def do_session_stop(self) -> None:
        self._runner.run(self._plan("session.stop"))

    def do_session_pause(self) -> None:
        """Pause every marked session that runs; if none does, resume them."""
        self._runner.run(self._plan("session.pause"))

    def do_session_cancel(self) -> None:
        """End every marked session, at the second press."""
        plan = self._plan("session.cancel")
        self._confirmed("session.cancel", plan, f"ends {sessions(len(plan.steps))} for good")

    def do_notice_done(self) -> None:
        """Dismiss every marked session that has ended."""
        self._runner.run(self._plan("notice.done"))

    def _confirmed(self, action_id: str, plan: Plan, does: str) -> None:
        deck = self._deck
        subject = " ".join(step.session_id for step in plan.steps)
        left = f"; {batch.what_happens(plan)}" if plan.skipped else ""
        sentence = f"{deck.key_of(action_id)} again {does}{left}"
        if deck.console_app.two_presses.confirm(action_id, subject, sentence):
            self._runner.run(plan)

    # --- what is written ----------

    def do_session_write(self) -> None:
        """Write one hint or goal to every marked session."""
        self._ask(Mode.EACH)

    def do_notice_send(self) -> None:
        """Write the next goal for every marked session that has ended."""
        self._ask(Mode.FOLLOW_UP)

    def do_session_tag(self) -> None:
        """Write tags for the marked sessions, or for the selected one."""
        self._ask(Mode.TAG)

    def do_session_rename(self) -> None:
        """Write a title for the selected session, or for all marked ones."""
        self._ask(Mode.RENAME)

    def _ask(self, mode: Mode) -> None:
        if not self.targets:
            return
        self._asks = Purpose(mode, " ".join(self.targets))
        self._deck.refresh_all()
        self._deck.places.go_to_composer()

    def purpose(self) -> tuple[Purpose, Parts] | None:
        if self._asks is None:
            return None
        ids = self._asks.subject.split()
        plan = plan_for(_ACT_OF[self._asks.mode], ids, self._state, text="\0")
        names = batch.target_titles([step.session_id for step in plan.steps], self._state)
        about = f"  {plan.count_words}: {names}" if plan.steps else "  no session that takes it"
        return self._asks, ((about, "$muted"),)

    def why_not(self, purpose: Purpose) -> str:
        """Return why a text for several sessions reaches none of them; empty if it does."""
        act = _ACT_OF.get(purpose.mode)
        if act is None:
            return ""
        plan = plan_for(act, purpose.subject.split(), self._state, text="\0")
        return "" if plan.steps else "No session is left to send it to."

    def forget(self) -> None:
        """Close the composer's prompt."""
        self._asks = None

    def sent(self, event: Composer.Sent) -> bool:
        act = _ACT_OF.get(event.purpose.mode)
        if act is None:
            return False
        self._asks = None
        if event.text:
            ids = event.purpose.subject.split()
            self._runner.run(plan_for(act, ids, self._state, text=event.text))
        return True

    # --- one goal for the phones of all ----------

    def phones(self) -> tuple[str, ...]:
        """List the phones of the marked sessions without duplicates."""
        marked = self.marks.in_order(self._deck.listed_ids())
        serials = (self._state.sessions[one].session.serial for one in marked)
        return tuple(dict.fromkeys(serial for serial in serials if serial))

    def choices(self) -> list[tuple[str, str]]:
        """Offer the phones of all marked sessions as one choice, which names them."""
        phones = self.phones()
        if len(phones) < 2:
            return []
        return [
            (
                EACH_PHONE + "\0".join(phones),
                f"the {counted(len(phones), 'phone')} of marked sessions",
            )
        ]

    def begin_on_each(
        self, goal: str, serials: Sequence[str], request_id: Callable[[], str]
    ) -> None:
        """Start a session with this goal on each of these phones."""
        devices = self._state.devices
        app = self._deck.console_app
        goal, servers = servers_in(goal, app.tool_servers)
        steps = tuple(
            Step(
                "",
                device_name(one, devices),
                _creation(goal, one, request_id(), app.begins_with, servers),
            )
            for one in serials
        )
        self._runner.run(Plan(Act.BEGIN, steps))

    # --- one answer for all ----------

    def answers_for_all(self, asked: Question, answer: str) -> bool:
        """Answer the same question of all marked sessions, at the second press.

        Returns:
            Whether the answer was meant for several sessions, and is handled.
        """
        marked = self.marks.in_order(self._deck.listed_ids())
        if asked.session_id not in self.marks.ids or asked.parts:
            return False
        plan = batch.plan_answer(asked, answer, marked, self._state)
        if len(plan.steps) < 2:
            return False
        shown = "•••" if asked.secret else one_line(answer, 40)
        subject = f"{answer}\0{' '.join(_question_ids(plan))}"
        sentence = f"again answers “{shown}” for {sessions(len(plan.steps))}"
        if plan.skipped:
            sentence += f"; {len(plan.skipped)} marked ask something else or nothing"
        if self._deck.console_app.two_presses.confirm("question.option", subject, sentence):
            self._runner.run(plan)
        return True


_ACT_OF = {
    Mode.EACH: Act.WRITE,
    Mode.FOLLOW_UP: Act.SEND,
    Mode.TAG: Act.TAG,
    Mode.RENAME: Act.RENAME,
}


def phones_of(choice: str) -> tuple[str, ...]:
    """Return the phones that a choice of several names."""
    return tuple(choice.removeprefix(EACH_PHONE).split("\0"))


def _question_ids(plan: Plan) -> list[str]:
    return [s.op.question_id for s in plan.steps if isinstance(s.op, UserInputAnswer)]


def _creation(
    goal: str, serial: str, request_id: str, model: str, servers: tuple[str, ...]
) -> SessionCreate:
    return SessionCreate(
        goal=goal, serial=serial, model=model, request_id=request_id, tool_servers=servers
    )
