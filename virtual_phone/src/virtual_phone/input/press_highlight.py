"""Which view is shown as pressed while a finger is on it."""

from typing import TYPE_CHECKING

from virtual_phone.state.records import PageState
from virtual_phone.ui.bind import find

if TYPE_CHECKING:
    from virtual_phone.display.compositor import Compositor


class PressHighlight:
    """The pressed view of one phone.

    Args:
        compositor: has the scenes in which it is looked for.
    """

    def __init__(self, compositor: "Compositor") -> None:
        self._compositor = compositor
        self._view: tuple[PageState, str] | None = None

    def show(self, key: str) -> None:
        """Show a view as pressed; the empty key shows none."""
        if not key and self._view is None:
            return
        page = self._page_with(key) if key else None
        self._view = (page, key) if page is not None else None
        self._compositor.forget()

    def on(self, page: PageState) -> str:
        """Return the key of the view that is pressed on a page."""
        return self._view[1] if self._view and self._view[0] is page else ""

    def forget(self) -> None:
        """Show none from the next scene on."""
        self._view = None

    def _page_with(self, key: str) -> PageState | None:
        for scene in self._compositor.built:
            for surface in reversed(scene.surfaces):
                if find(surface.root, key) is not None:
                    return surface.page
        return None
