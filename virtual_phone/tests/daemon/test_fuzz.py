"""The short form of the fuzzers, with fixed seeds (`make fuzz` is the long one); what it found."""

from pathlib import Path

import pytest
from test_wire import peer_of

from support import fuzz_peers
from support.connected import Connected
from support.fuzz import CHECK_EVERY, fuzz
from virtual_phone.adbd.wire import Command
from virtual_phone.server.serve import PhoneHost


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
async def test_random_packets_and_shell_lines_neither_break_nor_swell_the_phone(
    tmp_path: Path, seed: int
) -> None:
    rounds = 3 * CHECK_EVERY
    assert await fuzz(tmp_path, seed, rounds=rounds) == rounds


@pytest.mark.slow
async def test_random_requests_to_automation_scrcpy_and_the_channel_leave_the_phone_well(
    tmp_path: Path,
) -> None:
    rounds = 6 * fuzz_peers.CHECK_EVERY
    assert await fuzz_peers.fuzz(tmp_path, 1, rounds=rounds) == rounds


async def test_a_filter_that_would_need_all_memory_says_so(connected: Connected) -> None:
    said = await connected.shell("sort /dev/zero")
    assert said.status == 1
    assert said.err.decode() == "sort: Cannot allocate memory\n"


async def test_a_reverse_request_that_is_not_utf8_is_refused_in_words(host: PhoneHost) -> None:
    async with peer_of(host) as peer:
        await peer.hello()
        peer.send(Command.OPEN, 1, 0, b"reverse:\xff\xfe\0")
        assert (await peer.take())[0].command is Command.OKAY
        _, said = await peer.take()
        assert said.startswith(b"FAIL") and b"\xff\xfe" in said
