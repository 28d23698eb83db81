"""Sort and group the Deck's sessions; the choice survives restarts."""

from typing import TYPE_CHECKING

from console.base_app import Keeps
from console.keys.actions import Action
from console.keys.controllers import Controller
from widgets.lists.hosts import has_several_hosts
from widgets.lists.session_order import Group, Sort, next_of

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

_SORTED = {
    Sort.ASKING: "asking first",
    Sort.LIVE: "live first",
    Sort.NEWEST: "newest first",
    Sort.STATE: "by state",
    Sort.PHONE: "by phone",
    Sort.TAG: "by tag",
    Sort.TITLE: "by title",
    Sort.HOST: "by host",
}


class ArrangeController(Controller):
    """The order of the list.

    Args:
        deck: whose list it is.
        kept: where the choice is stored.
    """

    def __init__(self, deck: "BaseDeck", kept: Keeps) -> None:
        self._deck = deck
        self._kept = kept

    @property
    def sort(self) -> Sort:
        """Return the sort key of the sessions."""
        chosen = Sort(self._kept.ui.sort)
        return Sort.ASKING if chosen is Sort.HOST and not self._has_hosts else chosen

    @property
    def group(self) -> Group:
        chosen = Group(self._kept.ui.group)
        return Group.TREE if chosen is Group.HOST and not self._has_hosts else chosen

    @property
    def _has_hosts(self) -> bool:
        return has_several_hosts(self._deck.console_app.bridge.state)

    @property
    def _next_sort(self) -> Sort:
        chosen = next_of(self.sort, Sort)
        return next_of(chosen, Sort) if chosen is Sort.HOST and not self._has_hosts else chosen

    @property
    def _next_group(self) -> Group:
        chosen = next_of(self.group, Group)
        return next_of(chosen, Group) if chosen is Group.HOST and not self._has_hosts else chosen

    @property
    def indicator(self) -> str:
        """Return the list's grouping, then its sort key after ↓; empty for the default order."""
        said = [] if self.group is Group.TREE else [f"by {self.group.value}"]
        said += [] if self.sort is Sort.ASKING else [f"↓ {self.sort.value}"]
        return " ".join(said)

    def tells_hosts(self) -> bool:
        return self.group is Group.HOST

    def word(self, action: Action) -> str:
        if action.id == "view.sort":
            return f"sort {_SORTED[self._next_sort]}"
        return f"group by {self._next_group.value}"

    def do_view_sort(self) -> None:
        """Select the next sort key."""
        chosen = self._next_sort
        self._kept.keep(sort=chosen.value)
        self._deck.refresh_all()
        self._deck.console_app.say(f"Sessions sorted {_SORTED[chosen]}.")

    def do_view_group(self) -> None:
        """Select the next grouping."""
        chosen = self._next_group
        self._kept.keep(group=chosen.value)
        self._deck.refresh_all()
        self._deck.console_app.say(f"Sessions grouped by {chosen.value}.")
