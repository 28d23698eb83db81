"""The console's clocks: ticks of the picture, frames, stills, ages once a second.

Invariant: while another program has the terminal, nothing is drawn, and the core goes on.
"""

from typing import TYPE_CHECKING

from textual.timer import Timer
from textual.widget import Widget

from console.core.event_bridge import TICK_HZ
from console.frames.clock import FrameClock
from console.frames.output import owes_all
from console.frames.stills import LOOK_HZ
from console.input.gate import Wait
from console.keys.controllers import TellsHosts
from console.terminal.terminal import look_after
from widgets.base.fault_isolation import is_leaving

if TYPE_CHECKING:
    from console.base_app import ConsoleApp, TopScreen


HOSTS_EVERY_S = 5
"""How often the hosts of a fleet are read where nothing but the header tells of them."""


class Redraw:
    """What is shown by the clock, not by a key.

    Args:
        app: the console.
    """

    def __init__(self, app: "ConsoleApp") -> None:
        self._app = app
        self.frame_clock = FrameClock()
        """When a frame may be drawn, and how many were sent."""
        self.clocks: list[Timer] = []
        """Of frames, of ages and of stills."""
        self._seconds = 0
        self.is_paused = False
        """Whether another program has the terminal, because the operator asked for it."""

    def begin(self) -> None:
        """Start the clocks."""
        app = self._app
        self.clocks = [
            app.set_interval(1 / TICK_HZ, self._on_frame_clock, name="frame clock"),
            app.set_interval(1.0, self._on_second, name="ages"),
            app.set_interval(1 / LOOK_HZ, self._on_still_clock, name="still clock"),
        ]

    def pause(self) -> None:
        """Draw nothing until `resume`; the core and the bridge go on."""
        self.is_paused = True
        for clock in self.clocks:
            clock.pause()
        self._app.stills.withdraw()
        self._app.feed.want(None)
        self._app.wall_feeds.want({})

    def resume(self) -> None:
        """Draw again, all that was missed."""
        self.is_paused = False
        for clock in self.clocks:
            clock.resume()
        self._app.stills.repair()
        self._app.refresh_top()

    def _on_frame_clock(self) -> None:
        app = self._app
        app.bridge.tick()
        if owes_all(app._driver):
            app.stills.repair()
            app.screen.refresh()
        top, is_busy = app.top, not app.gate.is_idle
        if (
            top is not None
            and is_live(top)
            and self.frame_clock.may_draw(app._driver, key_is_under_way=is_busy)
        ):
            with app.in_open_cause():
                app.errors.guarded("showing a frame", top.tick_frames)

    def _on_still_clock(self) -> None:
        app, top = self._app, self._app.top
        if top is not None and top.is_current and is_live(top):
            app.errors.guarded("drawing a still", lambda: app.stills.look(top.still()))

    def _on_second(self) -> None:
        app = self._app
        app.refresh_top()
        app.errors.guarded("calling the operator", app.signals.look)
        self._seconds += 1
        is_due = self._seconds % HOSTS_EVERY_S == 0
        if app.bridge.hosts and (is_due or (app.top is not None and _tells_hosts(app.top))):
            app.spawn(app.bridge.read_hosts(), "reading how the hosts are", Wait.NOT)
        if app.usage is not None and app.usage.is_due and app.painted.is_set():
            app.spawn(app.usage.look(), "reading the size of the pictures", Wait.NOT)
        look_after(app._driver)


def is_live(top: "TopScreen") -> bool:
    """Return whether a screen has its widgets: all are there, and none is being taken away."""
    assert isinstance(top, Widget)
    return top.is_composed and not is_leaving(top)


def _tells_hosts(top: "TopScreen") -> bool:
    return any(isinstance(one, TellsHosts) and one.tells_hosts() for one in top.controllers)
