"""What is on a display at one moment: surfaces, back to front, laid out and ready to draw.

A surface is a window: its tree, its frame, and how it takes touches and focus. Not state: a scene
is thrown away at the next change. Invariant: trees in a scene are never changed once it is made,
so it may be drawn in another thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from virtual_phone.state.records import PageState
from virtual_phone.ui.layout import Metrics
from virtual_phone.ui.theme import Theme
from virtual_phone.ui.views import Rect, View


@dataclass(eq=False, slots=True)
class Surface:
    """One window of a display."""

    title: str
    package: str
    root: View
    frame: Rect
    page: PageState
    type: str = "BASE_APPLICATION"
    activity: str = ""
    token: int = 0
    task_id: int = 0
    focusable: bool = True
    modal: bool = False
    touchable: bool = True
    dims: bool = False
    secure: bool = False
    theme: Theme | None = None  # A theme of its own, where it is not the phone's.
    on_dismiss: Callable[[], None] | None = None
    on_back: Callable[[], bool] | None = None
    keeps_wallpaper: bool = False


@dataclass(frozen=True, slots=True)
class Scrolled:
    """That a scene differs from another by how far one view is scrolled, and by nothing else."""

    base: "Scene"
    key: str
    clip: Rect  # Where the view is seen, in display pixels.


@dataclass(eq=False, slots=True)
class Scene:
    """The surfaces of one display, and what they were laid out with."""

    display: int
    width: int
    height: int
    metrics: Metrics
    theme: Theme
    surfaces: list[Surface] = field(default_factory=list)
    wallpaper: bool = False
    off: bool = False
    still: bool = False  # Drawn as it will be once nothing moves.
    scrolled: Scrolled | None = None

    def focused(self) -> Surface | None:
        """Return the window that keys go to and a dump shows: the topmost that takes focus."""
        return next((s for s in reversed(self.surfaces) if s.focusable), None)

    def surface_at(self, x: float, y: float) -> Surface | None:
        """Return the window that a touch at a point goes to."""
        for surface in reversed(self.surfaces):
            if surface.touchable and (surface.modal or surface.frame.contains(x, y)):
                return surface
        return None

    def surface_of(self, page: PageState) -> Surface | None:
        """Return the window that belongs to a page."""
        return next((s for s in reversed(self.surfaces) if s.page is page), None)
