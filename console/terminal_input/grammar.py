"""Cut what a terminal sends into sequences, by the grammar of ECMA-48.

Not what a sequence means (`meanings`), nor how long the rest of one may take (`byte_gate`).
Invariants: the sequences are the same however the line cuts them; the time is linear in what is
fed, and what is kept is bounded; no bytes raise.
"""

import re
from enum import StrEnum
from typing import NamedTuple

MOST_CSI_BYTES = 256
MOST_BODY_BYTES = 8_192
"""Of a string that is kept: more than any answer that is wanted."""
MOST_PASTE_BYTES = 1_048_576


class Kind(StrEnum):
    """What a sequence is."""

    TEXT = "text"
    ESCAPE = "escape"
    """The key esc, alone or before a character that begins no sequence."""
    CSI = "CSI"
    SS3 = "SS3"
    OSC = "OSC"
    DCS = "DCS"
    APC = "APC"
    PM = "PM"
    SOS = "SOS"
    PASTE = "paste"
    X10 = "X10"
    """A report of the mouse: three bytes after `CSI M` (xterm, ctlseqs, Normal tracking mode)."""
    MALFORMED = "malformed"
    """What no sequence is: a part of one that another interrupts, bytes that are not UTF-8."""


STRINGS = frozenset({Kind.OSC, Kind.DCS, Kind.APC, Kind.PM, Kind.SOS})


class Sequence(NamedTuple):
    """One sequence.

    `body` is the text, pasted text, content of a string, or parameters with intermediates and the
    final byte of a CSI or SS3; `raw` the bytes, those of a string and a paste without the body.
    """

    kind: Kind
    body: bytes
    raw: bytes = b""
    is_cut: bool = False
    """Whether more came than is kept."""


_ESC = 0x1B
_TEXT = re.compile(
    rb"(?:[\x00-\x1a\x1c-\x7f]|\xc2[\xa0-\xbf]|[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+"
)
"""Characters in UTF-8 (RFC 3629), without those of C1, which are controls."""
_TORN_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2}|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)\Z"
)
_CSI_REST = re.compile(rb"[\x20-\x3f]*(?P<final>[\x40-\x7e])?")
"""Parameters and intermediates, in whatever order: what is not known is read to its end."""
_SS3_REST = re.compile(rb"(?:\d(?:;\d{1,3})?)?[A-DFHP-S]|[EIMXa-dj-y]")
"""Function keys, arrows and the keypad; some terminals write the modifiers between."""
_SS3_TORN = re.compile(rb"(?:\d(?:;\d{0,3})?)?\Z")
_NO_CONTROLS = re.compile(rb"[^\x00-\x1f]*")
_C1 = {
    0x9B: Kind.CSI,
    0x8F: Kind.SS3,
    0x9D: Kind.OSC,
    0x90: Kind.DCS,
    0x9F: Kind.APC,
    0x9E: Kind.PM,
    0x98: Kind.SOS,
}
"""ECMA-48, 5.3: the same as an escape and the character 0x40 below."""
_AFTER_ESC = {code - 0x40: kind for code, kind in _C1.items()}
_ST = 0x5C
_END_OF_STRING = re.compile(rb"\x1b\\|\xc2\x9c|\x9c|\x1b(?=[^\\])")
_ENDS = {
    Kind.OSC: re.compile(rb"\x1b\\|\xc2\x9c|\x9c|\x07|\x1b(?=[^\\])"),
    Kind.PASTE: re.compile(rb"(?:\x1b\[|\xc2\x9b)201~"),
}
_LONGEST_MARK = 6
_MARKED_BYTES = 8  # Of what was cut off: enough to know it again.


