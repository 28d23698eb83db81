"""Say what the sequences of a terminal mean: events for Textual, answers for the part that asked.

Not how they are cut (`grammar`). Invariants: an answer is never a key; what is not known means
nothing, and says so; nor does an answer mean anything that nothing here asked for.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from textual import constants, events, messages
from textual._xterm_parser import IS_ITERM
from textual.message import Message

from console.terminal_input.grammar import Kind, Sequence
from console.terminal_input.keys import alt_key, character_key, extended_keys, listed_keys
from console.terminal_input.mouse import Mouse

Hear = Callable[[str, str], None]
"""Gets the kind of an answer (kitty, attributes, graphics) and what it says, which is foreign."""

_KEY_FINALS = frozenset("u~ABCDEFHPQS")
"""Of keys with modifiers. R is none: it reports the cursor (CPR), which F3 would look like."""
_RXVT_KEY = re.compile(rb"\x1b\[\d{1,2}\$")
_MODE = re.compile(r"\?(\d{1,5});(\d)\$y")
_WINDOW = re.compile(
    r"48;(\d{1,5})(?::\d*)?;(\d{1,5})(?::\d*)?;(\d{1,6})(?::\d*)?;(\d{1,6})(?::\d*)?t"
)
_SGR_MOUSE = re.compile(r"<(\d{1,4});(-?\d{1,6});(-?\d{1,6})([Mm])")
_URXVT_MOUSE = re.compile(r"(\d{1,4});(\d{1,6});(\d{1,6})M")
_ATTRIBUTES = re.compile(r"\?([\d;]{0,80})c")
_GRAPHICS = re.compile(r"\?([\d;]{0,40})S")
_MOST_KITTY_CHARS = 1_024
_ANSWERS = re.compile(
    r"[?>=][\d;:]*c"  # DA1, DA2, DA3
    r"|\??\d+(?:;\d+)+R|\?\d+R"  # CPR, DECXCPR
    r"|\??\d+(?:;\d+)*n"  # DSR: status, printer, keyboard, colour scheme (997)
    r"|\??[\d;]+\$y"  # DECRPM
    r"|\?\d*u"  # the flags of kitty's keyboard protocol
    r"|\?[\d;]*S"  # XTSMGRAPHICS
    r"|>[\d;]*m"  # XTQMODKEYS
    r"|[12]t|\d+(?:;\d+)+t"  # XTWINOPS, and a size that nothing asked for
    r"|[23];\d+(?:;\d+){5}x"  # DECREPTPARM
    r"|[\d;]*\*[yz]|[\d;]*&w"  # a checksum, DEC's locator
)
"""Whole bodies of CSI that terminals answer with (xterm, ctlseqs; DEC STD 070; kitty)."""
_ANSWERING_STRINGS = {
    Kind.OSC: re.compile(r"\d{1,5};|[lLI]"),
    Kind.DCS: re.compile(r">\||!\||[01][+$]r|[\d;]*\$[rtu]|[\d;]*[|~]"),
    Kind.APC: re.compile(r"G"),
}
"""How the answers begin: colours, titles and the clipboard; XTVERSION, DA3, XTGETTCAP, DECRQSS,
reports of state; kitty's graphics."""
_CAN_BE_SET = frozenset("123")
"""DECRPM: set, reset, permanently set. 0 is not known, 4 permanently reset (VTE): neither can."""
_MOST_CELLS = 2_000  # Of a row or a column.
_UNPASTED = re.compile(
    r"\x1b\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""Controls that a terminal takes out of a paste, and that not all do."""


class Meaning(NamedTuple):
    """What one sequence means; nothing at all where all is empty."""

    events: tuple[Message, ...] = ()
    heard: tuple[str, str] | None = None
    is_known: bool = True


_NOTHING = Meaning()
_UNKNOWN = Meaning(is_known=False)


def pasted_text(body: bytes) -> str:
    """Return what is pasted, without controls other than line breaks and tabs."""
    return _UNPASTED.sub("", body.decode("utf-8", "ignore"))


def rxvt_keys(raw: bytes) -> tuple[events.Key, ...]:
    """Return the key that ends with an intermediate, as rxvt's do with shift (urxvt(7))."""
    return (_RXVT_KEY.fullmatch(raw) and listed_keys(raw.decode())) or ()


class Meanings:
    """What the sequences of one terminal mean.

    Args:
        alts: the characters that an escape before them makes a key with alt: all that are bound.
    """

    def __init__(self, alts: frozenset[str] = frozenset()) -> None:
        self._alts = alts
        self._mouse = Mouse()
        self._reports_size = False
        """Whether the terminal said that it sends its size in a sequence (mode 2048)."""

    def of(self, one: Sequence) -> Meaning:
        """Return what a sequence means."""
        match one.kind:
            case Kind.TEXT:
                return Meaning(tuple(character_key(each) for each in one.body.decode()))
            case Kind.ESCAPE:
                return Meaning(self._after_escape(one.body.decode()))
            case Kind.CSI:
                return self._control(one.body.decode("ascii", "replace"))
            case Kind.SS3:
                return self._single_shift(one.body.decode("ascii"))
            case Kind.PASTE:
                return Meaning((events.Paste(pasted_text(one.body)),))
            case Kind.X10:
                found = self._mouse.older(one.body[0], one.body[1] - 32, one.body[2] - 32)
                return Meaning(() if found is None else (found,))
            case Kind.OSC | Kind.DCS | Kind.APC | Kind.PM | Kind.SOS:
                return _string(one)
            case Kind.MALFORMED:
                return Meaning(keys) if (keys := rxvt_keys(one.raw)) else _UNKNOWN

    def knows(self, one: Sequence) -> bool:
        """Return whether a sequence is one that terminals send."""
        return one.kind is not Kind.MALFORMED and self.of(one).is_known

    def _after_escape(self, character: str) -> tuple[Message, ...]:
        escape = events.Key("escape", "\x1b")
        if not character:
            return (escape,)
        if character in self._alts:
            return (alt_key(character),)
        # Textual would wait for more, and take it for a key with alt.
        return (escape, character_key(character))

    def _single_shift(self, body: str) -> Meaning:
        final, modifiers = body[-1], body[:-1].rpartition(";")[2]
        found = (
            extended_keys(f"1;{modifiers}", final) if modifiers else listed_keys(f"\x1bO{final}")
        )
        return _UNKNOWN if found is None else Meaning(found)

    def _control(self, body: str) -> Meaning:
        final, parameters = body[-1], body[:-1]
        if final in "Mm" and (found := _SGR_MOUSE.fullmatch(body)):
            numbers = [int(one) for one in found.groups()[:3]]
            event = self._mouse.sgr(numbers, is_release=final == "m")
            return Meaning(() if event is None else (event,))
        if final == "M" and (found := _URXVT_MOUSE.fullmatch(body)):
            event = self._mouse.older(*(int(one) for one in found.groups()))
            return Meaning(() if event is None else (event,))
        if body == "I":
            return Meaning((events.AppFocus(),))
        if body == "O":
            return Meaning((events.AppBlur(),))
        if answer := self._answer(body):
            return answer
        keys = None
        if not parameters.strip("0123456789;:"):
            if parameters and final in _KEY_FINALS:
                keys = extended_keys(parameters, final)
            elif parameters and final == "Z":
                keys = extended_keys(f"9;{parameters.partition(';')[2]}", "u")
        if keys is None:
            keys = listed_keys(f"\x1b[{body}")
        return _UNKNOWN if keys is None else Meaning(keys)

    def _answer(self, body: str) -> Meaning | None:
        if found := _ATTRIBUTES.fullmatch(body):
            return Meaning(heard=("attributes", found[1]))
        if found := _GRAPHICS.fullmatch(body):
            return Meaning(heard=("graphics", found[1]))
        if found := _MODE.fullmatch(body):
            return self._mode(found[1], found[2])
        if found := _WINDOW.fullmatch(body):
            return self._size(*(int(one) for one in found.groups()))
        return _NOTHING if _ANSWERS.fullmatch(body) else None

    def _mode(self, mode: str, setting: str) -> Meaning:
        if mode == "2026" and setting in _CAN_BE_SET:
            return Meaning((messages.TerminalSupportsSynchronizedOutput(),))
        if mode == "2048" and constants.SMOOTH_SCROLL and not IS_ITERM:
            self._reports_size = setting in _CAN_BE_SET
            resizes = messages.InBandWindowResize.from_setting_parameter(int(setting))
            return Meaning((resizes,))
        return _NOTHING

    def _size(self, rows: int, columns: int, high_px: int, wide_px: int) -> Meaning:
        if not self._reports_size:
            return _NOTHING
        if not all(1 <= one <= _MOST_CELLS for one in (rows, columns)):
            return _UNKNOWN
        resize = events.Resize.from_dimensions((columns, rows), (wide_px, high_px))
        return Meaning((resize,))


def _string(one: Sequence) -> Meaning:
    text = one.body.decode("utf-8", "replace")
    if one.kind is Kind.APC and text.startswith("G") and len(text) <= _MOST_KITTY_CHARS:
        return Meaning(heard=("kitty", text[1:]))
    begins = _ANSWERING_STRINGS.get(one.kind)
    return _NOTHING if begins is not None and begins.match(text) else _UNKNOWN
