"""All that an operator types and presses, as tokens, and random scripts of it."""

import re
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
    return tuple(Token(character.encode()) for character in text)


SHIFT, CTRL = 4, 16
"""Held while the mouse is pressed or turned (xterm's ctlseqs, mode 1006)."""


def click(column: int, row: int, held: int = 0) -> Act:
    """Press and release the mouse at a place, counted from 1."""
    sent = f"\x1b[<{held};{column};{row}M\x1b[<{held};{column};{row}m"
    return (Token(sent.encode(), 2),)


def point(column: int, row: int) -> Act:
    """Move the mouse to a place without a button, counted from 1."""
    return (Token(f"\x1b[<35;{column};{row}M".encode()),)


def drag(start: tuple[int, int], end: tuple[int, int]) -> Act:
    """Press the mouse at a place, move it to another and release it, counted from 1."""
    moved = f"\x1b[<32;{start[0]};{end[1]}M\x1b[<32;{end[0]};{end[1]}M"
    sent = f"\x1b[<0;{start[0]};{start[1]}M{moved}\x1b[<0;{end[0]};{end[1]}m"
    return (Token(sent.encode(), 4),)


def scroll(column: int, row: int, *, down: bool, held: int = 0) -> Act:
    """Turn the wheel of the mouse at a place, counted from 1."""
    return (Token(f"\x1b[<{(65 if down else 64) + held};{column};{row}M".encode()),)


def right_click(column: int, row: int) -> Act:
    """Press and release the right button at a place, counted from 1."""
    return (Token(f"\x1b[<2;{column};{row}M\x1b[<2;{column};{row}m".encode(), 2),)


def paste(text: str) -> Act:
    return (Token(b"\x1b[200~" + text.encode() + b"\x1b[201~"),)


def resize(columns: int, rows: int) -> Act:
    """Make the terminal another size, as one says it that speaks among its keys (mode 2048).

    A pixel is a cell: afterwards the mouse is told in pixels.
    """
    return (Token(f"\x1b[48;{rows};{columns};{rows};{columns}t".encode()),)


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
    "shift+down": b"\x1b[1;2B",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
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
_FUNCTION_KEY = re.compile(rb"\x1bO[P-S]")
_NOT_ALONE = "e"  # Keys that lend the terminal to another program.


def script(random: Random, acts: int) -> Act:
    """Make a script of so many acts."""
    made: list[Token] = []
    while acts:
        act = random.choice(_ACTS)(random)
        if act and not _makes_a_function_key((*made[-2:], *act)):
            made += act
            acts -= 1
    return tuple(made)


def _makes_a_function_key(tokens: Act) -> bool:
    """Return whether esc, O, P are there as three keys: F1 sends the same, nobody can tell."""
    return _FUNCTION_KEY.search(b"".join(t.sent for t in tokens if len(t.sent) != 3)) is not None


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


def _watched(random: Random) -> Act:
    """Write a watcher, or a commitment, or the later lines of a job."""
    escaped = random.random() < 0.3
    match random.choice(("watcher", "commitment", "edit", "fields")):
        case "watcher":
            look = random.choice(("notifications", "screen", "messages from Ana", "nothing"))
            lines: Act = (*keys("3"), TAB, *keys("n"), *keys(look), ENTER, *_word(random), ENTER)
            made = (*lines, ESC) if escaped else (*lines, ENTER, ESC)
        case "commitment":
            lines = (*keys("3"), TAB, TAB, *keys("n"), *_word(random), ENTER, *keys("2h"))
            made = (*lines, ESC) if escaped else (*lines, ENTER)
        case "edit":
            made = (*keys("3e"), *_word(random), *((ESC,) if escaped else (ENTER, ENTER, ENTER)))
        case _:
            phone = random.choice(("Pixel 2", "#bench", "nobody"))
            lines = (*keys("3n"), *_word(random), ENTER, ENTER, TAB, *keys("Called"), TAB)
            made = (*lines, *keys(phone), *((ESC,) if escaped else (ENTER,)))
    return (*made, *random.choice((keys("1"), (), keys("x"), keys("dz"))))


def _set(random: Random) -> Act:
    """Change a setting, or leave it as it is."""
    names = ("max_steps", "theme", "timeout", "zzz")
    opened = (*keys(",/"), *keys(random.choice(names)), ENTER, *keys(random.choice(("", "j"))))
    typed = random.choice((keys("7"), keys("x"), (Token(b"\x15"), *keys("17")), paste("9")))
    return (*opened, ENTER, *typed, random.choice((ENTER, ESC)), *random.choice(((), (ESC, ESC))))


