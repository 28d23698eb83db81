"""What the Deck and the Device screen have in common: a phone that is shown and driven there."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from textual.events import ScreenSuspend
from textual.widget import Widget

from agent.protocol import WheelGesture
from agent.state.view_state import State
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_text import PhoneText
from console.screens.device.wheel import WheelController
from widgets.pictures.phone_pane import PhonePane, ScreenText

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


class PhoneScreen(ConsoleScreen):
    """A screen that shows a phone."""

    @property
    def phone(self) -> PhonePane:
        return self.query_one(PhonePane)


class ShownPhone(Controller, ABC):
    """The phone of such a screen, with its wheel and its text; implements `PhonePlace`.

    Args:
        screen: where it is shown.
    """

    def __init__(self, screen: PhoneScreen) -> None:
        self._shown_on = screen
        self.wheel = WheelController(self)
        self.text = PhoneText(self, self.wheel)

    @property
    def ops(self) -> "ConsoleApp":
        return self._shown_on.console_app

    @property
    def state(self) -> State:
        return self.ops.bridge.state

    @property
    def pane(self) -> PhonePane:
        return self._shown_on.phone

    @property
    def focused(self) -> Widget | None:
        return self._shown_on.focused

    @property
    def is_live(self) -> bool:
        return self._shown_on.is_running and self._shown_on.is_attached

    @property
    def is_looked_at(self) -> bool:
        return self._shown_on.is_current and self.pane.is_seen

    def show_driven(self, driven: bool, *, keeps_hands: bool = False) -> None:
        if not self._shown_on.is_composed:
            return
        self.pane.drive(driven)
        if driven:
            self.refresh_all()
            self.go_to_phone()
        else:
            if not keeps_hands:
                self.leave_phone()
            self.refresh_all()

    def refresh_all(self) -> None:
        self._shown_on.refresh_all()

    def on_screen_suspend(self, _event: ScreenSuspend) -> None:
        self.ops.feed.want(None)

    # --- what differs between the screens ----------

    @abstractmethod
    def shown_serial(self) -> str: ...

    @abstractmethod
    def has_waiting_session(self) -> bool: ...

    @abstractmethod
    def go_to_phone(self) -> None: ...

    @abstractmethod
    def leave_phone(self) -> None: ...

    @abstractmethod
    def go_to_note(self) -> None: ...

    def gesture_done(self, gesture: WheelGesture) -> None:
        """Do nothing after a gesture: the picture shows its effect."""

    def stored_text(self) -> ScreenText | None:
        return None

    def parts_of(self, serial: str) -> DeviceParts | None:
        return None

    def view_changed(self) -> None:
        """Nothing has to make room for the phone."""
