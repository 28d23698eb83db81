"""Read a JSON document of an OpenID issuer, and check its addresses."""

import json
from collections.abc import Mapping
from pathlib import Path

from agent.bounded_http import TooLongError, fault_of, read_document
from agent.errors import ConfigError, SwitchboardError
from agent.text import one_line

HTTP_TIMEOUT_S = 10.0


class IssuerAwayError(SwitchboardError):
    """The issuer is temporarily not available."""


def check_secure(url: str, what: str) -> str:
    """Return a permitted address. Raises ConfigError for one that is not HTTPS."""
    if fault := fault_of(url):
        raise ConfigError(f"{what} {fault}: {one_line(url, 200)}.", "Correct oidc.issuer.")
    return url


def read_json(url: str, ca: Path | None) -> Mapping[str, object]:
    """Read a JSON object; blocks.

    Args:
        url: see `check_secure`.
        ca: a file of authorities; None: those of the system.

    Raises:
        IssuerAwayError: it cannot be read, or is not a JSON object.
    """
    try:
        status, body = read_document(url, timeout_s=HTTP_TIMEOUT_S, ca=ca)
    except TooLongError as error:
        raise IssuerAwayError(f"The answer of {url} is too long.") from error
    except OSError as error:
        raise IssuerAwayError(
            f"{url} cannot be reached: {type(error).__name__}.", "Check the network and oidc.ca."
        ) from error
    if status != 200:
        raise IssuerAwayError(f"{url} answers with status {status}.")
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise IssuerAwayError(f"The answer of {url} is not a JSON object.", "Check oidc.issuer.")
    return found
