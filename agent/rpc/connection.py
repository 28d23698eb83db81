"""One client's connection to the daemon: read its calls, answer them, and tell who it is.

Not the socket (that is `agent.rpc.rpc_server`) and not what it follows (`agent.rpc.subscriptions`).
Invariants: at most CALLS_AT_ONCE calls of a client are under way, and more are refused, except for
CALLS_IN_RESERVE that stop something or look; a client
that does not take what it is sent is hung up on after STALL_S; a client that has gone lets go of
all that it had.
"""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from secrets import token_hex
from typing import Any, assert_never

import msgspec

from agent.codex_bridge.calls import PREFIX, Bridge
from agent.consent.gate import Gate, Proved
from agent.consent.phone_door import Paired, PairingOffer
from agent.core import ClientInfo, Overview, SharedCore
from agent.errors import (
    NotAllowedError,
    RpcCode,
    RuntimeDiedError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.operators.door import (
    MOST_TRIES,
    Door,
    IssuedToken,
    Seat,
    new_challenge,
    sign_in_first,
    wrong_sign_in,
)
from agent.operators.operator_core import OperatorCore
from agent.protocol import LOOK_UPS, PROTOCOL_VERSION, LookUp, Op, Reply
from agent.rpc.host_door import METHODS as HOST_METHODS
from agent.rpc.host_door import HostDoor
from agent.rpc.rpc_messages import (
    CALLS_AT_ONCE,
    CALLS_IN_RESERVE,
    PAGE_BYTES,
    BlobParams,
    BlobReply,
    Call,
    DeltasParams,
    EventsParams,
    FleetStore,
    FramesParams,
    Hello,
    HelloParams,
    HistoryPage,
    HistoryParams,
    NextParams,
    Nothing,
    OpParams,
    PairingAcceptParams,
    PairingOfferParams,
    Params,
    PhoneActParams,
    Problem,
    ProveParams,
    SignedIn,
    SignInParams,
    Status,
    Submitted,
    UnsubscribeParams,
    fitting,
    is_reserved,
    problem_of,
)
from agent.rpc.subscriptions import Subscriptions
from agent.rpc.unknown_fields import unknown_fields, unknown_in
from agent.text import one_line

STALL_S = 30.0

_MAX_LIMIT = 10_000
_ALWAYS = {"ping", "next", "unsubscribe"}
_FAREWELL_S = 0.5
_log = logging.getLogger(__name__)
_encoder = msgspec.json.Encoder()
_call_decoder = msgspec.json.Decoder(Call)

METHODS: dict[str, type[Params]] = {
    "hello": HelloParams,
    "ping": Nothing,
    "sign_in": SignInParams,
    "sign_out": Nothing,
    "prove": ProveParams,
    "pairing_offer": PairingOfferParams,
    "pairing_accept": PairingAcceptParams,
    "phone_act": PhoneActParams,
    "overview": Nothing,
    "status": Nothing,
    "submit": OpParams,
    "request": OpParams,
    "history": HistoryParams,
    **LOOK_UPS,
    "blob": BlobParams,
    "events": EventsParams,
    "deltas": DeltasParams,
    "frames": FramesParams,
    "next": NextParams,
    "unsubscribe": UnsubscribeParams,
}


BEFORE_SIGN_IN = frozenset({"hello", "ping", "sign_in"})
"""What may be called by whoever has not signed in, where the core has operators."""


class _Unknown(UsageError):
    """The method does not exist."""

    code = RpcCode.UNKNOWN_METHOD


class Link:
    """The daemon's end of one connection."""

    def __init__(
        self,
        core: SharedCore,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        peer: str,
        socket: str,
        status: Callable[[OperatorCore | None], Awaitable[Status]],
        may_follow: bool = True,
        door: Door | None = None,
        must_sign_in: bool = False,
        channel: bytes = b"",
        host_door: HostDoor | None = None,
        fleet: FleetStore | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._core: SharedCore = core
        self._fleet = fleet
        self._gate = gate
        self._door = door
        self._host_door = host_door
        self._is_host = False
        """Whether another host of the fleet has signed in."""
        self._must_sign_in = must_sign_in
        self._channel = channel
        self._challenge = new_challenge()
        self._tries = 0
        self._seat: Seat | None = None
        self._peer = peer
        self._socket = socket
        self._status = status
        self._may_follow = may_follow
        self.signed_in = asyncio.Event()
        """Set once somebody has signed in here."""
        self.client = ClientInfo(f"c-{token_hex(4)}", peer)
        self.since_ms = time.time_ns() // 1_000_000
        self._reader = reader
        self._writer = writer
        self._calls: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()
        self._subscriptions = Subscriptions(core, self._send)

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The phones whose pictures it follows."""
        return self._subscriptions.looks_at

    @property
    def _is_shut(self) -> bool:
        """Whether it has to sign in first."""
        if self._seat is not None or self._is_host:
            return False
        return self._must_sign_in or (self._door is not None and self._door.is_shut)

    def look_again(self) -> None:
        """Hang up on an operator who may not be here any more, and on who came before the first."""
        if self._seat is None:
            if self._is_shut and self._subscriptions.tasks:
                self._writer.transport.abort()
            return
        try:
            self._seat.operator()
        except NotAllowedError:
            _log.info("The sign-in of %s has ended; disconnected.", self._seat.name)
            self._writer.transport.abort()

    async def run(self) -> None:
        """Serve until the client hangs up or breaks the rules."""
        try:
            while True:
                try:
                    line = await self._reader.readline()
                except ValueError:
                    # Where the next line begins is unknown.
                    await self._problem(None, Problem(RpcCode.PARSE, "The line is too long."))
                    return
                except OSError:
                    return
                if not line.endswith(b"\n"):
                    return
                if line.strip():
                    await self._take(line)
        finally:
            tasks = [*self._calls, *self._subscriptions.tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._core.leave(self.client)

    async def finish(self, grace_s: float) -> None:
        """Leave the calls under way and the ends of streams some time to be sent."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=grace_s)
        # Those of a core that has ended are ending too; those of a living one do not end.
        feeds = self._subscriptions.tasks
        if feeds:
            await asyncio.wait(feeds, timeout=grace_s / 10)

    async def tell_death(self, death: RuntimeDiedError) -> None:
        """Send why the core has ended, to a client that follows nothing too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await self._problem(None, problem_of(death))

    async def turn_away(self) -> None:
        """Say that no other client can be served."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await self._problem(None, problem_of(too_many_clients()))

    async def _take(self, line: bytes) -> None:
        try:
            call = _call_decoder.decode(line)
        except msgspec.ValidationError as error:
            wrong = Problem(RpcCode.INVALID_ARGUMENT, f"The line is not a call: {error}.")
            await self._problem(None, wrong)
            return
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self._problem(None, Problem(RpcCode.PARSE, f"The line is not JSON: {error}."))
            return
        most = CALLS_AT_ONCE + (CALLS_IN_RESERVE if is_reserved(call) else 0)
        if len(self._calls) >= most and call.method not in _ALWAYS:
            busy = WrongStateError(
                f"{CALLS_AT_ONCE} calls of this client are in progress.", "Wait for their replies."
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
            result = fitting(_json(await self._carry_out(call)))
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

    async def _carry_out(self, call: Call) -> object:
        if self._is_shut and call.method not in BEFORE_SIGN_IN:
            # Nothing of what is asked is read before it is known who asks.
            raise sign_in_first()
        if self._is_host and call.method not in HOST_METHODS:
            raise NotAllowedError(
                "A host may follow only pictures and streamed text here.",
                "Read everything else from the database.",
            )
        if call.method.startswith(PREFIX):
            bridge = Bridge(self._core, self._request, socket=self._socket)
            return await bridge.call(call.method.removeprefix(PREFIX), call.params)
        kind = METHODS.get(call.method)
        if kind is None:
            raise _Unknown(
                f"There is no method {call.method[:80]!r}.", f"There are {', '.join(METHODS)}."
            )
        try:
            params = msgspec.json.decode(call.params, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(
                f"{call.method} cannot be called like this: {error}.", "Correct the field it names."
            ) from error
        match params:
            case Nothing():
                return await self._look(call.method)
            case HelloParams(client=name, as_host=as_host, speaks_for=whom):
                if as_host and self._host_door is not None and self._seat is None:
                    self._must_sign_in = True
                if name.strip():
                    named = f"{one_line(name, 80)} ({self._peer})"
                    self.client = self._client(named)
                if self._gate is not None:
                    self._gate.name = self.client.name
                    self._gate.speaks_for(whom)
                return self._hello()
            case SignInParams():
                return await self._sign_in(params)
            case ProveParams():
                return await self._prove(params)
            case PairingOfferParams() | PairingAcceptParams() | PhoneActParams():
                return await self._of_phone(params)
            case OpParams(op=op):
                unknown = unknown_fields(type(op), msgspec.json.decode(call.params).get("op"))
                if unknown:
                    raise unknown_in(unknown)
                if call.method == "submit":
                    op = await self._admitted(op)
                    submission_id = await self._core.submit_as(self.client, op)
                    return Submitted(submission_id=submission_id)
                return await self._request(op)
            case LookUp():
                return await self._core.look_up(_bounded_query(params))
            case HistoryParams():
                return await self._history(params)
            case BlobParams(digest=digest):
                return BlobReply(data=await self._core.blob(digest))
            case EventsParams() | DeltasParams() | FramesParams():
                if not self._may_follow:
                    raise too_many_clients()
                await self._subscriptions.subscribe(params)
            case NextParams(subscription=number, count=count):
                self._subscriptions.grant(number, count)
            case UnsubscribeParams(subscription=number):
                self._subscriptions.unsubscribe(number)
            case _:
                assert_never(params)
        return None

    def _client(self, named: str) -> ClientInfo:
        token = "" if self._gate is None else self._gate.token_name
        by = f" by the token {token}" if token else ""
        # Who answered is stored by the client's name.
        named = f"{named.removesuffix(by)}{by}"
        if self._seat is None:
            return ClientInfo(self.client.client_id, named)
        # Whose it is comes first: what follows is what a program calls itself.
        own = named.removeprefix(f"{self._seat.name}: ")
        return ClientInfo(self.client.client_id, f"{self._seat.name}: {own}", self._seat.name)

    async def _sign_in(self, params: SignInParams) -> SignedIn:
        door, host_door = self._door, self._host_door
        is_in = self._seat is not None or self._is_host
        if is_in or (door is None and host_door is None):
            raise WrongStateError("There is nothing to sign in to here.", "Go on.")
        self._tries += 1
        if self._tries > MOST_TRIES:
            self._writer.transport.abort()
            raise wrong_sign_in()
        challenge, self._challenge = self._challenge, new_challenge()
        try:
            if params.host and host_door is not None:
                return self._let_host_in(host_door, params, challenge)
            if params.host or door is None:
                raise wrong_sign_in()
            return await self._let_operator_in(door, params, challenge)
        except NotAllowedError:
            _log.warning("A sign-in was refused (%s).", self._peer)
            raise

    async def _let_operator_in(
        self, door: Door, params: SignInParams, challenge: bytes
    ) -> SignedIn:
        given = IssuedToken()
        if params.id_token:
            given = await door.by_id_token(params.id_token, params.verifier, self._channel)
            seat = door.by_token(given.token)
        elif params.token:
            seat = door.by_token(params.token)
        else:
            seat = door.by_key(params.public, params.signature, challenge, self._channel)
        if self._seat is not None:
            # Two sign-ins of one connection at the same time: the first counts.
            raise WrongStateError(
                "An operator is already signed in on this connection.", "Connect again."
            )
        operator = seat.operator()
        if self._gate is not None and params.token and not operator.is_sign_in(seat.credential_id):
            self._gate.signed_in_by_token()
        self._seat = seat
        self._core = door.core_for(seat)
        self._subscriptions.core = self._core
        self.client = self._client(self.client.name)
        self.signed_in.set()
        return SignedIn(
            operator=operator.name,
            grants=operator.grants,
            token=given.token,
            expires_ms=given.expires_ms,
        )

    def _let_host_in(self, door: HostDoor, params: SignInParams, challenge: bytes) -> SignedIn:
        signed = door.let_in(params, challenge, self._channel)
        self._is_host = True
        self.signed_in.set()
        # What was followed before, as whoever had connected, ends here.
        self._subscriptions.end_all()
        self._subscriptions.core = door.core
        self.client = ClientInfo(self.client.client_id, f"host {one_line(params.host, 60)}")
        return signed

    async def _request(self, op: Op) -> Reply:
        op = await self._admitted(op)
        return await self._core.request_as(self.client, op)

    async def _admitted(self, op: Op) -> Op:
        return op if self._gate is None else await self._gate.admitted(op, self._core)

    async def _prove(self, params: ProveParams) -> Proved:
        gate = self._gate
        if gate is None:
            return Proved()
        # Stretching a passphrase takes a moment, in which others are served.
        proved = await asyncio.to_thread(
            gate.prove, params.passphrase, chooses=params.chooses, token=params.token
        )
        self.client = self._client(self.client.name)
        return proved

    async def _of_phone(
        self, params: PairingOfferParams | PairingAcceptParams | PhoneActParams
    ) -> PairingOffer | Paired | Reply:
        gate, operator = self._gate, self.client.operator
        if gate is None:
            raise WrongStateError("This core pairs no phones.")
        match params:
            case PairingOfferParams(name=name, life_s=life_s):
                gate.check_person("Pairing a phone")
                return gate.phones.offer(name, operator, life_s)
            case PairingAcceptParams(code=code, public=public, signature=signature):
                return gate.phones.accept(code, public, signature)
            case PhoneActParams(phone_id=phone_id, statement=said, signature=signature):
                return await gate.phones.act(
                    self._core, phone_id, said, signature, operator=operator
                )

    async def _look(self, method: str) -> Overview | Status | Hello:
        match method:
            case "overview":
                return await self._core.overview()
            case "sign_out":
                if self._seat is None or self._door is None:
                    raise WrongStateError("No operator is signed in on this connection.")
                await self._door.sign_out(self._seat)
                return self._hello()
            case "status":
                return await self._status(
                    self._core if isinstance(self._core, OperatorCore) else None
                )
            case _:
                return self._hello()

    def _hello(self) -> Hello:
        return Hello(
            protocol=PROTOCOL_VERSION,
            pid=os.getpid(),
            client_id=self.client.client_id,
            challenge=self._challenge if self._is_shut else b"",
            fleet=self._fleet,
        )

    async def _history(self, params: HistoryParams) -> HistoryPage:
        asked = min(_bounded(params.limit), 500)
        backward = params.before_seq > 0
        found = await self._core.history(
            params.session_id,
            after_seq=params.after_seq,
            before_seq=max(params.before_seq, 0),
            limit=asked,
        )
        page: list[msgspec.Raw] = []
        size = 0
        for event in reversed(found) if backward else found:
            page.append(msgspec.Raw(_json(event)))
            size += len(page[-1])
            if size >= PAGE_BYTES:
                break
        if backward:
            page.reverse()
        more = len(page) < len(found) or len(found) == asked
        return HistoryPage(events=tuple(page), more=more)

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
            _log.warning("A client read nothing for %.0f s and was disconnected.", STALL_S)
            self._writer.transport.abort()
            raise ConnectionResetError("The client does not read.") from None
        except OSError as error:
            # An error of TLS is none of the connection by itself.
            raise ConnectionResetError("The client is gone.") from error


async def refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, error: SwitchboardError
) -> None:
    """Answer the first call of a connection with an error.

    Raises:
        OSError: the client is gone.
        ValueError: its line is too long.
    """
    line = await reader.readline()
    try:
        call_id = _call_decoder.decode(line).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        call_id = None
    problem = _json(problem_of(error))
    writer.write(b'{"id":%b,"error":%b}\n' % (_json(call_id), problem))
    await writer.drain()


def too_many_clients(count: int = 0) -> WrongStateError:
    """Answer that no other client can be served, or only single calls of it."""
    how_many = f": {count} are connected" if count else " to follow anything"
    return WrongStateError(
        f"The core has too many clients{how_many}.",
        "Close some; who they are: switchboard daemon status",
    )


def _bounded(limit: int) -> int:
    return min(max(limit, 1), _MAX_LIMIT)


def _bounded_query(query: LookUp[Any]) -> LookUp[Any]:
    """Return a look-up that asks for no more than one reply may hold."""
    limit = getattr(query, "limit", None)
    return query if limit is None else msgspec.structs.replace(query, limit=_bounded(limit))


def _json(value: object) -> bytes:
    return _encoder.encode(value)
