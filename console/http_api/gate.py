"""Who may come in: programs of this machine that show the token, and no page of a browser.

A token of an operator is let through to the core, which lets its operator in or nobody.
Invariant: nothing of a request but its head is read before that is known.
"""

import hmac
from http import HTTPStatus

import msgspec
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from console.http_api.problems import MEDIA_TYPE, ProblemDetails, refusal
from console.loopback.bodies import drained
from console.loopback.listening import NAMES
from console.loopback.tokens import is_operators

MAX_BODY_BYTES = 1 << 20  # As much as the core's socket takes of one call.
_SCHEME = "bearer "


def shown_token(headers: Headers) -> str:
    """Return the token that a request shows; empty where it shows none."""
    shown = headers.get("authorization", "")
    return shown[len(_SCHEME) :].strip() if shown.lower().startswith(_SCHEME) else ""


class Gate:
    """Stand before an application.

    Args:
        token: what a request has to show.
        port: that the server is reached at.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(f"{name}:{port}" for name in NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self._refused(Headers(scope=scope))
            if refused is not None:
                await drained(receive)
                await answer_problem(refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refused(self, headers: Headers) -> ProblemDetails | None:
        if headers.get("host", "").lower() not in self._hosts:
            # A name that is not expected is one that an attacker pointed here (DNS rebinding).
            return refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server answers only to 127.0.0.1 and localhost.",
            )
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://").lower() not in self._hosts:
            return refusal(
                HTTPStatus.FORBIDDEN, "Requests from pages of other origins are refused."
            )
        shown = headers.get("authorization", "")
        given = shown[len(_SCHEME) :].encode("utf-8", "surrogateescape")
        is_known = hmac.compare_digest(given, self._token) or is_operators(shown_token(headers))
        if not shown.lower().startswith(_SCHEME) or not is_known:
            return refusal(
                HTTPStatus.UNAUTHORIZED,
                "The token is missing or wrong.",
                "Send it as Authorization: Bearer TOKEN.",
            )
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
            return refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The limit is {MAX_BODY_BYTES:,} bytes."
            )
        return None


def answer_problem(problem: ProblemDetails) -> Response:
    # What is left of a body is not waited for.
    headers = {"Connection": "close"}
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(problem), problem.status, headers=headers, media_type=MEDIA_TYPE
    )
