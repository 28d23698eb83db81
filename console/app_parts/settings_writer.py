"""Keep what the operator changed in the console in the settings file, for the next start.

Not the settings screen, which waits for each write. Invariants: a change holds at once; the file is
written once for a row of quick changes, and before the console ends, whatever a write that is under
way then comes to; without a settings file a change lasts as long as the console.
"""

import asyncio
import threading
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.config import write_setting
from agent.errors import ConfigError
from agent.settings import UiSettings
from console.input.gate import Wait

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

QUIET_S = 0.5  # How long changes are gathered before the file is written.


class SettingsWriter:
    """The `[ui]` settings that keys and the mouse change.

    Args:
        app: whose settings they are.
    """

    def __init__(self, app: "ConsoleApp") -> None:
        self._app = app
        self._ui = app.settings.ui if app.settings else UiSettings()
        self._unwritten: dict[str, object] = {}
        self._file = threading.Lock()
        self._is_writing = False

    @property
    def ui(self) -> UiSettings:
        settings = self._app.settings
        return settings.ui if settings is not None else self._ui

    def keep(self, **changes: object) -> None:
        """Change settings of `[ui]` by their names."""
        app = self._app
        ui = replace(self.ui, **changes)
        if ui == self.ui:
            return
        if app.settings is None:
            self._ui = ui
            return
        app.settings = replace(app.settings, ui=ui)
        self._unwritten |= changes
        if not self._is_writing:
            self._is_writing = True
            app.spawn(self._write_soon(), "keeping the settings", Wait.NOT)

    async def _write_soon(self) -> None:
        try:
            while self._unwritten:
                await asyncio.sleep(QUIET_S)
                await asyncio.to_thread(self._write)
        except ConfigError as error:
            self._unwritten.clear()
            self._app.say(f"This lasts until you leave: {error}", tone="warning")
        finally:
            self._is_writing = False

    def close(self) -> None:
        """Write what is not written yet. A file that cannot be written was said before."""
        try:
            self._write()
        except ConfigError as error:
            self._app.errors.report(error, "keeping the settings")

    def _write(self) -> None:
        # A task that is cancelled leaves its thread behind, begun or not: a change counts as
        # unwritten until it is in the file.
        with self._file:
            settings = self._app.settings
            for name, value in list(self._unwritten.items()):
                if settings is not None:
                    write_setting(settings.config_file, f"ui.{name}", value)
                if self._unwritten.get(name) is value:
                    del self._unwritten[name]
