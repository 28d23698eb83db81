"""Tell whether an app of a phone is the one that it seems to be."""

from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.window_looks import WindowLooks
from agent.devices.signing.app_signers import signers_of


class PhoneProof:
    """The certificates of a phone's apps, and what stands over them; implements `AppProof`."""

    def __init__(self, shell: PhoneShell, windows: WindowLooks) -> None:
        self._shell = shell
        self._windows = windows

    async def signers(self, package: str, *, timeout_s: float = 15.0) -> tuple[str, ...]:
        """Return the certificates of an app; see `AppProof.signers`."""
        return await signers_of(self._shell, package, timeout_s)

    async def windows_over(self, package: str, *, timeout_s: float = 5.0) -> tuple[str, ...]:
        """Return whose windows stand over an app; see `AppProof.windows_over`."""
        return await self._windows.over(package, timeout_s=timeout_s)
