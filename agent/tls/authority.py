"""A private authority of certificates: what hosts show each other and their consoles by TLS.

Not their use (`agent.rpc.places`, `agent.rpc.tls_listener`). Invariants: every key and list is
written with mode 600, whole or not at all, and into a directory of this user alone; the authority
signs no other authority, and nothing that outlives it; no number of a certificate comes twice.
"""

import fcntl
import ipaddress
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from agent.errors import ConfigError, UsageError
from agent.private_files import check_unshared
from agent.tls.contexts import check_private

CERTIFICATE = "authority.pem"
KEY = "authority.key"
_LIST = "issued.json"
AUTHORITY_LIFE = timedelta(days=3650)
HOST_LIFE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=825)
_EARLIER = timedelta(hours=1)
"""A certificate counts from so long before it was made: clocks differ."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DNS = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """One certificate that was issued."""

    name: str
    names: tuple[str, ...]
    """Host names and addresses that it is for; empty: it is for a caller alone."""
    serial: str
    """Its number, in hexadecimal."""
    made_ms: int
    expires_ms: int


class IssuedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where what was issued lies."""

    certificate: Path
    key: Path
    issued: Issued


def init(directory: Path, now: datetime, *, life: timedelta = AUTHORITY_LIFE) -> datetime:
    """Make an authority in a directory that has none; returns when it ends.

    Raises:
        UsageError: there is one already.
        ConfigError: the directory cannot be used.
    """
    with _opened(directory, is_new=True):
        if (directory / KEY).exists() or (directory / CERTIFICATE).exists():
            raise UsageError(
                f"There is already an authority in {directory}.",
                "Issue with it, or name another directory.",
            )
        key = generate_private_key(SECP256R1())
        name = x509.Name(
            [x509.NameAttribute(NameOID.COMMON_NAME, f"Switchboard {secrets.token_hex(4)}")]
        )
        ends = now + life
        made = (
            _certificate_builder(name, name, key.public_key(), now - _EARLIER, ends)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
            )
            .sign(key, hashes.SHA256())
        )
        # The key first: a certificate without one would look like an authority that is whole.
        _write(directory / KEY, _pem_of(key))
        _write(directory / CERTIFICATE, made.public_bytes(Encoding.PEM))
        _write(directory / _LIST, b"[]\n")
        return ends


def issue(
    directory: Path,
    name: str,
    names: Iterable[str],
    now: datetime,
    *,
    life: timedelta = HOST_LIFE,
    is_caller: bool = False,
    output: Path | None = None,
) -> IssuedFiles:
    """Issue a certificate with a new key, in the place of one that the name had.

    Args:
        name: of the host or person; the files are called so.
        names: host names and addresses that the certificate is for; none: the name itself.
        life: how long it counts; no longer than its authority.
        is_caller: whether it is for who connects alone, and so for no name.
        output: the directory of the files; None: that of the authority.

    Raises:
        ConfigError: there is no authority, or it cannot be used or has ended.
        UsageError: a name or the life cannot be used.
    """
    if not _NAME.fullmatch(name) or f"{name}.key" == KEY:
        raise UsageError(
            f"{name[:40]!r} is not a name for a certificate.",
            "Use lowercase letters, digits, dots and dashes; a letter or digit first.",
        )
    if not timedelta(minutes=1) <= life <= LONGEST_LIFE:
        raise UsageError(
            "A certificate is valid for at least a minute and at most 825 days.",
            "Name another time: --for 90d",
        )
    subjects = () if is_caller else tuple(dict.fromkeys(names)) or (name,)
    alternatives = [_alternative(one) for one in subjects]
    with _opened(directory):
        authority, signing = _read(directory)
        if now >= authority.not_valid_after_utc:
            raise ConfigError(
                f"The authority in {directory} has expired.",
                "Make a new one in another directory, and copy its certificate to every computer.",
            )
        ends = min(now + life, authority.not_valid_after_utc)
        key = generate_private_key(SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if not is_caller:
            # A host calls others too.
            uses.insert(0, ExtendedKeyUsageOID.SERVER_AUTH)
        builder = (
            _certificate_builder(subject, authority.subject, key.public_key(), now - _EARLIER, ends)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()),
                critical=False,
            )
        )
        if alternatives:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(alternatives), critical=False
            )
        made = builder.sign(signing, hashes.SHA256())
        issued = Issued(
            name=name,
            names=subjects,
            serial=f"{made.serial_number:x}",
            made_ms=_ms(now),
            expires_ms=_ms(ends),
        )
        known = _list(directory)
        _write(directory / _LIST, msgspec.json.format(msgspec.json.encode([*known, issued])))
        place = directory if output is None else output
        _check_directory(place, is_new=True)
        # Key and certificate are two files: a core that reads them in between keeps the old pair.
        files = IssuedFiles(
            certificate=place / f"{name}.pem", key=place / f"{name}.key", issued=issued
        )
        _write(files.key, _pem_of(key))
        _write(files.certificate, made.public_bytes(Encoding.PEM))
        return files


