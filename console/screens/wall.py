"""The Wall: every phone live, as many as fit, with what it is and who drives it.

Shows the core's devices and follows their frames at the size they are drawn. Invariants: frames are
asked for only of phones that are seen; a label never says live of a picture that is not.
"""

from collections import Counter
from collections.abc import Sequence, Set
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Resize, ScreenSuspend
from textual.widgets import Input

from agent.records import DeviceInfo, DeviceState, LiveFrame, host_of
from agent.state.device_names import device_names
from agent.state.reducer import State
from agent.text import one_line
from console.frames.clock import FrameClock
from console.keys import actions
from console.screens.base.console_screen import OPENING, ConsoleScreen
from console.screens.base.host_grouping import HostGrouping
from console.screens.deck.shown_phone import NO_DEVICES
from console.screens.wall_filter import WallFilter
from console.starting_phone import start_virtual
from widgets.base import status
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts, Row
from widgets.lists.groups import NO_HOST, heading_row, host_rank
from widgets.lists.hosts import host_away, host_beside
from widgets.lists.session_rows import by_serial, device_name, session_title, step_words
from widgets.pictures.phone_pane import spread
from widgets.plots.latency_line import small_latency_line
from widgets.wall.tile_text import picture_label
from widgets.wall.wall_layout import Tile
from widgets.wall.wall_view import WallView

_NO_FIT = "No phone matches the filter. esc clears it."


class WallScreen(ConsoleScreen):
    """All phones."""

    WHERE = actions.Where.WALL
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.WALL)]
    AUTO_FOCUS = "#wall"
    CONTROLLERS = (WallFilter, HostGrouping)

    def __init__(self) -> None:
        super().__init__()
        # Kept rather than looked up: frames still arrive while the screen is being taken down.
        self.wall = WallView(id="wall", empty=OPENING)
        self._heading = PartsLine(id="wall-heading")
        self._made: dict[str, tuple[tuple[object, ...], Tile]] = {}
        self.grouping = HostGrouping(self)
        self.filter = WallFilter(self)
        self._devices: Sequence[DeviceInfo] = ()
        self.controllers = (self.filter, self.grouping)

    def compose_body(self) -> ComposeResult:
        with Vertical(id="wall-body"):
            yield self._heading
            yield self.wall
            yield Input(id="filter", placeholder="filter", compact=True)

    # --- what is on it ----------

    def show_state(self, state: State) -> None:
        frames = self.console_app.wall_feeds.newest()
        now_ms, latencies = self.console_app.now_ms(), self.console_app.bridge.latencies
        everything = by_serial(state.devices)
        asking = frozenset(question.session_id for question in state.questions.values())
        devices = self.filter.kept(everything, state, asking)
        is_cut = len(devices) < len(everything)
        self.wall.say_when_empty(_NO_FIT if is_cut else self.if_known(NO_DEVICES))
        made = {
            device.serial: self._tile_of(
                device,
                state,
                asking,
                frames.get(device.serial),
                now_ms,
                latencies.of(device.serial),
            )
            for device in devices
        }
        self._made = made
        tiles = [tile for _, tile in made.values()]
        headings: dict[str, Row] = {}
        if self.grouping.is_on:
            tiles = [one._replace(group=host_of(one.serial) or NO_HOST) for one in tiles]
            tiles.sort(key=lambda one: host_rank(one.group))
            hosts = self.console_app.bridge.hosts_by_name
            counts = Counter(one.group for one in tiles)
            headings = {
                name: heading_row(name, count, hosts.get(name)) for name, count in counts.items()
            }
        self.wall.show_tiles(tiles, headings)
        self._devices = devices
        self._show_heading()
        self.want_frames()

    def _tile_of(
        self,
        device: DeviceInfo,
        state: State,
        asking: Set[str],
        frame: LiveFrame | None,
        now_ms: int,
        took_ms: tuple[int, ...],
    ) -> tuple[tuple[object, ...], Tile]:
        """Return what a tile is made of, and the tile: the one of before where that is the same."""
        label = picture_label(frame, now_ms)
        view = state.sessions.get(device.driver)
        names = device_names(state.devices)
        asks = device.driver in asking
        made_of = (
            device,
            view.session if view is not None else None,
            view.step if view is not None else 0,
            names.get(device.serial),
            host_beside(device.serial, state.devices, ""),
            asks,
            label,
            took_ms,
        )
        made = self._made.get(device.serial)
        if made is not None and made[0] == made_of:
            return made
        return made_of, _tile(device, state, label, took_ms, asks=asks)

    def tick_frames(self) -> None:
        self.show_frame()

    def show_frame(self) -> None:
        app = self.console_app
        self.wall.show_frames(
            app.wall_feeds.take_news(), budget_cells=FrameClock.budget_cells(app._driver)
        )

    def want_frames(self) -> None:
        """Follow the phones that are seen and there; none while the screen is not."""
        devices = self.console_app.bridge.state.devices
        sizes = self.wall.wanted_px if self.is_current else {}
        self.console_app.wall_feeds.want(
            {
                serial: size
                for serial, size in sizes.items()
                if (device := devices.get(serial)) and device.state is DeviceState.ONLINE
            }
        )

    def _show_heading(self) -> None:
        devices = self._devices
        online = sum(one.state is DeviceState.ONLINE for one in devices)
        driven = sum(bool(one.driver) for one in devices)
        known = len(self.console_app.bridge.state.devices)
        of = f" of {known}" if len(devices) < known else ""
        left: Parts = (
            (f" {len(devices)}{of} phone{'' if known == 1 else 's'}", "$foreground"),
            (f" · {online} online · {driven} in use", "$muted"),
        )
        wall = self.wall
        right: Parts = ()
        if devices and len(wall.places.visible) < len(devices):
            first = wall.places.before + 1
            last = wall.places.before + len(wall.places.visible)
            right = ((f"{first}–{last} of {len(devices)} ↕ ", "$muted"),)
        width = max(1, self._heading.size.width)
        self._heading.show(spread(left, right, width) if known else ())

    # --- what is done here ----------

    def on_wall_view_moved(self, _event: WallView.Moved) -> None:
        self._show_heading()
        self.want_frames()

    def on_wall_view_opened(self, event: WallView.Opened) -> None:
        self.console_app.navigation.show_device(event.serial)

    def on_screen_suspend(self, _event: ScreenSuspend) -> None:
        self.console_app.wall_feeds.want({})

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self.want_frames)

    def do_wall_virtual(self) -> None:
        """Start a virtual phone, if none is there."""
        start_virtual(self.console_app)

    def back(self) -> bool:
        return self.filter.back()

    def footer_keys(self) -> list[tuple[str, str]]:
        is_here = self.focused is self.wall and self.wall.places.tiles
        first = [("←↓↑→", "move"), ("enter", "open")] if is_here else []
        return first + super().footer_keys()


