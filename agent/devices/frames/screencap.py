"""Pictures of one phone's screen by `screencap`: exact, whole and slow.

Not video (`agent.devices.scrcpy`). Invariant: what is given is a whole PNG, turned as the screen
is, with its own digest; a refusal is raised with the phone's words.
"""

import asyncio
import hashlib
import re
import time

from agent.devices.adb.client import ServiceClosedError
from agent.devices.frames.display_size import DisplaySize
from agent.devices.frames.png import PNG_SIGNATURE, png_size, turned_png
from agent.devices.protocols import Capture
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.profile import Profile
from agent.records import Frame

_ORIENTATION = re.compile(r"\bmCurrentOrientation=([0-3])")


class Screencap:
    """Take pictures of one phone."""

    def __init__(self, shell: PhoneShell, display: DisplaySize) -> None:
        self._shell = shell
        self._display = display

    async def capture(self, *, timeout_s: float) -> Capture:
        """Take a picture of the screen. Raises DeviceError when screencap gave none."""
        serial = self._shell.serial
        async with self._shell.bounded("taking a picture", timeout_s):
            profile = await self._shell.profile(timeout_s=timeout_s)
            turns = await self._orientation(timeout_s) if profile.captures_unturned else 0
            captured_ms = time.time_ns() // 1_000_000
            data = await self._screencap(profile, timeout_s)
            ended_ms = time.time_ns() // 1_000_000
            # Phones with several displays write a warning before the picture.
            start = data.find(PNG_SIGNATURE, 0, 4096)
            data = data[start:] if start > 0 else data
            width, height = png_size(serial, data)
            if turns:
                data = await asyncio.to_thread(turned_png, serial, data, turns)
                width, height = (height, width) if turns % 2 else (width, height)
            self._display.learn_from_picture(width, height)
            frame = Frame(
                digest=hashlib.sha256(data).hexdigest(),
                width_px=width,
                height_px=height,
                captured_ms=captured_ms,
                ended_ms=ended_ms,
            )
            return Capture(frame=frame, data=data)

    async def _screencap(self, profile: Profile, timeout_s: float) -> bytes:
        client, serial = self._shell.client, self._shell.serial
        if "shell_v2" not in profile.features:
            try:
                return await client.exec(serial, "screencap -p", timeout_s=timeout_s)
            except ServiceClosedError:
                # Android 4 has no exec service; its shell turns LF into CR LF, which is repaired.
                pass
        result = await self._shell.run("screencap -p", timeout_s)
        if result.exit_code != 0:
            raise self._shell.failure("screencap -p", result)
        return result.stdout

    async def _orientation(self, timeout_s: float) -> int:
        found = _ORIENTATION.search((await self._shell.run("dumpsys display", timeout_s)).text)
        return int(found[1]) if found else 0
