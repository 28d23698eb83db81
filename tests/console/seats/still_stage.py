"""An app on a pty whose one picture rests, for tests of images over it. Run as a program; no test.

It carries out orders, a letter each, and answers on a pipe with what can be told then.
"""

import json
import os
import select
import sys

import numpy as np
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.driver import Driver
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.records import Bounds, Element, FrameSource, FrameStatus, LiveFrame
from console.frames import stills
from console.frames.graphics import Pictures
from console.frames.output import paced
from console.frames.stills import ShowsStills, Source, Stills
from console.terminal_input.gated_driver import gated
from widgets.pictures.frame_view import FrameView


def frame(number: int, wide: int, high: int) -> LiveFrame:
    """Make a picture whose pixels tell where they are, and which picture it is."""
    down, across = np.mgrid[0:high, 0:wide]
    rgb = np.stack((across * 255 // wide, down * 255 // high, 0 * down + number * 50), axis=-1)
    return LiveFrame(
        serial="view",
        width_px=wide,
        height_px=high,
        rgb=rgb.astype(np.uint8).tobytes(),
        captured_ms=number,
        source=FrameSource.SCRCPY,
        status=FrameStatus.LIVE,
    )


class Dialog(ModalScreen[None]):
    CSS = "Dialog { align: center middle; } #box { width: 30; height: 7; background: #402010; }"

    def compose(self) -> ComposeResult:
        yield Static("a dialog", id="box")


class Stage(ShowsStills, App[None]):
    """A picture beside text."""

    CSS = """
    Screen { layers: base over; layout: horizontal; }
    #aside { width: 10; height: 18; }
    FrameView { width: 24; height: 18; }
    #over { layer: over; dock: top; margin: 4 0 0 12; width: 26; height: 5;
            background: #204060; display: none; }
    #over.-shown { display: block; }
    """

    def __init__(self, pictures: Pictures) -> None:
        super().__init__()
        self.view = FrameView(id="view")
        self.stills = Stills(self, pictures)
        self.number = 0
        self.pressed: list[str] = []

    def get_driver_class(self) -> type[Driver]:
        return paced(gated(super().get_driver_class()))

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("aside", id="aside")
            yield self.view
        yield Static("an overlay", id="over")

    def on_mount(self) -> None:
        self.stills.begin()
        os.set_blocking(ORDERS, False)
        self.set_interval(1 / 100, self._on_clock, name="look for what is told")
        self.call_after_refresh(self._say)

    def on_key(self, event: object) -> None:
        self.pressed.append(str(getattr(event, "key", "")))

    def _on_clock(self) -> None:
        if self.number:
            self.stills.look(Source(self.view, self._read))
        try:
            told = os.read(ORDERS, 1)
        except BlockingIOError:
            return
        if told:
            self._do(told.decode())
            self.call_after_refresh(self._say)

    async def _read(self, wide: int, high: int) -> LiveFrame:
        return frame(self.number, wide, high)

    def _say(self) -> None:
        at = self.view.region
        answer = {
            "place": [at.x, at.y, at.width, at.height],
            "number": self.number,
            "pressed": self.pressed,
            "drawn_as": self.stills._graphics.drawn_as,
        }
        os.write(ANSWERS, json.dumps(answer).encode() + b"\n")

    def _do(self, order: str) -> None:
        match order:
            case "f":
                self.number += 1
                self.view.show_frame(frame(self.number, 24, 36))
            case "e":
                bounds = Bounds(left=0.2, top=0.5, right=0.4, bottom=0.6)
                element = Element(number=7, key="k", kind="button", label="", bounds=bounds)
                self.view.show_marks([element], None)
            case "o":
                self.query_one("#over").toggle_class("-shown")
            case "m":
                self.push_screen(Dialog())
            case "c":
                self.pop_screen()
            case "a":
                self.query_one("#aside", Static).update(f"aside {self.number}")
            case "w":
                self.query_one("#aside").styles.width = 13
            case "h":
                self.view.display = not self.view.display
            case "z":
                with self.suspend():
                    os.write(2, b"the other program")
                    # It ends when it is told to, so that whoever looks has time to see it.
                    select.select([ORDERS], [], [])
            case "q":
                self.exit()
            case "?":
                pass
            case _:
                raise ValueError(order)


if __name__ == "__main__":
    ORDERS, ANSWERS = int(sys.argv[1]), int(sys.argv[2])
    # How long a picture rests is not what is tested.
    stills.REST_S = 0.05
    Stage(Pictures(sys.argv[3])).run()
