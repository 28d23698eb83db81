"""The picture of one phone on the wall: fitted, and honest when it is no live one.

Not a widget, and not where it is drawn (`wall_canvas`). Invariants: the picture keeps the
proportions of its phone's screen; a phone without a live picture has its last one, and a word that
says why.
"""

from collections.abc import Iterable
from functools import lru_cache

from agent.records import FrameStatus, LiveFrame
from widgets.cells.blocks import Blocks
from widgets.cells.rgb565 import Pixels565, fit, of_rgb

STILL_S = 0.3  # After so long without a new picture the noise that was left out is drawn.
Size = tuple[int, int]
_BYTES_PER_PIXEL = 3
_MISSING = {FrameStatus.LOST: "lost", FrameStatus.ERROR: "error", FrameStatus.SECURE: "secure"}


@lru_cache(maxsize=256)
def size_px(box: Size, proportions: Size, blocks: Blocks = Blocks.HALF) -> Size:
    """Return the largest size in pixels of a shape in a box of cells; a cell is twice as high as
    wide.
    """
    across, down = proportions if all(proportions) else (9, 20)
    columns, rows = box
    scale = min(columns / across, rows * 2 / down)
    wide, high = max(1, round(across * scale)), max(1, round(down * scale / 2))
    return wide * blocks.across, high * blocks.down


class TilePicture:
    """What is known of one phone's picture."""

    __slots__ = ("_fitted", "_frame", "_is_noisy", "_seen_s", "word")

    def __init__(self) -> None:
        self._frame: LiveFrame | None = None
        self._fitted: Pixels565 | None = None
        self._is_noisy = False
        self._seen_s = 0.0
        self.word = ""
        """Why the picture is no live one; empty when it is."""

    def take(self, frame: LiveFrame) -> bool:
        """Take a frame; returns whether it looks different from the last."""
        word = _MISSING.get(frame.status, "")
        same_word, self.word = word == self.word, word
        if not frame.rgb:
            # The last picture stays, and is said to be no live one.
            return not same_word
        if self._frame is not None and frame.rgb is self._frame.rgb:
            return not same_word
        self._frame, self._fitted = frame, None
        return True

    @property
    def pixels(self) -> Pixels565 | None:
        """The picture as it was last fitted; None where there is none."""
        return self._fitted

    def may_rest(self, now_s: float) -> bool:
        """Return whether noise was left out and nothing new has come for a while."""
        return self._is_noisy and now_s - self._seen_s > STILL_S

    def note_drawn(self, *, is_held: bool) -> None:
        """Note that the picture is drawn, its noise left out or not."""
        self._is_noisy = is_held

    def _set(self, pixels: Pixels565, now_s: float) -> None:
        self._fitted, self._seen_s = pixels, now_s

    @staticmethod
    def fit_all(pictures: "Iterable[tuple[TilePicture, Size]]", now_s: float) -> None:
        """Fit those that are not yet of their size in pixels; what needs no scaling is packed as
        one picture, which takes one call for a whole wall.
        """
        ready: dict[Size, list[tuple[TilePicture, bytes]]] = {}
        for picture, (wide, high) in pictures:
            frame, fitted = picture._frame, picture._fitted
            if frame is None or (fitted is not None and fitted.shape == (high, wide)):
                continue
            if frame.width_px == wide and len(frame.rgb) == wide * high * _BYTES_PER_PIXEL:
                ready.setdefault((wide, high), []).append((picture, frame.rgb))
            else:
                pixels = of_rgb(frame.rgb, frame.width_px, frame.height_px)
                picture._set(fit(pixels, high, wide), now_s)
        for (wide, high), alike in ready.items():
            stacked = of_rgb(b"".join(rgb for _, rgb in alike), wide, high * len(alike))
            for at, (picture, _) in enumerate(alike):
                picture._set(stacked[at * high : (at + 1) * high], now_s)
