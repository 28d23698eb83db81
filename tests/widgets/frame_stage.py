"""An app on a pty of its own whose pictures move, for tests of what reaches the terminal.

Run as a program: it draws, in the order it is told on its input, and says on a pipe what should be
seen by now. Not a test.
"""

import json
import os
import sys
from typing import Any

import numpy as np
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.driver import Driver
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.records import FrameSource, FrameStatus, LiveFrame
from console.frames.output import paced
from widgets.cells import direct_route
from widgets.pictures import frame_view
from widgets.pictures.frame_view import FrameView
from widgets.wall.wall_layout import Tile
from widgets.wall.wall_view import WallView

PHONES = 6


def frame(serial: str, number: int, size: tuple[int, int]) -> LiveFrame:
    """Make a picture in which much moves."""
    width, height = size
    dice = np.random.default_rng(number)
    rgb = dice.integers(0, 256, (height, width, 3), dtype=np.uint8)
    rgb[: height // 3] = (number * 40 % 256, 90, 200)
    return LiveFrame(
        serial=serial,
        width_px=width,
        height_px=height,
        rgb=rgb.tobytes(),
        captured_ms=number,
        source=FrameSource.SCRCPY,
        status=FrameStatus.LIVE,
    )


class Dialog(ModalScreen[None]):
    CSS = "Dialog { align: center middle; } #box { width: 30; height: 7; background: #402010; }"

    def compose(self) -> ComposeResult:
        yield Static("a dialog", id="box")


class Stage(App[None]):
    """One large picture and a wall, beside text that scrolls."""

    CSS = """
    Screen { layers: base over; layout: horizontal; }
    FrameView { width: 24; height: 18; }
    WallView { width: 1fr; height: 22; }
    #pane { width: 30; height: 22; }
    #tall { height: 40; }
    #over { layer: over; dock: top; margin: 4 0 0 12; width: 26; height: 5;
            background: #204060; display: none; }
    #over.-shown { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.view = FrameView(id="view")
        self.wall = WallView(id="wall")
        self.number = 0
        self.direct = 0
        self.refreshed = 0

    def get_driver_class(self) -> type[Driver]:
        return paced(super().get_driver_class())

    def compose(self) -> ComposeResult:
        with Horizontal():
            with VerticalScroll(id="pane"):
                yield self.view
                yield Static("\n".join(f"line {at}" for at in range(40)), id="tall")
            yield self.wall
        yield Static("an overlay", id="over")

    def on_mount(self) -> None:
        self.wall.show_tiles(
            [
                Tile(f"phone-{at}", ((f"Phone {at}", "bold"),), (), (("● live", ""),), (), (9, 20))
                for at in range(PHONES)
            ]
        )
        self.set_interval(1 / 200, self._look, name="look for what is told")
        os.set_blocking(ORDERS, False)

    def _look(self) -> None:
        try:
            told = os.read(ORDERS, 1)
        except BlockingIOError:
            return
        if told:
            self._do(told.decode())
            self.set_timer(0.05, self._answer)

    def _do(self, order: str) -> None:
        match order:
            case "f":
                self.show_next()
            case "o":
                self.query_one("#over").toggle_class("-shown")
            case "m":
                self.push_screen(Dialog())
            case "c":
                self.pop_screen()
            case "s":
                self.query_one("#pane", VerticalScroll).scroll_relative(y=3, animate=False)
            case "t":
                self.query_one("#pane", VerticalScroll).scroll_home(animate=False)
            case "b":
                with self.batch_update():
                    self.show_next()
            case "n":
                self.wall.go_to((self.number + 1) % PHONES)
            case ".":
                pass
            case "q":
                self.exit()
            case _:
                raise ValueError(order)

    def show_next(self) -> None:
        self.number += 1
        self.view.show_frame(frame("view", self.number, (24, 36)))
        frames = {
            serial: frame(serial, self.number * 10 + at, size)
            for at, (serial, size) in enumerate(self.wall.wanted_px.items())
        }
        self.wall.show_frames(frames, budget_cells=10_000)

    def _answer(self) -> None:
        """Say what every cell of the screen should be, the slow way, once nothing is under way."""
        backlog: Any = self._driver.backlog  # type: ignore[union-attr]
        compositor = self.screen._compositor
        # What noise was left out would be drawn a moment later.
        is_noisy = self.view._resting is not None
        if is_noisy or backlog.pending or self.screen._dirty_widgets or compositor._dirty_regions:
            self.set_timer(0.05, self._answer)
            return
        rows = []
        for strip in compositor.render_strips():
            cells = []
            for segment in strip:
                style = segment.style
                color = style.color.triplet if style and style.color else None
                back = style.bgcolor.triplet if style and style.bgcolor else None
                for letter in segment.text:
                    cells.append((letter, color and color.hex[1:], back and back.hex[1:]))
            rows.append(cells)
        answer = json.dumps({"rows": rows, "direct": COUNTED["direct"]}).encode() + b"\n"
        view = memoryview(answer)
        while view:
            view = view[os.write(ANSWERS, view) :]


COUNTED = {"direct": 0}


def _count() -> None:
    show = direct_route.show

    def counted(*args: Any) -> bool:
        done = show(*args)
        COUNTED["direct"] += done
        return done

    direct_route.show = counted  # type: ignore[assignment]


if __name__ == "__main__":
    ORDERS, ANSWERS = int(sys.argv[1]), int(sys.argv[2])
    if "blind" in sys.argv:
        # The control: a route that does not look what lies over it must be found out.
        direct_route.clear_place = lambda widget: widget.region  # type: ignore[assignment]
    # Every order is followed by a rest; its length is not what is tested.
    frame_view.STILL_S = 0.02
    _count()
    Stage().run()
