"""What the Android project's own device tests ask of a daemon: hang-ups, compression, small truths.

With the stock adb binary against the phone.
"""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.connected import Connected
from support.patience import until
from virtual_phone.adbd import shell_service
from virtual_phone.adbd.compression import (
    PIECE_BYTES,
    CompressionError,
    SyncFlag,
    deflater,
    inflater,
)

NAMES = {SyncFlag.BROTLI: "brotli", SyncFlag.LZ4: "lz4", SyncFlag.ZSTD: "zstd"}
LARGEST_PIECE_BYTES = 16 * 1024 * 1024


def processes(connected: Connected, args: str) -> list[str]:
    table = connected.userland.processes.all([])
    return [one.args for one in table if one.args == args]


@pytest.mark.parametrize("how", [["shell"], ["shell", "-x"], ["exec-out"]])
async def test_a_command_ends_when_its_client_is_killed(
    connected: Connected, how: list[str]
) -> None:
    process = await asyncio.create_subprocess_exec(
        *connected.adb.arguments(*how, "sleep 4711", serial=connected.serial),
        stdin=asyncio.subprocess.PIPE,
        env=connected.adb.environment,
    )
    await until(lambda: bool(processes(connected, "sleep 4711")))
    process.kill()
    await process.wait()
    await until(lambda: not processes(connected, "sleep 4711"))


async def test_a_line_may_trap_its_hang_up(connected: Connected) -> None:
    line = "trap 'echo hung up > /data/local/tmp/trap' SIGHUP; echo waiting; read"
    process = await asyncio.create_subprocess_exec(
        *connected.adb.arguments("shell", line, serial=connected.serial),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=connected.adb.environment,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"waiting\n"
    process.kill()
    await process.wait()
    await until(lambda: connected.userland.files.exists("/data/local/tmp/trap"))
    assert (await connected.shell("cat /data/local/tmp/trap")).text == "hung up\n"


async def test_a_shell_is_a_process_of_its_own(connected: Connected) -> None:
    said = await connected.shell("ps $$ | grep $$; kill -9 $$; echo not reached")
    assert "sh" in said.text
    assert "not reached" not in said.text


async def test_abb_without_words_says_what_cmd_says(connected: Connected) -> None:
    abb, cmd = await connected("abb"), await connected("shell", "cmd")
    assert (abb.out, abb.err) == (cmd.out, cmd.err)


async def test_the_phone_has_been_up_and_idle_for_some_time(connected: Connected) -> None:
    up, idle = (await connected.shell("cat /proc/uptime")).text.split()
    assert float(up) > 0
    assert float(idle) > 0


@pytest.mark.parametrize("name", NAMES.values())
async def test_a_client_that_insists_on_compression_gets_it(
    connected: Connected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(connected.adb.environment, "ADB_COMPRESSION", name)
    data = os.urandom(300_000) + b"x" * 3_000_000
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(data)
    assert (await connected("push", str(here), "/data/local/tmp/packed")).status == 0
    assert (await connected("pull", "/data/local/tmp/packed", str(back))).status == 0
    assert back.read_bytes() == data
    refused = await connected("push", str(here), "/system/")
    assert refused.status == 1
    assert b"Read-only file system" in refused.err + refused.out
    missing = await connected("pull", "/data/local/tmp/no-such", str(back))
    assert missing.status == 1


@pytest.mark.parametrize("flag", NAMES)
@given(data=st.binary(max_size=5000), cut=st.integers(1, 4000))
def test_what_is_packed_is_unpacked_whatever_the_pieces(
    flag: SyncFlag, data: bytes, cut: int
) -> None:
    packing, unpacking = deflater(flag), inflater(flag)
    packed = packing.pack(data) + packing.finish()
    parts = [packed[at : at + cut] for at in range(0, len(packed), cut)]
    assert b"".join(piece for part in parts for piece in unpacking.pieces(part)) == data
    assert unpacking.finished


@pytest.mark.parametrize("flag", NAMES)
@given(data=st.binary(min_size=1, max_size=300))
def test_damage_is_an_error_or_an_unfinished_stream(flag: SyncFlag, data: bytes) -> None:
    unpacking = inflater(flag)
    try:
        for piece in unpacking.pieces(data):
            assert len(piece) <= LARGEST_PIECE_BYTES
    except CompressionError:
        return
    assert isinstance(unpacking.finished, bool)


@pytest.mark.parametrize("flag", NAMES)
def test_a_bomb_comes_in_bounded_pieces(flag: SyncFlag) -> None:
    packing, unpacking = deflater(flag), inflater(flag)
    packed = b"".join(packing.pack(bytes(1_000_000)) for _ in range(100)) + packing.finish()
    total = 0
    for start in range(0, len(packed), 65_536):
        for piece in unpacking.pieces(packed[start : start + 65_536]):
            assert len(piece) <= max(LARGEST_PIECE_BYTES, PIECE_BYTES)
            total += len(piece)
    assert total == 100_000_000


def test_two_compressions_at_once_are_refused() -> None:
    for both in (SyncFlag.BROTLI | SyncFlag.LZ4, 7):
        with pytest.raises(CompressionError):
            inflater(both)
        with pytest.raises(CompressionError):
            deflater(both)


class ReadSlowly:
    """What a peer left behind, of which a little is read between any two looks at it."""

    def __init__(self, pieces: int) -> None:
        self._left = pieces

    @property
    def backlog_bytes(self) -> int:
        self._left = max(0, self._left - 1)
        return self._left


async def test_a_command_is_not_ended_while_it_takes_in_what_its_peer_had_sent() -> None:
    command: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    sent = ReadSlowly(8 * shell_service.GRACE_STEPS)
    async with asyncio.timeout(60):
        await shell_service.take_in(sent, command, 0.05)
    assert sent.backlog_bytes == 0
    assert not command.done()
    command.set_result(0)
    async with asyncio.timeout(60):
        await shell_service.take_in(ReadSlowly(0), command, 3600.0)
