"""Seal what goes through a relay with a secret that only the computer and its phone have.

The secret stands in the fragment of the address that pairs the phone, which no browser sends.
Invariants: each direction has a key and a box of its own, so that nothing can be sent back to who
sealed it; what cannot be opened is nobody's.
"""

import os
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SECRET_BYTES = 16
_INFO = b"switchboard relay 1 "
_BOX_BYTES, _KEY_BYTES, _NONCE_BYTES = 16, 32, 12


class Way(NamedTuple):
    """One direction: its box, and the key of what lies there."""

    box: str
    """32 hexadecimal digits."""
    key: bytes

    def seal(self, plain: bytes) -> bytes:
        """Return a sealed message."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, plain, self.box.encode())

    def open(self, sealed: bytes) -> bytes | None:
        """Return what was sealed; None: it was not sealed with this key for this box."""
        nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        if len(nonce) != _NONCE_BYTES:
            return None
        try:
            return AESGCM(self.key).decrypt(nonce, rest, self.box.encode())
        except InvalidTag:
            return None


def new_secret() -> bytes:
    """Make the secret of one phone."""
    return os.urandom(SECRET_BYTES)


def way_up(secret: bytes) -> Way:
    """Return the way from the phone to the computer."""
    return _way(secret, b"up")


def way_down(secret: bytes) -> Way:
    """Return the way from the computer to the phone."""
    return _way(secret, b"down")


def _way(secret: bytes, name: bytes) -> Way:
    box = _derived(secret, name + b" box", _BOX_BYTES)
    return Way(box.hex(), _derived(secret, name + b" key", _KEY_BYTES))


def _derived(secret: bytes, what: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=b"", info=_INFO + what).derive(secret)
