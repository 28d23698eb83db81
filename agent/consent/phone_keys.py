"""Verify what a paired phone signed with the key that its browser made (WebCrypto, P-256).

Invariant: a signature counts for one phone and one text, said under words of this purpose alone.
"""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

_WORDS = b"switchboard phone 1\n"
_POINT_BYTES = 65  # SEC 1, uncompressed, as WebCrypto exports it.
_HALF_BYTES = 32  # WebCrypto signs with r and s side by side.


def signed_words(whose: str, text: str) -> bytes:
    """Return the message to sign.

    Args:
        whose: the phone's id; at pairing, the code.
        text: the statement, as it is sent.
    """
    return _WORDS + f"{whose}\n{text}".encode("utf-8", "surrogateescape")


def is_public(public: bytes) -> bool:
    """Return whether these are the bytes of a public key."""
    return _key(public) is not None


def verifies(public: bytes, signature: bytes, words: bytes) -> bool:
    """Return whether a key signed a message."""
    key = _key(public)
    if key is None or len(signature) != 2 * _HALF_BYTES:
        return False
    r, s = signature[:_HALF_BYTES], signature[_HALF_BYTES:]
    try:
        whole = encode_dss_signature(int.from_bytes(r), int.from_bytes(s))
        key.verify(whole, words, ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def _key(public: bytes) -> EllipticCurvePublicKey | None:
    if len(public) != _POINT_BYTES:
        return None
    try:
        return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), public)
    except ValueError:
        return None
