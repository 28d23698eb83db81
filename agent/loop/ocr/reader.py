"""Read the text of a frame with RapidOCR, an optional extra whose wheel carries its models.

In one thread, since a model takes a second or so; the newest results are kept by the frame's
digest. Invariant: a reading that takes too long is not waited for, and serves the next look.
"""

import asyncio
import hashlib
import importlib.util
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from agent.loop.images.scaling import scaled
from agent.loop.screen.elements import SEEN_TEXT
from agent.records import Bounds, UiNode
from agent.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL = "pip install 'switchboard-console[ocr]'"
PATIENCE_S = 5.0
_LEAST_SCORE = 0.6
_MAX_TEXTS = 150
_MAX_CHARS = 200
_KEPT = 8
_STATUS_BAR = 0.04  # The share of the height at the top that is the system's, not the app's.

Line: TypeAlias = tuple[tuple[float, float, float, float], str, float]
"""Left, top, right and bottom in pixels, what stands there, and how sure that is, in [0, 1]."""
Engine: TypeAlias = "Callable[[NDArray[np.uint8]], Iterable[Line]]"
"""Reads an RGB picture of height × width × 3."""


@dataclass(frozen=True, slots=True)
class SeenText:
    """A line of text in a picture."""

    text: str
    bounds: Bounds  # As shares of the picture.

    def node(self, package: str) -> UiNode:
        """Return it as a node that can be pressed in its middle."""
        return UiNode(
            text=self.text,
            class_name=SEEN_TEXT,
            package=package,
            bounds=self.bounds,
            clickable=True,
        )


class TextReader:
    """Reads frames, one at a time.

    Args:
        engine: makes what reads a picture; called once, in the thread. Raises ImportError where
            the extra is not installed.
        patience_s: how long a reading is waited for.
    """

    def __init__(self, engine: Callable[[], Engine], *, patience_s: float = PATIENCE_S) -> None:
        self._make = engine
        self._engine: Engine | None = None
        self._patience_s = patience_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ocr")
        self._read: OrderedDict[bytes, Future[tuple[SeenText, ...]]] = OrderedDict()

    async def read(self, data: bytes) -> tuple[SeenText, ...] | None:
        """Return the text in a frame, from top to bottom; None where that takes too long."""
        digest = hashlib.sha256(data).digest()
        reading = self._read.get(digest)
        if reading is None:
            reading = self._read[digest] = self._thread.submit(self._look, data)
            while len(self._read) > _KEPT:
                _, oldest = self._read.popitem(last=False)
                oldest.cancel()
        waiting = asyncio.wrap_future(reading)
        done, _ = await asyncio.wait({waiting}, timeout=self._patience_s)
        return waiting.result() if done else None

    def _look(self, data: bytes) -> tuple[SeenText, ...]:
        import numpy as np

        picture = scaled(data)
        if picture is None:
            return ()
        if self._engine is None:
            self._engine = self._make()
        width, height = picture.size
        found = []
        for (left, top, right, bottom), text, score in self._engine(
            np.asarray(picture.convert("RGB"))
        ):
            said = one_line(text, _MAX_CHARS)
            bounds = Bounds(
                left=_share(left, width),
                top=_share(top, height),
                right=_share(right, width),
                bottom=_share(bottom, height),
            )
            if said and score >= _LEAST_SCORE and bounds.center_y > _STATUS_BAR:
                found.append(SeenText(said, bounds))
        return tuple(found[:_MAX_TEXTS])


@lru_cache(maxsize=1)
def shared_reader() -> TextReader | None:
    """Return the reader of this process; None where the extra is not installed."""
    if importlib.util.find_spec("rapidocr") is None:
        return None
    return TextReader(_rapidocr)


def _rapidocr() -> Engine:
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    # Screens are upright, so lines need not be turned; two threads leave the loop its own core.
    engine: Any = RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 2,
        }
    )

    def read(pixels: "NDArray[np.uint8]") -> list[Line]:
        # OpenCV's order of colours.
        found = engine(pixels[:, :, ::-1])
        if found.boxes is None:
            return []
        return [
            (
                (
                    float(box[:, 0].min()),
                    float(box[:, 1].min()),
                    float(box[:, 0].max()),
                    float(box[:, 1].max()),
                ),
                str(text),
                float(score),
            )
            for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]

    return read


def _share(edge_px: float, length_px: int) -> float:
    return min(max(edge_px / length_px, 0.0), 1.0)