def _placed(random: Random) -> Act:
    """Begin a session on a phone, on one with a tag, or with a server's tools."""
    handle = random.choice(
        (
            (*keys("@pixel-2"), *keys(" ")),
            (*keys("@Pix"), TAB, *keys(" ")),
            (*keys("#be"), TAB, *keys(" ")),
            keys("#bench "),
            (*keys("+no"), TAB, *keys(" ")),
            keys("+notes "),
            keys("#none "),
        )
    )
    return (*keys("1n"), *handle, *_word(random), random.choice((ENTER, ENTER, ESC)))


def _driven(random: Random) -> Act:
    """Take the wheel, do something with the phone, and hand it back."""
    does: tuple[Act, ...] = (
        keys("hello"),
        (Token(_NAMED["f2"]),),
        (Token(_NAMED["f3"]), Token(_NAMED["f4"])),
        (Token(_NAMED["left"]), Token(_NAMED["backspace"])),
        (ENTER,),
        paste("pasted"),
        click(100, 12),
        drag((100, 20), (100, 10)),
        scroll(100, 12, down=True),
        right_click(100, 12),
        (Token(_NAMED["f5"]), Token(_NAMED["down"]), ENTER),
        (Token(_NAMED["f6"]), Token(b"\x1b[1;2C")),
    )
    done = [token for _ in range(random.randint(1, 3)) for token in random.choice(does)]
    note = random.choice(((), (*_word(random), ENTER), (ENTER,), (ESC,)))
    return (*keys(random.choice(("1w", "1jw", "ow"))), *done, ESC, *note)


def _looked_at(random: Random) -> Act:
    """Look at a phone on its own screen: what is on it, its log, its health, its notes."""
    does = (
        keys("e"),
        (*keys("l/"), *keys(random.choice(("line 2", "!line", "zz"))), ENTER),
        (*keys("l/"), *keys("li"), ESC),
        keys("hjf"),
        keys("r"),
        keys("]["),
        keys("#y"),
        (*keys("t"), Token(_NAMED["down"]), ENTER),
        (TAB, *keys("z")),
        (*keys("jj"), ENTER),
        keys("L"),
    )
    chosen = [token for _ in range(random.randint(1, 3)) for token in random.choice(does)]
    return (*keys("1o"), *chosen, *random.choice(((), (ESC,), keys("1"))))


def _replayed(random: Random) -> Act:
    """Play a session again, step through it, write it, branch it."""
    moves = ("right", "left", "home", "end")
    does: tuple[Act, ...] = (
        (Token(_NAMED[random.choice(moves)]),),
        keys("ll"),
        keys(" "),
        keys("i"),
        keys("ii"),
        keys("+-"),
        keys("t"),
        keys("zZ"),
        keys("#"),
        (*keys("E"), ESC),
        keys("bb"),
        keys("aa"),
        keys("b"),
        (*keys("d"), ESC),
    )
    opened = random.choice((keys("R"), (*keys("4"), ENTER), (*keys("4j"), ENTER)))
    chosen = [token for _ in range(random.randint(1, 4)) for token in random.choice(does)]
    return (*opened, *chosen, *random.choice(((ESC,), (ESC, ESC), ())))


def _compared(random: Random) -> Act:
    chosen = random.choice((keys("jd"), keys("j o"), (*keys("jd"), ENTER), keys("jdjy"), keys(" ")))
    return (*keys("4 "), *chosen, *random.choice(((ESC,), (ESC, ESC), ())))


def _summed(random: Random) -> Act:
    return (*keys("4s"), *keys(random.choice(("m", "mm", "", "s"))), *random.choice(((), (ESC,))))


def _approved(random: Random) -> Act:
    """Go to the questions and decide on an approval, on its card and away from it."""
    way = random.choice((keys("!"), keys("!!!!"), keys("1G"), ()))
    does = random.choice(
        (
            keys("a"),
            keys("aa"),
            keys("AA"),
            (*keys("r"), *_word(random), ENTER),
            (*keys("r"), ENTER),
            (*keys("m"), *_word(random), ENTER),
            (*keys("m"), ESC),
            keys("d"),
            keys("t"),
        )
    )
    return (*way, *does)


