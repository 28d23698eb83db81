"""Type text into the focused field of one phone, by whichever way it arrives exactly.

Not the quoting (`agent.devices.text_entry`) and not the borrowing of an input method
(`agent.devices.keyboard`). Invariant: what cannot arrive exactly raises TextEntryError.
"""

from __future__ import annotations

from agent.devices import text_entry
from agent.devices.keyboard import Keyboard
from agent.devices.profile import Profile
from agent.devices.shell import PhoneShell
from agent.errors import TextEntryError
from agent.text import one_line


class TextChannel:
    """Type on one phone."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell
        self._keyboard = Keyboard(shell.serial, shell.run)

    def forget(self) -> None:
        """Begin anew: the phone came back and may hold another input method."""
        self._keyboard = Keyboard(self._shell.serial, self._shell.run)

    async def type_text(self, text: str, *, timeout_s: float) -> None:
        """Type into the focused field. Raises TextEntryError when it cannot arrive exactly."""
        async with self._shell.bounded("typing", timeout_s):
            profile = await self._shell.profile(timeout_s=timeout_s)
            await self._keyboard.repair(timeout_s)
            if profile.unicode_input or text.isascii():
                await self._type_by_keys(text, profile, timeout_s)
            else:
                async with self._keyboard.borrowed(timeout_s) as is_there:
                    if is_there:
                        for line in text_entry.keyboard_commands(self._shell.serial, text):
                            await self._broadcast(line, timeout_s)
                    else:
                        await self._type_by_keys(text, profile, timeout_s)

    async def _broadcast(self, command: str, timeout_s: float) -> None:
        result = await self._shell.checked(command, timeout_s)
        if "Broadcast completed" not in result.text:
            raise TextEntryError(
                f"ADBKeyBoard of {self._shell.serial} did not take the text: "
                f"{one_line(result.text, 120)}.",
                "Make it the current keyboard again, or type the text by hand.",
            )

    async def _type_by_keys(self, text: str, profile: Profile, timeout_s: float) -> None:
        for line in text_entry.commands(
            self._shell.serial, text, unicode_input=profile.unicode_input, sdk=profile.sdk
        ):
            await self._shell.checked(line, timeout_s)
