"""The History as its controllers see it."""

from console.screens.base.console_screen import ConsoleScreen
from console.screens.history.stored_sessions import StoredSessions
from widgets.base.row_list import RowList


class BaseHistory(ConsoleScreen):
    """The list, and what was read for it."""

    stored: StoredSessions

    @property
    def table(self) -> RowList:
        return self.query_one("#history", RowList)
