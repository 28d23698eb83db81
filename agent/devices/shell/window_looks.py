"""Ask one phone about its windows, in one call of its shell.

Not the readers (`agent.devices.facts`). Invariant: a phone without `grep` is asked for the whole
text, and from then on for nothing else until it comes back.
"""

from agent.devices.facts.dump_text import MAIN_DISPLAY
from agent.devices.facts.fact import Fact, Unknown
from agent.devices.facts.foreground import WindowLook, foreground_command, read_window_look
from agent.devices.facts.overlays import read_overlays
from agent.devices.facts.windows import SECURE, WINDOWS, read_secure
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from agent.records import Foreground
from agent.text import one_line

SECURE_TIMEOUT_S = 5.0
_NO_GREP = "grep"


class WindowLooks:
    """Look at the windows of one phone."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell
        self._has_grep = True

    def forget(self) -> None:
        """Ask again whether it has `grep`: the phone came back and may be another build."""
        self._has_grep = True

    async def look(self, *, timeout_s: float, display: int = MAIN_DISPLAY) -> WindowLook:
        """Look once. Raises as `PhoneShell.run` does."""
        sdk = (await self._shell.profile(timeout_s=timeout_s)).sdk
        said = ""
        if self._has_grep:
            said = (await self._shell.run(foreground_command(sdk), timeout_s)).text
            look = read_window_look(said, display)
            if not isinstance(look.front, Unknown):
                return look
        text = (await self._shell.run(foreground_command(sdk, whole=True), timeout_s)).text
        look = read_window_look(text, display)
        if not isinstance(look.front, Unknown) and _NO_GREP in said:
            self._has_grep = False
        return look

    async def foreground(self, *, timeout_s: float, display: int = MAIN_DISPLAY) -> Foreground:
        """Return which app is in front of a display. Raises DeviceError if nothing says so."""
        return self.foreground_of(await self.look(timeout_s=timeout_s, display=display))

    def foreground_of(self, look: WindowLook) -> Foreground:
        """Return what a look says is in front. Raises DeviceError if it says nothing."""
        found = look.foreground
        if found is None:
            why = look.front.reason if isinstance(look.front, Unknown) else ""
            raise DeviceError(
                f"dumpsys window of {self._shell.serial} names no focus: {one_line(why, 200)}.",
                "Wait until the phone has started, then look again.",
            )
        return found

    async def is_secure(self, display: int = MAIN_DISPLAY) -> Fact[bool]:
        """Return whether the window in front of a display forbids pictures of itself."""
        said = await self._shell.run(SECURE, SECURE_TIMEOUT_S)
        return read_secure(said.text, display)

    async def over(
        self, package: str, *, timeout_s: float, display: int = MAIN_DISPLAY
    ) -> tuple[str, ...]:
        """Return whose windows stand over an app. Raises DeviceError if they cannot be told."""
        said = await self._shell.run(WINDOWS, timeout_s)
        found = read_overlays(said.text, package, display)
        if isinstance(found, Unknown):
            raise DeviceError(
                f"The windows over {package} are unknown: {one_line(found.reason, 200)}.",
                "Look at the screen, then try again.",
            )
        return found.value
