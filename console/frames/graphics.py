"""Find out, by asking, whether the operator's terminal draws images.

Writes and reads nothing itself. Invariants: what the terminal has not answered, it cannot do;
kitty's question names memory of this machine, so that only a terminal that reads it says yes, not
one at the far end of a connection; a terminal that does not answer the oldest question of all (DA1)
is asked nothing more, so none shows a question as text; nothing is asked within tmux or screen,
whose answers are not the terminal's.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

DA1 = "\x1b[c"
COLOUR_REGISTERS = "\x1b[?1;1;0S"
"""XTSMGRAPHICS: how many colours a sixel image may have (xterm, ctlseqs)."""
SIXEL_COLOURS = 216
_SIXEL = "4"  # DA1's attribute of sixel graphics (DEC VT340).
_NO_SIXEL = "Phones are drawn in cells on this terminal: {why} (ui.pictures)."
_KITTY = re.compile(r"i=(?P<id>\d{1,10})(?:,[A-Za-z]=\d{1,10})*;(?P<said>[^;]{1,200})")


class Pictures(StrEnum):
    """What pictures are drawn as: `ui.pictures`."""

    AUTO = "auto"
    CELLS = "cells"
    KITTY = "kitty"
    SIXEL = "sixel"


def may_ask(wanted: Pictures, environ: Mapping[str, str]) -> bool:
    """Return whether the terminal may be asked for images.

    Args:
        wanted: the setting `ui.pictures`.
        environ: the environment of the console.
    """
    if wanted is Pictures.CELLS or "TMUX" in environ or "STY" in environ:
        return False
    term = environ.get("TERM", "")
    # The last are terminals that show a question as text, or ask nothing back.
    return bool(term) and not term.startswith(("tmux", "screen", "linux", "dumb"))


def why_not_asked(wanted: Pictures, environ: Mapping[str, str]) -> str:
    """Return why images that the operator wants are not drawn; empty if cells were wanted."""
    if wanted not in (Pictures.KITTY, Pictures.SIXEL):
        return ""
    within = "tmux" if "TMUX" in environ else "screen" if "STY" in environ else ""
    where = f"within {within}" if within else "on this terminal, by its name in TERM"
    return f"Phones are drawn in cells {where}; ui.pictures asks for {wanted}."


class Graphics:
    """What a terminal said so far.

    Args:
        wanted: the setting `ui.pictures`.
        image_id: the number of our image in kitty's protocol, which its answers carry.
    """

    def __init__(self, wanted: Pictures, image_id: int) -> None:
        self.wanted = wanted
        self.image_id = image_id
        self.drawn_as = Pictures.CELLS
        self.asks_kitty = False
        """Whether kitty's question is due."""
        self.refusal = ""
        """Why the images that the operator wants are not drawn, once that is known."""
        self._registers = 0
        self._was_asked_kitty = False

    def first_question(self) -> str:
        """Return what is asked first; the answer to DA1 comes last."""
        return COLOUR_REGISTERS + DA1 if self.wanted is Pictures.SIXEL else DA1

    def hear(self, kind: str, said: str) -> None:
        """Take an answer: `kitty`, `attributes` (DA1) or `graphics` (XTSMGRAPHICS)."""
        match kind:
            case "attributes":
                self._hear_attributes(said.split(";"))
            case "graphics":
                # item 1 (colour registers); status 0 (success); the number
                item, status, number = (*said.split(";"), "", "", "")[:3]
                if (item, status) == ("1", "0") and number.isdecimal():
                    self._registers = int(number[:6])
            case "kitty":
                self._hear_kitty(said)

    def _hear_attributes(self, attributes: list[str]) -> None:
        if self.wanted is Pictures.SIXEL:
            # The first is the terminal's level, not an attribute.
            if _SIXEL not in attributes[1:]:
                self.refusal = _NO_SIXEL.format(why="it does not report that it draws sixel images")
            elif self._registers < SIXEL_COLOURS:
                few = f"it has {self._registers} of {SIXEL_COLOURS} colours for sixel images"
                self.refusal = _NO_SIXEL.format(why=few)
            else:
                self.drawn_as, self.refusal = Pictures.SIXEL, ""
        elif not self._was_asked_kitty:
            self._was_asked_kitty = self.asks_kitty = True

    def _hear_kitty(self, said: str) -> None:
        answer = _KITTY.fullmatch(said)
        if answer is None or int(answer["id"]) != self.image_id or not self._was_asked_kitty:
            return
        # Also a later image that the terminal refuses ends them all: cells are always right.
        self.drawn_as = Pictures.KITTY if answer["said"] == "OK" else Pictures.CELLS
        if self.drawn_as is Pictures.CELLS:
            self._was_asked_kitty = False
            self.image_id = 0
