"""The console's driver and pictures in terminal emulators of Debian, on a screen of Xvfb.

What is not installed is left out: `apt-get install xvfb xdotool imagemagick xclip x11-utils xterm
kitty mlterm konsole alacritty tmux gir1.2-vte-2.91` brings all.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from tests.console.real_terminals.emulators import EMULATORS, Emulator, Screen, until
from tests.console.real_terminals.play import Play

pytestmark = pytest.mark.slow
LEFT_ON = "printf '\\033[>31u'"
"""A program before it left kitty's keyboard protocol on, with releases."""
KEYS = {
    "a": "a",
    "shift+b": "B",
    "Up": "up",
    "Return": "enter",
    "ctrl+x": "ctrl+x",
    "Escape": "escape",
    "shift+Tab": "shift+tab",
    "F5": "f5",
    "BackSpace": "backspace",
    "Caps_Lock": "",
    "Shift_L": "",
    "question": "question_mark",
}
INK = np.array([255, 209, 92])
"""Behind the number of an element."""


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    opened = Screen()
    yield opened
    opened.close()


@pytest.fixture(params=EMULATORS, ids=lambda one: one.name)
def emulator(request: pytest.FixtureRequest) -> Emulator:
    found: Emulator = request.param
    if not found.is_here:
        pytest.skip(f"needs {found.name}, which this machine does not have")
    return found


def test_keys_pastes_mouse_sizes_and_pictures_are_right(screen: Screen, emulator: Emulator) -> None:
    play = Play(screen, emulator, LEFT_ON)
    try:
        play.see("size")
        window = screen.focus_window()
        screen.resize(window, 1100, 820)
        if emulator.draws:
            play.see("still")
            until(lambda: picture_error(screen.pixels()) < 12.0)
        until(lambda: is_bold_readable(screen.pixels()))
        pressed = [name for name in KEYS.values() if name]
        for keys in KEYS:
            screen.press(keys)
        screen.press("Caps_Lock", "f")
        told = [play.see("key")[0] for _ in range(len(pressed) + 1)]
        assert told == [*pressed, "f"]
        screen.put_into_clipboards("one\n\ntwo x p\n\tthree")
        screen.press(emulator.paste)
        [pasted] = play.see("paste")
        assert pasted.replace("\r", "\n") == "one\n\ntwo x p\n\tthree"
        screen.click(300, 300)
        column, row = play.see("mouse")
        assert 15 < column < 60 and 3 < row < 30
        play.order("c")
        if emulator.takes_copies:
            until(lambda: screen.copied() == "copied by the console")
        if emulator.tells_focus:
            screen.unfocus()
            play.see("focus", False)
            screen.focus_window()
            play.see("focus", True)
        screen.resize(window, 700, 500)
        wide, high = play.see("size")
        assert wide < 110 and high < 45
        assert not [one for one in play.told if one[0] in ("key", "paste")]
    finally:
        play.close()


@pytest.mark.parametrize(("order", "status"), [("q", 0), ("x", 1)])
def test_the_terminal_is_left_as_it_was(
    screen: Screen, emulator: Emulator, order: str, status: int
) -> None:
    play = Play(screen, emulator)
    try:
        play.see("size")
        window = screen.focus_window()
        screen.resize(window, 1100, 820)
        if emulator.draws:
            play.see("still")
        play.order(order)
        assert play.see("left")[1] == status
        play.see("listening")
        # The mouse, focus and keys of kitty's protocol would be reported now.
        screen.click(200, 200)
        screen.unfocus()
        screen.focus_window()
        screen.press("Up", "b", "period")
        [after] = play.see("after")
        assert after in ("\x1b[Ab.", "\x1bOAb.")
    finally:
        play.close()


def picture_error(pixels: npt.NDArray[np.uint8]) -> float:
    """Return how far the picture on the screen is from the phone's, on average; 255 without one.

    The phone's has red from left to right, green from top to bottom, and the same blue all over.
    """
    red, green, blue = (pixels[..., at].astype(int) for at in range(3))
    shown = (blue > 30) & (blue < 75) & ((red > 90) | (green > 90))
    rows, columns = np.flatnonzero(shown.sum(1) > 50), np.flatnonzero(shown.sum(0) > 50)
    if rows.size < 200 or columns.size < 200:
        return 255.0
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    part = pixels[top:bottom, left:right].astype(float)
    if not has_real_pixels(part) or not has_number(part):
        return 255.0
    high, wide = part.shape[0] // 8 * 8, part.shape[1] // 8 * 8
    seen = part[:high, :wide].reshape(high // 8, 8, wide // 8, 8, 3).mean((1, 3))
    wanted = np.zeros_like(seen)
    wanted[..., 0] = (np.arange(wide // 8) * 8 + 4) * 255 / part.shape[1]
    wanted[..., 1] = ((np.arange(high // 8) * 8 + 4) * 255 / part.shape[0])[:, None]
    wanted[..., 2] = 50
    return float(np.abs(seen - wanted).mean())


def has_real_pixels(part: npt.NDArray[np.float64]) -> bool:
    """Return whether there is more than one colour in most squares that are smaller than a cell."""
    high, wide = part.shape[0] // 4 * 4, part.shape[1] // 4 * 4
    squares = part[:high, :wide].reshape(high // 4, 4, wide // 4, 4, 3)
    return bool((np.ptp(squares, axis=(1, 3)).max(-1) > 0).mean() > 0.5)


def has_number(part: npt.NDArray[np.float64]) -> bool:
    """Return whether the number of the element is seen, in its cell."""
    return int((np.abs(part - INK).max(-1) < 12).sum()) > 40


def is_bold_readable(pixels: npt.NDArray[np.uint8]) -> bool:
    """Return whether there is a blue bar with white letters in it."""
    high = pixels.astype(int)
    blue = (high[..., 2] > 180) & (high[..., 0] < 100) & (high[..., 1] < 100)
    rows = np.flatnonzero(blue.sum(1) > 300)
    white = (high[rows].min(-1) > 180).sum() if rows.size else 0
    return rows.size > 5 and int(white) > 20
