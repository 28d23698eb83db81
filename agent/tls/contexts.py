"""What verifies whom by TLS: the contexts of both ends, made of files.

Invariants: nothing older than TLS 1.3; a core is always verified, its name included; a private key
that others may read is refused.
"""

import ssl
import stat
from pathlib import Path

from agent.errors import ConfigError


def client_context(ca: Path | None, cert: Path | None, key: Path | None) -> ssl.SSLContext:
    """Make what verifies a core; reads files. Raises ConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if ca is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    else:
        _load_authority(context, ca, "core.ca")
    if cert is not None or key is not None:
        _load_own(context, cert, key, "core.cert and core.key")
    return context


def server_context(cert: Path, key: Path, ca: Path | None) -> ssl.SSLContext:
    """Make what a listening core shows; reads files.

    Args:
        ca: callers have to show a certificate that one of these signed; None: they need none.

    Raises:
        ConfigError: a file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Without tickets no connection leans on what another one showed.
    context.num_tickets = 0
    _load_own(context, cert, key, "listen.cert and listen.key")
    if ca is not None:
        _load_authority(context, ca, "listen.ca")
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _load_authority(context: ssl.SSLContext, ca: Path, name: str) -> None:
    try:
        context.load_verify_locations(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"The authority {ca} ({name}) cannot be used: {_why(error)}.",
            "Name a file of certificates in PEM, as 'switchboard fleet authority init' writes it.",
        ) from error


def _load_own(context: ssl.SSLContext, cert: Path | None, key: Path | None, name: str) -> None:
    if cert is None or key is None:
        raise ConfigError(
            "A certificate needs its key; one of the two is missing.", f"Name both: {name}."
        )
    check_private(key)
    try:
        # A key with a passphrase is refused: nobody is there who could be asked for it.
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except _NeedsPassphrase as error:
        raise ConfigError(f"The key {key} has a passphrase.", "Use one without.") from error
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"{cert} and {key} cannot be used: {_why(error)}.",
            f"Name a certificate in PEM and the key that it was made for: {name}.",
        ) from error


class _NeedsPassphrase(Exception):
    """A key file asked for a passphrase."""


def _no_passphrase() -> str:
    raise _NeedsPassphrase


def check_private(key: Path) -> None:
    """Refuse a private key that others may read. Raises ConfigError."""
    try:
        found = key.stat()
    except OSError as error:
        raise ConfigError(
            f"The key {key} cannot be read: {error.strerror or error}.", "Check its path."
        ) from error
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"Others may read the key {key}.", f"Run: chmod 600 '{key}'")


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "it is no PEM").replace("_", " ").lower()
    return error.strerror or str(error)
