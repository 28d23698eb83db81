"""Seal a secret by a passphrase: scrypt (RFC 7914) and AES-GCM.

Invariant: what a secret is for is sealed with it as associated data, so that a changed entry opens
nothing.
"""

import os

from agent.errors import NotAllowedError

_SALT, _NONCE = 16, 12
_N, _R, _P = 1 << 15, 8, 1  # 32 MiB and about 0.1 s.


def seal(secret: str, passphrase: str, entry: bytes) -> bytes:
    """Return a secret sealed: salt, nonce and what AES-GCM made."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    return salt + nonce + AESGCM(_key(passphrase, salt)).encrypt(nonce, secret.encode(), entry)


def unseal(sealed: bytes, passphrase: str, entry: bytes) -> str:
    """Return a sealed secret. Raises NotAllowedError: another passphrase, or another entry."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = sealed[:_SALT], sealed[_SALT : _SALT + _NONCE]
    try:
        plain = AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed[_SALT + _NONCE :], entry)
    except (InvalidTag, ValueError) as error:
        raise NotAllowedError(
            "That is not the passphrase of this entry, or the entry was changed.",
            "Try again; if it is the passphrase, remove the entry and add it anew.",
        ) from error
    return plain.decode()


def _key(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    words = passphrase.encode("utf-8", "surrogateescape")
    return Scrypt(salt=salt, length=32, n=_N, r=_R, p=_P).derive(words)
