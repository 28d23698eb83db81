"""Who may use the phone over ADB: everybody, whose key is listed, or whose the phone has accepted.

Not the handshake (see `connection`). Invariant: a key is trusted only when the file of listed keys
has it, or after somebody at the phone has said so, and then it is in `adb_keys` in the phone's
home, one line a key as on a real phone.

The key format is Android's (packages/modules/adb, crypto/rsa_2048_key.cpp): base64 of u32 words,
modulus size, n0inv, modulus (little endian), rr, exponent; then a blank and the computer's name.
"""

import asyncio
import base64
import binascii
import hashlib
import logging
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from virtual_phone.errors import PhoneError

KEY_BITS = 2048
MODULUS_BYTES = KEY_BITS // 8
_STRUCT_BYTES = 4 + 4 + MODULUS_BYTES + MODULUS_BYTES + 4
MAX_KEYS = 256
KEYS_FILE = "adb_keys"
_log = logging.getLogger(__name__)


class OpenGate:
    """A phone that trusts every computer, as an emulator does."""

    def required(self) -> bool:
        """Return False."""
        return False

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Return True."""
        del token, signature
        return True

    async def ask(self, public_key: bytes) -> bool:
        """Return True."""
        del public_key
        return True


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A computer's key: its numbers, the line it came in, and who it says it is."""

    modulus: int
    exponent: int
    line: str
    owner: str

    @property
    def fingerprint(self) -> str:
        """The MD5 that a phone shows in its question, as AA:BB:…"""
        raw = base64.b64decode(self.line.split()[0])
        digest = hashlib.md5(raw, usedforsecurity=False).hexdigest().upper()
        return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def parse_public_key(data: bytes) -> PublicKey:
    """Read a key as adb sends it.

    Raises:
        PhoneError: it is not a 2048-bit RSA key in Android's format.
    """
    line = data.rstrip(b"\0\r\n ").decode("utf-8", "replace")
    encoded, _, owner = line.partition(" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise PhoneError("the computer's key is not base64") from error
    if len(raw) != _STRUCT_BYTES or struct.unpack_from("<I", raw)[0] != MODULUS_BYTES // 4:
        raise PhoneError(f"the computer's key has {len(raw)} bytes, not {_STRUCT_BYTES}")
    modulus = int.from_bytes(raw[8 : 8 + MODULUS_BYTES], "little")
    exponent = struct.unpack_from("<I", raw, _STRUCT_BYTES - 4)[0]
    if modulus.bit_length() != KEY_BITS or exponent not in (3, 65537):
        raise PhoneError("the computer's key is not a usable RSA key")
    return PublicKey(modulus, exponent, line, owner)


def read_keys(file: Path) -> list[PublicKey]:
    """Read a file of keys, one a line; empty when there is none.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found: list[PublicKey] = []
    for line in lines[:MAX_KEYS]:
        try:
            found.append(parse_public_key(line))
        except PhoneError:
            continue  # as adbd does: a damaged line trusts nobody
    return found


def is_signed(keys: Iterable[PublicKey], token: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
    from cryptography.hazmat.primitives.hashes import SHA1

    for key in keys:
        public = RSAPublicNumbers(key.exponent, key.modulus).public_key()
        try:
            # The token is signed as if it were a SHA-1 digest already.
            public.verify(signature, token, PKCS1v15(), Prehashed(SHA1()))
        except (InvalidSignature, ValueError):
            continue
        return True
    return False


class ListedKeys:
    """A phone that lets in the computers whose keys stand in a file, and asks about no other.

    Args:
        file: one public key a line, as in `adbkey.pub`; read at each connection, since a key may
            be made anew.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def required(self) -> bool:
        """Return True: every computer has to prove itself."""
        return True

    def verify(self, token: bytes, signature: bytes) -> bool:
        try:
            keys = read_keys(self._file)
        except OSError as error:
            _log.warning("%s cannot be read: %s", self._file, error.strerror)
            return False
        return is_signed(keys, token, signature)

    async def ask(self, public_key: bytes) -> bool:
        """Return False: nobody is asked."""
        del public_key
        return False


class KeyGate:
    """A phone that asks before it trusts a computer.

    Args:
        home: where `adb_keys` is kept.
    """

    def __init__(self, home: Path) -> None:
        self._file = home / KEYS_FILE
        self._keys = self._load()
        self._pending: PublicKey | None = None
        self._answer: asyncio.Future[bool] | None = None
        self._asked = asyncio.Event()

    def _load(self) -> list[PublicKey]:
        return read_keys(self._file)

    def required(self) -> bool:
        """Return True: every computer has to prove itself."""
        return True

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Whether an accepted key made this signature of the token."""
        return is_signed(self._keys, token, signature)

    async def ask(self, public_key: bytes) -> bool:
        """Show a computer's key and wait for `answer`; False for what is no key."""
        try:
            key = parse_public_key(public_key)
        except PhoneError:
            return False
        self._pending = key
        self._answer = asyncio.get_running_loop().create_future()
        self._asked.set()
        try:
            return await self._answer
        finally:
            self._pending = None
            self._asked.clear()

    @property
    def pending(self) -> PublicKey | None:
        """The key that is being asked about."""
        return self._pending

    async def wait_asked(self) -> PublicKey:
        """Wait until a computer asks to be trusted; return its key."""
        while self._pending is None:
            await self._asked.wait()
        return self._pending

    def answer(self, allow: bool, *, always: bool = True) -> None:
        """Answer the question; with `always` the key is kept.

        Raises:
            PhoneError: nobody asks.
        """
        if self._pending is None or self._answer is None or self._answer.done():
            raise PhoneError("no computer asks to be trusted", "Connect with adb first.")
        if allow and always:
            self._keys.append(self._pending)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(self._pending.line + "\n")
        self._answer.set_result(allow)

    def forget(self) -> None:
        """Trust nobody any more, as "Revoke USB debugging authorizations" does."""
        self._keys.clear()
        self._file.unlink(missing_ok=True)


class FaultyGate:
    """Another gate, shut while `shut` says so: the unauthorized fault."""

    def __init__(self, gate: OpenGate | KeyGate | ListedKeys) -> None:
        self.gate = gate
        self.shut = False

    def required(self) -> bool:
        """Whether a key is asked for."""
        return self.shut or self.gate.required()

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Whether an accepted key made this signature; nobody's while shut."""
        return not self.shut and self.gate.verify(token, signature)

    async def ask(self, public_key: bytes) -> bool:
        """Ask the other gate; while shut nobody answers."""
        if self.shut:
            await asyncio.Event().wait()
        return await self.gate.ask(public_key)
