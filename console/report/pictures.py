"""Make pictures and films of stored frames: a small JPEG, a GIF, an MP4. All of it blocks.

Pillow and PyAV, imported when first needed. Invariants: a frame that cannot be read is an error of
its own, never a blank picture; a film appears whole or not at all.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from agent.errors import StoreError
from agent.extras import install, is_installed, missing
from console.report.captions import BANNER_PX, Caption, draw_caption, draw_gestures
from console.report.gestures import Gesture

if TYPE_CHECKING:
    from av.video.stream import VideoStream
    from PIL.Image import Image as Picture

_JPEG_QUALITY = 72
_CODECS = ("libx264", "libopenh264", "mpeg4")
FILM_HZ = 10
_MOST_PIXELS = 32_000_000
"""A stored frame may come from anybody's rollout: a few bytes can say that they are gigabytes."""
_LONGEST_PX = 4_000  # What a scaled picture may be high; no phone is so narrow.

Progress = Callable[[int, int], None]
"""Told how many frames are done, of how many."""


class Still(NamedTuple):
    """One picture of a film, how long it stays, and what is drawn on and below it."""

    png: bytes
    stays_ms: int
    caption: Caption
    gestures: Sequence[Gesture] = ()


def small_jpeg(png: bytes, width_px: int) -> bytes:
    """Scale a frame to a width and encode it. Raises StoreError for what is no picture."""
    out = BytesIO()
    _scaled(png, width_px).save(out, "JPEG", quality=_JPEG_QUALITY, optimize=True)
    return out.getvalue()


def write_gif(path: Path, stills: Sequence[Still], width_px: int, told: Progress) -> None:
    """Write a film as a GIF that repeats."""
    pictures: list[Picture] = []
    for at, picture in enumerate(_drawn(stills, width_px)):
        pictures.append(picture.quantize(128))
        told(at + 1, len(stills))
    with _AtomicFile(path) as part:
        pictures[0].save(
            part,
            "GIF",
            save_all=True,
            append_images=pictures[1:],
            duration=[still.stays_ms for still in stills],
            loop=0,
        )


def write_mp4(path: Path, stills: Sequence[Still], width_px: int, told: Progress) -> None:
    """Write a film as an MP4 that any browser plays."""
    if not is_installed("video"):
        raise StoreError(missing("video"), f"{install('video')} Or make a GIF instead.")
    import av
    import numpy as np

    with _AtomicFile(path) as part, av.open(str(part), "w", format="mp4") as film:
        stream: VideoStream | None = None
        at_frame = 0
        for at, picture in enumerate(_drawn(stills, width_px)):
            if stream is None:
                stream = cast("VideoStream", film.add_stream(_codec(), rate=FILM_HZ))
                stream.width, stream.height = picture.size
                stream.pix_fmt = "yuv420p"
                stream.time_base = Fraction(1, FILM_HZ)
            across, down = picture.size
            pixels = np.frombuffer(picture.tobytes(), dtype=np.uint8).reshape(down, across, 3)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.time_base = Fraction(1, FILM_HZ)
            for _ in range(max(1, round(stills[at].stays_ms * FILM_HZ / 1000))):
                frame.pts = at_frame
                at_frame += 1
                film.mux(stream.encode(frame))
            told(at + 1, len(stills))
        if stream is not None:
            film.mux(stream.encode())


def _codec() -> str:
    import av

    for name in _CODECS:
        try:
            av.codec.Codec(name, "w")
        except ValueError:
            continue
        return name
    raise StoreError("PyAV has no encoder for an MP4 here.", "Make a GIF instead.")


def _drawn(stills: Sequence[Still], width_px: int) -> "Iterator[Picture]":
    """Yield the pictures, all of one even size, with their captions."""
    from PIL import Image

    size: tuple[int, int] | None = None
    for still in stills:
        picture = _scaled(still.png, width_px)
        if size is None:
            size = picture.width // 2 * 2, (picture.height + BANNER_PX) // 2 * 2
        canvas = Image.new("RGB", size, (14, 17, 21))
        room = (size[0], size[1] - BANNER_PX)
        if picture.width > room[0] or picture.height > room[1]:
            picture.thumbnail(room)
        draw_gestures(picture, picture.size, still.gestures)
        canvas.paste(picture, ((size[0] - picture.width) // 2, 0))
        draw_caption(canvas, room[1], still.caption)
        yield canvas


def _scaled(png: bytes, width_px: int) -> "Picture":
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(png), formats=("PNG", "JPEG")) as image:
            height_px = max(1, round(image.height * width_px / image.width))
            if image.width * image.height > _MOST_PIXELS or height_px > _LONGEST_PX:
                raise StoreError(
                    f"A stored frame of {image.width}x{image.height} is not a screen's."
                )
            rgb = image.convert("RGB")
    except (
        OSError,
        SyntaxError,
        ValueError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
    ) as error:
        raise StoreError(f"A stored frame cannot be decoded: {error}.") from error
    return rgb.resize((width_px, height_px), Image.Resampling.BOX, reducing_gap=2.0)


class _AtomicFile:
    """A file beside the wanted one that takes its place when the block ends well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> Path:
        return self._part

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)
