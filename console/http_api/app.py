"""Answer requests: each is one call to the core, made over the client's own connection to it.

Invariants: what the core says goes out as it is; whoever hangs up is not waited for, and nothing
stays behind; a stream that is not read is ended.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from agent.errors import NotAllowedError, RuntimeDiedError, SwitchboardError, UsageError
from agent.operators.door import wrong_sign_in
from agent.protocol import MAX_DIRECT_WAIT_S, DirectCall, Event, Op
from agent.rpc.credentials import Credentials, TokenShown
from agent.rpc.places import Place
from agent.rpc.remote_core import Client
from agent.rpc.rpc_client import LOOK_TIMEOUT_S, NOBODY, OP_TIMEOUT_S, RpcClient
from agent.rpc.rpc_messages import BlobReply, OpParams
from console.http_api.gate import MAX_BODY_BYTES, Gate, answer_problem, shown_token
from console.http_api.openapi import document
from console.http_api.operations import LOOK_UPS, PREFIX, op_of, ops, params_of, query_of
from console.http_api.problems import details_of, refusal
from console.loopback.bodies import drained
from console.loopback.client_sessions import HUNG_UP_S, IDLE_S, MAX_CLIENTS, ClientSessions
from console.loopback.listening import listening
from console.loopback.tokens import client_key, is_operators

DEFAULT_PORT = 8432
CLIENT_HEADER = "Switchboard-Client"
SCRIPT_HEADER = "Switchboard-Script-Token"
"""The token of a script that may approve (`agent.consent.script_tokens`)."""
UNNAMED = "http"
BODY_S = 30.0  # How long a body may take to arrive.
STALL_S = 30.0  # How long a stream's reader may take nothing.
_PING_S = 15
_MAX_CONNECTIONS = 4 * MAX_CLIENTS
_NAME_CHARS = 60
_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
T = TypeVar("T")


@dataclass(frozen=True)
class _Line:
    """A client's connection to the core."""

    caller: RpcClient
    core: Client


