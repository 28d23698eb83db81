"""Get an ID token by the device flow (RFC 8628): a person approves in any browser.

`agent.oidc.issuer` is the core's side. Prints nothing. Invariants: the issuer is polled no more
often than it permits; the person sees only an HTTPS address and a short code; no token, device code
or secret is in an error or a log.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agent.errors import ConfigError, NotAllowedError, SwitchboardError
from agent.oidc.fetching import HTTP_TIMEOUT_S, IssuerAwayError, check_secure
from agent.oidc.issuer import Metadata, discover
from agent.text import one_line

if TYPE_CHECKING:
    from authlib.integrations.requests_client import OAuth2Session

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE = "openid email"
_SLOWER_S = 5.0
_LONGEST_PAUSE_S = 60.0
_LONGEST_WAIT_S = 1800.0

Sleep = Callable[[float], Awaitable[None]]


class DeviceCode(msgspec.Struct, frozen=True, kw_only=True):
    """What the person must do."""

    url: str
    code: str
    whole_url: str  # The address with the code in it; empty where the issuer makes none.
    lasts_s: float


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The response of the device authorization endpoint."""

    device_code: str
    user_code: str
    verification_uri: str
    expires_in: float
    verification_uri_complete: str = ""
    interval: float = 5.0


class DeviceFlow:
    """A client of an issuer.

    Args:
        issuer: its address.
        client_id: Switchboard's client id there.
        client_secret: the client's secret, if the issuer gave one; else empty.
        ca: a file of authorities for its certificate; None: those of the system.
        sleep: waits the given seconds.
        monotonic_s: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        *,
        client_secret: str = "",
        ca: Path | None = None,
        sleep: Sleep = asyncio.sleep,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._secret = client_secret
        self._ca = ca
        self._sleep = sleep
        self._monotonic_s = monotonic_s

    async def id_token(self, nonce: str, show: Callable[[DeviceCode], None]) -> str:
        """Have a person approve the sign-in; returns the ID token.

        Args:
            nonce: requested for the ID token.
            show: shows what the person must do.

        Raises:
            ConfigError: the issuer has no device flow, or an invalid response.
            IssuerAwayError: it cannot be reached.
            NotAllowedError: the person refused, or did not approve in time.
        """
        metadata = await asyncio.to_thread(discover, self._issuer, self._ca)
        if not metadata.device_authorization_endpoint or not metadata.token_endpoint:
            raise ConfigError(
                f"{self._issuer} has no device flow.",
                "Allow it for the client there (OAuth 2.0 Device Authorization Grant), or use a "
                "key.",
            )
        answer = await asyncio.to_thread(self._begin, metadata, nonce)
        lasts_s = min(answer.expires_in, _LONGEST_WAIT_S)
        end_s = self._monotonic_s() + lasts_s
        show(
            DeviceCode(
                url=answer.verification_uri,
                code=answer.user_code,
                whole_url=answer.verification_uri_complete,
                lasts_s=lasts_s,
            )
        )
        pause_s = min(max(answer.interval, 1.0), _LONGEST_PAUSE_S)
        while self._monotonic_s() + pause_s < end_s:
            await self._sleep(pause_s)
            try:
                return await asyncio.to_thread(self._poll, metadata, answer.device_code)
            except _PendingError as pending:
                if pending.is_slower:
                    pause_s = min(pause_s + _SLOWER_S, _LONGEST_PAUSE_S)
            except IssuerAwayError:
                # RFC 8628, 3.5: back off where the connection fails.
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise _too_late()

    def _session(self) -> OAuth2Session:
        from authlib.integrations.requests_client import OAuth2Session

        method = "client_secret_basic" if self._secret else "none"
        session = OAuth2Session(
            self._client_id, self._secret or None, token_endpoint_auth_method=method, scope=SCOPE
        )
        session.max_redirects = 0
        session.verify = True if self._ca is None else str(self._ca)
        return session

    def _begin(self, metadata: Metadata, nonce: str) -> _Answer:
        url = metadata.device_authorization_endpoint
        said = {"client_id": self._client_id, "scope": SCOPE, "nonce": nonce}
        auth = (self._client_id, self._secret) if self._secret else None

        def ask(session: OAuth2Session) -> Any:
            answer = session.request(
                "POST", url, data=said, auth=auth, withhold_token=True, timeout=HTTP_TIMEOUT_S
            )
            return answer.status_code, answer.json()

        status, found = self._ask(ask)
        if status != 200:
            why = found.get("error", "") if isinstance(found, dict) else ""
            raise ConfigError(
                f"The issuer refused to start the sign-in: {one_line(str(why or status), 100)}.",
                "Check oidc.client_id, and that the client may use the device flow.",
            )
        try:
            answer = msgspec.convert(found, _Answer)
        except msgspec.ValidationError as error:
            raise ConfigError(f"The issuer's answer cannot be used: {error}.") from error
        check_secure(answer.verification_uri, "The address to sign in at")
        if answer.verification_uri_complete:
            check_secure(answer.verification_uri_complete, "The address to sign in at")
        is_code = answer.user_code.isprintable() and 0 < len(answer.user_code) <= 64
        if not is_code or not answer.expires_in > 0:
            raise ConfigError("The issuer's answer cannot be used: its code is invalid.")
        return answer

    def _poll(self, metadata: Metadata, device_code: str) -> str:
        def ask(session: OAuth2Session) -> Any:
            return session.fetch_token(
                metadata.token_endpoint,
                grant_type=GRANT,
                device_code=device_code,
                timeout=HTTP_TIMEOUT_S,
            )

        id_token = self._ask(ask).get("id_token")
        if not isinstance(id_token, str) or not id_token:
            raise ConfigError(
                "The issuer gave no ID token.", "Allow the scope openid for the client there."
            )
        return id_token

    def _ask(self, ask: Callable[[OAuth2Session], Any]) -> Any:
        import requests
        from authlib.common.errors import AuthlibBaseError

        try:
            with self._session() as session:
                return ask(session)
        except AuthlibBaseError as error:
            raise _token_error(str(getattr(error, "error", ""))) from None
        except (ValueError, TypeError, KeyError) as error:
            if not isinstance(error, requests.RequestException):
                raise ConfigError("The issuer's answer cannot be read.") from None
            raise _issuer_away(error) from None
        except (requests.RequestException, OSError) as error:
            raise _issuer_away(error) from None


class _PendingError(SwitchboardError):
    """The sign-in has not been confirmed yet."""

    is_slower = False


def _token_error(code: str) -> SwitchboardError:
    """Return the exception for an error of the token endpoint; see RFC 8628, 3.5."""
    match code:
        case "authorization_pending" | "slow_down":
            pending = _PendingError("The sign-in has not been confirmed yet.")
            pending.is_slower = code == "slow_down"
            return pending
        case "access_denied":
            return NotAllowedError("The sign-in was denied in the browser.", "Sign in again.")
        case "expired_token":
            return _too_late()
        case _:
            return ConfigError(
                f"The issuer refused the sign-in: {one_line(code, 100) or 'no reason given'}.",
                "Check oidc.client_id and oidc.client_secret_file.",
            )


def _too_late() -> NotAllowedError:
    return NotAllowedError("The code was not confirmed in time.", "Sign in again.")


def _issuer_away(error: Exception) -> IssuerAwayError:
    # Not the message: it may hold what was sent.
    return IssuerAwayError(
        f"The issuer cannot be asked: {type(error).__name__}.", "Check the network and oidc.ca."
    )
