"""Hand what a session's model would be asked to a program, and the program's calls to the session.

Not the tools and not the policy: the loop judges these calls as it judges a model's. Invariants:
one call at a time; a program that is gone leaves no turn waiting.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from agent.errors import ModelError, WrongStateError
from agent.models.model import (
    CallWithdrawn,
    FinishReason,
    Message,
    MessageKind,
    ModelReply,
    ModelRequest,
    ToolCall,
)
from agent.records import DIRECT

_TOLD = frozenset(
    {
        MessageKind.GOAL,
        MessageKind.RESULT,
        MessageKind.STEER,
        MessageKind.WHEEL,
        MessageKind.OBSERVATION,
        MessageKind.EFFECTS,
    }
)


class Exchange:
    """Between one direct session and its program.

    Args:
        client_id: the client that the calls are taken from.
        program: its name, for people.
    """

    def __init__(self, client_id: str, program: str) -> None:
        self.client_id = client_id
        self.program = program
        self.text = ""
        self.picture: bytes | None = None
        self.picture_type = ""
        self._ready = asyncio.Event()
        self._call: asyncio.Future[ToolCall] | None = None
        self._is_gone = False
        self.failed = False
        """Whether the last call failed."""
        self._under_way: asyncio.Timeout | None = None
        self._is_withdrawn = False

    @property
    def is_ready(self) -> bool:
        """Whether the session waits for a call."""
        return self._ready.is_set()

    async def until_ready(self) -> None:
        """Wait until the session waits for a call."""
        await self._ready.wait()

    def call(self, tool: str, arguments: str) -> None:
        """Hand the session its next call. Raises WrongStateError when it waits for none."""
        if self._call is None or self._call.done():
            raise WrongStateError(
                "The session is not waiting for a call yet.", "Look first, until it is ready."
            )
        self._ready.clear()
        self._is_withdrawn = False
        self._call.set_result(ToolCall(call_id="direct", name=tool, arguments=arguments))

    def withdraw(self) -> None:
        """Take back the call that is under way; does nothing where none is."""
        if self.is_ready:
            return
        self._is_withdrawn = True
        if self._under_way is not None:
            self._under_way.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Carry out the newest call; see `Withdraws`."""
        until = asyncio.timeout(None)
        try:
            async with until:
                self._under_way = until
                if self._is_withdrawn:
                    raise CallWithdrawn
                yield
        except TimeoutError:
            if until.expired():
                raise CallWithdrawn from None
            raise
        finally:
            self._under_way = None

    def clear(self) -> None:
        """Let go of what was shown last: the turn is over."""
        self.text, self.picture, self.picture_type, self.failed = "", None, "", False

    def leave(self) -> None:
        """End the turn that waits for a call: the program is gone."""
        self._is_gone = True
        if self._call is not None and not self._call.done():
            self._call.set_exception(self._not_connected())

    async def next_call(self, request: ModelRequest) -> ToolCall:
        """Show the program a request and wait for its call. Raises ModelError once it is gone."""
        if self._is_gone:
            raise self._not_connected()
        news = unread(request.messages)
        self.text = "\n\n".join(message.text for message in news if message.text)
        self.failed = any(message.failed for message in news)
        pictured = next((m for m in reversed(news) if m.image is not None), None)
        self.picture = pictured.image if pictured else None
        self.picture_type = pictured.image_type if pictured else ""
        self._call = asyncio.get_running_loop().create_future()
        self._ready.set()
        try:
            return await self._call
        finally:
            self._ready.clear()
            self._call = None

    def _not_connected(self) -> ModelError:
        return not_connected(self.program)


def not_connected(program: str) -> ModelError:
    """Return the error for a session whose calls nobody makes any more."""
    return ModelError(
        f"{program} makes the calls of this session but is not connected.",
        "Have it take the phone again, or fork the session with another model.",
        retryable=False,
    )


def unread(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what a program has not been shown: everything after its newest call."""
    start = 0
    for at, message in enumerate(messages):
        if message.kind is MessageKind.REPLY:
            start = at + 1
    return tuple(message for message in messages[start:] if message.kind in _TOLD)


class DirectModel:
    """Implements the Model protocol by what a program outside calls.

    Args:
        name: `direct:` and the program's name.
        exchange: None where its program is not connected.
        sees: whether pictures are drawn for it.
    """

    def __init__(self, name: str, exchange: Exchange | None, *, sees: bool) -> None:
        self._name = name
        self._exchange = exchange
        self._sees = sees

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._sees

    @property
    def notice(self) -> str:
        return ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Return the program's next call. Raises ModelError when it is not connected."""
        if self._exchange is None:
            raise not_connected(self._name.removeprefix(DIRECT))
        call = await self._exchange.next_call(request)
        return ModelReply(tool_calls=(call,), finish=FinishReason.TOOL_CALLS)

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Carry out the newest call within this block; see `Withdraws`."""
        if self._exchange is None:
            yield
            return
        async with self._exchange.under_way():
            yield

    async def close(self) -> None:
        return None
