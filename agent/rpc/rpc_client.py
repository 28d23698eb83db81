"""Call methods of a daemon over its socket and follow what it sends: the client's transport.

It knows no method and no core (that is `agent.rpc.remote_core`). Invariant: whoever waits here
hears of the connection's end, or of a daemon that no longer answers, in bounded time.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Generic, Literal, Self, TypeVar

import msgspec

from agent.core import TextDelta
from agent.errors import RuntimeDiedError, SwitchboardError, UsageError, WrongStateError
from agent.operators.door import sign_in_first, wrong_sign_in
from agent.protocol import PROTOCOL_VERSION, Event
from agent.records import LiveFrame
from agent.rpc.credentials import Credentials
from agent.rpc.host_door import HostShown
from agent.rpc.places import Place, TlsPlace, place_at
from agent.rpc.rpc_messages import (
    CALLS_AT_ONCE,
    CALLS_IN_RESERVE,
    EVENT_CREDIT,
    LOOKS_IN_RESERVE,
    MAX_CALL_BYTES,
    MAX_REPLY_BYTES,
    FleetStore,
    Hello,
    HelloParams,
    Line,
    NextParams,
    Nothing,
    OpParams,
    Params,
    SignedIn,
    UnsubscribeParams,
    error_of,
)

NOBODY = (FileNotFoundError, ConnectionRefusedError, NotADirectoryError)
"""What connecting raises when no core listens: no socket, or one that its owner left behind."""

CONNECT_TIMEOUT_S = 5.0
LOOK_TIMEOUT_S = 30.0
OP_TIMEOUT_S = 120.0
"""Submitting waits while the core's queue is full, and a cancel until its turns have ended."""
PING_EVERY_S = 5.0
DEAD_AFTER_S = 20.0

_encoder = msgspec.json.Encoder()
_line_decoder = msgspec.json.Decoder(Line)
T = TypeVar("T")
S = TypeVar("S", Event, TextDelta, LiveFrame)


class Stream(Generic[S]):
    """What has arrived of one subscription."""

    def __init__(self, number: int, kind: type[S]) -> None:
        self.number = number
        self.items: deque[msgspec.Raw] = deque()
        self.arrived = asyncio.Event()
        self.has_ended = False
        self.error: SwitchboardError | None = None
        self._decoder: msgspec.json.Decoder[S] = msgspec.json.Decoder(kind)

    def end(self, error: SwitchboardError | None) -> None:
        """Let the reader take what is left, then stop, or fail with the error."""
        if not self.has_ended:
            self.has_ended, self.error = True, error
            self.arrived.set()

    async def take(self) -> S | None:
        """Wait for the next item; None at the end."""
        while not self.items:
            if self.error is not None:
                raise self.error
            if self.has_ended:
                return None
            self.arrived.clear()
            await self.arrived.wait()
        item: S = self._decoder.decode(self.items.popleft())
        return item


AnyStream = Stream[Event] | Stream[TextDelta] | Stream[LiveFrame]


