"""Pictures that lie."""

import struct
import zlib
from io import BytesIO

from PIL import Image


def claiming(across: int, down: int) -> bytes:
    """Return a PNG of a pixel whose header says that it has so many."""
    out = BytesIO()
    Image.new("L", (1, 1)).save(out, "PNG")
    data = bytearray(out.getvalue())
    # After the signature, a chunk's length and its name (PNG specification, 11.2.2 IHDR).
    data[16:24] = struct.pack(">II", across, down)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)
