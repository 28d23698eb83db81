"""All that an operator types and presses, as tokens, and random scripts of it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple, TypeAlias

MODES = ("slow", "burst", "quick", "stopped", "torn")
"""Key by key with rest between; in one write; each 30 ms; with the core stopped in the middle; cut
in odd places."""


class Token(NamedTuple):
    """What one press sends, and how many events it is."""

    sent: bytes
    events: int = 1


Act: TypeAlias = tuple[Token, ...]
ESC, ENTER, TAB = Token(b"\x1b"), Token(b"\r"), Token(b"\t")
_WORDS = ("milk", "go on", "ähm", "x", "wifi p", "1 2 3", "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}")


def keys(text: str) -> Act:
    """Type a text."""
    return tuple(Token(character.encode()) for character in text)


def click(column: int, row: int) -> Act:
    """Press and release the mouse at a place, counted from 1."""
    sent = f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"
    return (Token(sent.encode(), 2),)


def drag(start: tuple[int, int], end: tuple[int, int]) -> Act:
    """Press the mouse at a place, move it to another and release it, counted from 1."""
    moved = f"\x1b[<32;{start[0]};{end[1]}M\x1b[<32;{end[0]};{end[1]}M"
    sent = f"\x1b[<0;{start[0]};{start[1]}M{moved}\x1b[<0;{end[0]};{end[1]}m"
    return (Token(sent.encode(), 4),)


def paste(text: str) -> Act:
    """Paste a text."""
    return (Token(b"\x1b[200~" + text.encode() + b"\x1b[201~"),)


_SIMPLE = (
    *"xpjkgGayduR#!1234,C?:irmnefot/swADuhc",
    *"zZPFVUOBM<>{}=*l ",
    *("cc", "aa", "pp", "AA", "jj", "xx", "xp", "ww"),
)
_NAMED = {
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "left": b"\x1b[D",
    "right": b"\x1b[C",
    "shift+tab": b"\x1b[Z",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "f1": b"\x1bOP",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "pagedown": b"\x1b[6~",
    "ctrl+x": b"\x18",
    "ctrl+p": b"\x10",
    "ctrl+t": b"\x14",
    "ctrl+o": b"\x0f",
    "ctrl+d": b"\x04",
    "ctrl+j": b"\n",
    "backspace": b"\x7f",
}
_F1, _NOT_F1 = _NAMED["f1"], b"|"
_NOT_ALONE = "e"
"""Keys that lend the terminal to another program."""


def script(random: Random, acts: int) -> Act:
    """Make a script of so many acts."""
    made: list[Token] = []
    while acts:
        act = random.choice(_ACTS)(random)
        # Without kitty's keyboard protocol esc, O, P is what F1 sends: nobody can tell them apart.
        if _F1 not in b"".join(_NOT_F1 if t.sent == _F1 else t.sent for t in (*made[-2:], *act)):
            made += act
            acts -= 1
    return tuple(made)


def _word(random: Random) -> Act:
    return keys(random.choice(_WORDS))


def _simple(random: Random) -> Act:
    chosen = random.choice(_SIMPLE)
    return () if chosen == _NOT_ALONE else keys(chosen)


def _named(random: Random) -> Act:
    return (Token(random.choice(tuple(_NAMED.values()))),)


def _goal(random: Random) -> Act:
    return (*keys("n"), *_word(random), ENTER)


def _recalled(random: Random) -> Act:
    arrows = (Token(b"\x1b[A"), Token(b"\x1b[A"), Token(b"\x1b[B"), Token(b"\x1b[1;2B"))
    typed = random.choice(("", "on ", "@", "#t"))
    moves = tuple(random.choice((*arrows, TAB)) for _ in range(3))
    return (*keys("n"), *keys(typed), *moves, random.choice((ESC, ENTER)))


def _hint(random: Random) -> Act:
    return (*keys("i"), *_word(random), ENTER)


def _hurried(random: Random) -> Act:
    return (*_hint(random), *keys("x"))


def _searched(random: Random) -> Act:
    return (*keys(random.choice("/f")), *keys(random.choice(("set", "note", "zz"))), ENTER)


def _cleared(random: Random) -> Act:
    return (*keys("/"), *keys(random.choice(("a", "se"))), ESC, ESC)


def _answered(random: Random) -> Act:
    return (*keys("!"), *random.choice((keys("1"), keys("2"), (ENTER, *_word(random), ENTER))))


def _palette(random: Random) -> Act:
    wanted = random.choice(("jobs", "history", "wall", "pause", "stop", "new", "dark", "deck"))
    end = random.choice((ENTER, ESC))
    return (Token(b"\x10"), *keys(wanted), end)


def _palette_line(random: Random) -> Act:
    line = random.choice(
        ("open @", "set run.max_st", "set run.max_steps x", "jobs cr", "sessions s")
    )
    middle = random.choice(((), (TAB,), (TAB, *_word(random))))
    return (Token(b"\x10"), *keys(line), *middle, ESC)


def _job(random: Random) -> Act:
    lines = (*keys("3n"), *_word(random), ENTER, *keys("10m"), ENTER, ENTER)
    return lines if random.random() < 0.6 else (*lines[: random.randint(2, len(lines) - 2)], ESC)


def _escaped(_random: Random) -> Act:
    return (ESC,)


def _entered(random: Random) -> Act:
    return (random.choice((ENTER, TAB)),)


def _pasted(random: Random) -> Act:
    return paste(random.choice(("one line", "two\nlines", "n x p")))


def _clicked(random: Random) -> Act:
    return click(random.choice((3, 20, 60, 100)), random.choice((3, 5, 9, 15, 30)))


def _dragged(random: Random) -> Act:
    # Borders, a list and a transcript are among these.
    start = (random.choice((41, 42, 50, 83, 84)), random.choice((4, 6, 12)))
    return drag(start, (random.choice((30, 44, 60, 90)), random.choice((4, 8, 14))))


def _pressed(random: Random) -> Act:
    """Press a tab of the header or a key of the footer with the mouse, or mark a row."""
    place = random.choice(((20, 1), (28, 1), (36, 1), (12, 36), (30, 36), (110, 36)))
    if random.random() < 0.6:
        return click(*place)
    marked = f"\x1b[<16;12;{random.choice((3, 5, 7))}"
    return (Token(f"{marked}M{marked}m".encode(), 2),)


def _marked(random: Random) -> Act:
    """Mark some sessions and act on all of them."""
    to_list = (*keys("1"), ESC, ESC, ESC)
    marks = keys(random.choice(("  ", " jV", "*", " j j ")))
    does = random.choice(
        (
            keys("x"),
            keys("pU"),
            keys("cc"),
            keys("DU"),
            (*keys("i"), *_word(random), ENTER),
            (*keys("l"), *keys("bench"), ENTER),
            (*keys("n"), *_word(random), Token(b"\x1b[1;2B"), ENTER),
            keys("!11"),
        )
    )
    return (*to_list, *marks, *does, *((ESC, ESC) if random.random() < 0.5 else ()))


def _arranged(random: Random) -> Act:
    return keys(random.choice(("O", "B", "OB", "F", "<<", "}", "=", "FF")))


def _written(random: Random) -> Act:
    return (*keys(random.choice("nirms")), *_word(random), random.choice((ESC, ENTER)))


def _history(random: Random) -> Act:
    typed = random.choice(("is:open", "is:kept", "note is:open"))
    chosen = random.choice((keys("S"), keys("SF"), (*keys("F"), ENTER), keys("PP"), (ESC,)))
    return (*keys("4/"), *keys(typed), ENTER, *chosen)


def _phone(random: Random) -> Act:
    moves = [Token(_NAMED[random.choice(("up", "down", "left", "right"))]) for _ in range(3)]
    if random.random() < 0.5:
        # As text: pressed at once, or after a second look where a session works.
        return (*keys("t"), *moves, ENTER, *random.choice(((), (ENTER,), (ENTER, *_word(random)))))
    return (*keys(random.choice(("z", "zz", "zZ", "zzzz"))), *moves, *random.choice(((), (ESC,))))


def _dialog(random: Random) -> Act:
    opened = random.choice((keys("?"), keys("C"), (*keys("R"), *keys("E"))))
    return (*opened, ESC)


def _screen(random: Random) -> Act:
    return keys(random.choice("1111234,"))


_ACTS: tuple[Callable[[Random], Act], ...] = (
    _simple,
    _simple,
    _simple,
    _named,
    _named,
    _goal,
    _recalled,
    _hint,
    _hurried,
    _searched,
    _cleared,
    _answered,
    _answered,
    _palette,
    _palette_line,
    _job,
    _escaped,
    _entered,
    _entered,
    _pasted,
    _clicked,
    _dragged,
    _pressed,
    _marked,
    _marked,
    _arranged,
    _written,
    _dialog,
    _history,
    _phone,
    _phone,
    _screen,
)
