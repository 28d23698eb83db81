"""Hear what the terminal answers to our questions, and keep it from being taken for keys.

Knows of no question; `graphics` does. Textual reads an answer it does not know as keys, and keys
act. Invariants: an answer never becomes a key, whole, torn or late; everything else passes as it
came; an escape that may begin an answer is held for a moment only, and only while one is awaited.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

from widgets.direct_route import is_known_textual

_MOST_CHARS = 1_024
"""Longer than any answer that is wanted."""
_TORN_S = 0.5
"""How long the rest of an answer may take; what is incomplete then is dropped."""
_ESCAPE_S = 0.05
"""How long a lone escape is held, less than Textual itself waits."""
_AWAITED_S = 10.0
# APC G … ST of kitty's protocol; CSI ? … c (DA1); CSI ? … S (XTSMGRAPHICS). No key begins so.
_ANSWER = re.compile(
    rf"\x1b_G(?P<kitty>[^\x1b]{{0,{_MOST_CHARS}}})\x1b\\"
    r"|\x1b\[\?(?P<attributes>[\d;]{0,80})c"
    r"|\x1b\[\?(?P<graphics>[\d;]{0,40})S"
)
_TORN = re.compile(rf"(?:\x1b_G[^\x1b]{{0,{_MOST_CHARS}}}\x1b?|\x1b\[\?[\d;]{{0,80}})\Z")
_PERHAPS = re.compile(r"\x1b[_\[]?\Z")

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

    def await_one(self) -> None:
        """Say that the terminal was just asked something."""
        self._awaited_until_s = self._clock() + _AWAITED_S

    def sift(self, data: str) -> str:
        """Take what was read; returns what is not an answer, in order."""
        text, self._held = self._held + data, ""
        rest: list[str] = []
        begin = 0
        for found in _ANSWER.finditer(text):
            rest.append(text[begin : found.start()])
            begin = found.end()
            kind = found.lastgroup or ""
            self._hear(kind, found[kind])
        tail = text[begin:]
        torn = _TORN.search(tail)
        if torn is None and self._clock() < self._awaited_until_s:
            torn = _PERHAPS.search(tail)
        if torn is not None:
            tail, self._held, self._held_s = tail[: torn.start()], torn[0], self._clock()
        return "".join((*rest, tail))

    def overdue(self) -> str:
        """Give what was held and is a key after all; a torn answer is dropped when it is late."""
        waited_s = self._clock() - self._held_s
        if not self._held or waited_s < _ESCAPE_S:
            return ""
        if _PERHAPS.fullmatch(self._held):
            held, self._held = self._held, ""
            return held
        if waited_s >= _TORN_S:
            self._held = ""
        return ""


class _SiftingParser(XTermParser):
    """Textual's parser of keys, without the answers."""

    def __init__(self, debug: bool, answers: Answers) -> None:
        self._answers = answers
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        # Nothing read is the end of input, which is Textual's matter.
        rest = self._answers.sift(data) if data else data
        return super().feed(rest) if rest or not data else ()

    def tick(self) -> Iterable[Message]:
        if overdue := self._answers.overdue():
            yield from super().feed(overdue)
        yield from super().tick()


def answering(driver: type[Driver]) -> type[Driver]:
    """Make a driver hear answers, and clear up before the terminal is another program's.

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

        def run_input_thread(self) -> None:
            # Textual's thread makes its parser by this name, and offers no other way to give one.
            names: Any = linux_driver
            before = names.XTermParser
            names.XTermParser = lambda debug=False: _SiftingParser(debug, self.answers)
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
