"""What every tool of the MCP server is made of: a name, arguments, and what it does.

Not the protocol (`console.mcp.server`). Invariant: a tool answers with a text, and a failure with
what to do about it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from agent.core import Core
from agent.protocol import Op
from agent.protocol.base import OpBase
from agent.records import Question, Speaker
from agent.tools.arguments import Arguments, schema

A = TypeVar("A", bound=Arguments)
AnyOp = TypeVar("AnyOp", bound=OpBase)
FIELD_OF: Mapping[str, str] = {"phone": "serial", "session": "session_id", "needs": "phone_needs"}
"""What a program calls a field of an op; any other argument has the field's own name."""


def op_of(kind: type[AnyOp], given: Arguments, **known: Any) -> AnyOp:
    """Return the op that a tool's arguments are; those that are no field of it are left out.

    Args:
        known: fields that are not as the program wrote them, or that it does not write.
    """
    fields = {FIELD_OF.get(name, name): getattr(given, name) for name in given.__struct_fields__}
    own = {name: value for name, value in fields.items() if name in kind.__struct_fields__}
    return kind(**own | known)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool came to."""

    text: str
    picture: bytes | None = None
    picture_type: str = ""
    failed: bool = False


class NeedsAnswer(Exception):
    """A call cannot go on before the person at the client has answered."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.shown)
        self.question = question


class Asker(Protocol):
    """Ask the person at the client, while a call of it is under way."""

    async def ask(self, question: Question) -> str | None:
        """Return the answer; None where the client cannot ask, or nobody answered.

        Raises:
            NeedsAnswer: the client has to be asked between two requests of its own.
        """

    @property
    def speaker(self) -> Speaker:
        """Whose words an answer is."""

    async def progress(self, done: float, message: str) -> None:
        """Report the progress of a long call."""


@dataclass
class Connection:
    """One client of the server, for as long as it is connected.

    Args:
        core: where everything is done.
        program: the client's own name, for the operator.
    """

    core: Core
    program: str = "an MCP client"
    phones: dict[str, str] = field(default_factory=dict)
    """The serials of the phones it has taken, by session."""
    begun: set[str] = field(default_factory=set)
    """The sessions that it gave a goal to."""
    jobs: set[int] = field(default_factory=set)
    """The jobs that it stored."""
    storing: dict[str, asyncio.Task[Answer]] = field(default_factory=dict)
    """The jobs that wait for the operator, by the session that stores each."""
    exports: Path | None = None
    """Where sessions are exported to; None: nowhere."""
    asked: set[str] = field(default_factory=set)
    """The questions that its person was asked already."""
    unread: set[str] = field(default_factory=set)
    """The sessions with a call whose result its answer did not wait for."""
    taking_back: set[asyncio.Task[None]] = field(default_factory=set)
    """What is done for calls that it cancelled."""
    at_end: ExitStack = field(default_factory=ExitStack)
    """What ends with the connection."""


Work = Callable[[Connection, Asker, A], Awaitable[Answer]]
GoOn = Callable[[Connection, Asker, str], Awaitable[Answer]]
"""Goes on with a call of a session, once the person at the client has been asked."""


@dataclass(frozen=True)
class Hints:
    """What a client may assume of a tool, in the protocol's words (`ToolAnnotations`)."""

    reads_only: bool = False
    destroys: bool = False
    """It may change or end what cannot be had back."""
    is_idempotent: bool = False
    """A second call with the same arguments changes nothing more."""
    is_open: bool = False
    """It reaches beyond Switchboard, into a phone and what that is connected to."""


LOOKS = Hints(reads_only=True, is_idempotent=True)
"""Of a tool that only reads what Switchboard has stored."""


@dataclass(frozen=True)
class McpTool(Generic[A]):
    """One tool."""

    name: str
    title: str
    description: str
    arguments: type[A]
    work: Work[A]
    hints: Hints = Hints()
    op: type[Op] | None = None
    """The op that it carries out, in whose words and by whose fields; None where there is none."""
    go_on: GoOn | None = None
    """None: the call is made again, as it changed nothing."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return schema(self.arguments)


def tool_of(
    name: str,
    title: str,
    op: type[Op],
    arguments: type[A],
    work: Work[A],
    more: str = "",
    *,
    hints: Hints = Hints(),
    go_on: GoOn | None = None,
) -> McpTool[A]:
    """Return a tool in the words of its op.

    Args:
        more: what only a program has to be told.
    """
    return McpTool(name, title, f"{op.brief}{more}", arguments, work, hints, op, go_on)
