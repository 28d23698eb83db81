"""The Device screen as its controllers see it: its widgets, and the side with the lists."""

from enum import StrEnum
from typing import Protocol

from textual.widget import Widget

from console.screens.device.phone_screen import PhoneScreen
from widgets.base.row_list import RowList
from widgets.questions.composer import Composer


class Tab(StrEnum):
    """What stands beside the picture."""

    ELEMENTS = "elements"
    LOG = "log"
    HEALTH = "health"


class Side(Protocol):
    """The lists beside the phone."""

    tab: Tab

    def go_to(self, widget: Widget) -> None:
        """Focus the list, the phone or the note, and show the pane that it is in."""

    def read(self) -> None:
        """Read what the tab shows, if that can be read now."""

    def read_changed(self) -> None:
        """Read the elements after something was done on the phone."""


class BaseDevice(PhoneScreen):
    """The screen's widgets."""

    side: Side

    @property
    def table(self) -> RowList:
        return self.query_one(f"#{self.side.tab.value}", RowList)

    @property
    def note(self) -> Composer:
        """Where the note of handing back is written."""
        return self.query_one(Composer)
