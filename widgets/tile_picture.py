"""The picture of one phone on the wall: fitted, held still against noise, exact when it rests.

Not a widget. Invariants: the picture keeps the proportions of its phone's screen; a phone without
a live picture shows its last one at half brightness, under a word that says why.
"""

from __future__ import annotations

from textual.geometry import Region

from agent.records import FrameStatus, LiveFrame
from widgets.blocks import Blocks
from widgets.cells import HOLE, Cells
from widgets.rgb565 import Pixels565, dimmed, fit, of_rgb, pack, settle

STILL_S = 0.3
"""After so long without a new picture the noise that was left out is drawn."""
_INK, _PAPER = pack(230, 232, 238), pack(40, 44, 52)
_MISSING = {
    FrameStatus.LOST: "lost",
    FrameStatus.ERROR: "error",
    FrameStatus.SECURE: "secure",
}


class TilePicture:
    """What is known of one phone's picture."""

    __slots__ = ("_fitted", "_frame", "_is_noisy", "_seen_s", "_settled", "_word")

    def __init__(self) -> None:
        self._frame: LiveFrame | None = None
        self._fitted: Pixels565 | None = None
        self._settled: Pixels565 | None = None
        self._word = ""
        self._is_noisy = False
        self._seen_s = 0.0

    @staticmethod
    def size_px(
        box: tuple[int, int], proportions: tuple[int, int], blocks: Blocks = Blocks.HALF
    ) -> tuple[int, int]:
        """Give the largest size in pixels of a shape in a box of cells; a cell is twice as high
        as wide.
        """
        across, down = proportions if all(proportions) else (9, 20)
        columns, rows = box
        scale = min(columns / across, rows * 2 / down)
        wide, high = max(1, round(across * scale)), max(1, round(down * scale / 2))
        return wide * blocks.across, high * blocks.down

    def take(self, frame: LiveFrame) -> bool:
        """Take a frame; tells whether it looks different from the last."""
        word = _MISSING.get(frame.status, "")
        same_word, self._word = word == self._word, word
        if not frame.rgb:
            # The last picture stays, and is said to be no live one.
            return not same_word
        if self._frame is not None and frame.rgb is self._frame.rgb:
            return not same_word
        self._frame, self._fitted = frame, None
        return True

    def may_rest(self, now_s: float) -> bool:
        """Tell whether noise was left out and nothing new has come for a while."""
        return self._is_noisy and now_s - self._seen_s > STILL_S

    def rest(self) -> None:
        """Have the next drawing be exact."""
        self._settled = None

    def paste(
        self,
        cells: Cells,
        box: Region,
        proportions: tuple[int, int],
        missing: str,
        now_s: float,
        blocks: Blocks = Blocks.HALF,
    ) -> int:
        """Draw the picture into its box; gives how many cells the box takes.

        Args:
            missing: why there is none, in our own words; empty when there is one.
        """
        word = missing or self._word
        place = (slice(box.y, box.bottom), slice(box.x, box.right))
        pixels = self._pixels(self.size_px((box.width, box.height), proportions, blocks), now_s)
        whole = (box.height * blocks.down, box.width * blocks.across)
        if pixels is None or pixels.shape != whole:
            cells.glyph[place] = HOLE
        if pixels is None:
            word = word or "no picture"
        else:
            shown = dimmed(pixels) if word else pixels
            drawn = blocks.cells(shown)
            cells.paste(drawn, box.y, box.x + (box.width - drawn.columns) // 2)
        if word:
            text = f" {word} "[: box.width]
            row = box.y + box.height // 2
            column = box.x + (box.width - len(text)) // 2
            cells.mark(row, column, text, ink=_INK, paper=_PAPER)
        return box.width * box.height

    def _pixels(self, size_px: tuple[int, int], now_s: float) -> Pixels565 | None:
        if self._frame is None:
            return None
        wide, high = size_px
        if self._fitted is None or self._fitted.shape != (high, wide):
            frame = self._frame
            pixels = of_rgb(frame.rgb, frame.width_px, frame.height_px)
            self._fitted = fit(pixels, high, wide)
            self._seen_s = now_s
        before, self._settled = self._settled, self._fitted
        if before is not None:
            self._settled = settle(before, self._fitted)
        self._is_noisy = self._settled is not self._fitted and before is not self._fitted
        return self._settled
