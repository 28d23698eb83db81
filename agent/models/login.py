"""Sign in with a browser: OAuth's code flow with PKCE, back over loopback, and refresh.

After RFC 7636 (PKCE, S256 only) and RFC 8414 (metadata). Not the browser's way back, which is
`agent.models.callback`, and not the use of the token. Invariants: the state of the answer is that
of the question; a token is kept in a file of mode 0600 and shown nowhere.
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import msgspec

from agent.bounded_http import TooLongError, fault_of, read_document
from agent.errors import ConfigError, ModelError
from agent.models.callback import callback
from agent.models.keys import check_private
from agent.models.login_origin import is_made_for, not_made_for, secure_origin
from agent.text import one_line

if TYPE_CHECKING:
    from authlib.integrations.requests_client import OAuth2Session

FILE_NAME = "login.json"
HTTP_TIMEOUT_S = 30.0
BROWSER_TIMEOUT_S = 300.0
MAX_LIFE_S = 10 * 366 * 86400.0
EARLY_S = 60.0  # A token is renewed so long before it ends.
_DISCOVERY = (".well-known/openid-configuration", ".well-known/oauth-authorization-server")


class Issuer(msgspec.Struct, frozen=True, kw_only=True):
    """Who signs people in, as its metadata say."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str = ""
    code_challenge_methods_supported: tuple[str, ...] = ("S256",)


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """A login that is kept."""

    issuer: str
    client_id: str
    token_endpoint: str
    access_token: str
    refresh_token: str = ""
    expires_s: float = 0.0  # Seconds since the epoch; 0 = it does not end.
    revocation_endpoint: str = ""
    origin: str = ""  # The endpoint that it is for; empty in a login of an older version.

    def is_for(self, address: str) -> bool:
        """Return whether its token may be sent to an address."""
        return is_made_for(self.origin, self.issuer, address)

    def __repr__(self) -> str:
        return f"Login(issuer={self.issuer!r}, client_id={self.client_id!r})"


def discover(issuer: str) -> Issuer:
    """Read an issuer's metadata; blocks.

    Raises:
        ConfigError: it has none, or they are not its own, or it cannot do PKCE with S256.
        ModelError: it cannot be reached.
    """
    _check_secure(issuer, "The issuer")
    for path in _DISCOVERY:
        found = _get(f"{issuer.rstrip('/')}/{path}")
        if found is None:
            continue
        try:
            metadata = msgspec.convert(found, Issuer, strict=False)
        except msgspec.ValidationError as error:
            raise ConfigError(
                f"The metadata of {issuer} cannot be used: {one_line(str(error), 100)}."
            ) from error
        if metadata.issuer.rstrip("/") != issuer.rstrip("/"):
            raise ConfigError(
                f"The issuer at {issuer} identifies itself as {one_line(metadata.issuer, 100)}.",
                "Set model.login_issuer to the issuer's own name.",
            )
        if "S256" not in metadata.code_challenge_methods_supported:
            raise ConfigError(f"{issuer} does not support PKCE with S256, which is required.")
        for url in (metadata.authorization_endpoint, metadata.token_endpoint):
            _check_secure(url, f"An endpoint of {issuer}")
        return metadata
    raise ConfigError(
        f"{issuer} has no OAuth metadata.", "Check model.login_issuer; it must be an OpenID issuer."
    )


