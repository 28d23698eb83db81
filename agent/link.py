"""One client's connection to the daemon: read its calls, answer them, feed its subscriptions.

Not the socket (that is `agent.daemon`). Invariants: at most CALLS_AT_ONCE calls of a client are
under way, and more are refused; a client that does not take what it is sent is hung up on after
STALL_S; a subscription long without credit stops listening to the core, so nothing piles up for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeVar, assert_never

import msgspec

from agent.core import Core, TextDelta
from agent.credit import Credit
from agent.errors import RpcCode, StoreError, SwitchboardError, UsageError, WrongStateError
from agent.protocol import PROTOCOL_VERSION, Event
from agent.records import LiveFrame
from agent.rpc import (
    CALLS_AT_ONCE,
    EVENT_CREDIT,
    MAX_REPLY_BYTES,
    PAGE_BYTES,
    BlobParams,
    BlobReply,
    Call,
    DeltasParams,
    EventsParams,
    FramesParams,
    Hello,
    HistoryPage,
    HistoryParams,
    Item,
    NextParams,
    Nothing,
    OpParams,
    Params,
    Problem,
    Result,
    SessionParams,
    SessionsParams,
    Submitted,
    UnsubscribeParams,
    problem_of,
)

MAX_SUBSCRIPTIONS = 64
STALL_S = 30.0
PATIENCE_S = 5.0
"""How long a subscription keeps listening to the core while its client grants no credit."""

_MAX_LIMIT = 10_000
_ALWAYS = {"ping", "next", "unsubscribe"}
_log = logging.getLogger(__name__)
_encoder = msgspec.json.Encoder()
_call_decoder = msgspec.json.Decoder(Call)
T = TypeVar("T", Event, TextDelta, LiveFrame)

METHODS: dict[str, type[Params]] = {
    "hello": Nothing,
    "ping": Nothing,
    "overview": Nothing,
    "submit": OpParams,
    "request": OpParams,
    "sessions": SessionsParams,
    "session": SessionParams,
    "history": HistoryParams,
    "blob": BlobParams,
    "events": EventsParams,
    "deltas": DeltasParams,
    "frames": FramesParams,
    "next": NextParams,
    "unsubscribe": UnsubscribeParams,
}


class _Unknown(UsageError):
    """The method does not exist."""

    code = RpcCode.UNKNOWN_METHOD


class Link:
    """The daemon's end of one connection."""

    def __init__(
        self, core: Core, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._core = core
        self._reader = reader
        self._writer = writer
        self._calls: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()
        self._subscriptions: dict[int, tuple[asyncio.Task[None], Credit]] = {}

    async def run(self) -> None:
        """Serve until the client hangs up or breaks the rules."""
        try:
            while True:
                try:
                    line = await self._reader.readline()
                except (ValueError, ConnectionError):
                    # ValueError: the line is too long, and where the next one begins is unknown.
                    await self._problem(None, Problem(RpcCode.PARSE, "The line is too long."))
                    return
                if not line.endswith(b"\n"):
                    return
                if line.strip():
                    await self._take(line)
        finally:
            tasks = [*self._calls, *(task for task, _ in self._subscriptions.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def finish(self, grace_s: float) -> None:
        """Give the calls under way and the ends of streams some time to be sent."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=grace_s)
        # Those of a core that has ended are ending too; those of a living one do not end.
        feeds = [task for task, _ in self._subscriptions.values()]
        if feeds:
            await asyncio.wait(feeds, timeout=grace_s / 10)

    async def _take(self, line: bytes) -> None:
        try:
            call = _call_decoder.decode(line)
        except msgspec.ValidationError as error:
            wrong = Problem(RpcCode.INVALID_ARGUMENT, f"The line is no call: {error}.")
            await self._problem(None, wrong)
            return
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self._problem(None, Problem(RpcCode.PARSE, f"The line is not JSON: {error}."))
            return
        if len(self._calls) >= CALLS_AT_ONCE and call.method not in _ALWAYS:
            busy = WrongStateError(
                f"{CALLS_AT_ONCE} calls of this client are under way.", "Wait for their replies."
            )
            await self._problem(call.id, problem_of(busy))
            return
        while len(self._calls) >= 2 * CALLS_AT_ONCE:
            # What may always be called is bounded too: who reads no replies is not read either.
            await asyncio.wait(self._calls, return_when=asyncio.FIRST_COMPLETED)
        # Tasks begin in the order of their making, so an unsubscribe meets its subscription.
        task = asyncio.create_task(self._answer(call))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _answer(self, call: Call) -> None:
        try:
            result = _fitting(_json(await self._carry_out(call)))
        except SwitchboardError as error:
            await self._problem(call.id, problem_of(error))
        except Exception:
            _log.exception("The call %s failed.", call.method[:40])
            failed = SwitchboardError(
                f"The call {call.method[:40]} failed inside the core.", "See the core's log."
            )
            await self._problem(call.id, problem_of(failed))
        else:
            if call.id is not None:
                with suppress(ConnectionError):
                    await self._send(b'{"id":%b,"result":%b}' % (_json(call.id), result))

    async def _carry_out(self, call: Call) -> Result:
        kind = METHODS.get(call.method)
        if kind is None:
            raise _Unknown(
                f"There is no method {call.method[:80]!r}.", f"There are {', '.join(METHODS)}."
            )
        try:
            params = msgspec.json.decode(call.params, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(
                f"{call.method} cannot be called like this: {error}.",
                "Correct the field it names.",
            ) from error
        match params:
            case Nothing():
                return await self._look(call.method)
            case OpParams(op=op):
                if call.method == "submit":
                    return Submitted(submission_id=await self._core.submit(op))
                return await self._core.request(op)
            case SessionsParams(limit=limit):
                return await self._core.sessions(limit=_bounded(limit))
            case SessionParams(session_id=session_id):
                return await self._core.session(session_id)
            case HistoryParams():
                return await self._history(params)
            case BlobParams(digest=digest):
                return BlobReply(data=await self._core.blob(digest))
            case EventsParams() | DeltasParams() | FramesParams():
                await self._subscribe(params)
            case NextParams(subscription=number, count=count):
                if number in self._subscriptions:
                    self._subscriptions[number][1].grant(count)
            case UnsubscribeParams(subscription=number):
                if number in self._subscriptions:
                    self._subscriptions.pop(number)[0].cancel()
            case _:
                assert_never(params)
        return None

    async def _look(self, method: str) -> Result:
        if method == "overview":
            return await self._core.overview()
        return Hello(protocol=PROTOCOL_VERSION, pid=os.getpid())

    async def _history(self, params: HistoryParams) -> HistoryPage:
        asked = min(_bounded(params.limit), 500)
        found = await self._core.history(params.session_id, after_seq=params.after_seq, limit=asked)
        page: list[msgspec.Raw] = []
        size = 0
        for event in found:
            page.append(msgspec.Raw(_json(event)))
            size += len(page[-1])
            if size >= PAGE_BYTES:
                break
        more = len(page) < len(found) or len(found) == asked
        return HistoryPage(events=tuple(page), more=more)

    # --- subscriptions ----------

    async def _subscribe(self, params: EventsParams | DeltasParams | FramesParams) -> None:
        """Begin a subscription; it listens to the core when this returns."""
        number = params.subscription
        if number in self._subscriptions or len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise UsageError(
                f"Subscription {number} cannot begin: it is taken, or there are too many.",
                "End one with unsubscribe.",
            )
        listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        credit = Credit(EVENT_CREDIT if isinstance(params, EventsParams) else 0)
        task = asyncio.create_task(self._feed(params, credit, listening))
        self._subscriptions[number] = (task, credit)
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
                case DeltasParams():
                    await self._feed_newest(number, self._core.deltas(), credit, listening)
                case FramesParams(serial=serial, width_px=width, height_px=height, max_hz=max_hz):
                    if not (0 < width <= 8192 and 0 < height <= 8192 and 0 < max_hz <= 120):
                        raise UsageError("A frame is at most 8192 pixels a side, at most 120 Hz.")
                    frames = self._core.frames(
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
            problem = _json(problem_of(error))
            await self._send(b'{"subscription":%d,"error":%b}' % (number, problem))

    async def _feed_events(
        self, number: int, after: int | None, credit: Credit, listening: asyncio.Future[None]
    ) -> None:
        """Send events without gap, leaving the core's queue whenever the client falls behind."""
        clock = asyncio.get_running_loop().time
        cursor = after
        while True:
            async with self._core.events(after=cursor) as events:
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
        await self._send(b'{"subscription":%d,"item":%b}' % (number, _fitting(_json(item))))

    # --- sending ----------

    async def _problem(self, call_id: int | str | None, problem: Problem) -> None:
        with suppress(ConnectionError):
            await self._send(b'{"id":%b,"error":%b}' % (_json(call_id), _json(problem)))

    async def _send(self, line: bytes) -> None:
        """Send one line, and hang up on a client that does not take it."""
        try:
            async with asyncio.timeout(STALL_S):
                async with self._sending:
                    self._writer.write(line + b"\n")
                    await self._writer.drain()
        except TimeoutError:
            _log.warning("A client took nothing for %.0f s and was hung up on.", STALL_S)
            self._writer.transport.abort()
            raise ConnectionResetError("The client takes nothing.") from None


def _settle(listening: asyncio.Future[None]) -> None:
    if not listening.done():
        listening.set_result(None)


def _fitting(body: bytes) -> bytes:
    """Refuse what no client would read to its end."""
    if len(body) > MAX_REPLY_BYTES - 1024:
        raise StoreError(
            f"The answer is too large for the socket: {len(body):,} bytes.",
            "Read it in the process that owns the data directory.",
        )
    return body


def _bounded(limit: int) -> int:
    return min(max(limit, 1), _MAX_LIMIT)


def _json(value: object) -> bytes:
    return _encoder.encode(value)
