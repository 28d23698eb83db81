"""Shells of one phone that stay open, so that a command costs neither a process nor a connection.

Not the calls themselves (`agent.devices.shell.phone_shell`) and not for commands that leave
something running or want input. Each command is handed to a `sh` of AOSP's shell protocol
(`shell,v2,raw:` without a command; AOSP packages/modules/adb, SERVICES.TXT and shell_protocol.h) in
a subshell of its own, with nothing to read; a word that nobody can guess then ends both of its
outputs. Invariants: a command is sent once and never again; a shell whose command failed to end,
for whatever reason, is thrown away with it; what a command changes (folder, variables, traps) is
not the next one's.
"""

import asyncio
import re
import secrets
import struct
import time
from contextlib import suppress
from shlex import quote

from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.adb.stream import AdbStream, StreamEndedError
from agent.errors import DeviceError, DeviceLostError

MOST_KEPT = 2
"""How many shells of a phone stay open; a further command at the same time has one of its own."""
IDLE_S = 30.0
"""After so long without a command nothing is kept on the phone."""
OPEN_TIMEOUT_S = 2.0
REFUSED_S = 30.0
"""How long a phone is not asked again after its shell gave no answer."""
LONGEST_COMMAND_BYTES = 8 * 1024
"""A shell reads its input byte by byte; a longer command is quicker in a shell of its own."""

_DEFINITION = b'_run() { (eval "$1") </dev/null; echo "$2$?"; echo "$2" >&2; }\n'

_STDIN, _STDOUT, _STDERR, _EXIT = 0, 1, 2, 3
_PACKET = struct.Struct("<BI")
_STATUS = re.compile(rb"(\d{1,3})\n")


class KeptShell:
    """One open shell; one command at a time."""

    def __init__(self, stream: AdbStream, client: AdbClient, serial: str) -> None:
        self.client = client
        self.used_s = time.monotonic()
        self._stream = stream
        self._serial = serial
        self._word = secrets.token_hex(12)
        self._commands = 0

    @property
    def is_open(self) -> bool:
        """Whether it waits for a command: not ended, and nothing came that nobody asked for."""
        return self._stream.is_quiet

    async def run(self, command: str, limit: int) -> ShellResult:
        """Run a command; the caller bounds it in time and closes the shell when this raises.

        Raises DeviceLostError when the shell ends, DeviceError beyond `limit` bytes of output.
        """
        self._commands += 1
        mark = f"{self._word}.{self._commands}="
        line = f"_run {quote(command)} {mark}\n".encode()
        if self._commands == 1:
            line = _DEFINITION + line
        try:
            self._stream.writer.write(_PACKET.pack(_STDIN, len(line)) + line)
            await self._stream.writer.drain()
        except ConnectionError as error:
            raise StreamEndedError(
                f"The connection to {self._serial} broke.", "Reconnect the phone."
            ) from error
        return await self._answer(mark.encode(), limit)

    async def _answer(self, mark: bytes, limit: int) -> ShellResult:
        """Collect packets until both outputs have ended with the mark."""
        outputs = {_STDOUT: bytearray(), _STDERR: bytearray()}
        status: int | None = None
        has_errors_ended = False
        while status is None or not has_errors_ended:
            kind, length = _PACKET.unpack(await self._stream.exactly(_PACKET.size))
            if length > limit - sum(map(len, outputs.values())):
                raise self._stream.too_much(limit)
            data = await self._stream.exactly(length)
            self._stream.acknowledge()
            if kind == _EXIT:
                raise DeviceLostError(
                    f"The shell of {self._serial} ended before the command did.",
                    "Look at the screen, then try again.",
                )
            if kind == _STDOUT:
                status = _take_status(outputs[_STDOUT], data, mark)
            elif kind == _STDERR:
                errors = outputs[_STDERR]
                errors += data
                if errors.endswith(mark + b"\n"):
                    del errors[-len(mark) - 1 :]
                    has_errors_ended = True
        self.used_s = time.monotonic()
        return ShellResult(bytes(outputs[_STDOUT]), bytes(outputs[_STDERR]), status)

    def close(self) -> None:
        """End the shell, and what still runs in it."""
        self._stream.close()


class KeptShells:
    """The shells of one phone that stay open for the next command."""

    def __init__(self, serial: str) -> None:
        self._serial = serial
        self._idle: list[KeptShell] = []
        self._busy = 0
        self._generation = 0
        self._refused_until_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, client: AdbClient, command: str, *, limit: int) -> ShellResult | None:
        """Run a command in a kept shell; None when there is none, and nothing was run.

        The caller bounds it in time. Raises as `KeptShell.run` does.
        """
        if len(command) > LONGEST_COMMAND_BYTES or "\0" in command:
            return None
        generation = self._generation
        self._busy += 1
        try:
            shell = await self._take(client)
            if shell is None:
                return None
            try:
                result = await shell.run(command, limit)
            except BaseException:
                # Cancelled or out of time too: its answer would be taken for the next command's.
                shell.close()
                raise
        finally:
            self._busy -= 1
        if generation == self._generation:
            self._keep(shell)
        else:
            shell.close()
        return result

    def forget(self) -> None:
        """Close what is idle, and try again what was refused: the phone came back, or we go."""
        self._generation += 1
        self._refused_until_s = 0.0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._idle:
            self._idle.pop().close()

    async def _take(self, client: AdbClient) -> KeptShell | None:
        while self._idle:
            shell = self._idle.pop()
            if shell.is_open and shell.client is client:
                return shell
            shell.close()
        if self._busy > MOST_KEPT or time.monotonic() < self._refused_until_s:
            return None
        opened = await self._open(client)
        if opened is None:
            self._refused_until_s = time.monotonic() + REFUSED_S
        return opened

    async def _open(self, client: AdbClient) -> KeptShell | None:
        """Open a shell that answers; None when none does."""
        # Whatever is wrong, the shell of its own that is tried next says it.
        with suppress(TimeoutError, DeviceError):
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                stream = await client.hold(
                    self._serial, "shell,v2,raw:", timeout_s=OPEN_TIMEOUT_S + 1
                )
                shell = KeptShell(stream, client, self._serial)
                try:
                    answer = await shell.run(":", limit=4096)
                except BaseException:
                    shell.close()
                    raise
                if answer.exit_code == 0:
                    return shell
                shell.close()
        return None

    def _keep(self, shell: KeptShell) -> None:
        self._idle.append(shell)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._expire)

    def _expire(self) -> None:
        self._timer = None
        latest_s = time.monotonic() - IDLE_S
        for shell in [s for s in self._idle if s.used_s <= latest_s]:
            self._idle.remove(shell)
            shell.close()
        if self._idle:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._expire)


def _take_status(output: bytearray, data: bytes, mark: bytes) -> int | None:
    """Add to an output; when it has ended, take its end off and give the exit code."""
    output += data
    at = output.rfind(mark, max(len(output) - len(mark) - 8, 0))
    found = _STATUS.fullmatch(output, at + len(mark)) if at >= 0 else None
    if found is None:
        return None
    status = int(found[1])
    del output[at:]
    return status