def _turned(random: Random) -> Act:
    place = random.choice(((10, 5), (60, 12), (100, 12), (60, 33)))
    return scroll(*place, down=random.random() < 0.6) * random.randint(1, 3)


def _double_clicked(random: Random) -> Act:
    place = random.choice(((12, 4), (12, 7), (60, 10), (100, 12), (60, 20)))
    return click(*place) * 2 if random.random() < 0.7 else right_click(*place)


def _emptied(random: Random) -> Act:
    """Filter a list down to nothing, and act on nothing."""
    return (
        *keys(random.choice(("1/", "3/", "4/", ",/"))),
        *keys("zzzz"),
        ENTER,
        *random.choice(((*keys("j"), ENTER), keys("xp"), keys("Dcc"), (TAB, *keys("j")))),
        *random.choice(((), (ESC, ESC))),
    )


def _titled(random: Random) -> Act:
    return (*keys(random.choice(("1l", "1E", "1jl"))), *_word(random), random.choice((ENTER, ESC)))


def _walled(random: Random) -> Act:
    return (*keys("2"), *keys(random.choice(("l", "lh", "j", "w"))), random.choice((ENTER, ESC)))


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
    return click(*place) if random.random() < 0.6 else click(12, random.choice((3, 5, 7)), CTRL)


def _marked(random: Random) -> Act:
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
    opened = random.choice(
        (
            keys("?"),
            keys("?jj"),
            keys("C"),
            (*keys("Cj"), ENTER),
            (*keys("R"), *keys("E")),
            (Token(b"\x11"),),
            (*keys("n"), Token(b"\x11")),
            keys("M"),
        )
    )
    return (*opened, ESC)


def _resized(random: Random) -> Act:
    """Make the terminal smaller or larger, often in the middle of something, and press in it."""
    opened = random.choice(((), (), keys("n"), keys("1o"), keys("2"), keys("?"), keys("p")))
    pressed = random.choice(((), click(20, 5), click(60, 12), keys("j"), (TAB,)))
    to = random.choice(((60, 20), (100, 30), (160, 50), (120, 36), (80, 24)))
    after = random.choice(((), keys("j"), click(20, 5), click(50, 15), (ESC,)))
    return (*opened, *pressed, *resize(*to), *after)


def _noted(random: Random) -> Act:
    """Change the name, tags or notes of a phone by the line of the palette."""
    line = random.choice(("devices tag ", "devices tag phone-2 --no", "devices tag phone-1 --na"))
    end = random.choice(((ESC,), (TAB, ESC), (TAB, *_word(random), ESC)))
    return (Token(b"\x10"), *keys(line), *end)


def _screen(random: Random) -> Act:
    return keys(random.choice("1111234,"))


def _marked_by_mouse(random: Random) -> Act:
    """Mark sessions with ctrl and shift held, and act on all of them."""
    rows = [random.randint(3, 9) for _ in range(2)]
    marks = (*click(12, rows[0], CTRL), *click(12, rows[1], random.choice((CTRL, SHIFT))))
    does = random.choice(
        (
            keys("x"),
            keys("xU"),
            keys("pp"),
            (*keys("i"), *_word(random), ENTER, *keys("U")),
            (*keys("i"), *paste("two\nlines"), ENTER),
            (*keys("n"), *_word(random), Token(_NAMED["shift+down"]), ENTER),
            (*keys("E"), *_word(random), ENTER, *keys("U")),
            click(random.choice((8, 20, 30)), 36),
        )
    )
    return (*keys("1"), ESC, ESC, *marks, *does, *random.choice(((), (ESC, ESC))))


def _card_pressed(random: Random) -> Act:
    """Go to a card, by key or by mouse, and press what may be an option of it."""
    way = random.choice((keys("!"), keys("!!"), click(20, random.randint(20, 28)), keys("1")))
    option = click(random.choice((50, 60)), random.randint(26, 33))
    return (*way, *option * random.randint(1, 2), *random.choice(((), keys("1"), (ESC,))))


