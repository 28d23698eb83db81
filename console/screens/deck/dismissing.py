"""Dismiss read items, on every console of the core.

The core stores dismissals (`session_dismiss`, `device_dismiss`, `job_read` and others). Invariant:
an item that was not viewed does not count as read.
"""

from typing import TYPE_CHECKING

from agent import protocol
from agent.records import CommitmentStatus, Session
from agent.state.memoize import memoize_last
from agent.state.reducer import Attention, AttentionKind, State, failure_key
from console.keys.actions import Action
from console.keys.controllers import Controller
from console.screens.deck.batch import Act, plan_for
from console.screens.deck.running import BatchRunner

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck


def end_key(session: Session) -> str:
    """Return a key for how a session ended, so that a later end counts as unread."""
    return f"ended:{session.session_id}:{session.generation}"


@memoize_last
def read_sessions(state: State, seen: frozenset[str], selected: str) -> tuple[str, ...]:
    """List the ended sessions whose end was read: viewed here, or no longer reported anywhere.

    Args:
        state: the view state.
        seen: what was viewed on this console: keys of ends and of failures.
        selected: the session on screen.
    """
    found: list[str] = []
    for one, view in state.sessions.items():
        session = view.session
        if not session.state.is_terminal or session.dismissed:
            continue
        if session.parent_id in state.sessions and one != selected:
            # It goes with its parent.
            continue
        failure = failure_key(session)
        quiet = one not in state.notices and (not failure or failure in seen)
        if one == selected or end_key(session) in seen or quiet:
            found.append(one)
    return tuple(found)


class DismissController(Controller):
    """Dismissals from the list and the attention queue.

    Args:
        deck: whose lists they are.
        runner: sends the ops on sessions.
    """

    def __init__(self, deck: "BaseDeck", runner: BatchRunner) -> None:
        self._deck = deck
        self._runner = runner

    def _read(self) -> tuple[str, ...]:
        app = self._deck.console_app
        return read_sessions(app.bridge.state, app.seen, self._deck.selected)

    def _dismissable(self) -> tuple[Attention, ...]:
        """Return the news under the cursor: one, or all of a group; none of what needs a person."""
        queue = self._deck.attention
        if self._deck.focused is not queue:
            return ()
        one, group = queue.under_cursor, queue.group_under_cursor
        found = group.members if group is not None else (one,) if one is not None else ()
        return tuple(each for each in found if not each.needs_person)

    def can(self, action_id: str) -> bool:
        if action_id == "question.dismiss":
            return bool(self._dismissable())
        return bool(self._read())

    def word(self, action: Action) -> str:
        if action.id == "question.dismiss":
            count = len(self._dismissable())
            return f"dismiss all {count}" if count > 1 else ""
        if action.id != "notice.done":
            return ""
        return f"clear {len(self._read())} read"

    def do_notice_done(self) -> None:
        """Dismiss read items: ended sessions leave every Deck, and stay in the history."""
        self._runner.run(plan_for(Act.DISMISS, self._read(), self._deck.console_app.bridge.state))

    def do_question_dismiss(self) -> None:
        """Dismiss the notice under the cursor, or all of its group, on every console."""
        found = self._dismissable()
        failed = tuple(one.session_id for one in found if one.kind is AttentionKind.FAILED)
        if failed:
            state = self._deck.console_app.bridge.state
            self._runner.run(plan_for(Act.DISMISS, failed, state))
        for one in found:
            self._dismiss(one)

    def _dismiss(self, one: Attention) -> None:
        """Dismiss a notice that is of no session."""
        app = self._deck.console_app
        match one.kind:
            case AttentionKind.WATCHER:
                app.request(protocol.WatcherRead(watcher_id=one.number))
            case AttentionKind.RESULT:
                app.request(protocol.JobRead(job_id=one.number))
            case AttentionKind.COMMITMENT:
                op = protocol.CommitmentUpdate(
                    commitment_id=one.number, status=CommitmentStatus.DISMISSED
                )
                app.request(op, done="Dismissed. It is still on the Jobs screen.")
            case AttentionKind.DEVICE:
                app.request(protocol.DeviceDismiss(serial=one.serial))
            case (
                AttentionKind.FAILED
                | AttentionKind.QUESTION
                | AttentionKind.APPROVAL
                | AttentionKind.LOST
            ):
                pass
