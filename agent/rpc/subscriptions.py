"""What a client follows over its connection: events, words of models, pictures, each with credit.

Not the calls (`agent.rpc.connection`). Invariants: events come without gap or repetition; of frames
and words only the newest is sent, when it is asked for; a subscription long without credit stops
listening to the core, so nothing piles up for it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol, TypeVar, assert_never

import msgspec

from agent.core import TextDelta
from agent.errors import SwitchboardError, UsageError
from agent.protocol import Event
from agent.records import LiveFrame
from agent.rpc.flow_control import Credit
from agent.rpc.rpc_messages import (
    EVENT_CREDIT,
    DeltasParams,
    EventsParams,
    FramesParams,
    Item,
    fitting,
    problem_of,
)

MAX_SUBSCRIPTIONS = 64
MAX_SIDE_PX = 8192
MAX_HZ = 120
PATIENCE_S = 5.0
"""How long a subscription keeps listening to the core while its client grants no credit."""

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
T = TypeVar("T", Event, TextDelta, LiveFrame)


class Followed(Protocol):
    """What of a core is followed."""

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]: ...

    def deltas(
        self, session_id: str = ""
    ) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]: ...

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]: ...


class Subscriptions:
    """The subscriptions of one connection.

    Args:
        core: what is followed.
        send: sends one line; raises ConnectionError when the client is gone.
    """

    def __init__(self, core: Followed, send: Callable[[bytes], Awaitable[None]]) -> None:
        self.core = core
        self._send = send
        self._subscriptions: dict[int, tuple[asyncio.Task[None], Credit]] = {}
        self._serials: dict[asyncio.Task[None], str] = {}

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The phones whose pictures are followed."""
        return tuple(sorted({one for one in self._serials.values() if one}))

    def end_all(self) -> None:
        for number in tuple(self._subscriptions):
            self.unsubscribe(number)

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What feeds the client."""
        return tuple(task for task, _ in self._subscriptions.values())

    def grant(self, number: int, count: int) -> None:
        """Let so many more items of a subscription go; nothing when it has ended."""
        if number in self._subscriptions:
            self._subscriptions[number][1].grant(count)

    def unsubscribe(self, number: int) -> None:
        """End a subscription; nothing when it has ended."""
        if number in self._subscriptions:
            self._subscriptions.pop(number)[0].cancel()

    async def subscribe(self, params: EventsParams | DeltasParams | FramesParams) -> None:
        """Begin a subscription; it listens to the core when this returns."""
        number = params.subscription
        if number in self._subscriptions or len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise UsageError(
                f"Subscription {number} cannot start: the number is in use, or there are too many.",
                "End one with unsubscribe.",
            )
        listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        credit = Credit(EVENT_CREDIT if isinstance(params, EventsParams) else 0)
        task = asyncio.create_task(self._feed(params, credit, listening))
        self._subscriptions[number] = (task, credit)
        if isinstance(params, FramesParams):
            self._serials[task] = params.serial
            task.add_done_callback(lambda done: self._serials.pop(done, None) and None)
        await listening

    async def _feed(
        self,
        params: EventsParams | DeltasParams | FramesParams,
        credit: Credit,
        listening: asyncio.Future[None],
    ) -> None:
        number = params.subscription
        try:
            match params:
                case EventsParams(after=after):
                    await self._feed_events(number, after, credit, listening)
                case DeltasParams(session_id=session_id):
                    deltas = self.core.deltas(session_id)
                    await self._feed_newest(number, deltas, credit, listening)
                case FramesParams(serial=serial, width_px=width, height_px=height, max_hz=max_hz):
                    _check_frames(width, height, max_hz)
                    frames = self.core.frames(
                        serial, width_px=width, height_px=height, max_hz=max_hz
                    )
                    await self._feed_newest(number, frames, credit, listening)
                case _:
                    assert_never(params)
            await self._send(b'{"subscription":%d,"end":true}' % number)
        except SwitchboardError as error:
            await self._end(number, error, listening)
        except ConnectionError:
            pass  # the client is gone, which `run` sees too
        except Exception:
            _log.exception("A subscription failed.")
            failed = SwitchboardError("The subscription failed inside the core.")
            await self._end(number, failed, listening)
        finally:
            # `unsubscribe` may have taken it out, and the number may be in use again.
            known = self._subscriptions.get(number)
            if known is not None and known[0] is asyncio.current_task():
                del self._subscriptions[number]
            if not listening.done():
                listening.set_exception(UsageError("The subscription ended before it began."))

    async def _end(
        self, number: int, error: SwitchboardError, listening: asyncio.Future[None]
    ) -> None:
        if not listening.done():
            listening.set_exception(error)
            return
        with suppress(ConnectionError):
            problem = _encode(problem_of(error))
            await self._send(b'{"subscription":%d,"error":%b}' % (number, problem))

    async def _feed_events(
        self, number: int, after: int | None, credit: Credit, listening: asyncio.Future[None]
    ) -> None:
        """Send events without gap, leaving the core's queue whenever the client falls behind."""
        clock = asyncio.get_running_loop().time
        cursor = after
        while True:
            async with self.core.events(after=cursor) as events:
                _settle(listening)
                since = clock()
                async for event in events:
                    try:
                        async with asyncio.timeout(PATIENCE_S):
                            await credit.wait()
                    except TimeoutError:
                        cursor = event.event_id - 1
                        break
                    credit.take()
                    await self._item(number, event)
                    cursor = event.event_id
                    if clock() - since > PATIENCE_S and credit.is_spent:
                        break
                else:
                    return
            await credit.wait()

    async def _feed_newest(
        self,
        number: int,
        source: AbstractAsyncContextManager[AsyncIterator[T]],
        credit: Credit,
        listening: asyncio.Future[None],
    ) -> None:
        """Send the newest item each time the client asks for one."""
        async with source as items:
            _settle(listening)
            while True:
                # Credit first: what is then taken from the core is the newest there is.
                await credit.wait()
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
                credit.take()
                await self._item(number, item)

    async def _item(self, number: int, item: Item) -> None:
        await self._send(b'{"subscription":%d,"item":%b}' % (number, fitting(_encode(item))))


def _check_frames(width_px: int, height_px: int, max_hz: float) -> None:
    if 0 < width_px <= MAX_SIDE_PX and 0 < height_px <= MAX_SIDE_PX and 0 < max_hz <= MAX_HZ:
        return
    raise UsageError(
        f"Invalid frame size or rate: {width_px}×{height_px} pixels at {max_hz:g} Hz.",
        f"Ask for at most {MAX_SIDE_PX} pixels a side and {MAX_HZ} Hz.",
    )


def _settle(listening: asyncio.Future[None]) -> None:
    if not listening.done():
        listening.set_result(None)
