"""One viewer's picture of a display, kept from frame to frame: only what scrolled is drawn anew.

For video, which asks thirty times a second; captures draw afresh. Not thread-safe: one viewer shows
one scene at a time. Invariant: the picture is the one that drawing the whole scene would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.display.paint import draw_scene, redraw, stretched

if TYPE_CHECKING:
    from PIL.Image import Image

    from virtual_phone.display.scene import Scene
    from virtual_phone.phone import Phone
    from virtual_phone.ui.views import Rect


class KeptPicture:
    """What a viewer of a phone was shown last, RGB."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._shown: tuple[Scene, Image] | None = None

    def show(self, scene: Scene, width: int, height: int) -> Image:
        """Return the picture of a scene at a size; it is drawn over by the next call.

        Sides of a video are rounded (`scrcpy.stream.video_size`), and the screen is stretched to
        them, as by Android.
        """
        return stretched(self._drawn(scene, width), width, height)

    def _drawn(self, scene: Scene, width: int) -> Image:
        part = self._phone.compositor.part_moved(scene)
        shown, self._shown = self._shown, None
        if shown is not None and part >= 1.0 and shown[1].width == width:
            within = _changed(shown[0], scene)
            if within is not None:
                redraw(shown[1], scene, self._phone.seed, within)
                self._shown = (scene, shown[1])
                return shown[1]
        image = draw_scene(scene, self._phone.seed, width, part)
        if part >= 1.0 and not scene.off:
            self._shown = (scene, image)
        return image


def _changed(before: Scene, now: Scene) -> Rect | None:
    """Return where two scenes differ, if they differ by the scrolling of one view alone."""
    one, other = before.scrolled, now.scrolled
    if other is None:
        return None
    if other.base is before:
        return other.clip
    if one is None or one.base is not other.base or one.key != other.key:
        return None
    return other.clip
