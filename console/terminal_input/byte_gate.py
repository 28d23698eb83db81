"""Let the bytes of a terminal in: keys, the mouse, pastes and answers, and nothing else.

Invariants: an answer never becomes a key, whole, torn, late or twice, whoever asked; the part here
that asked gets it; what is not known is nothing, and is logged once; what is incomplete is held for
a bounded time and size, so that a key after it is that key; no bytes raise, and an error in what
they mean costs that sequence alone; a key after esc is that key, however fast it comes (a terminal
without kitty's keyboard protocol sends alt as an escape before the key, so a key with alt is one
only where it is bound).
"""

import logging
import math
import time
from collections.abc import Callable, Iterator

from textual import constants
from textual.events import InputEvent, Key, Paste
from textual.message import Message

from console.terminal_input.grammar import STRINGS, Grammar, Kind, Sequence
from console.terminal_input.keys import character_key
from console.terminal_input.late_rest import LateRest
from console.terminal_input.meanings import Hear, Meanings, pasted_text, rxvt_keys

_log = logging.getLogger(__name__)
ESCAPE_S = constants.ESCAPE_DELAY
"""How long a lone escape is held: it is a key, or begins a sequence."""
TORN_S = 0.5
"""How long the rest of a sequence may take; what is incomplete then is dropped."""
PASTE_STALLS_S = 3.0
"""How long the rest of a paste may take; a slow line brings it in parts."""
AWAITED_S = 10.0
"""How long an answer may take, after which the beginning of one is taken for keys."""
_TWO_KEYS = 2  # An escape and a character: esc and a key, unless an answer is awaited.
_ESC = ord("\x1b")
_BEGINS = b"OP]_^X"  # SS3 and strings: keys as well, unless an answer is awaited.
_MOST_FORMS = 64
_LOGGED_BYTES = 64


class ByteGate:
    """The gate of one terminal. Used by the thread that reads; `await_one` may be called by any.

    Args:
        hear: gets the answers to questions of ours.
        alts: the characters that an escape before them makes a key with alt: all that are bound.
        tell: gets what the operator is to know of what was cut off.
        failed: gets an error in what bytes mean, and the bytes.
        clock: seconds.
    """

    def __init__(
        self,
        hear: Hear,
        alts: frozenset[str] = frozenset(),
        *,
        tell: Callable[[str], None] = lambda _: None,
        failed: Callable[[Exception, bytes], None] = lambda _error, _raw: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hear = hear
        self._tell = tell
        self._failed = failed
        self._clock = clock
        self._grammar = Grammar()
        self._meanings = Meanings(alts)
        self._late = LateRest(self._meanings)
        self._fed_s = clock()
        self._awaited_until_s = 0.0
        self.has_answered = False
        """Whether the terminal answers at all."""
        self._logged: set[str] = set()

    def await_one(self) -> None:
        """Note that the terminal was just asked something."""
        self._awaited_until_s = self._clock() + AWAITED_S

    @property
    def is_awaiting(self) -> bool:
        """Whether an answer may be under way."""
        return self._clock() < self._awaited_until_s

    @property
    def waits_s(self) -> float:
        """How many seconds until `overdue` has something to do; infinite if nothing is held."""
        kind = self._grammar.open_kind
        if kind is None:
            return math.inf
        return max(0.0, self._fed_s + self._patience_s(kind) - self._clock())

    def feed(self, data: bytes) -> list[Message]:
        """Take what was read; return the events that it means, in order."""
        found: list[Message] = []
        if data and self._grammar.open_kind is None:
            late = self._late.sort(data, self._clock())
            if late.answer is not None:
                found += (one for one in self._mean(late.answer) if not _is_operators(one))
            if late.pasted:
                found.append(Paste(pasted_text(late.pasted)))
            data = late.rest
        if data:
            self._fed_s = self._clock()
            for one in self._grammar.feed(data):
                found += self._mean(one)
        return found

    def overdue(self) -> list[Message]:
        """Return the keys and the paste that were held for too long, and give up the rest."""
        kind = self._grammar.open_kind
        if kind is None or self.waits_s > 0.0:
            return []
        held = self._grammar.held
        text = self._grammar.drop()
        self._late.give_up(kind, held, self._clock())
        if kind is Kind.PASTE:
            self._tell("The end of what was pasted did not come.")
            return [Paste(pasted_text(text))] if text else []
        if kind is Kind.ESCAPE:
            return [Key("escape", "\x1b")]
        if keys := rxvt_keys(held):
            return list(keys)
        if self._are_two_keys(held):
            return [Key("escape", "\x1b"), character_key(chr(held[1]))]
        self._log_once(f"torn {kind}", "The rest of a sequence did not come: %r", held[:4])
        return []

    def _are_two_keys(self, held: bytes) -> bool:
        """Return whether the beginning of a sequence, of which no more came, is esc and a key."""
        begins = len(held) == _TWO_KEYS and held[0] == _ESC and held[1] in _BEGINS
        return begins and not self.is_awaiting

    def drop(self) -> None:
        """Forget what is held."""
        self._grammar.drop()

    def _patience_s(self, kind: Kind) -> float:
        if kind is Kind.PASTE:
            return PASTE_STALLS_S
        return ESCAPE_S if kind is Kind.ESCAPE else TORN_S

    def _mean(self, one: Sequence) -> Iterator[Message]:
        if one.kind is Kind.MALFORMED and self._are_two_keys(one.raw):
            # Typed faster than it is read: the next escape interrupts what was none.
            yield Key("escape", "\x1b")
            yield character_key(chr(one.raw[1]))
            return
        try:
            meaning = self._meanings.of(one)
            if meaning.heard is not None:
                self.has_answered = True
                self._hear(*meaning.heard)
        except Exception as error:
            # One sequence is lost, and not the terminal.
            self._failed(error, one.raw + (b"" if one.kind in STRINGS else one.body))
            return
        if one.is_cut:
            self._say_cut(one)
        if not meaning.is_known:
            self._note(one)
        yield from meaning.events

    def _say_cut(self, one: Sequence) -> None:
        kept = len(one.body) // 1024
        if one.kind is Kind.PASTE:
            self._tell(f"Only the first {kept} KiB of what was pasted were taken.")
        else:
            self._tell(f"The terminal sent more than {kept} KiB in one answer: it was cut off.")

    def _note(self, one: Sequence) -> None:
        """Log what is not known, each form once. What a string says may be anybody's secret."""
        begin = one.raw[:_LOGGED_BYTES] if one.kind not in STRINGS else one.raw + one.body[:4]
        form = f"{one.kind} {''.join(_form(byte) for byte in begin)}"
        self._log_once(form, "The terminal sent what is no key and no answer known: %r", begin)

    def _log_once(self, form: str, text: str, begin: bytes) -> None:
        if form not in self._logged and len(self._logged) < _MOST_FORMS:
            self._logged.add(form)
            _log.warning(text, begin)


def _form(byte: int) -> str:
    return "0" if chr(byte).isdigit() else chr(byte)


def _is_operators(event: Message) -> bool:
    return isinstance(event, InputEvent | Paste)
