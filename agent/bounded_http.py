"""Read one document over HTTPS, bounded in size and time.

Invariants: plain HTTP is used only to this computer itself; redirects are not followed; a response
over the size limit is not read.
"""

import time
from pathlib import Path
from urllib.parse import urlsplit

MOST_BYTES = 1_000_000
_CHUNK_BYTES = 64  # Read in so small pieces that one which comes byte by byte is noticed in time.
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class TooLongError(Exception):
    """A response was larger than is read."""


def fault_of(url: str) -> str:
    """Return why an address is not permitted, as the rest of a sentence; empty for one that is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "is not an address"
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= 2000
    if not host or parts.username is not None or not is_plain:
        return "is not an address"
    if parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK):
        return ""
    return "must be reached by https"


def read_document(url: str, *, timeout_s: float, ca: Path | None = None) -> tuple[int, bytes]:
    """Return the status of a response and, where it is 200, its body; blocks.

    Args:
        url: see `fault_of`.
        timeout_s: for all of it.
        ca: a file of authorities; None: those of the system.

    Raises:
        OSError: it cannot be reached, or comes too slowly (TimeoutError).
        TooLongError: it is longer than `MOST_BYTES`.
    """
    import requests

    end_s = time.monotonic() + timeout_s
    body = b""
    verify = True if ca is None else str(ca)
    with requests.get(
        url, timeout=timeout_s, allow_redirects=False, stream=True, verify=verify
    ) as answer:
        if answer.status_code != 200:
            return answer.status_code, b""
        for part in answer.iter_content(_CHUNK_BYTES):
            body += part
            if len(body) > MOST_BYTES:
                raise TooLongError
            if time.monotonic() > end_s:
                raise TimeoutError(f"not read within {timeout_s:g} s")
    return 200, body
