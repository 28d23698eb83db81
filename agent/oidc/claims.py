"""Check an ID token's claims before it names an account. Pure.

Follows OpenID Connect Core 1.0, 3.1.3.7. `agent.oidc.id_token` checks the signature. Invariant: a
token is refused if a claim is missing, of the wrong type, or for another audience.
"""

import hashlib
import math
from base64 import urlsafe_b64encode
from collections.abc import Mapping

import msgspec

from agent.errors import NotAllowedError

SKEW_S = 60  # How far the clocks of issuer and core may be apart.
OLDEST_S = 600  # How old an ID token may be: it is for one sign-in, just made.
_LONGEST = 255
_WORDS = b"switchboard id token 1\n"


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """An account at an issuer, from a verified ID token."""

    issuer: str
    subject: str
    email: str = ""  # Empty where the issuer has not verified it.


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The values that an ID token must match."""

    issuer: str
    client_id: str
    nonce: str
    now_s: float


def nonce_of(verifier: bytes, channel: bytes) -> str:
    """Return the nonce that binds an ID token to its requester and to the core it is for.

    Args:
        verifier: random bytes, shown only to the core.
        channel: the certificate of the core, as DER; empty on a socket of one machine.
    """
    hashed = hashlib.sha256(_WORDS + verifier + hashlib.sha256(channel).digest()).digest()
    return urlsafe_b64encode(hashed).rstrip(b"=").decode()


def account_in(claims: Mapping[str, object], expected: Expected) -> Account:
    """Return the account in an ID token's claims. Raises NotAllowedError with the reason."""
    if claims.get("iss") != expected.issuer:
        raise refused("it is of another issuer")
    _check_audience(claims, expected.client_id)
    _check_times(claims, expected.now_s)
    if "events" in claims:
        raise refused("it is a security event, not an ID token")
    if "nonce" in claims and claims["nonce"] != expected.nonce:
        raise refused("it was made for another sign-in")
    subject = claims.get("sub")
    if not _is_text(subject):
        raise refused("it names no subject")
    email = claims.get("email")
    is_verified = claims.get("email_verified") is True and _is_text(email)
    return Account(
        issuer=expected.issuer, subject=str(subject), email=str(email) if is_verified else ""
    )


def _check_audience(claims: Mapping[str, object], client_id: str) -> None:
    said, azp = claims.get("aud"), claims.get("azp")
    audiences = [said] if isinstance(said, str) else said
    if not isinstance(audiences, list) or client_id not in audiences:
        raise refused("it is for another client")
    if any(one != client_id for one in audiences) and azp != client_id:
        raise refused("it is for several clients, and names none as its own")
    if "azp" in claims and azp != client_id:
        raise refused("it was given to another client")


def _check_times(claims: Mapping[str, object], now_s: float) -> None:
    issued_s, expires_s = _seconds(claims.get("iat")), _seconds(claims.get("exp"))
    if issued_s is None or expires_s is None:
        raise refused("it does not say when it was made and when it ends")
    if now_s >= expires_s + SKEW_S or expires_s <= issued_s:
        raise refused("it has expired")
    if issued_s > now_s + SKEW_S:
        raise refused("it was made in the future: set the clocks (NTP)")
    if now_s - issued_s > OLDEST_S + SKEW_S:
        raise refused("it was made too long ago")
    if "nbf" in claims:
        begins_s = _seconds(claims["nbf"])
        if begins_s is None or begins_s > now_s + SKEW_S:
            raise refused("it is not valid yet")


def _seconds(value: object) -> float | None:
    # bool is an int, and JSON of Python's has NaN and Infinity.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable()


def refused(why: str) -> NotAllowedError:
    """Return the error for an ID token; it contains nothing of the token."""
    return NotAllowedError(f"The ID token was refused: {why}.", "Sign in again.")
