"""Where controllers send ops and say lines: the app is one, a test gives a recorder."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeAlias

from agent.core import Core
from agent.errors import SwitchboardError
from agent.protocol import Op, Reply
from console.input.gate import Wait
from console.input.pending import PendingOps
from console.input.stray_words import StrayWords
from console.keys.two_presses import TwoPresses

Refused: TypeAlias = Callable[[SwitchboardError], object]
"""Hears what an op was refused with."""


class OpSender(Protocol):
    """Where ops are sent, and lines are said to the operator; the app is one."""

    @property
    def core(self) -> Core:
        """Where things are looked up."""

    @property
    def begins_with(self) -> str:
        """The model that a new session is begun with; empty: the one of the settings."""

    @property
    def tool_servers(self) -> Sequence[str]:
        """The names of the tool servers that a goal may name."""

    @property
    def pending(self) -> PendingOps:
        """What was asked for and not answered yet."""

    @property
    def stray_words(self) -> StrayWords:
        """Where it is told that the key being handled opens a field."""

    @property
    def two_presses(self) -> TwoPresses:
        """What takes a second press."""

    def request(self, op: Op, *, done: str = "", refused: Refused | None = None) -> None:
        """Send an op without waiting; what it fails with is said, and told to `refused`."""

    def ask(self, op: Op) -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None when it failed, which was said."""

    def say(self, text: str, *, tone: str = "information") -> None:
        """Say a line to the operator."""

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Do work beside the messages; `name` is what its failure is logged with."""
