"""Read the certificates out of an APK's signing block.

Format: "APK Signature Scheme v2" and "v3" (source.android.com/docs/security/features/apksigning).
Not a verifier: the phone verified the file when it installed it, and says by a hash which of the
certificates it took (`agent.devices.signing.app_signers`). Invariant: hostile bytes cost a bounded
amount and raise ValueError.
"""

import struct
from collections.abc import Iterator

END_SIZE = 22
_END_MARK = b"PK\x05\x06"
_MAGIC = b"APK Sig Block 42"
FOOTER_SIZE = 24
"""The size of the block and its magic, which stand right before the central directory."""
MOST_BLOCK_BYTES = 4 << 20
_SCHEMES = {0x7109871A: False, 0xF05368C0: True, 0x1B93AD61: True}
"""The ids of v2, v3 and v3.1; whether the versions of Android that it is for follow."""
_MOST_SIGNERS = 10


def directory_offset(tail: bytes) -> int:
    """Return where the central directory begins, by the end of an archive. Raises ValueError."""
    at = tail.rfind(_END_MARK)
    while at >= 0:
        if len(tail) - at >= END_SIZE:
            (comment,) = struct.unpack_from("<H", tail, at + 20)
            if at + END_SIZE + comment == len(tail):
                (offset,) = struct.unpack_from("<I", tail, at + 16)
                return int(offset)
        at = tail.rfind(_END_MARK, 0, at)
    raise ValueError("the file is no archive")


def block_size(footer: bytes) -> int:
    """Return how long the signing block is before a central directory. Raises ValueError."""
    if len(footer) != FOOTER_SIZE or footer[8:] != _MAGIC:
        raise ValueError("the file has no signing block: it is signed in the oldest way only (v1)")
    (size,) = struct.unpack_from("<Q", footer)
    if not FOOTER_SIZE <= size <= MOST_BLOCK_BYTES:
        raise ValueError("the signing block has no possible size")
    return int(size) + 8


def certificates_in(block: bytes) -> tuple[bytes, ...]:
    """Return the first certificate of every signer of every scheme, in DER, each once.

    Raises ValueError.
    """
    found: dict[bytes, None] = {}
    at, end = 8, len(block) - FOOTER_SIZE
    while at < end:
        if at + 12 > end:
            raise ValueError("the signing block is cut off")
        size, name = struct.unpack_from("<QI", block, at)
        value = block[at + 12 : at + 8 + size]
        if size < 4 or at + 8 + size > end:
            raise ValueError("the signing block is cut off")
        if name in _SCHEMES:
            for one in _signers(value):
                found[one] = None
        at += 8 + size
    return tuple(found)


def _signers(value: bytes) -> Iterator[bytes]:
    for number, signer in enumerate(_parts(_first(value))):
        if number >= _MOST_SIGNERS:
            raise ValueError("it has too many signers")
        signed = _first(signer)
        parts = _parts(signed, most=2)
        next(parts, None)  # The digests.
        certificates = next(parts, b"")
        first = next(_parts(certificates), b"")
        if not first:
            raise ValueError("a signer has no certificate")
        yield first


def _first(data: bytes) -> bytes:
    return next(_parts(data, most=1), b"")


def _parts(data: bytes, most: int = 1_000) -> Iterator[bytes]:
    """Yield what stands in a row of parts, each behind its length."""
    at = 0
    for _ in range(most):
        if at == len(data):
            return
        if at + 4 > len(data):
            raise ValueError("a part is cut off")
        (size,) = struct.unpack_from("<I", data, at)
        if at + 4 + size > len(data):
            raise ValueError("a part is cut off")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size
