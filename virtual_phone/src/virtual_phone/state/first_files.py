"""The files of a new phone: documents, a recording, and the pictures that its camera took.

Every one is what its name says: readers of PDF, CSV, WAV, PNG and JPEG can open them. Not the
storage. Invariant: the same seed and time make the same bytes, so phones share them in memory.
"""

import io
import math
import random
import struct
import wave
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial

from virtual_phone.state.storage import FirstFile

CAMERA_FOLDER = "DCIM/Camera"
PHOTO_SIZE = (640, 480)
PHOTOS = 14
JPEG_QUALITY = 82
BUDGET = """month,rent,food,travel,other
August,840,312.40,96,120
September,840,298.15,64,88
October,840,330.90,141,45
"""
PAGES = {
    "Documents/Lease agreement.pdf": ("Lease agreement", "12 Harbour Street, second floor"),
    "Documents/CV 2026.pdf": ("Curriculum vitae", "Languages: English, Portuguese"),
    "Download/boarding-pass.pdf": ("Boarding pass", "Gate 14, seat 7A, boards 09:20"),
    "Download/invoice-1042.pdf": ("Invoice 1042", "Total due: 61.00, by the 28th"),
}


def first_files(seed: int, now: float) -> list[FirstFile]:
    """Return the files of a phone with a seed that was made at a time (seconds since 1970)."""
    chance = random.Random(f"{seed}/files")
    made: list[tuple[str, Callable[[], bytes]]] = [
        ("Documents/Budget.csv", BUDGET.encode),
        *((path, partial(pdf, *lines)) for path, lines in PAGES.items()),
        ("Download/map-lake-district.png", partial(landscape, 77, "PNG")),
        ("Music/Morning walk.wav", sound),
        ("Pictures/whiteboard.jpg", partial(landscape, 41, "JPEG")),
    ]
    files = [
        FirstFile(path, content, float(int(now - 86_400 * (i + 1) - chance.randrange(50_000))))
        for i, (path, content) in enumerate(made)
    ]
    for i in range(PHOTOS):
        at = float(int(now - 50_000 * (i + 1)))
        scene = chance.randrange(1 << 20)
        files.append(FirstFile(photo_path(at), partial(landscape, scene, "JPEG"), at))
    return files


def photo_path(at: float) -> str:
    """Return how the camera names a picture taken at a time, seconds since 1970."""
    return f"{CAMERA_FOLDER}/IMG_{datetime.fromtimestamp(at, UTC):%Y%m%d_%H%M%S}.jpg"


@lru_cache(maxsize=64)
def landscape(scene: int, kind: str) -> bytes:
    """Return a landscape made from a number, as a JPEG or PNG file."""
    from PIL import Image

    from virtual_phone.apps.gallery import paint_photo
    from virtual_phone.ui.canvas import Canvas
    from virtual_phone.ui.theme import LIGHT
    from virtual_phone.ui.views import Rect

    image = Image.new("RGB", PHOTO_SIZE)
    paint_photo(scene)(Canvas(image, LIGHT), Rect(0, 0, *PHOTO_SIZE))
    out = io.BytesIO()
    image.save(out, kind, quality=JPEG_QUALITY)
    return out.getvalue()


@lru_cache(maxsize=16)
def pdf(title: str, line: str) -> bytes:
    """Return a PDF file of one page with a title and a line of ASCII."""
    content = f"BT /F1 24 Tf 72 760 Td ({title}) Tj /F1 12 Tf 0 -36 Td ({line}) Tj ET".encode()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out = bytearray(b"%PDF-1.4\n")
    starts = []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for start in starts:
        out += b"%010d 00000 n \n" % start
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    out += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(out)


@lru_cache(maxsize=1)
def sound() -> bytes:
    """Return a WAV file: one second of a falling tone, 8 kHz, mono."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        tone = (8000 * math.sin(i / 8000 * 2 * math.pi * (440 - i / 100)) for i in range(8000))
        file.writeframes(b"".join(struct.pack("<h", int(level)) for level in tone))
    return out.getvalue()
