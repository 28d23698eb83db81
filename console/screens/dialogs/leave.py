"""Leaving: what keeps running, and the second act.

A dialog that returns whether to leave. Invariant: leaving never stops a session by itself unless
it says so.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agent.records import SessionState
from agent.state.reducer import State
from console.core.active_sessions import is_under_way
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base import status
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.lists.session_rows import session_title


class LeaveScreen(Dialog[bool]):
    """Names what is under way."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "answer(True)", "Leave", show=False, priority=True),
        Binding("escape", "answer(False)", "Stay", show=False, priority=True),
    ]

    def __init__(self, told: Parts) -> None:
        super().__init__()
        self._told = told

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small") as dialog:
            dialog.border_title = "Leave?"
            dialog.border_subtitle = foot(("^q", "leave"), ("esc", "stay"))
            yield PartsLine(self._told)

    def action_answer(self, leave: bool) -> None:
        self.dismiss(leave)


def under_way(state: State, *, ends_here: bool) -> Parts:
    """Name the sessions that are at work; empty when there are none.

    Args:
        state: what is known of the sessions.
        ends_here: whether the core lives in this console and ends with it.
    """
    running = [view.session for view in state.sessions.values() if is_under_way(view.session)]
    if not running:
        return ()
    asking = {question.session_id for question in state.questions.values()}
    # What only waits for a phone comes last.
    running.sort(key=lambda session: session.state is SessionState.QUEUED)
    parts: list[tuple[str, str]] = [("Under way:\n", "$muted")]
    for session in running[:8]:
        mark = status.of_session(session, asks=session.session_id in asking)
        parts += [
            (f"  {mark.glyph} ", mark.style),
            (session_title(session), "$foreground"),
            (f"  {mark.word}\n", mark.style),
        ]
    if len(running) > 8:
        parts.append((f"  and {len(running) - 8} more\n", "$muted"))
    one = len(running) == 1
    if ends_here:
        whole = f"{'It stops' if one else 'They stop'} with this console, and can be resumed."
    else:
        whole = f"{'It goes' if one else 'They go'} on: the core is a process of its own."
    parts.append((f"\n{whole}", "$muted"))
    return tuple(parts)
