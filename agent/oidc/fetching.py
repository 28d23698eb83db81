"""Read a JSON document of an OpenID issuer over HTTPS, bounded in size and time.

Invariants: plain HTTP is used only to this computer itself; redirects are not followed; a response
over the size limit is not read.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from agent.errors import ConfigError, SwitchboardError
from agent.text import one_line

HTTP_TIMEOUT_S = 10.0
_MOST_BYTES = 1_000_000
_CHUNK_BYTES = 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class IssuerAwayError(SwitchboardError):
    """The issuer is temporarily not available."""


def check_secure(url: str, what: str) -> str:
    """Return a permitted address. Raises ConfigError for one that is not HTTPS."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = None, None
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= 2000
    if parts is None or not host or parts.username is not None or not is_plain:
        raise ConfigError(
            f"{what} is not an address: {one_line(url, 200)}.", "Correct oidc.issuer."
        )
    if parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK):
        return url
    raise ConfigError(
        f"{what} must be reached by https: {one_line(url, 200)}.", "Correct oidc.issuer."
    )


def read_json(url: str, ca: Path | None) -> Mapping[str, object]:
    """Read a JSON object; blocks.

    Args:
        url: see `check_secure`.
        ca: a file of authorities; None: those of the system.

    Raises:
        IssuerAwayError: it cannot be read, or is not a JSON object.
    """
    import requests

    end_s = time.monotonic() + HTTP_TIMEOUT_S
    body = b""
    try:
        with requests.get(
            url,
            timeout=HTTP_TIMEOUT_S,
            allow_redirects=False,
            stream=True,
            verify=True if ca is None else str(ca),
        ) as answer:
            if answer.status_code != 200:
                raise IssuerAwayError(f"{url} answers with status {answer.status_code}.")
            for part in answer.iter_content(_CHUNK_BYTES):
                body += part
                if len(body) > _MOST_BYTES or time.monotonic() > end_s:
                    raise IssuerAwayError(f"The answer of {url} is too long.")
    except (requests.RequestException, OSError) as error:
        raise IssuerAwayError(
            f"{url} cannot be reached: {type(error).__name__}.", "Check the network and oidc.ca."
        ) from error
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise IssuerAwayError(f"The answer of {url} is not a JSON object.", "Check oidc.issuer.")
    return found
