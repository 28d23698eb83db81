"""A screen as its header and footer see it: where it is, who does its actions, what keys it has."""

from typing import ClassVar

from textual.screen import Screen
from textual.widgets import Input, TextArea

from console.base_app import ConsoleApp
from console.keys import actions
from console.keys.controllers import Controller
from widgets.base.fault_isolation import FaultIsolated


class FramedScreen(FaultIsolated, Screen[None]):
    """What has a header and a footer."""

    WHERE: ClassVar[actions.Where] = actions.Where.EVERYWHERE
    is_composed = False
    """Whether the widgets are there; resizing and resuming come before they are."""

    @property
    def console_app(self) -> ConsoleApp:
        """The app, by its own type."""
        assert isinstance(self.app, ConsoleApp)
        return self.app

    CONTROLLERS: ClassVar[tuple[type[Controller], ...]] = ()
    """What it is composed of, besides itself."""

    controllers: tuple[Controller, ...] = ()
    """The parts that own some of this screen's actions; asked before the screen is."""

    def owner_of(self, action_id: str) -> Controller | None:
        """Return the controller that does an action now; None where the screen does it."""
        # A footer asks a thousand times: a generator for each would be most of it.
        for one in self.controllers:
            if one.owns(action_id):
                return one
        return None

    def can(self, action_id: str) -> bool:
        """Return whether an action can be done now; palette and footer leave the rest out."""
        owner = self.owner_of(action_id)
        return owner is None or owner.can(action_id)

    def refresh_all(self) -> None:
        """Show the picture, header and footer again."""
        raise NotImplementedError

    def taken_digits(self) -> str:
        """Name the digits that belong to what has the focus, not to the screens."""
        return "123456789" if isinstance(self.focused, TextArea | Input) else ""

    def press_part(self, line: str, name: str) -> None:
        """Do what a part of another line of this screen stands for."""

    def key_of(self, action_id: str) -> str:
        """Name the key of an action, as the operator has it."""
        return self.console_app.keys.name(action_id)

    def footer_keys(self) -> list[tuple[str, str]]:
        """List keys and words for the footer, most useful first."""
        raise NotImplementedError
