"""The shell of one phone: what every channel to it asks, bounded in time and told apart in failure.

Not the adb client (`agent.devices.adb.client`), which knows no phone in particular. Invariants:
what is fixed about the phone is asked once per connection; a command that failed is raised with the
phone's own words; one that ran out of time is DeviceTimeoutError.
"""

import asyncio
import re

from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.adb.stream import OUTPUT_LIMIT_BYTES
from agent.devices.resources.resource_ledger import ResourceLedger
from agent.devices.shell.injection import refusal_in, refused
from agent.devices.shell.persistent_shell import KeptShells
from agent.devices.shell.profile import Profile, read_profile
from agent.errors import DeviceError, DeviceTimeoutError
from agent.text import one_line

_FAILED_INPUT = re.compile(r"^[ \t]*(error|usage|invalid|unknown|.*exception)\b", re.I | re.M)


class PhoneShell:
    """Run commands on one phone through one adb server.

    Args:
        keeps_shells: keep shells open between commands; `close` ends them.
        resources: where what is taken on the phone is written down.
    """

    def __init__(
        self,
        client: AdbClient,
        serial: str,
        *,
        keeps_shells: bool = False,
        resources: ResourceLedger | None = None,
    ) -> None:
        self.client = client
        self.serial = serial
        self.resources = resources or ResourceLedger()
        self._profile: Profile | None = None
        self._kept = KeptShells(serial) if keeps_shells else None

    def move(self, client: AdbClient) -> None:
        """Reach the phone through another adb server from now on."""
        self.client = client
        self.forget()

    def forget(self) -> None:
        """Ask again for what is fixed: the phone came back and may be another build."""
        self._profile = None
        self.close()

    def close(self) -> None:
        """Keep no shell open; the next command may open one again."""
        if self._kept is not None:
            self._kept.forget()

    async def profile(self, *, timeout_s: float = 10.0) -> Profile:
        """Return what is fixed about the phone, asked once per connection."""
        if self._profile is None:
            self._profile = await read_profile(self.client, self.serial, timeout_s=timeout_s)
        return self._profile

    @property
    def known_profile(self) -> Profile | None:
        """What was read of the phone since it connected; None while nothing was."""
        return self._profile

    def bounded(self, doing: str, timeout_s: float) -> "Deadline":
        """Bound several calls by one time-out, raised as DeviceTimeoutError."""
        return Deadline(self.serial, doing, timeout_s)

    async def run(self, command: str, timeout_s: float) -> ShellResult:
        """Run a command that needs no input and leaves nothing running, whatever its exit code."""
        async with self.bounded("a shell command", timeout_s):
            features = (await self.profile(timeout_s=timeout_s)).features
            if self._kept is not None and "shell_v2" in features:
                result = await self._kept.run(self.client, command, limit=OUTPUT_LIMIT_BYTES)
                if result is not None:
                    return result
            return await self.client.shell(
                self.serial, command, features=features, timeout_s=timeout_s
            )

    async def checked(self, command: str, timeout_s: float) -> ShellResult:
        """Run a command. Raises DeviceError when it failed or said that it did, InputRefusedError
        when the phone takes no input from adb, whatever the exit code.
        """
        result = await self.run(command, timeout_s)
        if result.exit_code != 0 or _FAILED_INPUT.search(result.text) or refusal_in(result.text):
            raise self.failure(command, result)
        return result

    def failure(self, command: str, result: ShellResult) -> DeviceError:
        """Make the error of a command that failed, with its own words."""
        if refusal := refusal_in(result.text):
            return refused(self.serial, refusal, self._profile)
        said = one_line(result.text, 300)
        return DeviceError(
            f"`{one_line(command, 60)}` failed on {self.serial} with exit code "
            f"{result.exit_code}: {said or 'it printed nothing'}.",
            "Look at the screen, then try again.",
        )


class Deadline:
    """One time-out over several calls, raised as DeviceTimeoutError."""

    def __init__(self, serial: str, doing: str, timeout_s: float) -> None:
        self._timeout = asyncio.timeout(timeout_s)
        self._message = f"{serial} did not finish {doing} within {timeout_s:g} s."

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        try:
            await self._timeout.__aexit__(*raised)  # type: ignore[arg-type]
        except TimeoutError:
            raise DeviceTimeoutError(
                self._message, "Look at the screen first: whether it took effect is unknown."
            ) from None
