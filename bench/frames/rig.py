"""An app on a real terminal whose pictures move at 30 a second by one route, and what it costs.

A program: it is told what to do by its arguments, runs for a time and writes figures to a file. The
keys it is sent change a label, so that whoever reads the terminal sees how long a key takes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TEXTUAL_FPS", "120")

from PIL import Image
from rich_pixels import Pixels
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.driver import Driver
from textual.widget import Widget
from textual.widgets import Static
from textual_image.widget import HalfcellImage

from agent.records import FrameSource, FrameStatus, LiveFrame
from bench import _host
from bench.frames import scenes
from console.frames.clock import FrameClock
from console.frames.output import paced
from widgets.cells import direct_route
from widgets.pictures.frame_view import FrameView
from widgets.wall.wall_layout import Tile
from widgets.wall.wall_view import WallView

HZ = 30
WARM_S = 1.5
FOCUS = "focus"


class Rig(App[None]):
    """Labels, one large picture, and a wall."""

    CSS = """
    #labels { width: 22; } Static { height: auto; width: auto; } #keys { width: 6; height: 1; }
    #focus { width: 45; height: 50; } #focus.-large { width: 90; height: 100; }
    #wall { width: 1fr; height: 100%; } .thumb { height: auto; width: auto; margin: 0 1 1 0; }
    .line { height: auto; }
    """

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__()
        self.told = told
        self.route: str = told["route"]
        self.columns, self.rows = told["grid"]
        self.thumbs: int = told["thumbs"]
        self.thumb = tuple(told["thumb"])
        self.ours = self.route in ("direct", "rows")
        self.clock = FrameClock()
        self.number = self.shown = self.keys = 0
        self.pending = False
        self.lags: list[float] = []
        self.label = Static("K00000", id="keys", markup=False)
        self.focus_view: Widget | None = None
        self.wall: WallView | None = None
        self.small: list[Widget] = []
        self.begun = (0.0, 0.0, 0.0, 0)
        self.ticks = _host.ticks()

    def get_driver_class(self) -> type[Driver]:
        return paced(super().get_driver_class())

    def compose(self) -> ComposeResult:
        with Horizontal():
            with Vertical(id="labels"):
                yield self.label
                for at in range(20):
                    yield Static(f"label number {at}")
            if self.route != "idle":
                self.focus_view = FrameView(id="focus") if self.ours else self._peer(FOCUS)
                yield self.focus_view
            if self.thumbs and self.ours:
                self.wall = WallView(id="wall")
                yield self.wall
            elif self.thumbs and self.route != "idle":
                across = max(1, (self.size.width - 70) // (self.thumb[0] + 1))
                with Vertical(id="wall"):
                    for first in range(0, self.thumbs, across):
                        with Horizontal(classes="line"):
                            for _ in range(first, min(first + across, self.thumbs)):
                                self.small.append(self._peer(None, "thumb"))
                                yield self.small[-1]

    def _peer(self, name: str | None, classes: str = "") -> Widget:
        if self.route == "rich-pixels":
            return Static(id=name, classes=classes)
        peer: Widget = HalfcellImage(id=name, classes=classes)
        return peer

    def on_mount(self) -> None:
        if self.route == "rows":
            direct_route.show = lambda *_: False
        for small in self.small:
            small.styles.width, small.styles.height = self.thumb
        if self.rows > 50 and self.focus_view is not None:
            self.focus_view.add_class("-large")
        if self.wall is not None:
            tiles = [
                Tile(f"p{at}", ((f"phone {at}", ""),), (), (), (), self._tile_px())
                for at in range(self.thumbs)
            ]
            self.wall.show_tiles(tiles)
        scene = self.told["scene"]
        self.large = self._prepared(scene, self.columns, self.rows)
        # Half of the phones scroll a list, half a feed; no two are at the same place.
        kinds = ("list", "feed") if self.thumbs else ()
        self.little = [self._prepared(kind, *self.thumb) for kind in kinds]
        self.call_after_refresh(self._begin)

    def _tile_px(self) -> tuple[int, int]:
        return self.thumb[0], self.thumb[1] * 2

    def _prepared(self, scene: str, columns: int, rows: int) -> list[Any]:
        frames = scenes.scaled(scene, columns, rows)
        if not self.ours:
            return [Image.fromarray(frame) for frame in frames]
        return [
            LiveFrame(
                serial=FOCUS,
                width_px=columns,
                height_px=rows * 2,
                rgb=frame.tobytes(),
                captured_ms=0,
                source=FrameSource.SCRCPY,
                status=FrameStatus.LIVE,
            )
            for frame in frames
        ]

    def _begin(self) -> None:
        # As the console does once it stands (`console.core.core_opening`).
        gc.freeze()
        self.set_interval(1 / HZ, self._tick)
        self.run_worker(self._watch_lag())
        self.set_timer(WARM_S, self._measure)

    def _measure(self) -> None:
        self.lags.clear()
        self.ticks = _host.ticks()
        self.begun = (time.perf_counter(), time.thread_time(), time.process_time(), self.shown)
        self.set_timer(self.told["seconds"], self._finish)

    def _finish(self) -> None:
        taken_s = time.perf_counter() - self.begun[0]
        lags = sorted(self.lags) or [0.0]
        plan = self.wall.places.layout if self.wall is not None else None
        Path(self.told["result"]).write_text(
            json.dumps(
                {
                    "seconds": taken_s,
                    "thread_s": time.thread_time() - self.begun[1],
                    "process_s": time.process_time() - self.begun[2],
                    "given": _host.ticks().given_since(self.ticks),
                    "frames": self.shown - self.begun[3],
                    "lag_p99_ms": lags[int(len(lags) * 0.99)] * 1000,
                    "tiles": [plan.capacity, plan.columns, plan.picture_rows] if plan else [],
                    **self._more(),
                }
            )
        )
        self.exit()

    async def _watch_lag(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            self.lags.append(time.perf_counter() - before - 0.01)

    def on_key(self, event: Any) -> None:
        if event.key == "k":
            self.keys += 1
            # What a key costs is one label, not a layout of everything.
            self.label.update(f"K{self.keys:05}", layout=False)

    # --- pictures ----------

    def _tick(self) -> None:
        if self.route == "idle" or self.pending:
            return
        if self.ours and not self.clock.may_draw(self._driver):
            return
        self.number += 1
        if self.ours:
            self.shown += self._tick_ours()
        else:
            self.shown += 1
            self.pending = True
            self._show(self.focus_view, self.large[self.number % len(self.large)])
            for at, widget in enumerate(self.small):
                self._show(widget, self._thumb_frame(at))

    def _thumb_frame(self, at: int) -> Any:
        frames = self.little[at % 2]
        return frames[(self.number + at * 7) % len(frames)]

    def _tick_ours(self) -> bool:
        """Show what is next; tell whether the large picture is another."""
        assert isinstance(self.focus_view, FrameView)
        self.focus_view.show_frame(self.large[self.number % len(self.large)])
        if self.wall is not None:
            frames = {f"p{at}": self._thumb_frame(at) for at in range(self.thumbs)}
            self.wall.show_frames(frames, budget_cells=self.clock.budget_cells(self._driver))
        return True

    def _more(self) -> dict[str, float]:
        return {}

    def _show(self, widget: Any, image: Image.Image) -> None:
        if self.route == "rich-pixels":
            widget.update(Pixels.from_image(image))
        else:
            widget.image = image

    def post_display_hook(self) -> None:
        self.pending = False


if __name__ == "__main__":
    Rig(json.loads(sys.argv[1])).run()
