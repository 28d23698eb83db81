"""Recent apps: a row of cards, one a task, to go back to or to close.

A mode of the launcher's page. Invariant: a card stands for a task that exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone.app import NoState, Page
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import empty
from virtual_phone.ui.views import MATCH, Align, TextStyle, View

if TYPE_CHECKING:
    from virtual_phone.state.records import TaskState


def recents(page: Page[NoState]) -> View:
    """Draw the overview of tasks, the newest first."""
    from virtual_phone.apps import icon_of
    from virtual_phone.system.launcher import icon_art

    host = page.host
    tasks = host.activities.recent()

    def leave() -> bool:
        page.set("mode", "")
        return True

    page.on_back = leave

    def opener(task: TaskState) -> Callable[[], None]:
        def act() -> None:
            page.set("mode", "")
            host.activities.bring_forward(task.id)

        return act

    def closer(task: TaskState) -> Callable[[str], bool]:
        def act(direction: str) -> bool:
            if direction in ("left", "right"):
                host.activities.end_task(task.id)
                return True
            return False

        return act

    def clear() -> None:
        for task in tasks:
            host.activities.end_task(task.id)
        page.set("mode", "")

    def card(task: TaskState) -> View:
        info = host.packages.get(task.package)
        label = info.label if info is not None else task.package
        return ui.column(
            ui.row(
                ui.art(icon_art(icon_of(task.package)), 36, 36, hidden_from_tree=True),
                ui.text(label, TextStyle(17, 500), weight=1, id="task_name"),
                width=MATCH,
                gap=14,
                pad=(18, 14, 18, 10),
            ),
            ui.stack(
                ui.art(
                    icon_art(icon_of(task.package)),
                    72,
                    72,
                    halign=Align.CENTER,
                    valign=Align.CENTER,
                    hidden_from_tree=True,
                ),
                width=MATCH,
                height=150,
                fill="surface2",
                radius=18,
                id="snapshot",
            ),
            on_click=opener(task),
            on_swipe=closer(task),
            desc=label,
            fill="surface",
            radius=26,
            pad=(0, 0, 0, 0),
            elevation=3,
            key=f"task {task.id}",
            cls="android.widget.FrameLayout",
            id="task",
        )

    if not tasks:
        return ui.column(
            empty("apps", "No recent items"),
            fill="background",
            width=MATCH,
            height=MATCH,
            id="overview_panel",
        )
    return ui.column(
        ui.recycler(
            "recents", *(card(t) for t in tasks), gap=16, pad=(34, 24, 34, 24), id="overview_panel"
        ),
        ui.row(
            ui.space(weight=1),
            ui.button("Clear all", clear, look="tonal", id="clear_all"),
            ui.space(weight=1),
            width=MATCH,
            pad=ui.edges(0, 10),
        ),
        width=MATCH,
        height=MATCH,
        id="overview_panel_root",
        cls="android.widget.FrameLayout",
    )
