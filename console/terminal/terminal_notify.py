"""Call the operator who looks elsewhere: the bell, and a notice that the terminal itself shows.

Not the list of what waits, which is on the screen, nor the title, which counts it. Invariants:
nothing calls while the operator looks here; each thing that waits and each notice calls once; no
foreign text reaches the terminal unclean.
"""

import time
from collections.abc import Callable, Mapping

from agent.records import Notice
from agent.state.reducer import Attention, State, reminders
from agent.text import one_line

_LIMIT_CHARS = 200
AWAY_S = 30.0
"""After so long without a key somebody may look elsewhere, where the terminal does not tell."""
_KNOWN_S = 60.0
"""What has ceased to wait for less than this and waits again calls nobody: a loose cable."""


class Presence:
    """Whether the operator looks here, as far as the terminal tells.

    Terminals that report the focus (xterm, ctlseqs: FocusIn and FocusOut) do so only when it
    changes; tmux does not unless it is told to, and others never do.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._is_told = False
        self._touched_s = clock()

    def tell_focus(self) -> None:
        """Note that the terminal reported the focus: it will again."""
        self._is_told = True

    def touch(self) -> None:
        """Note a key or the mouse."""
        self._touched_s = self._clock()

    def is_here(self, *, has_focus: bool) -> bool:
        """Return whether the operator is to be taken for looking here."""
        return has_focus and (self._is_told or self._clock() - self._touched_s < AWAY_S)


class TerminalNotifier:
    """What has been called for already.

    Args:
        ring: rings the bell; None when it is not to be rung.
        write: writes to the terminal; None when it shows no notices.
        clock: monotonic.
    """

    def __init__(
        self,
        ring: Callable[[], None] | None,
        write: Callable[[str], None] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ring = ring
        self._write = write
        self._clock = clock
        self._waited_s: dict[str, float] = {}
        self._notices: frozenset[str] = frozenset()
        self._reminders: frozenset[str] = frozenset()

    def look(self, state: State, waiting: tuple[Attention, ...], *, is_here: bool) -> None:
        """Call for what is new, unless the operator looks here; asked once a second at most.

        Args:
            waiting: what of the picture waits for the operator.
        """
        is_new = self._note(waiting)
        notices = frozenset(notice.token for notice in state.notices.values())
        news = [n for n in state.notices.values() if n.token not in self._notices]
        self._notices = notices
        due = reminders(state)
        new_due = [one for one in due if one.key not in self._reminders]
        self._reminders = frozenset(one.key for one in due)
        if is_here:
            return
        if is_new and self._ring is not None:
            self._ring()
        if news and self._write is not None:
            self._write(terminal_notice(news[-1]))
        elif new_due and self._write is not None:
            self._write(terminal_words(f"{new_due[-1].text} · {new_due[-1].about}"))

    def _note(self, waiting: tuple[Attention, ...]) -> bool:
        """Remember what waits; returns whether any of it is new."""
        now_s, keys = self._clock(), {one.key for one in waiting}
        is_new = not keys <= self._waited_s.keys()
        known = {key: at for key, at in self._waited_s.items() if now_s - at < _KNOWN_S}
        self._waited_s = known | dict.fromkeys(keys, now_s)
        return is_new


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


def through(environ: Mapping[str, str], words: str) -> str:
    """Wrap what is meant for the terminal in front of the operator, past tmux or screen.

    tmux passes it on where `allow-passthrough` is on and leaves it out otherwise (tmux(1)); screen
    passes on what a device control string holds, which ends with the first ST (screen(1)).
    """
    term = environ.get("TERM", "")
    if "TMUX" in environ or term.startswith("tmux"):
        doubled = words.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if "STY" in environ or term.startswith("screen"):
        ended = words.replace("\x1b\\", "\x07")
        return f"\x1bP{ended}\x1b\\"
    return words
