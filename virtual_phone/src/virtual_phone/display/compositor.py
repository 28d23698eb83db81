"""What stands on the displays: scenes, the frames drawn of them, and who waits for the next.

Every change reaches it by `Phone.invalidate`. Only `paint` may run in a thread. Invariant:
`version` grows whenever pixels may have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from virtual_phone.display.animations import MOVING_HZ
from virtual_phone.display.scene import Scene
from virtual_phone.display.scroll_cache import rescroll
from virtual_phone.state.records import PageState
from virtual_phone.timing import Timer

if TYPE_CHECKING:
    from PIL import Image

    from virtual_phone.phone import Phone

FRAME_KEPT_S = 5.0


class Compositor:
    """Build the scenes of one phone and draw them.

    Args:
        phone: whose windows.
        keeps_frames: whether full-size frames stay in memory while nobody asks for one.
    """

    def __init__(self, phone: Phone, *, keeps_frames: bool = False) -> None:
        self._phone = phone
        self._keeps_frames = keeps_frames
        self._version = 1
        self._minute = -1
        self._scenes: dict[int, Scene] = {}
        self._scrolls: dict[int, tuple[Scene, PageState, str]] = {}
        """By display: the scene that differs from what is shown by one view's scrolling alone."""
        self._frames: dict[int, tuple[int, Image.Image]] = {}
        self._frame_timer: Timer | None = None
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def version(self) -> int:
        """A number that grows whenever pixels may have changed; the clock's minute counts."""
        minute = int(self._phone.now() // 60)
        if minute != self._minute:
            self._minute = minute
            self.forget()
        self._version += self._phone.animations.new_frames()
        return self._version

    def forget(self) -> None:
        """Build every scene again when it is next asked for; whoever waits for a frame wakes."""
        self._version += 1
        self._scenes.clear()
        self._scrolls.clear()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def drop(self, display: int) -> None:
        """Forget a display that is gone."""
        self._scenes.pop(display, None)
        self._frames.pop(display, None)

    async def wait_newer(self, than: int) -> int:
        """Return the version as soon as it is newer than the one given."""
        phone = self._phone
        while self.version <= than:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                left_s = 60.05 - phone.now() % 60
                moving = phone.animations.in_transition
                async with asyncio.timeout(1 / MOVING_HZ if moving else left_s):
                    await waiter
            except TimeoutError:
                continue
            finally:
                self._waiters.discard(waiter)
        return self._version

    # -- scenes

    @property
    def built(self) -> Iterable[Scene]:
        return self._scenes.values()

    def scene(self, display: int = 0) -> Scene:
        """Return the current scene of a display, built or moved when something changed since."""
        from virtual_phone.display.scene_builder import build_scene

        _ = self.version
        scene = self._scenes.get(display)
        if scene is None:
            scrolled = self._scrolls.get(display)
            moved = rescroll(*scrolled) if scrolled is not None else None
            scene = self._scenes[display] = moved or build_scene(self._phone, display)
        return scene

    def scene_to_draw(self, display: int = 0) -> Scene:
        """Return what a picture of a display is made from; not for looking up what stands where."""
        _ = self.version
        scrolled = self._scrolls.get(display)
        if scrolled is None or display in self._scenes:
            return self.scene(display)
        return rescroll(*scrolled, for_picture=True) or self.scene(display)

    def scrolled(self, display: int, page: PageState, key: str) -> None:
        """Note that a view of a page was scrolled, and nothing else happened."""
        before = self._scrolls.get(display)
        scene = self._scenes.get(display)
        if before is not None and before[1] is page and before[2] == key:
            scene = scene or before[0]
        elif scene is not None and scene.scrolled is not None:
            # Else scenes would hang on one another while a hand goes from list to list.
            scene = replace(scene, scrolled=None)
        self._phone.invalidate()
        if scene is not None:
            self._scrolls[display] = (scene, page, key)

    # -- frames

    def screenshot(self, display: int = 0) -> Image.Image:
        """Return the screen at full size, RGBA; the same object while nothing changes."""
        version = self.version
        kept = self._frames.get(display)
        if kept is not None and kept[0] == version:
            return kept[1]
        image = self.paint(self.scene(display)).convert("RGBA")
        self._frames[display] = (version, image)
        self.plan_release()
        return image

    def paint(self, scene: Scene, width: int = 0, height: int = 0) -> Image.Image:
        """Paint a scene, RGB, at a size or its own; safe to call in a thread."""
        from virtual_phone.display.paint import draw_scene, stretched

        image = draw_scene(scene, self._phone.seed, width, self.part_moved(scene))
        return stretched(image, width or scene.width, height or scene.height)

    def part_moved(self, scene: Scene) -> float:
        """Return how much of the transition to a scene is over, from 0 to 1."""
        return self._phone.animations.part if scene.display == 0 and not scene.still else 1.0

    def plan_release(self) -> None:
        """Free full-size frames once nobody asks for them, so that idle phones stay small."""
        if self._keeps_frames:
            return
        self.stop()
        self._frame_timer = self._phone.timing.later(FRAME_KEPT_S, self._release)

    def _release(self) -> None:
        self._frames.clear()
        self._scenes.clear()

    def stop(self) -> None:
        """Plan nothing any more."""
        if self._frame_timer is not None:
            self._frame_timer.cancel()
