"""All the ways in which a console is noticed that nobody looks at: title, bell, terminal's notice.

Not the ways themselves (`title`, `calling`): it joins them to the app's terminal and settings.
Invariant: what is switched off in the settings, or is no terminal's to take, is never written.
"""

import os
from typing import TYPE_CHECKING

from textual.events import AppBlur, AppFocus, Event, InputEvent

from agent.state.reducer import attention
from console.terminal.terminal_notify import Presence, TerminalNotifier, through
from console.terminal.title import has_title, show_title, title_words

if TYPE_CHECKING:
    from agent.settings import Settings
    from console.base_app import ConsoleApp


class AttentionSignals:
    """What an app does to be noticed.

    Args:
        app: whose terminal; its picture is what waits.
        settings: `[ui]` and `[notices]`; all ways when None.
    """

    def __init__(self, app: "ConsoleApp", settings: "Settings | None") -> None:
        self._app = app
        takes_commands = has_title(os.environ)
        rings = settings is None or settings.ui.bell
        tells = takes_commands and (settings is None or settings.notices.terminal)
        self._is_titled = takes_commands and (settings is None or settings.ui.title)
        self._calling = TerminalNotifier(app.bell if rings else None, self._tell if tells else None)
        self._presence = Presence()

    def note(self, event: Event) -> None:
        """Take what the terminal tells for what it says of the operator."""
        if isinstance(event, InputEvent):
            self._presence.touch()
        elif isinstance(event, AppFocus | AppBlur):
            self._presence.tell_focus()

    def look(self) -> None:
        """Signal what waits now; called once a second."""
        app = self._app
        state = app.bridge.state
        waiting = attention(state, app.seen)
        is_here = self._presence.is_here(has_focus=app.app_focus)
        self._calling.look(state, waiting, is_here=is_here)
        if self._is_titled:
            standing = sum(one.needs_person for one in waiting)
            words = title_words("Switchboard", app.place, standing, len(waiting) - standing)
            show_title(app._driver, words)

    def _tell(self, codes: str) -> None:
        if self._app._driver is not None:
            self._app._driver.write(through(os.environ, codes))
