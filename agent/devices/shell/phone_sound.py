"""Read the media volume from what `media volume --stream 3 --get` prints (VolumeCtrl.java)."""

import re

from agent.devices.shell.phone_shell import PhoneShell

_COMMAND = "media volume --stream 3 --get"
_LEVEL = re.compile(r"volume is (\d{1,3}) in range \[(\d{1,3})\.\.(\d{1,3})\]")


class PhoneSound:
    """Implements `agent.devices.protocols.Sound` by a phone's shell."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell

    async def media_volume(self, *, timeout_s: float = 5.0) -> tuple[int, int] | None:
        """Return the level and the highest one; None where the phone does not report them."""
        return read_level((await self._shell.run(_COMMAND, timeout_s)).text)


def read_level(printed: str) -> tuple[int, int] | None:
    found = _LEVEL.search(printed)
    return None if found is None else (int(found[1]), int(found[3]))
