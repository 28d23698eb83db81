"""The filter of the Wall: words of phones and of the sessions on them, `@host/` and `#tag`.

Reads as the Deck's does (`widgets.lists.list_filter`).
"""

from collections.abc import Sequence

from textual.widgets import Input

from agent.records import DeviceInfo
from agent.state.device_names import device_names
from agent.state.reducer import State
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from widgets.base import status
from widgets.lists.list_filter import EVERYTHING, ListFilter


class WallFilter(Controller):
    """Which phones are shown.

    Args:
        screen: the Wall.
    """

    def __init__(self, screen: ConsoleScreen) -> None:
        self._screen = screen
        self.text = ""

    def kept(
        self, devices: Sequence[DeviceInfo], state: State, asking: frozenset[str]
    ) -> list[DeviceInfo]:
        """Return the phones that hold every word."""
        wanted = ListFilter.of(self.text)
        if wanted == EVERYTHING:
            return list(devices)
        return [one for one in devices if _fits(wanted, one, state, asking)]

    @property
    def _field(self) -> Input:
        return self._screen.query_one("#filter", Input)

    def do_wall_filter(self) -> None:
        self._field.add_class("-shown")
        self._screen.focus_now(self._field)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text = event.value
        self._screen.refresh_all()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self._screen.focus_now(self._screen.query_one("#wall"))

    def back(self) -> bool:
        if self._screen.focused is not self._field and not self.text:
            return False
        self._field.value = ""
        self._field.remove_class("-shown")
        self._screen.focus_now(self._screen.query_one("#wall"))
        return True


def _fits(wanted: ListFilter, device: DeviceInfo, state: State, asking: frozenset[str]) -> bool:
    view = state.sessions.get(device.driver)
    session = view.session if view is not None else None

    def search_text() -> str:
        word = status.of_device(device).word
        if session is None:
            return f"{word} {device.driver or 'free'}"
        doing = status.of_session(session, asks=session.session_id in asking).word
        return f"{word} {doing} {session.title} {session.goal}"

    return wanted.fits(
        f"{device.serial} {device_names(state.devices)[device.serial]}",
        lambda: (*device.tags, *(session.tags if session is not None else ())),
        search_text,
    )