def _tile(
    device: DeviceInfo, state: State, label: Parts, took_ms: tuple[int, ...], *, asks: bool
) -> Tile:
    mark = status.of_device(device)
    there = device.state is DeviceState.ONLINE
    view = state.sessions.get(device.driver)
    if view is not None:
        driving = status.of_session(view.session, asks=asks)
        progress = step_words(view)
        said = driving.word
        if progress and said == "running":
            # As on the Deck: a tile is narrow, and the number is what changes.
            said = progress[0].partition(" of ")[0]
        driver: Parts = (
            (f"{driving.glyph} ", driving.style),
            (f"{said} ", driving.style),
            (session_title(view.session), "$muted"),
        )
    elif device.driver:
        driver = ((one_line(device.driver, 40), "$warn"),)
    else:
        driver = (("free", "$faint"),)
    called = device_name(device.serial, state.devices)
    name: Parts = ((f"{mark.glyph} ", mark.style), (called, "$foreground" if there else "$muted"))
    if host := host_beside(device.serial, state.devices, called):
        name = (*name, (f" {host}", "$faint"))
    why = host_away(device) or mark.word
    tags = one_line(" ".join(device.tags), 40)
    return Tile(
        serial=device.serial,
        name=(*name, (f" {tags}", "$faint")) if tags else name,
        state=() if there else ((f" {mark.word}", mark.style),),
        label=label if there else ((why, mark.style),),
        driver=driver,
        proportions=(device.width_px, device.height_px),
        looks=small_latency_line(took_ms) if there else (),
        missing="" if there else why,
    )
