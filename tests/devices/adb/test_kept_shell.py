"""Shells that stay open, with this machine's own `sh` at the other end and with a virtual phone."""

import asyncio
import os
import signal
import struct
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.adb.stream import AdbStream
from agent.devices.shell import persistent_shell
from agent.devices.shell.persistent_shell import MOST_KEPT, KeptShell
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from support.patience import until
from tests.devices.conftest import Home, block, packet, said, scripted_server

BOUND_S = 30.0
_COMMANDS = {
    "nothing": ":",
    "both outputs": "echo out; echo error >&2; exit 7",
    "no line end": "printf 'a b'; printf 'c' >&2; exit 255",
    "only line ends": "echo; echo",
    "a syntax error": "echo 'never closed",
    "unbalanced": "echo a) ; (",
    "every quote": """printf '%s\\n' 'a"b' "c'd" '$HOME' `echo e` $(echo f) \\\\g""",
    "lines": "for i in 1 2 3\ndo\n  echo $i\ndone",
    "bytes": r"printf '\000\001\377\r\n=1\n'",
    "much": "i=0; while [ $i -lt 4000 ]; do echo 0123456789; i=$((i+1)); done",
    "input": "cat; echo over",
    "a killed child": "sh -c 'kill -9 $$'; echo $?",
    "text beyond ASCII": "printf '%s' 'naïve 语 🙂'",
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no shell for one that is not kept because this machine was slow to start it."""
    monkeypatch.setattr(persistent_shell, "OPEN_TIMEOUT_S", BOUND_S)


class ShellPhone:
    """A phone whose shell service is this machine's `sh`; counts what it was asked for."""

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps
        self.opened: list[asyncio.subprocess.Process] = []
        self.services: list[str] = []
        self.running = 0

    async def handle(
        self, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection of an adb server's client."""
        if request.endswith(":features"):
            writer.write(b"OKAY" + block("shell_v2"))
            return
        writer.write(b"OKAY")
        service = await said(reader)
        self.services.append(service)
        writer.write(b"OKAY")
        command = service.removeprefix("shell,v2,raw:")
        if not command and not self.keeps:
            # Takes the shell and never answers it, until the other side gives up.
            await reader.read()
            return
        words = ("sh", "-c", command) if command else ("sh",)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        self.running += 1
        if not command:
            self.opened.append(process)
        assert process.stdin is not None and process.stdout is not None
        assert process.stderr is not None
        feeding = asyncio.create_task(_feed(reader, process))
        try:
            async with asyncio.TaskGroup() as passing:
                passing.create_task(_pass(process.stdout, writer, 1))
                passing.create_task(_pass(process.stderr, writer, 2))
            writer.write(packet(3, bytes([await process.wait() & 0xFF])))
        finally:
            feeding.cancel()
            _hang_up(process)
            # Whoever talks on is heard to the end; else the process is never seen to end.
            await process.communicate()
            self.running -= 1


def _hang_up(process: asyncio.subprocess.Process) -> None:
    """End a shell and what it started, as adb's daemon does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _feed(reader: asyncio.StreamReader, process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    try:
        while True:
            _, length = struct.unpack("<BI", await reader.readexactly(5))
            process.stdin.write(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        _hang_up(process)


async def _pass(source: asyncio.StreamReader, writer: asyncio.StreamWriter, kind: int) -> None:
    with suppress(ConnectionError):
        while data := await source.read(4096):
            writer.write(packet(kind, data))
            await writer.drain()


@asynccontextmanager
async def a_shell(phone: ShellPhone) -> AsyncIterator[PhoneShell]:
    """Give the kept shells of a phone, closed in the end."""
    async with scripted_server(phone.handle) as address:
        shell = PhoneShell(AdbClient(address), "phone", keeps_shells=True)
        await shell.profile()
        phone.services.clear()
        try:
            yield shell
        finally:
            shell.close()
            await until(lambda: not phone.running)


def waits_open(shell: PhoneShell) -> bool:
    assert shell._kept is not None
    return any(one.is_open for one in shell._kept._idle)


async def test_what_a_kept_shell_gives_is_what_a_shell_of_its_own_gives() -> None:
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        for name, command in _COMMANDS.items():
            result = await shell.run(command, BOUND_S)
            alone = subprocess.run(["sh", "-c", command], capture_output=True, input=b"")  # noqa: ASYNC221
            assert result.stdout == alone.stdout, name
            assert result.exit_code == alone.returncode, name
            assert bool(result.stderr) == bool(alone.stderr), name
    assert phone.services == ["shell,v2,raw:"]


async def test_a_virtual_phone_answers_kept_shells_through_a_real_adb_server(home: Home) -> None:
    serial = home.phones.serials[0]
    shell = PhoneShell(AdbClient(home.server.address), serial, keeps_shells=True)
    try:
        result = await shell.run("echo out; echo error >&2; exit 7", BOUND_S)
        assert (result.stdout, result.stderr, result.exit_code) == (b"out\n", b"error\n", 7)
        assert (await shell.run("cd /data/local/tmp; LEAK=1; pwd", BOUND_S)).stdout == (
            b"/data/local/tmp\n"
        )
        assert (await shell.run('pwd; echo "$LEAK"', BOUND_S)).stdout == b"/\n\n"
        picture = await shell.run("screencap -p", BOUND_S)
        assert picture.stdout.startswith(b"\x89PNG") and picture.stdout.endswith(b"IEND\xaeB`\x82")
    finally:
        shell.close()


async def test_what_a_command_changes_is_not_the_next_ones() -> None:
    async with a_shell(ShellPhone()) as shell:
        await shell.run("cd /; LEAK=1; trap 'echo trapped' EXIT; set -e; exec 2>/dev/null", BOUND_S)
        result = await shell.run("false; echo $LEAK error >&2", BOUND_S)
        assert (result.stdout, result.stderr) == (b"", b"error\n")


async def test_commands_at_the_same_time_each_get_their_own_answer() -> None:
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        results = await asyncio.gather(*(shell.run(f"echo {n}", BOUND_S) for n in range(12)))
        assert [result.stdout for result in results] == [b"%d\n" % n for n in range(12)]
        assert len(phone.opened) <= MOST_KEPT


async def test_a_command_out_of_time_takes_its_shell_with_it() -> None:
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        await shell.run(":", BOUND_S)
        with pytest.raises(DeviceTimeoutError, match="phone did not finish"):
            await shell.run("echo late; exec sleep 60", 0.2)
        await until(lambda: phone.opened[0].returncode is not None)
        assert (await shell.run("echo next", BOUND_S)).stdout == b"next\n"


async def test_a_command_that_is_given_up_leaves_nothing_for_the_next(tmp_path: Path) -> None:
    phone = ShellPhone()
    begun = tmp_path / "begun"
    async with a_shell(phone) as shell:
        running = asyncio.create_task(shell.run(f"echo old; : > '{begun}'; sleep 60", BOUND_S))
        await until(begun.exists)
        running.cancel()
        await asyncio.wait({running})
        assert (await shell.run("echo new", BOUND_S)).stdout == b"new\n"


async def test_a_shell_that_ended_meanwhile_is_replaced() -> None:
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        await shell.run(":", BOUND_S)
        phone.opened[0].kill()
        await phone.opened[0].wait()
        await until(lambda: not waits_open(shell))
        assert (await shell.run("echo next", BOUND_S)).stdout == b"next\n"
        assert len(phone.opened) == 2


async def test_a_command_whose_shell_dies_is_lost_and_never_sent_again(tmp_path: Path) -> None:
    done = tmp_path / "done"
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        await shell.run(":", BOUND_S)
        killing = f"echo once >> '{done}'; kill -9 {phone.opened[0].pid}"
        with pytest.raises(DeviceLostError):
            await shell.run(killing, BOUND_S)
        assert done.read_text() == "once\n"


async def test_a_phone_that_keeps_no_shell_gets_one_for_each_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(persistent_shell, "OPEN_TIMEOUT_S", 0.2)
    phone = ShellPhone(keeps=False)
    async with a_shell(phone) as shell:
        for _ in range(3):
            assert (await shell.run("echo hi", BOUND_S)).stdout == b"hi\n"
    assert phone.services.count("shell,v2,raw:") == 1


async def test_an_unused_shell_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistent_shell, "IDLE_S", 0.05)
    phone = ShellPhone()
    async with a_shell(phone) as shell:
        await shell.run(":", BOUND_S)
        await until(lambda: phone.opened[0].returncode is not None)
        assert not waits_open(shell)


async def test_a_phone_that_talks_too_much_is_cut_off() -> None:
    kept, phone = persistent_shell.KeptShells("phone"), ShellPhone()
    async with scripted_server(phone.handle) as address:
        with pytest.raises(DeviceError, match="more than 65536 bytes"):
            await kept.run(AdbClient(address), "head -c 200000 /dev/zero", limit=65536)
        kept.forget()
        await until(lambda: not phone.running)


class _Played:
    """A stream that answers the command it is given, in packets of the given lengths."""

    def __init__(self, stdout: bytes, stderr: bytes, status: int, cuts: list[int]) -> None:
        self._said, self._status, self._cuts = (stdout, stderr), status, cuts
        self._answer = b""
        self.writer = self

    def write(self, data: bytes) -> None:
        """Take the command; its last word ends both outputs."""
        mark = data.split()[-1]
        out = self._said[0] + mark + b"%d\n" % self._status
        error = self._said[1] + mark + b"\n"
        packets = [*self._packets(1, out), *self._packets(2, error)]
        self._answer = b"".join(packets)

    def _packets(self, kind: int, data: bytes) -> list[bytes]:
        ends = sorted({min(cut, len(data)) for cut in self._cuts} | {len(data)})
        return [packet(kind, data[start:end]) for start, end in zip([0, *ends], ends, strict=False)]

    async def drain(self) -> None:
        """Nothing waits."""

    def acknowledge(self) -> None:
        """Nothing is to be said."""

    async def exactly(self, count: int) -> bytes:
        """Read so many bytes of the answer."""
        data, self._answer = self._answer[:count], self._answer[count:]
        assert len(data) == count
        return data


@settings(deadline=None, max_examples=150)
@given(
    stdout=st.binary(max_size=80),
    stderr=st.binary(max_size=80),
    status=st.integers(0, 255),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
def test_any_answer_in_any_packets_is_taken_whole(
    stdout: bytes, stderr: bytes, status: int, cuts: list[int]
) -> None:
    played = _Played(stdout, stderr, status, cuts)
    shell = KeptShell(cast(AdbStream, played), cast(AdbClient, None), "phone")
    result = asyncio.run(shell.run("any", limit=1 << 16))
    assert (result.stdout, result.stderr, result.exit_code) == (stdout, stderr, status)