def _dialog_pressed(random: Random) -> Act:
    """Open a dialog, move and press in it with the mouse, and press beside it."""
    opened = random.choice(
        (
            keys("?"),
            keys("C"),
            (Token(_NAMED["ctrl+p"]),),
            (Token(_NAMED["ctrl+p"]), *paste("wall")),
            (*keys("4F"),),
            (*keys("1R"), *keys("E")),
            click(100, 36),
            click(108, 36),
        )
    )
    row = random.randint(10, 24)
    does = random.choice(
        (
            point(60, row),
            click(60, row),
            click(60, row) * 2,
            scroll(60, row, down=True) * 2,
            drag((60, row), (60, row + 3)),
        )
    )
    return (*opened, *does, *random.choice((click(2, 30), click(118, 3), (ESC,), ())))


def _tape_pressed(random: Random) -> Act:
    """Press and drag the tape of a replay, or press what lies around it."""
    start = (random.randint(2, 80), random.choice((34, 34, 34, 35)))
    does = random.choice(
        (
            click(*start),
            drag(start, (random.randint(1, 120), random.randint(30, 36))),
            (*click(*start), *keys("l")),
            (*keys(" "), *click(*start), *keys(" ")),
            scroll(100, 12, down=False),
            click(60, random.randint(5, 20)),
        )
    )
    return (*keys("1R"), *does, *random.choice(((), (ESC,))))


def _listed_pressed(random: Random) -> Act:
    """Press a tab, a row, or a row twice on another screen than the Deck."""
    screen = random.choice("234,")
    place = (random.choice((3, 12, 30, 70)), random.randint(2, 14))
    does = random.choice(
        (
            click(*place),
            click(*place) * 2,
            (*point(*place), *click(*place), *keys("j")),
            (*click(*place), *scroll(*place, down=True) * 2),
        )
    )
    return (*keys(screen), *does, *random.choice(((), (ESC,), keys("1"))))


def _zoomed_by_mouse(random: Random) -> Act:
    place = (random.choice((95, 105)), random.choice((8, 16)))
    held = random.choice((0, CTRL))
    turned = scroll(*place, down=random.random() < 0.3, held=held) * random.randint(1, 3)
    moved = random.choice(((), drag(place, (100, 12)), keys("z")))
    return (*keys(random.choice(("1", "1w", "1o"))), *turned, *moved, *random.choice(((), (ESC,))))


def _selected(random: Random) -> Act:
    """Select text of a transcript with the mouse, which copies it."""
    start = (random.choice((46, 55)), random.randint(4, 14))
    end = (random.choice((60, 78)), start[1] + random.choice((0, 0, 2)))
    return (*keys("1"), *drag(start, end), *random.choice(((), keys("y"), (ESC,), click(60, 10))))


def _pasted_into(random: Random) -> Act:
    """Paste, often several lines, into each kind of field."""
    text = random.choice(("two\nlines", "one", "a\tb\n\n", "日本語 ノート", "x\r\ny", " /n x "))
    field = random.choice(("1/", "1f", "4/", ",/", "3n", "3/", "1n", "1i", "1l", "1E", "!"))
    return (*keys(field), *paste(text), *random.choice(((ENTER,), (ESC,), (ENTER, ESC, ESC))))


def _palette_done(random: Random) -> Act:
    line = random.choice(
        (
            "open @phone-2",
            "open @phone-1",
            "set run.max_steps 40",
            "set run.max_steps x",
            "set ui.theme",
            "Backup",
            "milk",
        )
    )
    typed = paste(line) if random.random() < 0.4 else keys(line)
    return (Token(_NAMED["ctrl+p"]), *typed, ENTER, *random.choice(((), (ESC,), keys("1"))))


def _expired(random: Random) -> Act:
    """Answer the question that has expired when the core hears the answer."""
    to_it = (*keys("1/expir"), ENTER)
    answer = random.choice((keys("!1"), keys("!2"), (*keys("iyes"), ENTER), keys("!11")))
    return (*to_it, *answer, *random.choice(((), (ESC, ESC), keys("!"), keys("x"))))


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
    _watched,
    _set,
    _placed,
    _placed,
    _driven,
    _driven,
    _looked_at,
    _looked_at,
    _replayed,
    _replayed,
    _compared,
    _summed,
    _approved,
    _approved,
    _turned,
    _double_clicked,
    _emptied,
    _titled,
    _walled,
    _resized,
    _resized,
    _noted,
    _marked_by_mouse,
    _card_pressed,
    _card_pressed,
    _dialog_pressed,
    _dialog_pressed,
    _tape_pressed,
    _listed_pressed,
    _listed_pressed,
    _zoomed_by_mouse,
    _selected,
    _pasted_into,
    _pasted_into,
    _palette_done,
    _expired,
)
