"""Who may come in: the token of this run, the names of this machine, and no foreign page.

Not encryption: what leaves the machine goes through an SSH tunnel or a proxy that the operator
chose. Invariants: nothing is served, not even a style sheet, to whoever has not shown the token
once; a page of another origin cannot open a console through the operator's browser.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

COOKIE = "switchboard"
COOKIE_LIFE_S = 12 * 3600
TOKEN = "token"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_GUARDS = {
    # xterm.js sets styles of its own as it runs; scripts come from this server alone.
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_WRONG = (
    "This console needs the address, with its token, that 'switchboard web' printed when it was "
    "started last: every start has a new one.\n"
)
_FOREIGN = "This console answers only to the names of its own machine.\n"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Gate:
    """Let in who shows the token, and know them by a cookie from then on.

    Args:
        names: host names that this server is reached by, beside those of the machine itself. A
            name that is not expected is one that an attacker pointed here (DNS rebinding).
    """

    def __init__(self, names: frozenset[str] = frozenset()) -> None:
        self.token = secrets.token_urlsafe(24)
        self._cookie = secrets.token_urlsafe(24)
        self._names = LOCAL_NAMES | names

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Serve a request, or refuse it with 403; a token in the address becomes a cookie."""
        if not self._is_ours(request.host):
            raise web.HTTPForbidden(text=_FOREIGN)
        origin = request.headers.get("Origin")
        if origin is not None and _place(origin) != _place(f"//{request.host}"):
            raise web.HTTPForbidden(text=_FOREIGN)
        shown = request.query.get(TOKEN)
        if shown is not None and _same(shown, self.token):
            # Out of the address bar, where it could be seen, copied or kept in a history.
            welcome = web.HTTPSeeOther(request.rel_url.without_query_params(TOKEN))
            welcome.set_cookie(
                self._cookie_name(request),
                self._cookie,
                max_age=COOKIE_LIFE_S,
                httponly=True,
                samesite="Strict",
                secure=request.secure,
            )
            welcome.headers.update(_GUARDS)
            raise welcome
        if not _same(request.cookies.get(self._cookie_name(request), ""), self._cookie):
            raise web.HTTPForbidden(text=_WRONG, headers=_GUARDS)
        return await handler(request)

    async def mark(self, _request: web.Request, response: web.StreamResponse) -> None:
        """Add what tells the browser to be careful."""
        response.headers.update(_GUARDS)

    def _is_ours(self, host: str) -> bool:
        return _place(f"//{host}")[0] in self._names

    def _cookie_name(self, request: web.Request) -> str:
        # Cookies know no ports: two consoles on one machine must not overwrite each other's.
        return f"{COOKIE}-{_place(f'//{request.host}')[1]}"


def _place(address: str) -> tuple[str, int]:
    """Return the host and the port of an address; "" and 0 if it is not one."""
    try:
        parts = urlsplit(address)
        return parts.hostname or "", parts.port or 0
    except ValueError:
        return "", 0


def _same(shown: str, kept: str) -> bool:
    # Whoever knocks may send bytes that are no text.
    return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), kept.encode())
