"""What a volume key came to: the level is read back, because a screen seldom shows it."""

import re

from agent.devices.protocols import Button, Device, HasSound
from agent.errors import DeviceError

MEDIA_VOLUME = "media volume"
_NOTE = re.compile(rf"The {MEDIA_VOLUME} is (\d+ of \d+)\.")


async def volume_note(button: Button, device: Device) -> str:
    """Return the level after a volume key as a sentence; empty after any other key, or where the
    phone does not report it.
    """
    if button not in (Button.VOLUME_UP, Button.VOLUME_DOWN) or not isinstance(device, HasSound):
        return ""
    try:
        level = await device.sound.media_volume()
    except DeviceError:
        # The key was pressed; the observation that follows says whether the phone is there.
        return ""
    return "" if level is None else f"The {MEDIA_VOLUME} is {level[0]} of {level[1]}."


def noted_level(said: str) -> str:
    """Return the level that a result reports; empty: none."""
    found = _NOTE.search(said)
    return found[1] if found else ""
