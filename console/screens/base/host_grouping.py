"""Group the Wall, the jobs and the History by the host of a fleet: one choice for all three, kept.

Not the groups of the Deck, which are of more kinds (`console.screens.deck.arranging`). Invariant: a
store of one core has no groups, whatever was chosen.
"""

from typing import TYPE_CHECKING

from console.keys.actions import Action
from console.keys.controllers import Controller
from widgets.lists.hosts import has_several_hosts

if TYPE_CHECKING:
    from console.screens.base.console_screen import ConsoleScreen


class HostGrouping(Controller):
    """Whether what a screen lists is grouped by host.

    Args:
        screen: whose list it is.
    """

    def __init__(self, screen: "ConsoleScreen") -> None:
        self._screen = screen

    @property
    def is_on(self) -> bool:
        return self._screen.console_app.kept.ui.by_host and self._has_hosts

    @property
    def _has_hosts(self) -> bool:
        return has_several_hosts(self._screen.console_app.bridge.state)

    def tells_hosts(self) -> bool:
        return self.is_on

    # --- the key ----------

    def can(self, action_id: str) -> bool:
        return self._has_hosts

    def word(self, action: Action) -> str:
        return "no groups" if self.is_on else "group by host"

    def _turn(self) -> None:
        app, wanted = self._screen.console_app, not self.is_on
        app.kept.keep(by_host=wanted)
        self._screen.refresh_all()
        app.say("Grouped by host." if wanted else "No longer grouped by host.")

    def do_wall_group(self) -> None:
        """Group the phones of the Wall by host, or not."""
        self._turn()

    def do_job_group(self) -> None:
        """Group the jobs by host, or not."""
        self._turn()

    def do_history_group(self) -> None:
        """Group the sessions of the History by host, or not."""
        self._turn()
