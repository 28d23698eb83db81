"""Hear what the terminal answers to questions, and keep it from being taken for keys.

Knows of no question; `graphics` does, and Textual asks some of its own. Textual reads an answer it
does not know as keys, and keys act; so it does with half a sequence whose rest comes late.
Invariants: an answer never becomes a key, whole, torn or late, whoever asked; nor does the rest of
a sequence that was begun; everything else passes as it came; an escape that may begin an answer is
held for a moment only, and only while one is awaited; a key after esc is that key, however fast it
comes (a terminal without kitty's keyboard protocol sends alt as an escape before the key, so a key
with alt is one only where it is bound).
"""

import re
import select
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

from widgets.cells.direct_route import is_known_textual

_MOST_CHARS = 1_024  # Longer than any answer that is wanted.
_TORN_S = 0.5  # How long the rest of a sequence may take; what is incomplete then is dropped.
_LATE_S = 3.0  # How long what comes may be the rest of what was dropped, or given out as a key.
_ESCAPE_S = 0.05  # How long a lone escape is held, less than Textual itself waits.
_AWAITED_S = 10.0
_BODY = rf"[^\x1b\x07]{{0,{_MOST_CHARS}}}"
# APC G … ST of kitty's protocol; CSI ? … c (DA1); CSI ? … S (XTSMGRAPHICS); and what programs
# before us may have asked: DA2 and DA3, colours (OSC), XTVERSION, XTGETTCAP and
# DECRQSS (DCS). No key begins so.
_ANSWER = re.compile(
    rf"\x1b_G(?P<kitty>[^\x1b]{{0,{_MOST_CHARS}}})\x1b\\"
    r"|\x1b\[\?(?P<attributes>[\d;]{0,80})c"
    r"|\x1b\[\?(?P<graphics>[\d;]{0,40})S"
    r"|\x1b\[[>=][\d;]{0,80}c"
    rf"|\x1b\]\d{{1,4}};{_BODY}(?:\x1b\\|\x07)"
    rf"|\x1bP(?:>\||!\||[01][+$]r){_BODY}\x1b\\"
)
_TORN = re.compile(
    rf"(?:\x1b_G[^\x1b]{{0,{_MOST_CHARS}}}\x1b?"
    r"|\x1b\[[?>=][\d;]{0,80}\$?"
    # A report of the mouse, and a key with its number, as a slow line brings them.
    r"|\x1b\[(?:<[\d;-]{0,40}|\d[\d;:]{0,40})"
    rf"|\x1b\]\d{{1,4}};{_BODY}\x1b?"
    rf"|\x1bP(?:>\||!\||[01][+$]r?){_BODY}\x1b?)\Z"
)
_PERHAPS = re.compile(r"\x1b(?:[_\[O]|\]\d{0,4}|P[01>!]?)?\Z")
"""May be the beginning of an answer, or keys."""
_ONE_KEY = 2  # An escape and a character: longer than that it is hardly what somebody pressed.
_BARE = "\x1b["  # Begins nearly everything; alone it is a key that hardly anybody presses.
_WHOLE = re.compile(r"\x1b\[[?<>=]?[\d;:$-]{0,80}[A-HMRSmctuny~]")
"""A sequence of ours or of Textual's. None ends with a letter that stops or pauses."""
_MORE_THAN_KEYS = 4
_ESC = "\x1b"
_AFTER_ESC = frozenset("\x1b[O")
"""What goes on with a key's sequence after an escape: CSI and SS3; answers are taken out before."""
_AFTER_SS3 = frozenset("PQRS")
"""F1 to F4. Arrows and the keypad send SS3 in their application modes only, which are not ours."""
_NORMAL_KEYS = "\x1b[?1l\x1b>"
"""DECCKM and DECKPNM: a program before us may have left the application modes on."""
_PASTE = re.compile(r"\x1b\[20([01])~\Z")
_TEXTUAL_WAITS_S = 0.25  # How long Textual may still put an escape together with what comes.

Hear = Callable[[str, str], None]
"""Gets the kind of an answer (kitty, attributes, graphics) and what it says, which is foreign."""


class Answers:
    """Sorts what is read from a terminal into answers and the rest.

    Used by the thread that reads; `await_one` may be called by any.
    """

    def __init__(self, hear: Hear, clock: Callable[[], float] = time.monotonic) -> None:
        self._hear = hear
        self._clock = clock
        self._held = ""
        self._held_s = 0.0
        self._awaited_until_s = 0.0
        self._begun = ""
        self._begun_s = 0.0
        """What was given out as a key, or dropped, and when: its rest may still come."""

    def await_one(self) -> None:
        """Note that the terminal was just asked something."""
        self._awaited_until_s = self._clock() + _AWAITED_S

    def sift(self, data: str) -> str:
        """Take what was read; returns what is not an answer, in order."""
        text, self._held = self._held + self._without_rest(data), ""
        rest: list[str] = []
        begin = 0
        for found in _ANSWER.finditer(text):
            rest.append(text[begin : found.start()])
            begin = found.end()
            self._take(found)
        tail = text[begin:]
        torn = _TORN.search(tail) or _PERHAPS.search(tail)
        if torn is not None and self._is_held(torn[0]):
            tail, self._held, self._held_s = tail[: torn.start()], torn[0], self._clock()
        elif torn is not None:
            self._begin(torn[0])
        return "".join((*rest, tail))

    def _is_held(self, torn: str) -> bool:
        is_known = torn == _BARE or _PERHAPS.fullmatch(torn) is None
        return is_known or self._clock() < self._awaited_until_s

    def _take(self, found: re.Match[str]) -> None:
        if kind := found.lastgroup:
            self._hear(kind, found[kind])

    def _begin(self, text: str) -> None:
        self._begun, self._begun_s = text, self._clock()

    def _without_rest(self, data: str) -> str:
        begun, self._begun = self._begun, ""
        waited_s = self._clock() - self._begun_s
        if not begun or waited_s > _LATE_S:
            return data
        whole = begun + data
        if found := _ANSWER.match(whole):
            self._take(found)
            return whole[found.end() :]
        # The rest of a text could be anything, but a key comes alone.
        is_more = begun.startswith(_BARE) or len(data) >= _MORE_THAN_KEYS
        if is_more and _TORN.fullmatch(whole):
            self._begun = whole
            return ""
        if begun == "\x1b" and waited_s < _TEXTUAL_WAITS_S:
            return data
        if _PERHAPS.fullmatch(whole):
            self._begun = whole
        elif found := _WHOLE.match(whole):
            return whole[found.end() :]
        return data

    def overdue(self) -> str:
        """Return what was held and is a key after all; a torn answer is dropped when it is late."""
        waited_s = self._clock() - self._held_s
        held = self._held
        if not held or waited_s < (_ESCAPE_S if held == "\x1b" else _TORN_S):
            return ""
        self._held = ""
        self._begin(held)
        return held if len(held) <= _ONE_KEY and _PERHAPS.fullmatch(held) else ""


