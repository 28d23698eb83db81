"""Tools of other programs, as a session is lent them: what each is called and how one is called.

Not a protocol (`agent.mcp` speaks one) and not the policy (`agent.loop.turn.foreign_tools`).
Invariant: what a server says of its tools never makes one harmless; only the operator's settings
do.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import msgspec

from agent.records import Session


def wire_name(name: str) -> str:
    """Return the name of a tool as endpoints take it."""
    return name.replace(".", "__")


class ForeignTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of another program."""

    server: str
    name: str
    description: str
    schema: str
    """Of its arguments, as `agent.results.schema` keeps it."""
    digest: str
    """Of all that the server says of it."""
    reads_only: bool = False
    """Whether the operator says that it changes nothing."""
    trusted: bool = False
    """Whether the operator lets it act without asking."""
    changed: bool = False
    """Whether the server says something else of it than when it was last accepted."""

    @property
    def full_name(self) -> str:
        """What people and records call it."""
        return f"{self.server}.{self.name}"

    @property
    def wire_name(self) -> str:
        """What a model calls it: endpoints take no dots."""
        return wire_name(self.full_name)


class ForeignAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to, cleaned, bounded and redacted."""

    text: str
    failed: bool = False


class Toolbox(Protocol):
    """The tools of other programs that one turn is lent."""

    @property
    def tools(self) -> Mapping[str, ForeignTool]:
        """The tools, by full name; those of a server that has failed are gone."""

    @property
    def troubles(self) -> tuple[str, ...]:
        """What could not be had, for the operator."""

    async def call(self, tool: ForeignTool, arguments: Mapping[str, Any]) -> ForeignAnswer:
        """Call a tool; a server that fails is a failed answer."""

    async def accept(self, tool: ForeignTool) -> None:
        """Take what the server now says of a tool as accepted by the operator."""


class ToolServers(Protocol):
    """The programs whose tools the operator allows."""

    def open(self, session: Session, package: str) -> AbstractAsyncContextManager[Toolbox]:
        """Lend a turn the tools that its session or its app has been given.

        Args:
            package: of the app that the goal is about; empty where it is not known.
        """


class EmptyToolbox:
    """No tools; implements Toolbox."""

    tools: Mapping[str, ForeignTool] = {}
    troubles: tuple[str, ...] = ()

    async def call(self, tool: ForeignTool, arguments: Mapping[str, Any]) -> ForeignAnswer:
        """Refuse."""
        return ForeignAnswer(text=f"There is no tool {tool.full_name}.", failed=True)

    async def accept(self, tool: ForeignTool) -> None:
        """Keep nothing."""


class NoServers:
    """No programs; implements ToolServers."""

    @asynccontextmanager
    async def open(self, session: Session, package: str) -> AsyncIterator[Toolbox]:
        """Lend nothing."""
        yield EmptyToolbox()