async def sign_in(
    issuer: Issuer,
    *,
    client_id: str,
    endpoint: str,
    scope: str,
    port: int,
    open_browser: Callable[[str], None],
    timeout_s: float = BROWSER_TIMEOUT_S,
) -> Login:
    """Let a person sign in.

    Args:
        endpoint: the address of the models that the login is for.
        open_browser: shows the address to the person.
        timeout_s: how long they may take.

    Raises:
        ConfigError: the endpoint is reached without encryption.
        ModelError: nobody signed in, or the issuer refused.
        UsageError: the port is taken.
    """
    origin = secure_origin(endpoint)
    async with callback(issuer.issuer, port) as callback_server:
        session = _session(client_id, scope=scope, redirect_uri=callback_server.address)
        verifier = token_urlsafe(64)
        url, state = session.create_authorization_url(
            issuer.authorization_endpoint, code_verifier=verifier
        )
        waiting = asyncio.ensure_future(callback_server.code(state))
        # The question stands before the browser is shown it, so that no answer is too early.
        await asyncio.sleep(0)
        try:
            open_browser(url)
            async with asyncio.timeout(timeout_s):
                answer = await waiting
        except TimeoutError as error:
            raise _nobody(timeout_s, callback_server.strangers) from error
        finally:
            waiting.cancel()
    token = await asyncio.to_thread(
        _fetch, session, issuer.token_endpoint, code=answer, code_verifier=verifier
    )
    return _login(
        token,
        Login(
            issuer=issuer.issuer,
            client_id=client_id,
            token_endpoint=issuer.token_endpoint,
            access_token="",
            revocation_endpoint=issuer.revocation_endpoint,
            origin=origin,
        ),
    )


def refreshed(login: Login) -> Login:
    """Renew a login; blocks. Raises ModelError when the issuer refuses or cannot be reached."""
    if not login.refresh_token:
        raise _ended()
    token = _fetch(
        _session(login.client_id),
        login.token_endpoint,
        grant_type="refresh_token",
        refresh_token=login.refresh_token,
    )
    return _login(token, login)


def sign_out(login: Login) -> None:
    """Ask the issuer to forget a login, where it can be asked; blocks. Raises ModelError."""
    if not login.revocation_endpoint:
        return
    _check_secure(login.revocation_endpoint, "The revocation endpoint")
    try:
        revoke: Any = _session(login.client_id).revoke_token
        revoke(
            login.revocation_endpoint,
            token=login.refresh_token or login.access_token,
            timeout=HTTP_TIMEOUT_S,
        )
    except Exception as error:
        raise _refused(error) from error


class TokenFile:
    """A kept login, renewed when it is about to end.

    Args:
        path: of mode 0600.
        now_s: the wall clock.
    """

    def __init__(self, path: Path, *, now_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now_s = now_s
        self._lock = asyncio.Lock()

    def read(self) -> Login | None:
        """Read the login; None when there is none. Raises ConfigError."""
        try:
            with self._path.open("rb") as file:
                check_private(self._path, os.fstat(file.fileno()))
                return msgspec.json.decode(file.read(), type=Login)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigError(
                f"The login {self._path} cannot be read: {one_line(str(error), 100)}.",
                "Sign in again: switchboard login",
            ) from error

    def keep(self, login: Login | None) -> None:
        """Write the login, or take it away. Raises ConfigError."""
        try:
            if login is None:
                self._path.unlink(missing_ok=True)
                return
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkstemp makes it 0600 before anything is in it.
            descriptor, new = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(login))
                file.flush()
                os.fsync(file.fileno())
            Path(new).replace(self._path)
        except OSError as error:
            raise ConfigError(
                f"The login {self._path} could not be written: {error.strerror or error}."
            ) from error

    async def token(self, endpoint: str) -> str:
        """Return an access token that is still good, renewing it when it is not.

        Args:
            endpoint: the address that it is sent to.

        Raises:
            ModelError: it has ended and cannot be renewed.
            ConfigError: it was made for another endpoint; or the file cannot be read or written.
        """
        async with self._lock:
            login = await asyncio.to_thread(self.read)
            if login is None:
                raise _ended()
            if not login.is_for(endpoint):
                # Another login may have taken its place since the endpoint was chosen.
                raise not_made_for(login.origin, login.issuer, endpoint)
            if login.expires_s and self._now_s() > login.expires_s - EARLY_S:
                login = await self._renewed(login)
            return login.access_token

    async def _renewed(self, login: Login) -> Login:
        try:
            renewed = await asyncio.to_thread(refreshed, login)
        except ModelError:
            # An issuer that rotates takes each refresh token once, and another process may have
            # been first: then what it was given is here.
            kept = await asyncio.to_thread(self.read)
            if kept is None or kept.refresh_token == login.refresh_token:
                raise
            return kept
        await asyncio.to_thread(self.keep, renewed)
        return renewed


