"""Sign an APK as far as those look who ask whose it is: a signing block with a certificate.

Format: "APK Signature Scheme v3" (source.android.com/docs/security/features/apksigning). Nothing is
signed by a key here, and nobody on the phone verifies it. Invariant: the same key name makes the
same certificate.
"""

import hashlib
import struct

_V3 = 0xF05368C0
_MAGIC = b"APK Sig Block 42"
_END = b"PK\x05\x06"


def certificate_of(signer: str) -> bytes:
    """Return what stands for the certificate of a key: a DER sequence of one octet string."""
    digest = hashlib.sha256(signer.encode()).digest()
    return b"\x30\x22\x04\x20" + digest


def signature_hash(signer: str) -> str:
    """Return the hash by which `dumpsys package` names a key's certificate (Arrays.hashCode)."""
    value = 1
    for byte in certificate_of(signer):
        value = (31 * value + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return f"{value:x}"


def signed(apk: bytes, certificate: bytes) -> bytes:
    """Return an APK with a signing block before its central directory."""
    end = apk.rindex(_END)
    (directory,) = struct.unpack_from("<I", apk, end + 16)
    signed_data = _part(b"") + _part(_part(certificate)) + struct.pack("<II", 28, 0x7FFFFFFF)
    signer = _part(_part(signed_data) + struct.pack("<II", 28, 0x7FFFFFFF) + _part(b"") * 2)
    pair = struct.pack("<I", _V3) + _part(signer)
    rows = struct.pack("<Q", len(pair)) + pair
    size = struct.pack("<Q", len(rows) + 24)
    block = size + rows + size + _MAGIC
    moved = apk[end : end + 16] + struct.pack("<I", directory + len(block)) + apk[end + 20 :]
    return apk[:directory] + block + apk[directory:end] + moved


def _part(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data
