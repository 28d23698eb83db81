"""Words can be read on every ground of both themes: a contrast of 4.5:1 (WCAG 2.2, 1.4.3)."""

import re
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from console.terminal.themes import DARK, LIGHT, SIXTEEN
from widgets.base import status
from widgets.base.status import Mark

ROOT = Path(__file__).parents[3]
LEAST = 4.5
_GROUNDS = ("cursor", "cursor-blurred")
_DECORATES = frozenset({"rule", "border", "cursor", "cursor-blurred"})
"""What no word is written in."""
_STYLE = re.compile(r'"(?:bold |dim |italic )*\$([a-z][a-z-]*)"')


def luminance(colour: Color) -> float:
    """Return the relative luminance (WCAG 2.2)."""
    parts = [value / 255 for value in colour.rgb]
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(luminance(Color.parse(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def used() -> set[str]:
    """Return the names of colours that the console writes words in."""
    found: set[str] = set()
    for room in ("console", "widgets"):
        for path in (ROOT / room).rglob("*.py"):
            found |= set(_STYLE.findall(path.read_text()))
    # Others are names of JSON Schema.
    return {one for one in found - _DECORATES if one in DARK.variables or hasattr(DARK, one)}


def colour_of(theme: Theme, name: str) -> str:
    whole = theme.variables.get(name) or str(getattr(theme, name))
    return whole.split()[-1]


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_what_words_are_written_in_can_be_read_on_every_ground(theme: Theme) -> None:
    # What has a ground of its own is looked at below.
    names = {one for one in used() if " on " not in theme.variables.get(one, "")}
    assert {"faint", "muted", "warn", "bad", "ask", "good", "live", "foreground"} <= names
    grounds = {name: theme.variables[name] for name in _GROUNDS}
    grounds |= {"background": theme.background or "", "panel": theme.panel or ""}
    grounds["boost"] = theme.boost or ""
    wrong = [
        f"{name} on {ground}: {contrast(colour_of(theme, name), on):.2f}"
        for name in sorted(names)
        for ground, on in grounds.items()
        if contrast(colour_of(theme, name), on) < LEAST
    ]
    assert wrong == []


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_what_has_a_ground_of_its_own_can_be_read_on_it(theme: Theme) -> None:
    pairs = [value.split(" on ") for value in theme.variables.values() if " on " in value]
    assert len(pairs) >= 2
    assert all(contrast(ink.split()[-1], ground) >= LEAST for ink, ground in pairs)


# What terminals make of the sixteen colours: xterm, the console of Linux, VS Code, Windows.
PALETTES = {
    "xterm": "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 "
    "7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
    "linux": "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa "
    "555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
    "windows": "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc "
    "767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2",
}


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
@pytest.mark.parametrize("theme", SIXTEEN.values(), ids=SIXTEEN)
def test_words_can_be_read_with_sixteen_colours(theme: Theme, palette: str) -> None:
    shown = [f"#{one}" for one in palette.split()]

    def seen(colour: str) -> str:
        number = RichColor.parse(colour).downgrade(ColorSystem.STANDARD).number
        assert number is not None
        return shown[number]

    names = {one for one in used() if " on " not in theme.variables.get(one, "")}
    grounds = {theme.variables[name] for name in _GROUNDS}
    grounds |= {theme.background or "", theme.panel or "", theme.boost or ""}
    # Pure magenta, of a bar whose legend has words, is what one maker shows darker than others.
    wrong = [
        f"{name}: {contrast(seen(colour_of(theme, name)), seen(on)):.2f}"
        for name in sorted(names - {"model"})
        for on in grounds
        if contrast(seen(colour_of(theme, name)), seen(on)) < LEAST
    ]
    assert wrong == []
    pairs = [value.split(" on ") for value in theme.variables.values() if " on " in value]
    assert all(contrast(seen(ink.split()[-1]), seen(on)) >= LEAST for ink, on in pairs)


def test_no_state_is_told_by_its_colour_alone() -> None:
    tables = [one for one in vars(status).values() if isinstance(one, dict) and one]
    tables = [one for one in tables if all(isinstance(v, Mark) for v in one.values())]
    assert len(tables) >= 8
    for table in tables:
        # Who sees no red or no green, and who has no colours, tells them apart as well.
        signs = [(mark.glyph, mark.word) for mark in table.values()]
        assert len(set(signs)) == len(signs)
