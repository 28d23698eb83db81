"""Who may come in, over HTTP and over WebSockets, and how much they may send.

Invariant: nothing of a request but its head is looked at before that is known; a body is counted
as it comes, whatever its head says.
"""

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.loopback.bodies import drained
from console.openenv.messages import readable

MAX_BODY_BYTES = 1 << 20
_DRAIN_BYTES = 4 << 20
_POLICY_VIOLATION = 1008


class Gate:
    """Stand before an application.

    Args:
        app: what is served.
        token: what a request has to show as a bearer; empty: none is asked for.
        hosts: the names, with ports, that this server is reached by; empty: any.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: Iterable[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        status, why = self._refused(Headers(scope=scope))
        if status and scope["type"] == "http":
            await drained(receive, _DRAIN_BYTES)
            await JSONResponse({"detail": why}, status)(scope, receive, send)
        elif status:
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": why})
        elif scope["type"] == "http":
            await self._app(scope, _bounded(receive), send)
        else:
            await self._app(scope, readable(receive, send), send)

    def _refused(self, headers: Headers) -> tuple[int, str]:
        """Return the status and the reason of a refusal; 0 for who may come in."""
        if self._hosts and headers.get("host", "").lower() not in self._hosts:
            # A name that is not expected is one that an attacker pointed here (DNS rebinding).
            return 421, "This server answers only to 127.0.0.1 and localhost."
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() not in self._hosts:
            return 403, "Requests from pages of other origins are refused."
        if self._token:
            kind, _, shown = headers.get("authorization", "").partition(" ")
            given = shown.encode("utf-8", "surrogateescape")
            if kind.lower() != "bearer" or not hmac.compare_digest(given, self._token):
                return 401, "The token is missing or wrong: send Authorization: Bearer TOKEN."
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
            return 413, f"The limit is {MAX_BODY_BYTES:,} bytes."
        return 0, ""


def _bounded(receive: Receive) -> Receive:
    """Count what comes; what is too much looks as if the client had hung up."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return {"type": "http.disconnect"} if taken > MAX_BODY_BYTES else message

    return bounded
