"""Which glyphs the operator's terminal is known to draw well.

Looks at the environment and asks no terminal. Invariant: what is not known is taken for a terminal
that draws half blocks only, and what has no Unicode for one that draws none.
"""

from collections.abc import Mapping

from widgets.cells.blocks import Blocks

_BY_PROGRAM = frozenset({"WezTerm", "ghostty", "rio"})
_BY_TERM = ("xterm-kitty", "xterm-ghostty", "foot", "contour")
"""Terminals that draw U+1FB00 and the following themselves, whatever the font has."""


def blocks_for(wanted: str, environ: Mapping[str, str], *, unicode: bool = True) -> Blocks:
    """Choose what pictures are made of.

    Args:
        wanted: the setting `ui.blocks`: auto, half, sextant or whole.
        environ: the environment of the console.
        unicode: whether the terminal has more than ASCII; nothing else is drawn where it has not.
    """
    if not unicode:
        return Blocks.WHOLE
    if wanted != "auto":
        return Blocks(wanted)
    # Within tmux or screen these variables tell of a terminal that may have been left.
    if "TMUX" in environ or "STY" in environ:
        return Blocks.HALF
    is_known = environ.get("TERM_PROGRAM", "") in _BY_PROGRAM or environ.get("TERM", "").startswith(
        _BY_TERM
    )
    return Blocks.SEXTANT if is_known else Blocks.HALF
