"""Pictures of a phone's display as bytes: PNG and raw pixels, made once per frame.

Not the renderer. Invariant: a still screen is encoded once; the caches are weak, so a phone that
is gone leaves nothing.
"""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from agent.phone.faults import FaultKind

if TYPE_CHECKING:
    from PIL import Image

    from agent.phone.phone import Phone
    from agent.phone.userland.userland import Userland

PNG_LEVEL = 1
"""zlib level: 1 is the fastest that still compresses screens to a tenth."""

_pngs: WeakKeyDictionary[Phone, dict[int, tuple[int, bytes]]] = WeakKeyDictionary()
_locks: WeakKeyDictionary[Phone, asyncio.Lock] = WeakKeyDictionary()


async def png(userland: Userland, display: int = 0) -> bytes:
    """Return a display as PNG."""
    phone = userland.phone
    async with _locks.setdefault(phone, asyncio.Lock()):
        version = phone.frame_version
        of_phone = _pngs.setdefault(phone, {})
        kept = of_phone.get(display)
        if kept is not None and (kept[0] == version or FaultKind.FROZEN_SCREEN in userland.faults):
            return kept[1]
        image = await _picture(userland, display)
        data = await asyncio.to_thread(_encode, image)
        if FaultKind.BLACK_CAPTURE not in userland.faults:
            of_phone[display] = (version, data)
        return data


def _encode(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=PNG_LEVEL)
    return out.getvalue()


async def raw_pixels(userland: Userland, display: int = 0) -> tuple[int, int, bytes]:
    """Return width, height and RGBA bytes of a display."""
    image = await _picture(userland, display)
    return image.width, image.height, await asyncio.to_thread(image.tobytes)


async def _picture(userland: Userland, display: int) -> Image.Image:
    """Return the display's frame, RGBA; black while captures are. Drawing happens in a thread."""
    phone = userland.phone
    scene = phone.scene(display)
    black = FaultKind.BLACK_CAPTURE in userland.faults

    def paint() -> Image.Image:
        picture = phone.paint_scene(scene).convert("RGBA")
        if black:
            picture.paste((0, 0, 0, 255), (0, 0, *picture.size))
        return picture

    return await asyncio.to_thread(paint)
