"""Pictures of a phone's display as bytes: PNG and raw pixels, made once per frame.

Not the renderer. Invariant: a still screen is encoded once; the caches are weak, so a phone that
is gone leaves nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from virtual_phone.display.frozen_display import shown_scene
from virtual_phone.display.png import encode
from virtual_phone.server.faults import FaultKind

if TYPE_CHECKING:
    from PIL import Image

    from virtual_phone.display.scene import Scene
    from virtual_phone.phone import Phone
    from virtual_phone.userland.userland import Userland

_pngs: WeakKeyDictionary[Phone, dict[int, tuple[object, bytes]]] = WeakKeyDictionary()
_locks: WeakKeyDictionary[Phone, asyncio.Lock] = WeakKeyDictionary()


async def png(userland: Userland, display: int = 0) -> bytes:
    """Return a display as PNG, RGB."""
    phone = userland.phone
    async with _locks.setdefault(phone, asyncio.Lock()):
        version = phone.compositor.version
        scene = shown_scene(userland, display)
        # While the screen is frozen the version goes on; the scene stays.
        shown: object = scene if scene.still else version
        black = FaultKind.BLACK_CAPTURE in userland.faults
        of_phone = _pngs.setdefault(phone, {})
        kept = of_phone.get(display)
        if kept is not None and kept[0] == shown and not black:
            return kept[1]
        data = await asyncio.to_thread(lambda: encode(_paint(phone, scene, black=black)))
        if not black:
            of_phone[display] = (shown, data)
        return data


async def raw_pixels(userland: Userland, display: int = 0) -> tuple[int, int, bytes]:
    """Return width, height and RGBA bytes of a display."""
    scene = shown_scene(userland, display)
    black = FaultKind.BLACK_CAPTURE in userland.faults

    def pixels() -> tuple[int, int, bytes]:
        image = _paint(userland.phone, scene, black=black).convert("RGBA")
        return image.width, image.height, image.tobytes()

    return await asyncio.to_thread(pixels)


def _paint(phone: Phone, scene: Scene, *, black: bool) -> Image.Image:
    """Paint a display's frame, RGB; black while captures are. Runs in a thread."""
    picture = phone.compositor.paint(scene)
    if black:
        picture.paste((0, 0, 0), (0, 0, *picture.size))
    return picture
