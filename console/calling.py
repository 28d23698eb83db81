"""Call the operator who looks elsewhere: the bell, and a notice that the terminal itself shows.

Not the list of what waits, which is on the screen. Invariants: nothing calls while the terminal has
the focus; each question and each notice calls once; no foreign text reaches the terminal unclean.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.records import Notice
from agent.state import State, reminders
from agent.text import one_line

_LIMIT_CHARS = 200


class Calling:
    """What has been called for already.

    Args:
        ring: rings the bell; None when it is not to be rung.
        write: writes to the terminal; None when it shows no notices.
    """

    def __init__(
        self, ring: Callable[[], None] | None, write: Callable[[str], None] | None
    ) -> None:
        self._ring = ring
        self._write = write
        self._questions: frozenset[str] = frozenset()
        self._notices: frozenset[str] = frozenset()
        self._reminders: frozenset[str] = frozenset()

    def look(self, state: State, *, has_focus: bool) -> None:
        """Call for what is new, unless the operator looks here."""
        questions = frozenset(state.questions)
        notices = frozenset(notice.token for notice in state.notices.values())
        new_question = bool(questions - self._questions)
        news = [n for n in state.notices.values() if n.token not in self._notices]
        self._questions, self._notices = questions, notices
        due = reminders(state)
        new_due = [one for one in due if one.key not in self._reminders]
        self._reminders = frozenset(one.key for one in due)
        if has_focus:
            return
        if new_question and self._ring is not None:
            self._ring()
        if news and self._write is not None:
            self._write(terminal_notice(news[-1]))
        elif new_due and self._write is not None:
            self._write(terminal_words(f"{new_due[-1].text} · {new_due[-1].about}"))


def terminal_notice(notice: Notice) -> str:
    """Write a notice as OSC 9, which iTerm2, kitty, WezTerm, ghostty and Windows Terminal show.

    Terminals that do not know it leave it out: an operating system command is never drawn.
    """
    return terminal_words(f"{notice.title}: {notice.text}" if notice.text else notice.title)


def terminal_words(text: str) -> str:
    """Write a text as the notice that a terminal shows; see `terminal_notice`."""
    said = one_line(text, _LIMIT_CHARS)
    # A number and a semicolon at the front are another command (ConEmu's) to some terminals.
    return f"\x1b]9;{said.lstrip('0123456789;') or 'Switchboard'}\x1b\\"
