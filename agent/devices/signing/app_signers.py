"""Ask a phone with which certificates an app is signed.

`dumpsys package` names the certificates that the phone took by a hash of 32 bits only, which anyone
can meet; the installed file has the certificates, of several schemes, of which the phone took one.
Each alone could be forged: a file may carry a foreign certificate in a scheme that the phone does
not look at. So the certificates are those of the file that the phone's hashes name, and where a
hash names two of them, nothing is known.
"""

import hashlib
import re
import shlex

from agent.devices.shell.capabilities import is_package
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.signing.signing_block import (
    FOOTER_SIZE,
    MOST_BLOCK_BYTES,
    block_size,
    certificates_in,
    directory_offset,
)
from agent.errors import DeviceError
from agent.text import one_line

_TAIL_BYTES = 22 + 0xFFFF
"""The end of an archive with the longest comment that it can have."""
_PATH = re.compile(r"^package:(/[^\r\n]{1,500}\.apk)\s*$", re.MULTILINE)
_SIGNATURES = re.compile(
    r"\bsignatures=PackageSignatures\{[0-9a-f]+ (?:version:\d+, signatures:)?\[(?P<hashes>[^\]]*)\]"
)
_SIGNED = "signatures=PackageSignatures{"
_PACKAGE = re.compile(r"^\s*Package \[(?P<name>[\w.]+)\] ", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{1,8}")


async def signers_of(shell: PhoneShell, package: str, timeout_s: float) -> tuple[str, ...]:
    """Return the SHA-256 digests of an app's certificates, in hexadecimal, sorted.

    Raises DeviceError: it is not installed, or its certificates cannot be told.
    """
    if not is_package(package):
        raise _untold_signer(package, "that is no name of a package")
    async with shell.bounded("reading the certificate of an app", timeout_s):
        said = (await shell.run(f"pm path {package}; dumpsys package {package}", timeout_s)).text
        path = _PATH.search(said)
        if path is None:
            raise _untold_signer(package, f"{shell.serial} does not have it")
        try:
            hashes = hashes_in(said, package)
            found = certificates_in(await _block(shell, path[1], timeout_s))
            return chosen(found, hashes)
        except ValueError as error:
            raise _untold_signer(package, one_line(str(error), 200)) from error


def hashes_in(dump: str, package: str) -> tuple[str, ...]:
    """Read the hashes of the certificates of a package from `dumpsys package` of it alone.

    An app's version name is printed above its certificates and may have line breaks, so a second
    line that says another thing means that nothing is known. Updated apps of the system are printed
    twice, with the same ones.

    Raises ValueError.
    """
    if not any(one["name"] == package for one in _PACKAGE.finditer(dump)):
        raise ValueError("`dumpsys package` does not list it")
    said = {one["hashes"] for one in _SIGNATURES.finditer(dump)}
    if len(_SIGNATURES.findall(dump)) != dump.count(_SIGNED):
        raise ValueError("`dumpsys package` names its certificates in an unknown way")
    hashes = [one.strip() for one in said.pop().split(",")] if len(said) == 1 else []
    if not hashes or not all(_HASH.fullmatch(one) for one in hashes):
        raise ValueError("`dumpsys package` names no certificate of it, or several ones")
    return tuple(hashes)


def chosen(certificates: tuple[bytes, ...], hashes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the digests of the certificates that the phone's hashes name. Raises ValueError."""
    named = []
    for one in hashes:
        fitting = [der for der in certificates if java_hash(der) == int(one, 16)]
        if len(fitting) != 1:
            several = "several certificates" if fitting else "no certificate"
            raise ValueError(f"its file has {several} with the hash that the phone names")
        named.append(hashlib.sha256(fitting[0]).hexdigest())
    return tuple(sorted(named))


def java_hash(data: bytes) -> int:
    """Return what `android.content.pm.Signature.hashCode` gives: Java's of an array of bytes."""
    value = 1
    for byte in data:
        value = (31 * value + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return value


async def _block(shell: PhoneShell, path: str, timeout_s: float) -> bytes:
    at = shlex.quote(path)

    async def read(command: str, limit: int) -> bytes:
        return await shell.client.exec(shell.serial, command, timeout_s=timeout_s, limit=limit)

    directory = directory_offset(await read(f"tail -c {_TAIL_BYTES} {at}", _TAIL_BYTES))
    if directory < FOOTER_SIZE:
        raise ValueError("the file has no signing block: it is signed in the oldest way only (v1)")
    ahead = directory - FOOTER_SIZE
    footer = await read(f"tail -c +{ahead + 1} {at} | head -c {FOOTER_SIZE}", FOOTER_SIZE)
    size = block_size(footer)
    if size > directory:
        raise ValueError("the signing block has no possible size")
    block = await read(
        f"tail -c +{directory - size + 1} {at} | head -c {size}", MOST_BLOCK_BYTES + 8
    )
    if len(block) != size:
        raise ValueError("the signing block is cut off")
    return block


def _untold_signer(package: str, why: str) -> DeviceError:
    return DeviceError(
        f"The certificate of {package[:120]} cannot be told: {why}.",
        "Without it nobody can tell the app from another one of that name.",
    )
