"""Sign in with an Ed25519 key: key files, and the signed message.

The only user of `cryptography` for signatures in the core. Invariants: the signed message contains
the core's challenge and the connection's channel binding, so a signature is valid once, on one
connection; a key file that others may read is refused.
"""

import hashlib
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

from agent.errors import ConfigError, UsageError

_WORDS = b"switchboard sign-in 1\n"
_LONGEST = 64 * 1024


def signed_words(challenge: bytes, channel: bytes) -> bytes:
    """Return the message to sign.

    Args:
        challenge: the core's, made for this connection.
        channel: the certificate that the core showed, as DER; empty on a socket of one machine.
    """
    return _WORDS + challenge + hashlib.sha256(channel).digest()


_LOW_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""The points whose order divides eight, as they are written without their sign, those of a
coordinate beyond the field too: under one of them a signature that nobody made verifies."""


def is_low_order(public: bytes) -> bool:
    """Return whether a public key has low order, which needs no private key to sign."""
    return public[:-1] + bytes((public[-1] & 0x7F,)) in _LOW_ORDER if public else False


def verifies(public: bytes, signature: bytes, words: bytes) -> bool:
    """Return whether a key signed the message; never for a key of low order."""
    if is_low_order(public):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, words)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign(path: Path, words: bytes) -> tuple[bytes, bytes]:
    """Sign a message with the key of a file; returns the public key and the signature.

    Raises:
        ConfigError: the file cannot be read, contains no such key, or others may read it.
    """
    key = _private(path)
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw), key.sign(words)


def make_key(path: Path) -> str:
    """Write a new key to a new file; returns its public line.

    Raises:
        UsageError: the file exists, or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be created: {error.strerror or error}.", "Name another file."
        ) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def public_of(line: str) -> bytes:
    """Return the 32 bytes of a public key, given as OpenSSH writes it: `ssh-ed25519 AAAA…`.

    Raises UsageError for anything else.
    """
    try:
        key = load_ssh_public_key(line.strip().encode())
    except (ValueError, TypeError) as error:
        raise UsageError(
            "That is not a public key.", "Use the line of a .pub file: ssh-ed25519 AAAA…"
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(
            "That is not an Ed25519 key.", "Make one: switchboard operators keygen FILE"
        )
    public = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    if is_low_order(public):
        raise UsageError(
            "That key is unsafe: anyone can sign with it (a point of low order).",
            "Make one: switchboard operators keygen FILE",
        )
    return public


def key_id(public: bytes) -> str:
    """Return the short name of a key."""
    return hashlib.sha256(public).hexdigest()[:16]


def _private(path: Path) -> Ed25519PrivateKey:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(_LONGEST)
    except OSError as error:
        raise ConfigError(
            f"The key file {path} cannot be read: {error.strerror or error}.",
            "Correct SWITCHBOARD_OPERATOR_KEY, or make a key: switchboard operators keygen FILE",
        ) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"Others may read the key file {path}.", f"Run: chmod 600 '{path}'")
    try:
        key = load_ssh_private_key(data, password=None)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"The key file {path} contains no key, or one with a passphrase.",
            "Make one: switchboard operators keygen FILE",
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(
            f"The key of {path} is not an Ed25519 key.",
            "Make one: switchboard operators keygen FILE",
        )
    return key
