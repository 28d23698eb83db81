"""Where a core is reached: a socket of this computer, or another computer by TLS.

Not the calls (`agent.rpc.rpc_client`) and not the other end (`agent.rpc.tls_listener`). Invariants:
nothing is sent to another computer before its certificate was verified, name and dates included;
nothing older than TLS 1.3 is spoken, and never anything plain; an error says what to do next.
"""

import asyncio
import re
import ssl
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError, RuntimeDiedError, SwitchboardError, UsageError
from agent.rpc.rpc_messages import socket_path
from agent.settings import Settings
from agent.tls.contexts import client_context
from agent.unix_sockets import connected

AUTHORITY_FILE = "authority.pem"
"""Beside the settings file: the authority of whoever names none."""
_ADDRESS = re.compile(r"(?:tls://)?(?:\[([0-9A-Fa-f:.%]+)\]|([^\s/:@\[\]]+)):([0-9]{1,5})/?")
_EXPIRED, _NOT_YET, _WRONG_PURPOSE, _WRONG_NAME, _WRONG_IP = 10, 9, 26, 62, 64
"""Of X509_V_ERR_…, as `ssl.SSLCertVerificationError.verify_code` has them (x509_vfy.h)."""


@dataclass(frozen=True)
class UnixPlace:
    """A socket of this computer."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    async def open(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        """Connect; see `Place`. Raises OSError."""
        sock = await connected(self.path)
        reader, writer = await asyncio.open_unix_connection(sock=sock, limit=limit)
        return reader, writer, b""

    def trouble(self, error: BaseException) -> SwitchboardError | None:
        """Return nothing: a socket fails as sockets do."""
        return None

    @property
    def remedy(self) -> str:
        """What to do where it cannot be reached."""
        return "End the process that holds the data directory, then start again."


@dataclass(frozen=True)
class TlsPlace:
    """A core on another computer.

    Args:
        host: its name or address, which its certificate has to hold.
        port: where it listens.
        ca: the certificates that its own may be signed by; None: those that the system trusts.
        cert: the certificate of this side, where the core asks for one.
        key: the private key of that.
    """

    host: str
    port: int
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def __str__(self) -> str:
        return f"tls://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    async def open(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        """Connect, and verify who answers; see `Place`.

        Raises:
            OSError: it cannot be reached, or is not who it should be; see `trouble`.
            ConfigError: a file of this side cannot be used.
        """
        context = await asyncio.to_thread(client_context, self.ca, self.cert, self.key)
        reader, writer = await asyncio.open_connection(
            self.host, self.port, ssl=context, server_hostname=self.host, limit=limit
        )
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return reader, writer, shown

    def trouble(self, error: BaseException) -> SwitchboardError | None:
        """Return what an error of TLS means, and what to do; None for one that is none."""
        if isinstance(error, ssl.SSLCertVerificationError):
            what, remedy = _unverified(self, error)
            return ConfigError(f"{self} is not trusted: {what}.", remedy)
        if isinstance(error, ConnectionResetError):
            return RuntimeDiedError(
                f"{self} closed the connection.",
                "It has ended, has too many clients, or does not support TLS 1.3; its log says "
                "which.",
            )
        if not isinstance(error, ssl.SSLError):
            return None
        reason = (error.reason or "").upper()
        if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
            return ConfigError(
                f"{self} requires a valid certificate signed by its authority.",
                "Name one in core.cert and core.key; a host's authority issues it: "
                "switchboard fleet authority issue",
            )
        if "WRONG_VERSION" in reason or "NOT_SSL" in reason or "RECORD" in reason:
            return ConfigError(
                f"What answers at {self} does not speak TLS, so nothing was sent to it.",
                "Check the address and the port; a core listens by: switchboard daemon run "
                "--listen",
            )
        return ConfigError(
            f"TLS 1.3 could not be negotiated with {self}: {reason or 'the handshake failed'}.",
            "Check the address, and what is in between; older versions are not supported.",
        )

    @property
    def remedy(self) -> str:
        """What to do where it cannot be reached."""
        return "Check the address, the network, and that the core listens there (--listen)."


Place = UnixPlace | TlsPlace
"""Where a core is. `open` returns the stream's two ends, and the certificate that the other side
showed, as DER: empty where there is none."""


def place_at(path: Path | Place) -> Place:
    """Return the place of a socket's path, or the place itself."""
    return UnixPlace(path) if isinstance(path, Path) else path


def place_of(settings: Settings) -> Place:
    """Return where the core is that the settings name. Raises UsageError: that is no address."""
    said = settings.core
    if not said.address:
        return UnixPlace(socket_path(settings.data_dir))
    host, port = parse_address(said.address, "core.address")
    base = settings.config_file.parent
    usual = base / AUTHORITY_FILE
    ca = _file(base, said.ca) or (usual if usual.is_file() else None)
    return TlsPlace(host, port, ca, _file(base, said.cert), _file(base, said.key))


def _file(base: Path, said: str) -> Path | None:
    return base / Path(said).expanduser() if said else None


def host_place(settings: Settings, address: str) -> TlsPlace | None:
    """Return another host's place, as it says in the database; None for what is no such address.

    Who answers there is verified by the authority that this host itself knows, and shown this
    host's own certificate.
    """
    try:
        host, port = parse_address(address, "the address of a host")
    except UsageError:
        return None
    base, listen = settings.config_file.parent, settings.listen
    usual = base / AUTHORITY_FILE
    ca = _file(base, settings.core.ca or listen.ca) or (usual if usual.is_file() else None)
    return TlsPlace(host, port, ca, _file(base, listen.cert), _file(base, listen.key))


def parse_address(text: str, name: str) -> tuple[str, int]:
    """Return host and port of `tls://HOST:PORT`; the scheme may be left out.

    Args:
        name: what is at fault where it is no address.

    Raises:
        UsageError: it is no address.
    """
    found = _ADDRESS.fullmatch(text.strip())
    port = int(found[3]) if found else -1
    if found is None or port > 65_535:
        raise UsageError(
            f"{name} is not an address: {text[:80]!r}.", "Write HOST:PORT or tls://HOST:PORT."
        )
    return found[1] or found[2], port


def _unverified(place: TlsPlace, error: ssl.SSLCertVerificationError) -> tuple[str, str]:
    match error.verify_code:
        case code if code == _EXPIRED:
            return (
                "its certificate has expired",
                "Renew it there (switchboard fleet authority issue), or set this computer's clock.",
            )
        case code if code == _NOT_YET:
            return "its certificate is not valid yet", "Set the clocks of both computers (NTP)."
        case code if code in {_WRONG_NAME, _WRONG_IP}:
            return (
                f"its certificate is for another name than {place.host}",
                "Use a name that it is for, or issue one for this name too: "
                "switchboard fleet authority issue --name",
            )
        case code if code == _WRONG_PURPOSE:
            return (
                "its certificate is for callers, not for a core",
                "Issue one for the core without --caller; until then somebody else may be "
                "answering.",
            )
        case _:
            where = f"the authority in {place.ca}" if place.ca else "one that this system trusts"
            return (
                f"its certificate was not signed by {where}",
                "Bring the authority's certificate from the core's computer and name it in "
                "core.ca. If you did, somebody else may be answering.",
            )