class Grammar:
    """Cuts a stream of bytes into sequences, and keeps what is incomplete."""

    def __init__(self) -> None:
        self._rest = b""
        """What is incomplete: the beginning of a sequence, or the end of a string's last part."""
        self._open: Kind | None = None
        """The string or paste that is being read."""
        self._introducer = b""
        self._body = bytearray()
        self._is_cut = False
        self._last_byte = 0
        """Of the string that is being read, as far as it was taken."""

    @property
    def open_kind(self) -> Kind | None:
        """The kind of what is incomplete; None if nothing is."""
        if self._open is not None:
            return self._open
        if not self._rest:
            return None
        if self._rest == b"\x1b":
            return Kind.ESCAPE
        kind, _ = _introducer(self._rest, 0)
        return kind or Kind.MALFORMED

    @property
    def held(self) -> bytes:
        """What is incomplete, from its first byte, as far as it is kept."""
        if self._open in STRINGS:
            return self._introducer + bytes(self._body) + self._rest
        return self._rest

    def drop(self) -> bytes:
        """Forget what is incomplete; return the text of a paste that did not end."""
        text = b""
        if self._open is Kind.PASTE and not self._is_cut:
            text = bytes(self._body) + self._rest
        self._rest, self._open, self._is_cut = b"", None, False
        self._body = bytearray()
        return text

    def feed(self, data: bytes) -> list[Sequence]:
        """Take what was read; return what is complete, in order."""
        found: list[Sequence] = []
        data, self._rest = self._rest + data, b""
        at = 0
        while at < len(data):
            if self._open is None:
                at = self._ground(data, at, found)
            else:
                at = self._inside(data, at, found)
        return found

    # --- outside ----------

    def _ground(self, data: bytes, at: int, found: list[Sequence]) -> int:
        if text := _TEXT.match(data, at):
            found.append(Sequence(Kind.TEXT, text[0], text[0]))
            return text.end()
        kind, begin = _introducer(data, at)
        if kind is Kind.CSI:
            return self._csi(data, at, begin, found)
        if kind is Kind.SS3:
            return self._ss3(data, at, begin, found)
        if kind is not None:
            self._open, self._introducer, self._last_byte = kind, data[at:begin], 0
            return begin
        if data[at] == _ESC:
            return self._escape(data, at, found)
        if _TORN_CHARACTER.match(data, at):
            return self._keep(data, at)
        found.append(Sequence(Kind.MALFORMED, data[at:begin], data[at:begin]))
        return begin

    def _keep(self, data: bytes, at: int) -> int:
        self._rest = data[at:]
        return len(data)

    def _escape(self, data: bytes, at: int, found: list[Sequence]) -> int:
        if at + 1 == len(data):
            return self._keep(data, at)
        if data[at + 1] == _ST:
            # The end of a string that is not there any more.
            found.append(Sequence(Kind.MALFORMED, b"", data[at : at + 2]))
            return at + 2
        if data[at + 1] == _ESC:
            found.append(Sequence(Kind.ESCAPE, b"", b"\x1b"))
            return at + 1
        text = _CHARACTER.match(data, at + 1)
        if text is None and _TORN_CHARACTER.match(data, at + 1):
            return self._keep(data, at)
        character = text[0] if text else b""
        found.append(Sequence(Kind.ESCAPE, character, b"\x1b" + character))
        return at + 1 + len(character)

    def _csi(self, data: bytes, at: int, begin: int, found: list[Sequence]) -> int:
        rest = _CSI_REST.match(data, begin, begin + MOST_CSI_BYTES)
        assert rest is not None
        end = rest.end()
        if end - begin == MOST_CSI_BYTES:
            # The rest is read and not kept.
            found.append(Sequence(Kind.MALFORMED, data[begin:end], data[at:end], is_cut=True))
            self._open = None if rest["final"] else Kind.CSI
            return end
        if rest["final"] is None:
            if end == len(data):
                return self._keep(data, at)
            found.append(Sequence(Kind.MALFORMED, data[begin:end], data[at:end]))
            return end
        match rest[0]:
            case b"[":
                return self._bytes_after(data, at, end, 1, found)
            case b"M":
                return self._bytes_after(data, at, end, 3, found)
            case b"200~":
                self._open, self._introducer = Kind.PASTE, b""
            case b"201~":
                pass
            case body:
                found.append(Sequence(Kind.CSI, body, data[at:end]))
        return end

    def _bytes_after(
        self, data: bytes, at: int, end: int, wanted: int, found: list[Sequence]
    ) -> int:
        """Take the bytes that belong to a sequence after what the grammar says is its end."""
        more = _NO_CONTROLS.match(data, end, end + wanted)
        assert more is not None
        if more.end() == len(data) and len(more[0]) < wanted:
            return self._keep(data, at)
        raw = data[at : more.end()]
        if len(more[0]) < wanted:
            found.append(Sequence(Kind.MALFORMED, more[0], raw))
        elif wanted == 1:
            found.append(Sequence(Kind.CSI, b"[" + more[0], raw))
        else:
            found.append(Sequence(Kind.X10, more[0], raw))
        return more.end()

    def _ss3(self, data: bytes, at: int, begin: int, found: list[Sequence]) -> int:
        if rest := _SS3_REST.match(data, begin):
            found.append(Sequence(Kind.SS3, rest[0], data[at : rest.end()]))
            return rest.end()
        if _SS3_TORN.match(data, begin):
            return self._keep(data, at)
        # No key of a terminal: esc and O were pressed.
        found.append(Sequence(Kind.ESCAPE, b"O", data[at:begin]))
        return begin

    # --- inside ----------

    def _inside(self, data: bytes, at: int, found: list[Sequence]) -> int:
        kind = self._open
        assert kind is not None
        if kind is Kind.CSI:
            rest = _CSI_REST.match(data, at)
            assert rest is not None
            if rest.end() < len(data) or rest["final"]:
                self._open = None
            return rest.end()
        end = self._end_of(kind, data, at)
        if end is None:
            # A part of the mark that ends it may stand at the end.
            longest = _LONGEST_MARK if kind is Kind.PASTE else 1
            until = max(at, _begin_of_mark(data, longest))
            self._add(data[at:until], found)
            self._rest = data[until:]
            return len(data)
        self._add(data[at : end.start()], found)
        was_cut, body = self._is_cut, bytes(self._body)
        self._open, self._is_cut, self._body = None, False, bytearray()
        raw = self._introducer
        if end[0] == b"\x1b":
            found.append(Sequence(Kind.MALFORMED, body, raw))
        elif not was_cut:
            found.append(Sequence(kind, body, raw))
        return end.start() if end[0] == b"\x1b" else end.end()

    def _end_of(self, kind: Kind, data: bytes, at: int) -> re.Match[bytes] | None:
        ends = _ENDS.get(kind, _END_OF_STRING)
        begin = at
        while end := ends.search(data, begin):
            before = data[end.start() - 1] if end.start() > at else self._last_byte
            # A byte of C1 after another that is no ASCII is a part of a character.
            if end[0] != b"\x9c" or before < 0x80:
                return end
            begin = end.end()
        return None

    def _add(self, data: bytes, found: list[Sequence]) -> None:
        if data:
            self._last_byte = data[-1]
        if self._is_cut or self._open is None:
            return
        self._body += data
        most = MOST_PASTE_BYTES if self._open is Kind.PASTE else MOST_BODY_BYTES
        if len(self._body) > most:
            # The rest is read and not kept.
            body = bytes(self._body[:most])
            found.append(Sequence(self._open, body, self._introducer, is_cut=True))
            self._body, self._is_cut = self._body[:_MARKED_BYTES], True


_CHARACTER = re.compile(_TEXT.pattern.removesuffix(b"+"))


def _introducer(data: bytes, at: int) -> tuple[Kind | None, int]:
    """Return what begins at a place, and where it goes on; None where nothing begins."""
    first = data[at]
    second = data[at + 1] if at + 1 < len(data) else -1
    if first == _ESC:
        return (kind, at + 2) if (kind := _AFTER_ESC.get(second)) else (None, at + 1)
    if first == 0xC2 and 0x80 <= second <= 0x9F:
        return _C1.get(second), at + 2
    return _C1.get(first), at + 1


def _begin_of_mark(data: bytes, longest: int) -> int:
    """Return where the last characters begin that may be a part of the mark of an end."""
    begin = max(data.rfind(b"\x1b"), data.rfind(b"\xc2"))
    return begin if begin >= 0 and len(data) - begin <= longest else len(data)
