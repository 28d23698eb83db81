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
    from agent.phone.phone import Phone
    from agent.phone.userland.userland import Userland

PNG_LEVEL = 1
"""zlib level: 1 is the fastest that still compresses screens to a tenth."""

_PNGS: WeakKeyDictionary[Phone, tuple[int, bytes]] = WeakKeyDictionary()


async def png(userland: Userland) -> bytes:
    """Return the display as PNG."""
    phone = userland.phone
    version = phone.frame_version
    kept = _PNGS.get(phone)
    if kept is not None and (kept[0] == version or FaultKind.FROZEN_SCREEN in userland.faults):
        return kept[1]
    image = phone.screenshot()

    def encode() -> bytes:
        out = io.BytesIO()
        image.save(out, "PNG", compress_level=PNG_LEVEL)
        return out.getvalue()

    data = await asyncio.to_thread(encode)
    _PNGS[phone] = (version, data)
    return data


async def raw_pixels(userland: Userland) -> tuple[int, int, bytes]:
    """Return width, height and RGBA bytes of the display."""
    image = userland.phone.screenshot()
    return image.width, image.height, image.convert("RGBA").tobytes()
