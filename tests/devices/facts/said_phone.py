"""A phone whose shell says what a test wants, and notes what it was asked."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.profile import Profile

Answer = str | ShellResult


def result(said: Answer) -> ShellResult:
    """Return what a command wrote, with exit code 0 if only its words are given."""
    if isinstance(said, ShellResult):
        return said
    return ShellResult(stdout=said.encode(), stderr=b"", exit_code=0)


def failed(said: str, exit_code: int) -> ShellResult:
    """Return what a command wrote to its error output before it failed."""
    return ShellResult(stdout=b"", stderr=said.encode(), exit_code=exit_code)


class SaidPhone(PhoneShell):
    """The shell of such a phone.

    Args:
        says: answers by the beginning of the command; the longest beginning counts.
        sdk: Android's level.
    """

    def __init__(
        self, says: Mapping[str, Answer] | Callable[[str], Answer], *, sdk: int = 34
    ) -> None:
        super().__init__(AdbClient(ServerAddress("127.0.0.1", 1)), "phone")
        self._says = says
        self._profile = Profile(features=frozenset({"shell_v2", "cmd"}), sdk=sdk)
        self.ran: list[str] = []

    async def run(self, command: str, timeout_s: float = 5.0) -> ShellResult:
        self.ran.append(command)
        if callable(self._says):
            return result(self._says(command))
        known = [name for name in self._says if command.startswith(name)]
        if not known:
            program = command.split()[0]
            return failed(f"/system/bin/sh: {program}: inaccessible or not found\n", 127)
        return result(self._says[max(known, key=len)])


class DumpingPhone(SaidPhone):
    """A phone whose commands run in a real shell, with `dumpsys` printing files.

    Args:
        folder: has a file for each word list of `dumpsys`, such as `window displays`.
        has_grep: whether it has `grep`.
    """

    def __init__(self, folder: Path, *, sdk: int, has_grep: bool = True) -> None:
        super().__init__({}, sdk=sdk)
        self._folder = folder
        self._has_grep = has_grep

    async def run(self, command: str, timeout_s: float = 5.0) -> ShellResult:
        self.ran.append(command)
        defined = f'dumpsys() {{ cat "{self._folder}/$*"; }}; '
        if not self._has_grep:
            defined += "grep() { echo '/system/bin/sh: grep: not found' >&2; return 127; }; "
        child = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            defined + command,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await child.communicate()
        return ShellResult(stdout, stderr, child.returncode or 0)