class _SiftingParser(XTermParser):
    """Textual's parser of keys, without the answers; what follows the key esc is a key of its own.

    Args:
        alts: the characters that an escape before them makes a key with alt: all that are bound.
        has_more: returns whether more can be read.
    """

    def __init__(
        self,
        debug: bool,
        answers: Answers,
        alts: frozenset[str] = frozenset(),
        has_more: Callable[[], bool] = lambda: False,
    ) -> None:
        self._answers = answers
        self._alts = alts
        self._has_more = has_more
        self._escaped = False
        """Whether what was read last ends with an escape that may still be a key."""
        self._kept = ""
        """An O after it, until it is known of what it is a part."""
        self._pastes = False
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            # The end of input, which is Textual's matter.
            yield from super().feed(data)
        elif rest := self._answers.sift(data):
            yield from self._sort(rest)

    def _sort(self, read: str) -> Iterable[Message]:
        """Distinguish the key esc from the beginning of a sequence."""
        text, self._kept = self._kept + read, ""
        begin = 0
        for at, character in enumerate(text):
            if self._escaped and not self._pastes:
                if character == "O" and at + 1 == len(text):
                    self._kept = character
                    if at > begin:
                        yield from super().feed(text[begin:at])
                    return
                is_ss3 = character == "O" and text[at + 1] in _AFTER_SS3
                if character not in _AFTER_ESC or (character == "O" and not is_ss3):
                    # Textual would wait for more, and take what comes for a key with alt, or for
                    # nothing it knows.
                    end = at + (character in self._alts)
                    if end > begin:
                        yield from super().feed(text[begin:end])
                    yield from self._end_escape()
                    begin = end
            self._escaped = character == _ESC
            if character == "~" and (found := _PASTE.search(text, 0, at + 1)) is not None:
                self._pastes = found[1] == "0"
        if begin < len(text):
            yield from super().feed(text[begin:])

    def _end_escape(self) -> Iterable[Message]:
        if self._timeout_time is not None:
            self._timeout_time = 0.0
            yield from super().tick()

    def tick(self) -> Iterable[Message]:
        if self._has_more():
            # The rest was there before the time was up: this thread was not.
            return
        if overdue := self._answers.overdue():
            yield from self._sort(overdue)
        yield from super().tick()
        if self._kept and self._timeout_time is None:
            kept, self._kept, self._escaped = self._kept, "", False
            yield from super().feed(kept)


def _is_readable(descriptor: int) -> bool:
    look = select.poll()
    look.register(descriptor, select.POLLIN)
    return any(happened & select.POLLIN for _, happened in look.poll(0))


def answering(driver: type[Driver], alts: frozenset[str] = frozenset()) -> type[Driver]:
    """Make a driver hear answers, and clear up before the terminal is another program's.

    `alts` are the characters that are bound with alt.

    A driver that is not Textual's own for terminals, or of a Textual that was not tried, is left
    without `answers`: then nothing is to be asked.
    """
    try:
        from textual.drivers import linux_driver
    except ImportError:
        return driver
    if not is_known_textual() or not issubclass(driver, linux_driver.LinuxDriver):
        return driver

    class AnsweringDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.hear: Hear = lambda _kind, _text: None
            self.answers = Answers(lambda kind, text: self.hear(kind, text))
            self.farewell = ""
            """What is written before the terminal is given to another program."""
            self.times_left = 0
            """How often it was."""

        def start_application_mode(self) -> None:
            # Textual asks for the modes of the terminal.
            self.answers.await_one()
            super().start_application_mode()
            self.write(_NORMAL_KEYS)

        def run_input_thread(self) -> None:
            # Textual's thread makes its parser by this name, and offers no other way to give one.
            names: Any = linux_driver
            before = names.XTermParser
            names.XTermParser = lambda debug=False: _SiftingParser(
                debug, self.answers, alts, partial(_is_readable, self.fileno)
            )
            try:
                super().run_input_thread()
            finally:
                names.XTermParser = before

        def stop_application_mode(self) -> None:
            self.times_left += 1
            if self.farewell:
                self.write(self.farewell)
                self.farewell = ""
            super().stop_application_mode()

    return AnsweringDriver
