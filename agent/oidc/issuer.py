"""Use an OpenID issuer: its metadata, its keys, and the accounts in its ID tokens.

Follows OpenID Connect Discovery 1.0. Invariants: the metadata belong to the issuer in the settings;
keys are at most `KEYS_S` old, so a withdrawn key expires; invalid tokens from strangers cause at
most one request to the issuer per `AGAIN_S`.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from agent.errors import ConfigError
from agent.oidc.claims import Account, Expected, account_in
from agent.oidc.fetching import IssuerAwayError, check_secure, read_json
from agent.oidc.id_token import UnknownKeyError, claims_of
from agent.settings import Settings

KEYS_S = 300.0
AGAIN_S = 10.0
_DISCOVERY = "/.well-known/openid-configuration"


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """An issuer's metadata."""

    issuer: str
    jwks_uri: str
    token_endpoint: str = ""
    device_authorization_endpoint: str = ""


def discover(issuer: str, ca: Path | None) -> Metadata:
    """Read an issuer's metadata; blocks.

    Raises:
        ConfigError: they are another issuer's, or name an address without HTTPS.
        IssuerAwayError: they cannot be read.
    """
    check_secure(issuer, "oidc.issuer")
    found = read_json(issuer.rstrip("/") + _DISCOVERY, ca)
    try:
        metadata = msgspec.convert(found, Metadata)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"The metadata of {issuer} cannot be used: {error}.", "Check oidc.issuer."
        ) from error
    if metadata.issuer != issuer:
        raise ConfigError(
            "The issuer's own address differs from oidc.issuer.",
            "Write oidc.issuer exactly as in its metadata, including any final slash.",
        )
    check_secure(metadata.jwks_uri, "jwks_uri of the issuer")
    for url in (metadata.token_endpoint, metadata.device_authorization_endpoint):
        if url:
            check_secure(url, "An endpoint of the issuer")
    return metadata


class Issuer:
    """An issuer, as a core uses it.

    Args:
        issuer: its address.
        client_id: Switchboard's client id there.
        ca: a file of authorities for its certificate; None: those of the system.
        monotonic_s: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        ca: Path | None = None,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.issuer = issuer
        self._client_id = client_id
        self._ca = ca
        self._monotonic_s = monotonic_s
        self._keys: tuple[Mapping[str, object], ...] = ()
        self._read_s = float("-inf")
        self._asked_s = float("-inf")
        self._asking = asyncio.Lock()

    async def account(self, id_token: str, nonce: str, now_s: float) -> Account:
        """Return the account that an ID token names.

        Raises:
            NotAllowedError: the token is invalid.
            IssuerAwayError, ConfigError: the issuer's keys are not available.
        """
        try:
            claims = claims_of(id_token, await self._current_keys())
        except UnknownKeyError:
            if not await self._renewed():
                raise
            claims = claims_of(id_token, self._keys)
        expected = Expected(issuer=self.issuer, client_id=self._client_id, nonce=nonce, now_s=now_s)
        return account_in(claims, expected)

    async def _current_keys(self) -> tuple[Mapping[str, object], ...]:
        if self._monotonic_s() - self._read_s > KEYS_S and not await self._renewed():
            raise IssuerAwayError("The issuer did not answer a moment ago.", "Try again.")
        return self._keys

    async def _renewed(self) -> bool:
        """Read the keys again; False if they were read a moment ago."""
        async with self._asking:
            if self._monotonic_s() - self._asked_s < AGAIN_S:
                return False
            self._asked_s = self._monotonic_s()
            self._keys = await asyncio.to_thread(self._read_keys)
            self._read_s = self._asked_s
            return True

    def _read_keys(self) -> tuple[Mapping[str, object], ...]:
        metadata = discover(self.issuer, self._ca)
        listed = read_json(metadata.jwks_uri, self._ca).get("keys")
        if not isinstance(listed, list):
            raise IssuerAwayError(f"{metadata.jwks_uri} lists no keys.", "Check oidc.issuer.")
        return tuple(one for one in listed if isinstance(one, dict))


def authorities_of(settings: Settings) -> Path | None:
    """Return the file of authorities for the issuer's certificate; None: the system's."""
    said = settings.oidc.ca
    return settings.config_file.parent / Path(said).expanduser() if said else None


def issuer_of(settings: Settings) -> Issuer | None:
    """Return the issuer in the settings; None if there is none.

    Raises ConfigError: it is not reached by HTTPS, or the client id is missing.
    """
    said = settings.oidc
    if not said.issuer:
        return None
    check_secure(said.issuer, "oidc.issuer")
    if not said.client_id:
        raise ConfigError(
            "oidc.issuer is set, but oidc.client_id is not.",
            "Set it to the id of the client that you made at the issuer for Switchboard.",
        )
    return Issuer(said.issuer, said.client_id, authorities_of(settings))
