"""The input focus of a phone: the focused view, the soft keyboard for it, the bar over its text."""

from typing import TYPE_CHECKING

from virtual_phone.display.scene import Surface
from virtual_phone.state.records import PageState
from virtual_phone.ui.bind import field_state, path_to
from virtual_phone.ui.views import Kind, View

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Focus:
    """Move the input focus of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self.text_tools: PageState | None = None
        """The page whose focused field shows the bar with cut, copy and paste."""
        self.was_shown = False
        """Whether the keyboard was shown since it was bound to the window in front."""

    @property
    def keyboard_shown(self) -> bool:
        return self._phone.state_record.keyboard_shown

    def hide_keyboard(self) -> None:
        """Take the keyboard away; the field keeps the focus."""
        self.was_shown |= self._phone.state_record.keyboard_shown
        self._phone.state_record.keyboard_shown = False
        self._phone.invalidate()

    def field(self, page: PageState, key: str) -> None:
        page.focus = key
        self._phone.state_record.keyboard_shown = True
        self._phone.invalidate()

    def view(self, surface: Surface, view: View, *, keyboard: bool) -> None:
        """Focus a view; a text field also shows the keyboard."""
        surface.page.focus = view.key
        self.text_tools = None
        if view.kind is Kind.FIELD:
            field_state(surface.page, view)
        self._phone.state_record.keyboard_shown = keyboard and view.kind is Kind.FIELD
        self._phone.invalidate()
        self._reveal(surface.page, view.key)

    def offer_text_tools(self, page: PageState) -> None:
        """Show cut, copy and paste over the field that has the focus."""
        self.text_tools = page
        self._phone.invalidate()

    def use_text_tool(self, keycode: int, meta: int) -> None:
        """Do what a button of the bar over selected text says."""
        page = self.text_tools
        self._phone.keys.press(keycode, meta=meta)
        if meta:
            self.text_tools = page

    def _reveal(self, page: PageState, key: str) -> None:
        """Scroll what has the focus into view, as the keyboard may have come up over it."""
        surface = self._phone.compositor.scene().surface_of(page)
        path = path_to(surface.root, key) if surface is not None else []
        if not path:
            return
        box = path[-1].rect
        for view in reversed(path[:-1]):
            if not view.scrolls or view.reverse or view.clip.empty:
                continue
            below = min(box.bottom - view.clip.bottom, box.top - view.clip.top)
            step = below if below > 0 else min(0, box.top - view.clip.top)
            if step:
                at = page.scroll.get(view.key, view.scroll_y)
                page.scroll[view.key] = min(max(at + step, 0), view.scroll_range)
                self._phone.invalidate()
            return
