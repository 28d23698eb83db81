"""Know the rest of a sequence that was given up, when it comes late.

Invariants: the rest of an answer is no key, though its beginning was dropped, or given out as the
key esc; a key that comes alone is that key, unless it is what a sequence known here lacked; what is
remembered is bounded, and forgotten after a moment.
"""

import re
from typing import NamedTuple

from console.terminal_input.grammar import MOST_CSI_BYTES, STRINGS, Grammar, Kind, Sequence
from console.terminal_input.meanings import Meanings

LATE_S = 2.0
"""How long what comes may be the rest of what was given up."""
PASTE_LATE_S = 10.0
_BURST_BYTES = 4  # A key is rarely as long, and what is read at once of a text or an answer longer.
_LATE_FINALS = b"ABCDEFHIMOPQRSZcmntuy~"
"""The ends of what terminals send. None is a letter that stops or pauses."""
_DIGITS = b"0123456789:;"
_IN_CSI = re.compile(rb"[\x20-\x3f]*")


class Rest(NamedTuple):
    """What was read after something was given up."""

    rest: bytes
    """What is not its rest."""
    answer: Sequence | None = None
    """The sequence that is complete now: of its meaning only an answer counts."""
    pasted: bytes = b""


class LateRest:
    """What was given up last.

    Args:
        meanings: knows which sequences there are.
    """

    def __init__(self, meanings: Meanings) -> None:
        self._meanings = meanings
        self._begun = b""
        self._kind: Kind | None = None
        self._until_s = 0.0

    def give_up(self, kind: Kind, begun: bytes, now_s: float) -> None:
        """Remember what was given up, from its first byte."""
        self._kind = kind
        self._begun = begun
        self._until_s = now_s + (PASTE_LATE_S if kind is Kind.PASTE else LATE_S)

    def sort(self, data: bytes, now_s: float) -> Rest:
        """Split what was read into the rest of what was given up, and what is not."""
        kind, begun = self._kind, self._begun
        if kind is None:
            return Rest(data)
        self._kind = None
        if now_s > self._until_s:
            return Rest(data)
        if kind is Kind.PASTE:
            return self._of_paste(data, now_s)
        if kind is Kind.CSI or (kind is Kind.ESCAPE and data[:1] == b"[" != data):
            return self._of_csi(kind, begun, data, now_s)
        if kind in STRINGS or kind is Kind.ESCAPE:
            return self._of_string(kind, begun, data, now_s)
        # Of a report of the mouse or a character: too short to be told from a key.
        return Rest(data)

    def _of_paste(self, data: bytes, now_s: float) -> Rest:
        text, mark, rest = data.partition(b"\x1b[201~")
        if mark:
            return Rest(rest, pasted=text)
        if b"\x1b" in data or len(data) < _BURST_BYTES:
            self.give_up(Kind.PASTE, b"", now_s)
            return Rest(data)
        self.give_up(Kind.PASTE, b"", now_s)
        return Rest(b"", pasted=data)

    def _of_csi(self, kind: Kind, begun: bytes, data: bytes, now_s: float) -> Rest:
        begin = 1 if begun[:1] == b"\x9b" else 2
        whole = begun + data
        end = _IN_CSI.match(whole, begin)
        assert end is not None
        if end.end() == len(whole):
            # A digit alone answers a question: to lose one that was pressed is the smaller harm.
            is_key = len(data) == 1 and data not in _DIGITS
            if kind is Kind.ESCAPE:
                is_key = len(data) < _BURST_BYTES
            if is_key or len(whole) > MOST_CSI_BYTES:
                return Rest(data)
            self.give_up(Kind.CSI, whole, now_s)
            return Rest(b"")
        length = end.end() + 1
        found = Grammar().feed(whole[:length])
        if length <= len(begun) or not found or found[0].kind is not Kind.CSI:
            return Rest(data)
        is_known = whole[length - 1] in _LATE_FINALS and self._meanings.knows(found[0])
        if not is_known and length - len(begun) < _BURST_BYTES:
            return Rest(data)
        return Rest(whole[length:], answer=found[0])

    def _of_string(self, kind: Kind, begun: bytes, data: bytes, now_s: float) -> Rest:
        reader = Grammar()
        found = reader.feed(begun)
        at = len(data)
        if not found and reader.open_kind in (kind, Kind.ESCAPE):
            found, at = _first_of(reader, data)
        if found and (found[0].kind in STRINGS or (kind is Kind.ESCAPE and _is_ss3(found[0]))):
            return Rest(data[at:], answer=found[0])
        if found and kind in STRINGS and data.find(b"\x1b") >= _BURST_BYTES:
            # Another sequence interrupts it.
            return Rest(data[data.index(b"\x1b") :])
        if reader.open_kind in STRINGS and len(data) >= _BURST_BYTES and b"\x1b" not in data[:-1]:
            self.give_up(reader.open_kind, reader.held[:MOST_CSI_BYTES], now_s)
            return Rest(b"")
        return Rest(data)


def _is_ss3(one: Sequence) -> bool:
    return one.kind is Kind.SS3


def _first_of(reader: Grammar, data: bytes) -> tuple[list[Sequence], int]:
    """Feed until the first sequence is complete; return it and how much of the data it took."""
    for at in range(1, len(data) + 1):
        if found := reader.feed(data[at - 1 : at]):
            return found, at
    return [], len(data)
