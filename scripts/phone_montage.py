"""Draw screens of the virtual phone side by side into screenshots/phone.png.

Starts a phone of its own in a temporary directory with a clock that stands still; touches no other.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from PIL import Image

from virtual_phone.phone import Phone

CLOCK = 1_795_249_320.0
HEIGHT = 860
GAP = 14
SCREENS: tuple[tuple[str, dict[str, str], bool], ...] = (
    ("com.android.launcher3/.uioverrides.QuickstepLauncher", {}, False),
    ("com.android.settings/.Settings", {}, False),
    ("com.android.messaging/.ui.conversation.ConversationActivity", {"thread": "1"}, False),
    ("com.android.notes/.NotesListActivity", {}, False),
    ("com.example.larkspur/.MainActivity", {}, False),
    ("com.example.wallet/.MainActivity", {}, True),
    ("com.android.calendar/.AllInOneActivity", {}, True),
    ("com.android.settings/.SubSettings", {"page": "display"}, True),
)
"""Component, what it is started with, and whether the theme is dark."""


async def montage(target: Path) -> None:
    """Draw the screens and save them as one picture."""
    with tempfile.TemporaryDirectory() as home:
        phone = Phone(Path(home), name="montage", clock=lambda: CLOCK)
        # Nothing moves and nothing loads: the pages are shown as they are in the end.
        phone.settings.put("global", "transition_animation_scale", "0")
        width = round(HEIGHT * phone.displays.width / phone.displays.height)
        across = (len(SCREENS) + 1) // 2
        whole = Image.new(
            "RGB", ((width + GAP) * across + GAP, (HEIGHT + GAP) * 2 + GAP), (24, 26, 32)
        )
        for i, (component, extras, dark) in enumerate(SCREENS):
            phone.settings.set_dark(dark)
            phone.activities.start(component=component, extras=extras)
            await phone.animations.wait_idle()
            frame = phone.compositor.screenshot().convert("RGB")
            frame = frame.resize((width, HEIGHT), Image.Resampling.LANCZOS)
            x = GAP + (i % across) * (width + GAP)
            whole.paste(frame, (x, GAP + i // across * (HEIGHT + GAP)))
        phone.close()
    target.parent.mkdir(parents=True, exist_ok=True)
    whole.save(target, optimize=True)


if __name__ == "__main__":
    asyncio.run(montage(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots/phone.png")))
