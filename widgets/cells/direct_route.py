"""Write changed cells straight to the terminal, past Textual's compositor, where nothing overlaps.

Uses private parts of Textual (`App._display`, `Screen._compositor`), so it is pinned to the
versions it was tried with and gives way by itself: `show` says False, and the widget refreshes as
any other. Invariants: it goes through Textual's own writer, so order, synchronisation marks and the
cursor's place are kept; a cell that another widget covers is never written.
"""

from collections.abc import Callable
from functools import lru_cache

import textual
from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.geometry import Region
from textual.widget import Widget

_FROM, _BELOW = (8, 2), (9, 0)


class _Changed(CompositorUpdate):
    """Text that is ready."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:
        return self._text


@lru_cache(maxsize=1)
def is_known_textual() -> bool:
    """Return whether the private parts are those that this was made for."""
    version = tuple(int(part) for part in textual.__version__.split(".")[:2])
    return _FROM <= version < _BELOW


def show(widget: Widget, text_at: Callable[[int, int], str]) -> bool:
    """Write what `text_at(x, y)` gives for the place of the widget on the terminal.

    Returns:
        False when it cannot be done now and the widget is to be refreshed.
    """
    place = clear_place(widget)
    if place is None:
        return False
    if text := text_at(place.x, place.y):
        widget.app._display(widget.screen, _Changed(text))  # type: ignore[arg-type]
    return True


def covers(renderable: object, place: Region) -> bool:
    """Return whether an update of the terminal writes within a place; what is not known, does."""
    if isinstance(renderable, ChopsUpdate):
        rows = range(place.y, place.bottom)
        return any(
            y in rows and x1 < place.right and x2 > place.x for y, x1, x2 in renderable.spans
        )
    # What takes the route of this module has a place of its own, or has changed its cells.
    return renderable is not None and not isinstance(renderable, _Changed)


def clear_place(widget: Widget) -> Region | None:
    """Return where the whole widget is on the terminal; None when part of it cannot be seen."""
    app = widget.app
    if not is_known_textual() or not app.is_running or app.is_headless or app.is_inline:
        return None
    if app._driver is None or app._batch_count:
        # `_display` drops what it is given while a batch is open.
        return None
    screen = widget.screen
    if screen is not app.screen:
        return None
    visible = screen._compositor.visible_widgets
    found = visible.get(widget)
    if found is None:
        return None
    region, clip = found
    if region.size != widget.outer_size or not clip.contains_region(region):
        return None
    if not screen._compositor.size.region.contains_region(region):
        return None
    # The first are those on top.
    for other, (its_region, its_clip) in visible.items():
        if other is widget:
            return region
        if region.overlaps(its_region.intersection(its_clip)):
            return None
    return None
