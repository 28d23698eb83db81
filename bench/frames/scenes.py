"""Scenes of a phone, drawn and sent through x264: a list and a feed that scroll, rest, video."""

from fractions import Fraction
from functools import lru_cache

import av
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw
from platformdirs import user_cache_path

Packet = tuple[bool, bytes]  # Whether it refers to no other, and an access unit in annex B.

WIDTH, HEIGHT = 360, 800
COUNT = 60
Rgb = npt.NDArray[np.uint8]


@lru_cache(maxsize=16)
def encoded(name: str, side_px: int = HEIGHT, hz: int = 30) -> tuple[Packet, ...]:
    """Return the frames of a scene as an encoder gives them; the first is a key frame.

    Args:
        side_px: the longer side, the shorter one in proportion.
        hz: how many frames show a second of the scene.
    """
    encoder = av.CodecContext.create("libx264", "w")
    width, height = size_px(side_px)
    encoder.width, encoder.height, encoder.pix_fmt = width, height, "yuv420p"
    encoder.time_base = Fraction(1, hz)
    encoder.bit_rate = max(2_000_000 * hz // 30 * width * height // (WIDTH * HEIGHT), 100_000)
    encoder.options = {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline"}
    packets: list[Packet] = []
    for number in range(COUNT * hz // 30):
        drawn = av.VideoFrame.from_ndarray(_draw(name, number * 30 // hz), format="rgb24")
        sized = drawn.reformat(width, height, format="yuv420p", interpolation="AREA")
        sized.pts = number
        packets += [(packet.is_keyframe, bytes(packet)) for packet in encoder.encode(sized)]
    return tuple(packets)


def size_px(side_px: int) -> tuple[int, int]:
    """Return width and height for a longer side, even as encoders want them."""
    return round(WIDTH * side_px / HEIGHT / 2) * 2, side_px // 2 * 2


@lru_cache(maxsize=8)
def decoded(name: str) -> tuple[av.VideoFrame, ...]:
    decoder = av.CodecContext.create("h264", "r")
    frames: list[av.VideoFrame] = []
    for _, data in encoded(name):
        frames += decoder.decode(av.Packet(data))
    return tuple(frames)


@lru_cache(maxsize=64)
def scaled(name: str, columns: int, rows: int) -> tuple[Rgb, ...]:
    """Return the frames of a scene at two pixels a cell; kept in a file for the next process."""
    kept = user_cache_path("switchboard") / "bench-scenes" / f"{name}-{columns}x{rows}-3.npy"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        frames = [
            frame.reformat(columns, rows * 2, format="rgb24", interpolation="AREA").to_ndarray()
            for frame in decoded(name)
        ]
        np.save(kept, np.stack(frames))
    return tuple(np.load(kept))


def _draw(name: str, number: int) -> Rgb:
    if name == "video":
        down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
        waves = [
            np.sin((across * a + down * b) / 60 + number / c) * 110 + 128
            for a, b, c in ((1, 0.4, 3), (0.3, 1, 4), (0.8, -0.7, 5))
        ]
        return np.stack(waves, axis=-1).astype(np.uint8)
    if name == "static":
        image = _rows_image("static", 1)
        if number % 30 < 15:
            ImageDraw.Draw(image).rectangle((60, 300, 62, 330), fill=(20, 20, 20))
        return np.asarray(image)
    tall = np.asarray(_rows_image(name, 4))
    top = number * 12 % (tall.shape[0] - HEIGHT)
    return tall[top : top + HEIGHT].copy()


@lru_cache(maxsize=4)
def _tall(name: str, screens: int) -> Image.Image:
    dice = np.random.default_rng(5)
    image = Image.new("RGB", (WIDTH, HEIGHT * screens), (250, 250, 252))
    draw = ImageDraw.Draw(image)
    step = 64 if name != "feed" else 280
    for top in range(0, HEIGHT * screens, step):
        colour = tuple(int(c) for c in dice.integers(40, 230, 3))
        if name == "feed":
            small = dice.integers(60, 220, (3, 3, 3), dtype=np.uint8)
            photo = Image.fromarray(small).resize((WIDTH, step - 100), Image.Resampling.BICUBIC)
            image.paste(photo, (0, top + 70))
        draw.ellipse((12, top + 10, 52, top + 50), fill=colour)
        for line in range(2):
            width = int(dice.integers(80, 260))
            left = 66
            while left < 66 + width:
                letter = int(dice.integers(4, 9))
                ink = (30, 30, 34) if line == 0 else (120, 120, 128)
                above = top + 16 + line * 18
                draw.rectangle((left, above, left + letter, above + 10), ink)
                left += letter + int(dice.integers(2, 6))
    return image


def _rows_image(name: str, screens: int) -> Image.Image:
    return _tall(name, screens).copy()
