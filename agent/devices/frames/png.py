"""Look into a PNG that a phone sent, and scale pictures.

The only module of the devices that knows Pillow, which is imported when first needed. Invariant: a
picture that is cut short, larger than a phone's screen can be or not a PNG raises DeviceError; it
never becomes a blank frame.
"""

import struct
from io import BytesIO
from typing import TYPE_CHECKING

from agent.errors import DeviceError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
BLACK_LEVEL = 12  # What an encoder may make of black, of 255.
_JPEG_QUALITY = 88
PIXEL_LIMIT = 64_000_000  # Eight times a 4K screen; a header that claims more is broken or hostile.


def png_size(serial: str, data: bytes) -> tuple[int, int]:
    """Return width and height in pixels of a whole PNG. Raises DeviceError when it is not one."""
    if not data.startswith(PNG_SIGNATURE) or len(data) < 33 or data[12:16] != b"IHDR":
        said = data[:200].decode("utf-8", "replace").strip()
        raise DeviceError(
            f"screencap of {serial} gave no picture: {said or 'it was empty'}.",
            "Wake the phone's screen, or reconnect it.",
        )
    if not data.endswith(_PNG_END):
        raise DeviceError(f"The picture of {serial} was cut short.", "Take it again.")
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= PIXEL_LIMIT:
        raise DeviceError(
            f"The picture of {serial} claims to have {width}×{height} pixels.", "Restart the phone."
        )
    return width, height


def scaled_rgb(serial: str, data: bytes, sizes: tuple[tuple[int, int], ...]) -> list[bytes]:
    """Decode a PNG once and give it at each (width, height) as RGB bytes, row by row.

    Alpha is ignored: phones before Android 5 send it as 0 everywhere. Blocking; call it in a
    thread. Raises DeviceError when the PNG is broken.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            rgb = image.convert("RGB")
            return [_scaled(rgb, size) for size in sizes]
    except (OSError, SyntaxError, ValueError, struct.error, UnidentifiedImageError) as error:
        raise DeviceError(
            f"The picture of {serial} cannot be decoded: {error}.", "Take it again."
        ) from error


def _scaled(picture: "Picture", size: tuple[int, int]) -> bytes:
    from PIL import Image

    if picture.size == size:
        return picture.tobytes()
    # Boxes keep thin text readable when shrinking; reducing first makes large steps cheap.
    filtered = picture.resize(size, Image.Resampling.BOX, reducing_gap=2.0)
    return filtered.tobytes()


def png_of(rgb: bytes, size: tuple[int, int]) -> bytes:
    """Encode width × height × 3 bytes as a PNG. Blocking."""
    from PIL import Image

    out = BytesIO()
    Image.frombytes("RGB", size, rgb).save(out, "PNG", compress_level=1)
    return out.getvalue()


def png_of_raw(pixels: bytes, order: str, size: tuple[int, int]) -> bytes:
    """Encode samples as a PNG. Blocking.

    Args:
        order: Pillow's name of the samples' order, such as RGBX, in which X is left out.
    """
    from PIL import Image

    out = BytesIO()
    picture = Image.frombytes("RGB", size, pixels, "raw", order)
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def jpeg_of(rgb: bytes, size: tuple[int, int], *, quality: int = _JPEG_QUALITY) -> bytes:
    """Encode width × height × 3 bytes as a JPEG that keeps small letters legible. Blocking."""
    from PIL import Image

    out = BytesIO()
    # Letters keep their colours without chroma subsampling.
    Image.frombytes("RGB", size, rgb).save(out, "JPEG", quality=quality, subsampling=0)
    return out.getvalue()


def is_black(rgb: bytes, size: tuple[int, int]) -> bool:
    """Return whether a picture is black between the bars that the system draws at its ends.

    Args:
        rgb: width × height × 3 bytes, row by row.
    """
    width, height = size
    row = width * 3
    middle = rgb[height // 6 * row : max(height - height // 6, 1) * row]
    return bool(middle) and max(middle) <= BLACK_LEVEL


def turned_png(serial: str, data: bytes, quarter_turns: int) -> bytes:
    """Turn a PNG by quarter turns counter-clockwise. Blocking; raises DeviceError when broken."""
    from PIL import Image, UnidentifiedImageError

    turns = {
        1: Image.Transpose.ROTATE_90,
        2: Image.Transpose.ROTATE_180,
        3: Image.Transpose.ROTATE_270,
    }
    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            out = BytesIO()
            image.convert("RGB").transpose(turns[quarter_turns]).save(out, "PNG", compress_level=1)
            return out.getvalue()
    except (OSError, SyntaxError, ValueError, struct.error, UnidentifiedImageError) as error:
        raise DeviceError(
            f"The picture of {serial} cannot be decoded: {error}.", "Take it again."
        ) from error
