"""Sign and check webhooks after Standard Webhooks 1.0 (standardwebhooks.com), pure.

Invariants: a signature covers id, time and body; one that is older than the tolerance, or whose id
was seen, is refused; comparing takes the same time whatever differs.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

from agent.errors import ConfigError

PREFIX = "whsec_"
TOLERANCE_S = 300
_LEAST_BYTES = 24


def key_of(secret: str, named: str) -> bytes:
    """Return the key of a secret that is written `whsec_` and base64. Raises ConfigError."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not _LEAST_BYTES <= len(key) <= 64:
        raise ConfigError(
            f"The file of {named} does not hold a webhook's key.",
            "Write one: printf 'whsec_%s' \"$(openssl rand -base64 32)\"",
        )
    return key


def signed_headers(key: bytes, message_id: str, now_ms: int, body: bytes) -> dict[str, str]:
    """Return the three headers of a signed body."""
    seconds = str(now_ms // 1000)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": _signature(key, message_id, seconds, body),
    }


def fault_of_signed(key: bytes, headers: Mapping[str, str], now_ms: int, body: bytes) -> str:
    """Return why a signed body is refused, as a sentence; empty: it is the key's, and new.

    Args:
        headers: by names in lowercase.
    """
    message_id = headers.get("webhook-id", "")
    seconds = headers.get("webhook-timestamp", "")
    given = headers.get("webhook-signature", "")
    if not (message_id and given and seconds.isascii() and seconds.isdigit()):
        return "The headers webhook-id, webhook-timestamp and webhook-signature are missing."
    if len(seconds) > 12 or abs(now_ms / 1000 - int(seconds)) > TOLERANCE_S:
        return "The webhook-timestamp is too old or in the future."
    wanted = _signature(key, message_id, seconds, body).encode()
    is_signed = False
    for one in given.split(" ")[:10]:
        is_signed |= hmac.compare_digest(one.encode("utf-8", "surrogateescape"), wanted)
    return "" if is_signed else "The webhook-signature does not fit."


def _signature(key: bytes, message_id: str, seconds: str, body: bytes) -> str:
    signed = b".".join((message_id.encode("utf-8", "surrogateescape"), seconds.encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