# --- how ----------


def _nobody(timeout_s: float, strangers: int) -> ModelError:
    others = f"; {strangers} answers came to another question" if strangers else ""
    return ModelError(
        f"Nobody signed in within {timeout_s:g} s{others}.", "Try again.", retryable=False
    )


def _session(client_id: str, **more: Any) -> "OAuth2Session":
    from authlib.integrations.requests_client import OAuth2Session

    session = OAuth2Session(
        client_id, token_endpoint_auth_method="none", code_challenge_method="S256", **more
    )
    # A refresh token is sent to the issuer's own address, and not to where that one points.
    session.max_redirects = 0
    return session


def _fetch(session: "OAuth2Session", url: str, **more: Any) -> Mapping[str, Any]:
    _check_secure(url, "The token endpoint")
    try:
        token: Mapping[str, Any] = session.fetch_token(url, timeout=HTTP_TIMEOUT_S, **more)
    except Exception as error:
        raise _refused(error) from error
    return token


def _refused(error: Exception) -> ModelError:
    """Judge what the OAuth library raised: a refusal is for good, a lost connection is not."""
    from authlib.common.errors import AuthlibBaseError

    if isinstance(error, ValueError | OverflowError | TypeError | KeyError):
        return ModelError(
            f"The issuer's answer is not a token: {type(error).__name__}.",
            "Sign in again: switchboard login",
            retryable=False,
        )
    for_good = isinstance(error, AuthlibBaseError)
    why = getattr(error, "error", "") if for_good else type(error).__name__
    return ModelError(
        f"The issuer {'refused' if for_good else 'could not be asked'}: {one_line(str(why), 100)}.",
        "Sign in again: switchboard login" if for_good else "Check the network.",
        retryable=not for_good,
    )


def _login(token: Mapping[str, Any], base: Login) -> Login:
    access = token.get("access_token")
    if not isinstance(access, str) or not access or not _fits_a_header(access):
        raise ModelError("The issuer returned no usable token.", retryable=False)
    return msgspec.structs.replace(
        base,
        access_token=access,
        # An issuer that does not rotate it leaves it out.
        refresh_token=str(token.get("refresh_token") or base.refresh_token),
        expires_s=_end_s(token.get("expires_in")),
    )


def _fits_a_header(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _end_s(lasts: object) -> float:
    """Read when a token ends: 0 when the issuer does not say, or says what is no time."""
    if not isinstance(lasts, int | float | str):
        return 0.0
    try:
        seconds = float(lasts)
    except ValueError:
        return 0.0
    return time.time() + seconds if 0 < seconds < MAX_LIFE_S else 0.0


def _ended() -> ModelError:
    return ModelError(
        "The login has ended.", "Sign in again: switchboard login", retryable=False, status=401
    )


def _get(url: str) -> object | None:
    try:
        status, body = read_document(url, timeout_s=HTTP_TIMEOUT_S)
    except TooLongError as error:
        raise ConfigError(
            f"The answer of {url} is too long to be metadata.",
            "Check model.login_issuer; it must be an OpenID issuer.",
        ) from error
    except OSError as error:
        raise ModelError(
            f"{url} cannot be reached: {type(error).__name__}.",
            "Check the network and model.login_issuer.",
            retryable=True,
        ) from error
    if status != 200:
        return None
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found


def _check_secure(url: str, what: str) -> None:
    if fault := fault_of(url):
        raise ConfigError(f"{what} {fault}: {one_line(url, 200)}.")
