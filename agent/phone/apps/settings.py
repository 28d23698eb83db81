"""Settings: the rows of the settings tables as pages of switches, lists and sliders.

Holds no truth of its own. Invariant: what a switch shows is what `settings get` prints.
"""

from __future__ import annotations

from agent.phone.app import App, AppIcon, NoState, no_state

settings = App(
    package="com.android.settings",
    label="Settings",
    icon=AppIcon("settings", "#7C8696", "#525C6B"),
    state=NoState,
    seed=no_state,
)
from agent.phone.app import Page
from agent.phone.ui.patterns import screen, title_bar
from agent.phone.ui.views import View


@settings.page(".Settings", launcher=True)
def top(page: Page[NoState]) -> View:
    return screen(title_bar("Settings"))