class HttpApi:
    """The routes, and the clients that use them.

    Args:
        socket: of the core.
        credentials: what who shows the server's own token signs in with, where the core has
            operators.
        idle_s: how long a client may be silent before what it has is let go.
        hung_up_s: the same, of a client that broke off.
    """

    def __init__(
        self,
        socket: Path | Place,
        *,
        credentials: Credentials | None = None,
        idle_s: float = IDLE_S,
        hung_up_s: float = HUNG_UP_S,
    ) -> None:
        self._socket = socket
        self._credentials = credentials
        self._shown: dict[str, str] = {}
        """The tokens of operators, by client, for the length of an opening."""
        self._scripts: dict[str, str] = {}
        """Those of scripts, in the same way."""
        self.clients: ClientSessions[_Line] = ClientSessions(
            self._connect, _hang_up, idle_s=idle_s, hung_up_s=hung_up_s
        )

    def app(self, token: str, port: int) -> Starlette:
        """Return what answers, at a port of this machine."""
        described = _encode(document(f"http://127.0.0.1:{port}"))

        async def describe(_request: Request) -> Response:
            return _json(described)

        routes = [Route(f"{PREFIX}/openapi.json", describe)]
        routes += [
            Route(f"{PREFIX}/ops/{tag}", self._op(kind), methods=["POST"])
            for tag, kind in ops().items()
        ]
        routes += [Route(f"{PREFIX}/{name}", self._look_up(name)) for name in LOOK_UPS]
        routes += [
            Route(f"{PREFIX}/events", self._events),
            Route(f"{PREFIX}/deltas", self._deltas),
            Route(f"{PREFIX}/client", self._leave, methods=["DELETE"]),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(Gate, token=token, port=port)],
            exception_handlers={
                HTTPException: _unrouted,
                SwitchboardError: _refused,
                ClientDisconnect: _client_left,
                Exception: _failed,
            },
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.clients.close()

    @asynccontextmanager
    async def _line(self, request: Request) -> AsyncIterator[tuple[_Line, str]]:
        """Return the connection of a request's client, and what it is known by.

        Raises:
            NotAllowedError: the core lets nobody in by the token that the request shows.
        """
        name = _client_of(request)
        token = shown_token(request.headers)
        script = request.headers.get(SCRIPT_HEADER, "")
        # A client that shows it is another than one that does not.
        named = f"{name}#{client_key(script, '').strip()}" if script else name
        key = client_key(token, named) if is_operators(token) else named
        if key != named:
            self._shown[key] = token
        if script:
            self._scripts[key] = script
        try:
            async with self.clients.using(key, key) as line:
                self._shown.pop(key, None)
                self._scripts.pop(key, None)
                yield line, key
        except NotAllowedError:
            # Its place is free again: who guesses tokens keeps nobody out.
            if self.clients.is_failed(key):
                self.clients.drop(key)
            raise
        finally:
            self._shown.pop(key, None)
            self._scripts.pop(key, None)

    async def _connect(self, key: str) -> _Line:
        named = key.rpartition("\n")[2]
        name = named.partition("#")[0]
        token = self._shown.get(key, "")
        if key != named and not token:
            raise wrong_sign_in()  # Never by the server's own credentials.
        credentials = TokenShown(token) if token else self._credentials
        try:
            caller = await RpcClient.connect(
                self._socket, name=name, credentials=credentials, speaks_for="programs"
            )
        except NOBODY as error:
            raise RuntimeDiedError(
                "The core does not answer.", "Start 'switchboard serve' again."
            ) from error
        core = Client(caller)
        if script := self._scripts.get(key, ""):
            try:
                await core.prove(token=script)
            except BaseException:
                await core.close()
                raise
        return _Line(caller, core)

    # --- requests ----------

    def _op(self, kind: type[Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            async with self._line(request):
                # Nothing of a body is read before it is known who sends it.
                pass
            op = op_of(kind, await _body(request))
            waits_s = _waits_s(op)

            async def call(line: _Line) -> msgspec.Raw:
                params = OpParams(op=op)
                return await line.caller.call(
                    "request", params, msgspec.Raw, OP_TIMEOUT_S + waits_s
                )

            return _json(bytes(await self._ask(request, call)))

        return answer

    def _look_up(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            params = params_of(name, _query(request))

            async def call(line: _Line) -> bytes:
                if LOOK_UPS[name] is bytes:
                    return (await line.caller.call(name, params, BlobReply)).data
                return bytes(await line.caller.call(name, params, msgspec.Raw, LOOK_TIMEOUT_S))

            found = await self._ask(request, call)
            if LOOK_UPS[name] is bytes:
                return _guarded(Response(found, media_type="application/octet-stream"))
            return _json(found)

        return answer

    async def _ask(self, request: Request, call: Callable[[_Line], Awaitable[T]]) -> T:
        """Ask the core for a client that may hang up meanwhile."""
        async with self._line(request) as (line, name):
            asked = asyncio.ensure_future(call(line))
            gone = asyncio.create_task(_until_gone(request))
            try:
                await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not asked.done():
                    self.clients.hung_up(name)
                    raise ClientDisconnect
                return asked.result()
            finally:
                asked.cancel()
                gone.cancel()

    async def _leave(self, request: Request) -> Response:
        async with self._line(request) as (_, key):
            pass
        self.clients.drop(key)
        return Response(status_code=HTTPStatus.NO_CONTENT)

    # --- streams ----------

    async def _events(self, request: Request) -> Response:
        query = query_of("events", _query(request))
        last = request.headers.get("last-event-id", "")
        is_number = last.isascii() and last.isdecimal() and len(last) <= 18
        after = int(last) if is_number else query.after

        async def follow(core: Client) -> AsyncIterator[ServerSentEvent]:
            async with core.events(after=after) as events:
                async for event in events:
                    if not query.session_id or event.session_id == query.session_id:
                        yield _sent(event)

        return await self._stream(request, follow)

    async def _deltas(self, request: Request) -> Response:
        query_of("deltas", _query(request))

        async def follow(core: Client) -> AsyncIterator[ServerSentEvent]:
            async with core.deltas() as deltas:
                async for delta in deltas:
                    yield ServerSentEvent(_encode(delta).decode(), event="delta")

        return await self._stream(request, follow)

    async def _stream(
        self, request: Request, follow: Callable[[Client], AsyncIterator[ServerSentEvent]]
    ) -> Response:
        async with self._line(request) as (line, name):
            core = line.core

        async def sent() -> AsyncIterator[ServerSentEvent]:
            async with self.clients.streaming(name):
                try:
                    async for one in follow(core):
                        yield one
                except SwitchboardError as error:
                    said = _encode(details_of(error)).decode()
                    yield ServerSentEvent(said, event="problem")

        return _guarded(EventSourceResponse(sent(), ping=_PING_S, send_timeout=STALL_S))


@asynccontextmanager
async def serving(api: HttpApi, token: str, *, port: int = DEFAULT_PORT) -> AsyncIterator[str]:
    """Serve for the length of a `with` block; yields the address, without a path.

    Args:
        port: on this machine's loopback; 0: any free one.

    Raises:
        UsageError: the port cannot be listened on.
    """
    async with listening(
        lambda bound: api.app(token, bound), port=port, at_once=_MAX_CONNECTIONS
    ) as address:
        yield address


def _waits_s(op: Op) -> float:
    """Return how long an op may wait inside the core."""
    return min(max(op.wait_s, 0.0), MAX_DIRECT_WAIT_S) if isinstance(op, DirectCall) else 0.0


def _client_of(request: Request) -> str:
    name = request.headers.get(CLIENT_HEADER, UNNAMED)
    if not 0 < len(name) <= _NAME_CHARS or not all("!" <= one <= "~" for one in name):
        raise UsageError(
            f"{CLIENT_HEADER} is not a name.",
            f"Use 1 to {_NAME_CHARS} ASCII characters, no spaces.",
        )
    return name


def _query(request: Request) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise UsageError(f"The query gives {name[:40]} twice.", "Give it once.")
        found[name] = value
    return found


async def _body(request: Request) -> bytes:
    """Read a body. Raises HTTPException where it is too long or too slow."""
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                found += part
                if len(found) > MAX_BODY_BYTES:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    except TimeoutError:
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT) from None
    return bytes(found)


async def _until_gone(request: Request) -> None:
    with suppress(ClientDisconnect):
        while (await request.receive())["type"] != "http.disconnect":
            pass


async def _hang_up(line: _Line) -> None:
    await line.core.close()


def _sent(event: Event) -> ServerSentEvent:
    kind = str(event.msg.__struct_config__.tag)
    return ServerSentEvent(_encode(event).decode(), event=kind, id=str(event.event_id))


def _json(body: bytes) -> Response:
    return _guarded(Response(body, media_type="application/json"))


def _guarded(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    return response


async def _unrouted(request: Request, error: Exception) -> Response:
    status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus(500)
    said = {
        HTTPStatus.NOT_FOUND: "There is no such path.",
        HTTPStatus.METHOD_NOT_ALLOWED: "This path needs another method.",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"The limit is {MAX_BODY_BYTES:,} bytes.",
        HTTPStatus.REQUEST_TIMEOUT: f"The body did not arrive within {BODY_S:g} s.",
    }
    await drained(request.receive)
    remedy = f"{PREFIX}/openapi.json names what there is."
    response = answer_problem(refusal(status, said.get(status, status.phrase), remedy))
    for name, value in (getattr(error, "headers", None) or {}).items():
        response.headers[name] = value
    return response


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, SwitchboardError)
    return answer_problem(details_of(error))


async def _client_left(_request: Request, _error: Exception) -> Response:
    # Nobody reads it.
    return Response(status_code=HTTPStatus.BAD_REQUEST)


async def _failed(request: Request, error: Exception) -> Response:
    _log.error("%s failed", request.url.path, exc_info=error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return answer_problem(refusal(status, "The request failed.", "See Switchboard's log."))
