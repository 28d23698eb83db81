"""The floating bar over selected text: cut, copy, paste, select all.

A window of its own that a long press on a field brings. Invariant: a button does exactly what the
key of the same name does.
"""

from collections.abc import Callable

from virtual_phone.input import keycodes as k
from virtual_phone.state.records import FieldState
from virtual_phone.ui.views import TextStyle, View
from virtual_phone.ui.vocabulary import edges, row, text


def text_tools(field: FieldState, clipboard: str, press: Callable[[int, int], None]) -> View:
    """Draw the bar for a field; `press` takes a key code and its meta state."""
    actions: list[tuple[str, int, int]] = []
    if field.start != field.end:
        actions += [("Cut", k.CUT, 0), ("Copy", k.COPY, 0)]
    if clipboard:
        actions.append(("Paste", k.PASTE, 0))
    if field.text and (field.start, field.end) != (0, len(field.text)):
        actions.append(("Select all", 29, k.META_CTRL))

    def item(label: str, code: int, meta: int) -> View:
        return row(
            text(label, TextStyle(15, 500), id="android:id/floating_toolbar_menu_item_text"),
            on_click=lambda: press(code, meta),
            desc=label,
            height=46,
            pad=edges(16, 0),
            key=f"text tool {label}",
            id="android:id/floating_toolbar_menu_item",
        )

    return row(
        *(item(*a) for a in actions), fill="surface", radius=23, elevation=5, pad=edges(6, 0)
    )
