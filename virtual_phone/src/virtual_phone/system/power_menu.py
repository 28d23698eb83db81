"""The menu of a power button that is held: power off, restart, lock.

Not what they do (`virtual_phone.system.prompts`). Invariant: Back and a tap beside it change
nothing.
"""

from collections.abc import Callable

from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import column, edges, icon, row, stack, text

CHOICES = (
    ("lock", "lock", "Lockdown", "#5C6B8A"),
    ("power_off", "power", "Power off", "#B3423A"),
    ("restart", "refresh", "Restart", "#2E7D5B"),
)


def power_menu(answer: Callable[[str], None]) -> View:
    """Draw the choices; `answer` is called with the name of the one that is tapped."""

    def choice(name: str, drawing: str, label: str, fill: str) -> View:
        shown = icon(drawing, 28, "#FFFFFF", hidden_from_tree=True)
        shown.halign = shown.valign = Align.CENTER
        return column(
            stack(shown, width=72, height=72, radius=36, fill=fill, hidden_from_tree=True),
            text(label, TextStyle(14, 500), id="message"),
            on_click=lambda: answer(name),
            key=f"power {name}",
            cls="android.widget.Button",
            cross=Align.CENTER,
            gap=10,
            pad=edges(10, 12),
            weight=1,
            radius=24,
        )

    return row(
        *(choice(*one) for one in CHOICES),
        width=MATCH,
        fill="surface",
        radius=28,
        elevation=8,
        pad=edges(12, 16),
        id="global_actions_view",
        cls="android.widget.FrameLayout",
    )
