"""Letters for a terminal that has no Unicode: each of ours becomes one of ASCII, as wide.

Which terminal that is says its locale; nobody can ask the terminal. Invariants: a text keeps its
cells, so nothing on the screen moves; escape sequences, which are ASCII, pass as they are; states
keep marks that differ.
"""

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

_OF_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
"""What names the character set, the first that is set (locale(7))."""
_ENVIRONMENT = Path("/proc/self/environ")
_UNKNOWN = "?"

_SAID = {
    char: said
    for chars, saids in (
        # states and marks
        ("●○◌◔◎◷◆◇✓×‖▸▾▶▲▣≠⇧", "*o,%@&#<+x=>v>^#/^"),
        # arrows
        ("←→↑↓↕", "<>^v|"),
        # punctuation
        ("·•…–—“”‘’„‚«»\u00a0\u202f\u2011", '.*~--""\'\'",""  -'),
        # bars, from small to large
        ("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▐▕", "_.:-=+*#||||###||"),
        # half of a picture's cell: the colour behind it stays
        ("▀", " "),
    )
    for char, said in zip(chars, saids, strict=True)
}
_LINES = {"─": "-", "━": "-", "═": "-", "╌": "-", "╍": "-", "│": "|", "┃": "|", "║": "|", "╵": "|"}


class Ascii(dict[int, str]):
    """A table for `str.translate` that finds each letter once."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _ascii(chr(code))
        return found


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    said = _SAID.get(letter) or _LINES.get(letter)
    if said is not None:
        return said
    from rich.cells import cell_len

    cells = cell_len(letter)
    code = ord(letter)
    if 0x2500 <= code < 0x2580:
        return "+"
    if 0x2580 <= code < 0x25A0 or 0x2800 <= code < 0x2900 or 0x1FB00 <= code < 0x1FC00:
        # Quarters, dots and sixths of a cell: the colour behind them stays.
        return " "
    # An accent goes, and its letter stays.
    folded = "".join(one for one in unicodedata.normalize("NFKD", letter) if one.isascii())
    return folded if len(folded) == cells and folded.isprintable() else _UNKNOWN * cells


def has_unicode(environment: Mapping[str, str]) -> bool:
    """Return whether a locale's character set is UTF-8; one that nobody has set may be."""
    named = next((environment[name] for name in _OF_LOCALE if environment.get(name)), "")
    charset = named.partition(".")[2].partition("@")[0] if "." in named else named
    return not named or charset.casefold().replace("-", "") == "utf8"


def own_locale() -> dict[str, str]:
    """Return the variables that name our locale, as whoever started us has set them.

    Python sets LC_CTYPE for itself where it finds the locale of C (PEP 538); only the kernel still
    knows what was there before.
    """
    try:
        pairs = _ENVIRONMENT.read_bytes().split(b"\0")
    except OSError:
        return {name: os.environ.get(name, "") for name in _OF_LOCALE}
    given = dict(pair.decode(errors="replace").partition("=")[::2] for pair in pairs)
    return {name: given.get(name, "") for name in _OF_LOCALE}
