"""Tell a phone's pane what the screen looked like at a look that was before this console looked.

The pane compares newer pictures with it, and keeps the numbers while they look the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgets.pictures.mark_age import NEAR_MS, LookRef

if TYPE_CHECKING:
    from agent.records import Frame
    from console.steps.stored_frames import FrameConsole, FrameReader
    from widgets.pictures.phone_pane import PhonePane


def learn_look(
    frames: FrameReader, app: FrameConsole, pane: PhonePane, seen: LookRef, kept: Frame
) -> None:
    """Tell a pane of a look at once, or have its frame read; then this is to be called again.

    Args:
        frames: reads stored frames for the pane's screen.
        app: has the stored frames.
        pane: shows a picture that may be newer.
        seen: the look.
        kept: its stored frame.
    """
    shown, size = pane.shown, pane.wanted_px
    is_far = shown is not None and abs(shown.captured_ms - seen.ended_ms) > NEAR_MS
    if not is_far or min(size) < 1 or pane.knows_look(seen):
        return
    stored = frames.get(app, kept, size, serial="")
    if stored is not None:
        pane.learn_look(seen, stored)
