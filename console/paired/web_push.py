"""Encrypt and sign a push for one browser (RFC 8291, RFC 8188, RFC 8292).

Not the sending (`console.paired.push_sender`). Invariant: what is pushed can be read by the browser
that subscribed alone, not by the service that carries it.
"""

import base64
import json
import os
import struct

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from agent.errors import ConfigError, UsageError

LONGEST_BYTES = 3_000
_RECORD_BYTES = 4_096
_LAST = b"\x02"  # RFC 8188: the delimiter of the last record.


def encrypted(
    plain: bytes,
    p256dh: bytes,
    auth: bytes,
    *,
    key: EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """Return the body of a push.

    Args:
        plain: at most 3,000 bytes.
        p256dh: the browser's public key.
        auth: the browser's secret, 16 bytes.
        key: of this push; None: a new one.
        salt: of this push, 16 bytes; None: a new one.

    Raises:
        UsageError: the browser's key or secret cannot be used, or it is too long.
    """
    if len(plain) > LONGEST_BYTES or len(auth) != 16:
        raise UsageError("The subscription of the browser cannot be used.", "Subscribe again.")
    try:
        browser = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), p256dh)
    except ValueError as error:
        raise UsageError("The key of the browser cannot be used.", "Subscribe again.") from error
    own, salt = key or generate_private_key(SECP256R1()), salt or os.urandom(16)
    public = public_of(own)
    info = b"WebPush: info\0" + p256dh + public
    secret = _derived(auth, own.exchange(ECDH(), browser), info, 32)
    content_key = _derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(salt, secret, b"Content-Encoding: nonce\0", 12)
    head = salt + struct.pack(">IB", _RECORD_BYTES, len(public)) + public
    return head + AESGCM(content_key).encrypt(nonce, plain + _LAST, None)


def authorization(key: EllipticCurvePrivateKey, audience: str, subject: str, until_s: int) -> str:
    """Return the header that says who pushes.

    Args:
        key: the server's own.
        audience: the origin of the push service.
        subject: where the server's operator is reached, a URL.
        until_s: when it ends, at most a day ahead.
    """
    claims = {"aud": audience, "exp": until_s, "sub": subject}
    parts = ({"typ": "JWT", "alg": "ES256"}, claims)
    signed = ".".join(as_base64url(json.dumps(one).encode()) for one in parts)
    r, s = decode_dss_signature(key.sign(signed.encode(), ECDSA(SHA256())))
    signature = as_base64url(r.to_bytes(32) + s.to_bytes(32))
    return f"vapid t={signed}.{signature}, k={as_base64url(public_of(key))}"


def public_of(key: EllipticCurvePrivateKey) -> bytes:
    """Return a public key as browsers write it, uncompressed."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def new_key() -> bytes:
    """Make the server's key, in PEM."""
    made = generate_private_key(SECP256R1())
    return made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_key(pem: bytes) -> EllipticCurvePrivateKey:
    """Return the server's key. Raises ConfigError: it is none."""
    try:
        found = load_pem_private_key(pem, password=None)
    except ValueError as error:
        raise ConfigError("The key of pushes cannot be read.", "Remove its file.") from error
    if not isinstance(found, EllipticCurvePrivateKey):
        raise ConfigError("The key of pushes is of another kind.", "Remove its file.")
    return found


def as_base64url(data: bytes) -> str:
    """Return bytes as base64url, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Return the bytes of base64url. Raises UsageError: it is none."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise UsageError(
            "The browser's subscription is no base64url.", "Subscribe again."
        ) from error


def _derived(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
