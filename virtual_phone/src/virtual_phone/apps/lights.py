"""Lights Out: a small game that draws everything itself, so no UI tree says what it shows.

Pressing a lamp turns it and its neighbours; the goal is a dark board. Like a game engine's view,
the window is one surface: views are there for drawing and touches, and none is told to
accessibility.
Invariant: every board that is dealt can be solved, as it is made by pressing lamps of a dark one.
"""

from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import Child, column, row, space, stack, text

SIZE = 3
LEVELS = ((4,), (0, 8), (1, 3, 5, 7))  # Which lamps of a dark board are pressed to deal each level.


class Lights(msgspec.Struct):
    """The app's state; lamps from left to right and from top to bottom."""

    playing: bool = False
    level: int = 1
    lamps: list[bool] = []
    moves: int = 0
    won: int = 0


def seed(_seed: Seed) -> Lights:
    """Return a game that was never played."""
    return Lights()


lights = App(
    package="org.example.lights",
    label="Lights Out",
    icon=AppIcon("star", "#F6C445", "#C7860B"),
    state=Lights,
    seed=seed,
)


def press(lamps: list[bool], at: int) -> list[bool]:
    """Return a board after a lamp was pressed."""
    x, y = at % SIZE, at // SIZE
    near = {(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)}
    return [lamp != ((n % SIZE, n // SIZE) in near) for n, lamp in enumerate(lamps)]


def deal(level: int) -> list[bool]:
    """Return the board of a level, from 1."""
    lamps = [False] * SIZE**2
    for at in LEVELS[(level - 1) % len(LEVELS)]:
        lamps = press(lamps, at)
    return lamps


@lights.page(".GameActivity", launcher=True)
def play(page: Page[Lights]) -> View:
    """Show the title, or the board of the level that is played."""
    data = page.data

    def start() -> None:
        data.playing, data.moves, data.lamps = True, 0, deal(data.level)

    def on(at: int) -> Callable[[], None]:
        def act() -> None:
            if any(data.lamps):
                data.lamps = press(data.lamps, at)
                data.moves += 1
                data.won += not any(data.lamps)

        return act

    def onwards() -> None:
        data.level = data.level % len(LEVELS) + 1
        start()

    if not data.playing:
        shown: list[Child] = [
            _line("LIGHTS OUT", 40),
            _line(f"Level {data.level} of {len(LEVELS)}", 20),
            _key("START GAME", start),
        ]
    else:
        board = [
            row(
                *(
                    _lamp(data.lamps[y * SIZE + x], on(y * SIZE + x), y * SIZE + x)
                    for x in range(SIZE)
                ),
                gap=12,
                halign=Align.CENTER,
            )
            for y in range(SIZE)
        ]
        over = not any(data.lamps)
        shown = [
            _line(f"Moves: {data.moves}", 22),
            column(*board, gap=12, halign=Align.CENTER),
            _line("SOLVED" if over else f"{sum(data.lamps)} lamps are on", 26),
            _key("NEXT LEVEL", onwards) if over else _key("RESTART", start),
        ]
    inside = column(
        space(weight=1),
        *shown,
        space(weight=1),
        gap=26,
        width=MATCH,
        height=MATCH,
        hidden_from_tree=True,
    )
    return stack(inside, width=MATCH, height=MATCH, fill="surface", cls="android.view.SurfaceView")


def _line(words: str, size: float) -> View:
    return text(words, TextStyle(size, 600), halign=Align.CENTER, hidden_from_tree=True)


def _key(words: str, act: Callable[[], None]) -> View:
    face = text(words, TextStyle(20, 600, "on_accent"), hidden_from_tree=True)
    face.halign = face.valign = Align.CENTER
    return stack(
        face,
        on_click=act,
        width=260,
        height=64,
        radius=32,
        fill="accent",
        halign=Align.CENTER,
        hidden_from_tree=True,
        key=f"key {words}",
    )


def _lamp(lit: bool, act: Callable[[], None], at: int) -> View:
    ink = "on_accent" if lit else "text2"
    face = text(
        f"{at + 1} {'ON' if lit else 'OFF'}", TextStyle(20, 600, ink), hidden_from_tree=True
    )
    face.halign = face.valign = Align.CENTER
    return stack(
        face,
        on_click=act,
        width=92,
        height=92,
        radius=14,
        fill="accent" if lit else "surface2",
        hidden_from_tree=True,
        key=f"lamp {at}",
    )
