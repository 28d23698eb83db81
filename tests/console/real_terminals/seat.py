"""Run in a terminal as a program: the console's driver and pictures, over a socket."""

import json
import os
import socket
import sys

from textual.app import App, ComposeResult
from textual.driver import Driver
from textual.events import AppBlur, AppFocus, Event, Key, MouseDown, Paste, Resize
from textual.widgets import Static

from agent.records import Bounds, Element
from console.frames import stills
from console.frames.graphics import Pictures
from console.frames.output import paced
from console.frames.stills import ShowsStills, Source, Stills
from console.terminal.terminal import lenient
from console.terminal.title import titled
from console.terminal_input.gated_driver import TerminalNotice, gated
from tests.console.seats.still_stage import frame
from widgets.pictures.frame_view import FrameView

LINE = socket.socket(socket.AF_UNIX)


def tell(kind: str, *what: object) -> None:
    LINE.sendall(json.dumps([kind, *what]).encode() + b"\n")


class Seat(ShowsStills, App[int]):
    """A picture, and what comes in."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #bold { height: 1; text-style: bold; color: #ffffff; background: #0000ff; }
    FrameView { width: 40; height: 30; }
    """

    def __init__(self, pictures: Pictures) -> None:
        super().__init__()
        self.view = FrameView(id="view")
        self.stills = Stills(self, pictures)
        self.is_told = False

    def get_driver_class(self) -> type[Driver]:
        return paced(lenient(titled(gated(super().get_driver_class()))))

    def compose(self) -> ComposeResult:
        yield Static("bold text", id="bold")
        yield self.view

    def on_mount(self) -> None:
        self.stills.begin()
        self.view.show_frame(frame(1, 40, 60))
        bounds = Bounds(left=0.2, top=0.5, right=0.4, bottom=0.6)
        element = Element(number=7, key="k", kind="button", label="", bounds=bounds)
        self.view.show_marks([element], None)
        self.set_interval(1 / 20, self.look)

    def look(self) -> None:
        self.stills.look(Source(self.view, self.read))
        if self.stills.is_shown and not self.is_told:
            self.is_told = True
            tell("still", *self.view.region)
        try:
            order = LINE.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        match order:
            case b"c":
                self.copy_to_clipboard("copied by the console")
            case b"q":
                self.exit(0)
            case b"x":
                raise RuntimeError("broken on purpose")
            case b"":
                self.exit(3)

    async def read(self, wide: int, high: int) -> object:
        return frame(1, wide, high)

    def on_terminal_notice(self, event: TerminalNotice) -> None:
        tell("notice", event.text)

    async def on_event(self, event: Event) -> None:
        if not event.is_forwarded:
            match event:
                case Key():
                    tell("key", event.key)
                case Paste():
                    tell("paste", event.text)
                case MouseDown():
                    tell("mouse", event.x, event.y)
                case AppFocus() | AppBlur():
                    tell("focus", isinstance(event, AppFocus))
                case Resize():
                    tell("size", *event.size)
        await super().on_event(event)


if __name__ == "__main__":
    LINE.connect(sys.argv[1])
    stills.REST_S = 0.1
    seat = Seat(Pictures(sys.argv[2]))
    seat.run()
    tell("left", os.environ.get("TERM", ""), seat.return_code)
    # What the terminal says now goes to nobody; what is typed is told as it is.
    os.system("stty -icanon -echo min 0 time 5")
    tell("listening")
    after = b""
    while True:
        after += os.read(0, 1024)
        if b"." in after or b"[46" in after:
            break
    tell("after", after.decode("latin-1"))