def listed(directory: Path) -> tuple[datetime, tuple[Issued, ...]]:
    """Return when an authority ends, and what it issued: of each name the newest, by name.

    Raises ConfigError: there is no authority, or it cannot be used.
    """
    _check_directory(directory)
    authority, _ = _read(directory)
    newest = {one.name: one for one in _list(directory)}
    return authority.not_valid_after_utc, tuple(newest[name] for name in sorted(newest))


def end_of(certificate: Path) -> datetime:
    """Return when the first certificate of a file ends. Raises ConfigError: it holds none."""
    try:
        return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The certificate {certificate} cannot be read.", "Name a certificate in PEM."
        ) from error


def names_of(certificate: Path) -> tuple[str, ...]:
    """Return the host names and addresses that the first certificate of a file is for.

    Raises ConfigError: it holds none.
    """
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound) as error:
        raise ConfigError(
            f"The certificate {certificate} is for no host name.",
            "Issue one for a host: switchboard fleet authority issue --name",
        ) from error
    addresses = names.get_values_for_type(x509.IPAddress)
    return (*names.get_values_for_type(x509.DNSName), *(str(one) for one in addresses))


# --- how ----------


def _certificate_builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: EllipticCurvePublicKey,
    begins: datetime,
    ends: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    if not _DNS.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} is neither a host name nor an address.",
            "Name what consoles will connect to: a host name without port, or an IP address.",
        )
    return x509.DNSName(name.lower())


def _read(directory: Path) -> tuple[x509.Certificate, EllipticCurvePrivateKey]:
    if not (directory / KEY).exists():
        raise ConfigError(
            f"There is no authority in {directory}.",
            f"Make one: switchboard fleet authority init {directory}",
        )
    check_private(directory / KEY)
    try:
        authority = x509.load_pem_x509_certificate((directory / CERTIFICATE).read_bytes())
        key = load_pem_private_key((directory / KEY).read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            f"The authority in {directory} cannot be used: {type(error).__name__}.",
            "Restore its files from a backup.",
        ) from error
    if not isinstance(key, EllipticCurvePrivateKey) or key.public_key() != authority.public_key():
        raise ConfigError(
            f"The key and the certificate of the authority in {directory} do not belong together.",
            "Restore its files from a backup.",
        )
    return authority, key


def _list(directory: Path) -> tuple[Issued, ...]:
    try:
        return msgspec.json.decode((directory / _LIST).read_bytes(), type=tuple[Issued, ...])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The list of certificates issued by the authority in {directory} cannot be read.",
            f"Restore {_LIST} from a backup.",
        ) from error


def _pem_of(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}.", "Check the directory."
        ) from error


def _check_directory(directory: Path, *, is_new: bool = False) -> None:
    try:
        if is_new:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_unshared(directory)
    except OSError as error:
        raise ConfigError(
            f"{directory} cannot be used: {error.strerror or error}.", "Name another directory."
        ) from error


@contextmanager
def _opened(directory: Path, *, is_new: bool = False) -> Iterator[None]:
    """Keep others from issuing meanwhile. Raises ConfigError."""
    _check_directory(directory, is_new=is_new)
    if not is_new and not directory.is_dir():
        raise ConfigError(
            f"There is no authority in {directory}.",
            f"Make one: switchboard fleet authority init {directory}",
        )
    try:
        descriptor = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ConfigError(
            f"{directory} cannot be written: {error.strerror or error}.", "Check the directory."
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def now_utc() -> datetime:
    """Return the time, without fractions of a second: certificates have none."""
    return datetime.now(UTC).replace(microsecond=0)
