"""Parts of a screen that own some of its actions: composed, not mixed in.

A controller is given what it needs, has a method `do_…` for each action it owns, and is asked
before the screen is; in a method `on_…` it hears a message of the screen's widgets, as the screen
itself would. Invariant: where two own an action, the first of the screen's does it.
"""

from functools import cache
from typing import ClassVar, Protocol, runtime_checkable

from console.keys.actions import Action
from widgets.base.rows import Parts
from widgets.questions.composer import Composer, Purpose


class Controller:
    """The base: owns the actions that it has a method for."""

    _methods: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        # For each footer all controllers of a screen are asked for each of its actions.
        cls._methods = frozenset(name for name in dir(cls) if name.startswith("do_"))

    def owns(self, action_id: str) -> bool:
        """Return whether an action is this controller's now."""
        return method_name(action_id) in self._methods

    def can(self, action_id: str) -> bool:
        """Return whether an action that it owns can be done now."""
        return True

    def word(self, action: Action) -> str:
        """Return what an action that it owns would do now, in a word or two; empty: its title."""
        return ""

    def purpose(self) -> tuple[Purpose, Parts] | None:
        """Return what the composer is for while this controller asks for a text, and what is said
        beside it; None while it asks for none.
        """
        return None

    def sent(self, event: Composer.Sent) -> bool:
        """Take a text that was written for it; False when it is for somebody else."""
        return False

    def back(self) -> bool:
        """Go one layer back; False when there is none of its own."""
        return False


@runtime_checkable
class TellsHosts(Protocol):
    """A controller whose screen may say how the hosts of a fleet are."""

    def tells_hosts(self) -> bool:
        """Return whether it does now, so that it is read again."""


@cache
def method_name(action_id: str) -> str:
    return "do_" + action_id.replace(".", "_")
