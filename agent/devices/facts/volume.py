"""Read the media volume from what `media volume --stream 3 --get` prints (Android 6–16)."""

import re

COMMAND = "media volume --stream 3 --get"
_LEVEL = re.compile(r"volume is (\d{1,3}) in range \[(\d{1,3})\.\.(\d{1,3})\]")


def media_volume(printed: str) -> tuple[int, int] | None:
    """Return the level and the highest one; None where the phone does not report them."""
    found = _LEVEL.search(printed)
    return None if found is None else (int(found[1]), int(found[3]))
