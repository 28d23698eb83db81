"""The page's own authority and certificate, for the addresses that phones reach it by.

Invariant: the authority is this data directory's alone, and issues for nothing but the page.
"""

import hashlib
import socket
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from agent.tls import authority
from agent.tls.contexts import server_context

_FOLDER = "page-authority"
_NAME = "page"
_LIFE = timedelta(days=397)
"""What browsers accept at most (CA/Browser Forum, Baseline Requirements 6.3.2)."""
_LEFT = timedelta(days=30)


class PageCertificate(NamedTuple):
    """What the page shows."""

    context: ssl.SSLContext
    authority: bytes
    """In PEM, for phones that are to trust it."""
    fingerprint: bytes
    """sha256 of the certificate."""


def page_certificate(data_dir: Path, names: tuple[str, ...], now: datetime) -> PageCertificate:
    """Return the certificate for some names, issued anew where it has to be.

    Args:
        data_dir: where the authority lies.
        names: host names and addresses that the page is reached by.
        now: the time, with its zone.

    Raises:
        ConfigError: the files cannot be used.
        UsageError: a name cannot be used.
    """
    folder = data_dir / _FOLDER
    if not (folder / authority.KEY).exists():
        authority.init(folder, now)
    certificate, key = folder / f"{_NAME}.pem", folder / f"{_NAME}.key"
    _, issued = authority.listed(folder)
    known = next((one for one in issued if one.name == _NAME), None)
    lasts = known is not None and known.expires_ms > (now + _LEFT).timestamp() * 1000
    if known is None or not lasts or not set(names) <= set(known.names):
        authority.issue(folder, _NAME, names, now, life=_LIFE)
    return PageCertificate(
        server_context(certificate, key, None),
        (folder / authority.CERTIFICATE).read_bytes(),
        hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).digest(),
    )


def own_address() -> str:
    """Return this computer's address in its network; loopback where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only chooses the way (RFC 5737, TEST-NET-1).
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