class RpcClient:
    """The client's end of one connection."""

    def __init__(
        self, place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.place = place
        self.pid = 0
        self.client_id = ""
        self.fleet: FleetStore | None = None
        """The fleet's database that the core works on, where it says so."""
        self.signed: SignedIn | None = None
        """What the core answered to our sign-in; None where it asked for none."""
        self.round_trip_s = 0.0
        """How long the newest ping was on its way, there and back; 0 before the first."""
        self.died = asyncio.Event()
        self.told_death: RuntimeDiedError | None = None
        """Why the core died, where it could still say so."""
        self.ended_in_order = False
        """Whether a subscription was ended by the core, which it does when it closes."""
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._streams: dict[int, AnyStream] = {}
        # One place is left for what must always get through: pings, credit, unsubscribing.
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE - 1)
        self._reserve = asyncio.Semaphore(CALLS_IN_RESERVE)
        self._death: RuntimeDiedError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._dead_after_s = DEAD_AFTER_S

    @classmethod
    async def connect(
        cls,
        path: Path | Place,
        *,
        name: str = "",
        credentials: Credentials | None = None,
        speaks_for: Literal["", "model", "programs"] = "",
        timeout_s: float = CONNECT_TIMEOUT_S,
        ping_every_s: float = PING_EVERY_S,
        dead_after_s: float = DEAD_AFTER_S,
    ) -> Self:
        """Connect to the core that listens on a socket, or at a place, under a name for people.

        Raises:
            ConfigError: whoever is there is not who it should be, or a file cannot be used.
            FileNotFoundError, ConnectionRefusedError, NotADirectoryError: nobody is there.
            RuntimeDiedError: whoever is there cannot be used.
            WrongStateError: it speaks another version of the protocol.
            NotAllowedError: it has operators, and the credentials are nobody's.
        """
        place = place_at(path)
        client, channel = await cls._opened(place, timeout_s)
        client._dead_after_s = dead_after_s
        try:
            async with asyncio.timeout(timeout_s):
                as_host = isinstance(credentials, HostShown)
                asked = HelloParams(client=name, as_host=as_host, speaks_for=speaks_for)
                hello = await client._ask("hello", asked, Hello)
            if hello.protocol != PROTOCOL_VERSION:
                raise WrongStateError(
                    f"The core on {place} (process {hello.pid}) speaks protocol {hello.protocol}, "
                    f"this one speaks {PROTOCOL_VERSION}.",
                    "Use the Switchboard that started it, or end it and start again.",
                )
            if hello.challenge:
                if credentials is None:
                    raise sign_in_first()
                async with asyncio.timeout(timeout_s):
                    shown = credentials.answer(hello.challenge, channel)
                    signed = await client._ask("sign_in", shown, SignedIn)
                client.signed = signed
                if isinstance(credentials, HostShown):
                    credentials.check(signed, hello.challenge, channel)
            elif credentials is not None and credentials.is_all_there_is:
                # Whoever shows it has not proved to be the user who runs this program.
                raise wrong_sign_in()
        except TimeoutError as error:
            await client.close()
            raise RuntimeDiedError(
                f"The core on {place} does not answer.",
                "Resume its process if it is suspended, or end it, then try again.",
            ) from error
        except BaseException:
            await client.close()
            raise
        client.pid, client.client_id, client.fleet = hello.pid, hello.client_id, hello.fleet
        client._tasks.append(asyncio.create_task(client._watch(ping_every_s), name="client pings"))
        return client

    @classmethod
    async def channel_of(
        cls, place: Place, *, timeout_s: float = CONNECT_TIMEOUT_S
    ) -> bytes | None:
        """Ask a core whether its clients have to sign in.

        Returns:
            The certificate that it shows, as DER, empty on a socket of one machine; None where it
            asks for no sign-in.

        Raises: see `connect`.
        """
        client, channel = await cls._opened(place, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                hello = await client._ask("hello", HelloParams(), Hello)
        finally:
            await client.close()
        return channel if hello.challenge else None

    @classmethod
    async def _opened(cls, place: Place, timeout_s: float) -> tuple[Self, bytes]:
        """Open a connection; returns the certificate that the core showed, too."""
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer, channel = await place.open(MAX_REPLY_BYTES)
        except NOBODY:
            raise
        except (TimeoutError, OSError) as error:
            if (trouble := place.trouble(error)) is not None:
                raise trouble from error
            reason = getattr(error, "strerror", None) or str(error) or "it does not answer"
            raise RuntimeDiedError(
                f"The core on {place} cannot be reached: {reason}.", place.remedy
            ) from error
        client = cls(place, reader, writer)
        client._tasks.append(asyncio.create_task(client._read(), name="client reader"))
        return client, channel

    async def close(self) -> None:
        self._die(RuntimeDiedError("This client is closed.", "Connect again."))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OSError):
            await self._writer.wait_closed()

    # --- calls ----------

    async def call(
        self, method: str, params: Params, kind: type[T], timeout_s: float = LOOK_TIMEOUT_S
    ) -> T:
        """Call a method and decode its reply; raises what the daemon answered with."""
        try:
            async with asyncio.timeout(timeout_s), self._places(method, params):
                return await self._ask(method, params, kind)
        except TimeoutError as error:
            raise SwitchboardError(
                f"The core (process {self.pid or '?'}) did not answer {method} within "
                f"{timeout_s:g} s.",
                "It is unknown whether it was done: look, then try again or end the process.",
            ) from error

    def _places(self, method: str, params: Params) -> asyncio.Semaphore:
        """Return the places that a call needs one of; those in reserve are never all waiting."""
        stops = isinstance(params, OpParams) and params.op.stops
        return self._reserve if stops or method in LOOKS_IN_RESERVE else self._calls

    async def _ask(self, method: str, params: Params, kind: type[T]) -> T:
        number = next(self._numbers)
        future: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._replies[number] = future
        try:
            await self._send(method, params, number)
            return msgspec.json.decode(await future, type=kind)
        finally:
            self._replies.pop(number, None)

    async def _send(self, method: str, params: Params, number: int | None = None) -> None:
        self._check_alive()
        try:
            body = _encoder.encode({"id": number, "method": method, "params": params})
        except (UnicodeEncodeError, TypeError, OverflowError) as error:
            raise UsageError(f"{method} cannot be sent: {error}.") from error
        if len(body) >= MAX_CALL_BYTES:
            raise UsageError(
                f"{method} is too long to send: {len(body):,} bytes.",
                f"The limit is {MAX_CALL_BYTES:,} bytes.",
            )
        try:
            self._writer.write(body + b"\n")
            await self._writer.drain()
        except OSError as error:
            self._die(self._hung_up())
            raise self._hung_up() from error

    def _check_alive(self) -> None:
        if self._death is not None:
            raise RuntimeDiedError(self._death.message, self._death.remedy)

    def _hung_up(self) -> RuntimeDiedError:
        if not self.pid and isinstance(self.place, TlsPlace):
            return RuntimeDiedError(
                f"{self.place} closed the connection before it answered.",
                "It may have too many clients, or require a valid certificate (core.cert, "
                "core.key); its log says which.",
            )
        return RuntimeDiedError(
            f"The core on {self.place} (process {self.pid or '?'}) has ended.", "Start it again."
        )

    def _die(self, death: RuntimeDiedError) -> None:
        if self._death is not None:
            return
        self._death = death
        self.died.set()
        for future in self._replies.values():
            if not future.done():
                future.set_exception(RuntimeDiedError(death.message, death.remedy))
        for stream in self._streams.values():
            stream.end(RuntimeDiedError(death.message, death.remedy))
        self._writer.transport.abort()

    async def _read(self) -> None:
        """Hand out what arrives until the connection ends."""
        try:
            while line := await self._reader.readline():
                if not line.endswith(b"\n"):
                    break
                self._take(_line_decoder.decode(line))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            trouble = self.place.trouble(error)
            message = f"The core on {self.place} cannot be read: {error}."
            self._die(
                RuntimeDiedError(message)
                if trouble is None
                else RuntimeDiedError(trouble.message, trouble.remedy)
            )
        finally:
            self._die(self._hung_up())

    def _take(self, line: Line) -> None:
        if line.subscription is not None:
            stream = self._streams.get(line.subscription)
            if stream is None:
                return
            if len(line.item):
                # A copy: a Raw that was decoded keeps the whole line it is part of alive.
                stream.items.append(line.item.copy())
                stream.arrived.set()
            elif line.error is not None:
                stream.end(error_of(line.error))
            else:
                self.ended_in_order = True
                stream.end(None)
            return
        if line.id is None and line.error is not None:
            error = error_of(line.error)
            if isinstance(error, RuntimeDiedError):
                self.told_death = error
                self._die(error)
            return
        future = self._replies.get(line.id) if isinstance(line.id, int) else None
        if future is None or future.done():
            return
        if line.error is not None:
            future.set_exception(error_of(line.error))
        else:
            future.set_result(line.result)

    async def _watch(self, ping_every_s: float) -> None:
        """Notice a core that is there and does not answer, as one that was stopped."""
        while self._death is None:
            await asyncio.sleep(ping_every_s)
            try:
                async with asyncio.timeout(self._dead_after_s):
                    began_s = time.perf_counter()
                    await self._ask("ping", Nothing(), Hello)
                    self.round_trip_s = time.perf_counter() - began_s
            except TimeoutError:
                self._die(
                    RuntimeDiedError(
                        f"The core on {self.place} (process {self.pid}) does not answer.",
                        "Resume its process if it is suspended, or end it and start again.",
                    )
                )
            except RuntimeDiedError:
                return

    # --- subscriptions ----------

    def stream(self, kind: type[S]) -> Stream[S]:
        """Number a stream that is to be subscribed."""
        return Stream(next(self._numbers), kind)

    @asynccontextmanager
    async def subscribed(
        self, stream: Stream[S], method: str, params: Params
    ) -> AsyncIterator[None]:
        """Keep a subscription for the length of a `with` block."""
        self._streams[stream.number] = stream
        try:
            await self.call(method, params, type(None))
            yield
        finally:
            del self._streams[stream.number]
            with suppress(RuntimeDiedError):
                await self._send("unsubscribe", UnsubscribeParams(subscription=stream.number))

    async def iterate_all(self, stream: Stream[S]) -> AsyncGenerator[S, None]:
        """Yield every item, granting credit for more as they are taken."""
        taken = 0
        while (item := await stream.take()) is not None:
            yield item
            taken += 1
            if taken >= EVENT_CREDIT // 2:
                await self._grant(stream, taken)
                taken = 0

    async def iterate_newest(self, stream: Stream[S]) -> AsyncGenerator[S, None]:
        """Yield the newest item each time one is asked for."""
        while True:
            # Asked for only now: what comes was the newest when somebody was ready for it.
            await self._grant(stream, 1)
            item = await stream.take()
            if item is None:
                return
            yield item

    async def _grant(self, stream: Stream[S], count: int) -> None:
        if not stream.has_ended:
            await self._send("next", NextParams(subscription=stream.number, count=count))
