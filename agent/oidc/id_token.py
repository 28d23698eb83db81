"""Verify an ID token's signature with its issuer's keys: the only user of joserfc.

`agent.oidc.claims` checks the claims, `agent.oidc.issuer` supplies the keys. Invariants: the
algorithm is on a short list of public-key signatures, and fits the key; a token never names its own
key; an error quotes nothing of an invalid token.
"""

import json
import re
import warnings
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from agent.errors import NotAllowedError
from agent.oidc.claims import refused

MOST_BYTES = 16 * 1024
_ALGORITHMS = {
    "RS256": ("RSA", ""),
    "PS256": ("RSA", ""),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "EdDSA": ("OKP", "Ed25519"),
    "Ed25519": ("OKP", "Ed25519"),
}
"""Each algorithm with the type and the curve of its keys. No `none`, and none with a secret that
the issuer shares: its public key could be taken for that."""
_HEADERS = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})
"""What a header may have. Keys and addresses of keys (`jwk`, `jku`, `x5u`, `x5c`) and what changes
the reading (`crit`, `b64`, `zip`) refuse the token."""
_TYPES = frozenset({"JWT", "jwt"})
_PART = re.compile(r"[A-Za-z0-9_-]+")
_SMALLEST_RSA_BITS = 2048
_MOST_KEYS = 50


class UnknownKeyError(NotAllowedError):
    """None of the issuer's known keys fits the token; it may have new ones."""


def claims_of(id_token: str, keys: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the claims of an ID token that one of the keys signed.

    Args:
        id_token: as received.
        keys: the issuer's, as JWKs.

    Raises:
        UnknownKeyError: no key fits, or the one that fits did not sign it.
        NotAllowedError: it is not an ID token.
    """
    header = _header(id_token)
    algorithm, key_id = str(header["alg"]), header.get("kid")
    fitting = [one for one in keys[:_MOST_KEYS] if _fits(one, algorithm, key_id)]
    if not fitting or (key_id is None and len(fitting) > 1):
        raise UnknownKeyError("The ID token was refused: none of its issuer's keys matches.")
    for key in fitting:
        claims = _signed_claims(id_token, key, algorithm)
        if claims is not None:
            return claims
    raise UnknownKeyError("The ID token was refused: its issuer did not sign it.")


def _signed_claims(
    id_token: str, key: Mapping[str, object], algorithm: str
) -> dict[str, object] | None:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    public: Any = {name: value for name, value in key.items() if name in _PUBLIC}
    try:
        with warnings.catch_warnings():
            # Whether EdDSA should be called Ed25519 is the issuer's to decide.
            warnings.simplefilter("ignore")
            signed = jwt.decode(id_token, import_key(public), algorithms=[algorithm])
    except (JoseError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return dict(signed.claims)


_PUBLIC = frozenset({"kty", "n", "e", "crv", "x", "y"})


def _header(id_token: str) -> dict[str, object]:
    parts = id_token.split(".") if len(id_token) <= MOST_BYTES else []
    if len(parts) != 3 or not all(_PART.fullmatch(part) for part in parts):
        raise refused("it is no signed token")
    try:
        data = urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4))
        header = json.loads(data, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise refused("its header cannot be read") from error
    if not isinstance(header, dict) or not _HEADERS.issuperset(header):
        raise refused("its header says what is not known")
    if not all(isinstance(value, str) for value in header.values()):
        raise refused("its header cannot be read")
    if header.get("alg") not in _ALGORITHMS:
        raise refused("it is not signed in a way that is accepted")
    if header.get("typ", "JWT") not in _TYPES:
        raise refused("it is a token of another kind")
    return header


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _fits(key: Mapping[str, object], algorithm: str, key_id: object) -> bool:
    kind, curve = _ALGORITHMS[algorithm]
    operations = key.get("key_ops", ["verify"])
    return (
        key.get("kty") == kind
        and (not curve or key.get("crv") == curve)
        and (key_id is None or key.get("kid") == key_id)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and isinstance(operations, list)
        and "verify" in operations
        and (kind != "RSA" or _bits(key.get("n")) >= _SMALLEST_RSA_BITS)
    )


def _bits(number: object) -> int:
    try:
        return int.from_bytes(urlsafe_b64decode(f"{number}==="), "big").bit_length()
    except ValueError:
        return 0
