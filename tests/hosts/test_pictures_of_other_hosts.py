"""Pictures and words of other hosts' phones: they come while somebody looks, and only then."""

import asyncio
from pathlib import Path

import pytest

from agent.errors import StoreError, UsageError, WrongStateError
from agent.records import FrameStatus
from agent.rpc.host_door import read_wire
from tests.hosts.bench import PATIENCE_S, PHONE, THERE, looking, serving, soon

BOX = {"width_px": 4, "height_px": 8, "max_hz": 30.0}


async def test_a_picture_of_another_hosts_phone_comes_at_its_size_while_it_is_looked_at(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as rack, looking({THERE: rack.wire}) as lines:
        assert lines.open_to == ()
        async with lines.frames(PHONE, **BOX) as frames:
            first, second = await soon(frames), await soon(frames)
            assert (first.serial, first.width_px, first.height_px) == (PHONE, 4, 8)
            assert first.status is FrameStatus.LIVE
            assert first.rgb != second.rgb
            assert lines.open_to == (THERE,)
            await rack.phones.until_followed(PHONE)
        await rack.phones.until_followed()
        # Nobody looks: the connection goes too.
        async with asyncio.timeout(PATIENCE_S):
            while rack.daemon.clients:
                await asyncio.sleep(0)
        assert lines.open_to == ()


async def test_all_who_look_share_a_connection_and_the_next_one_finds_it_open(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as rack, looking({THERE: rack.wire}, linger_s=PATIENCE_S) as lines:
        async with lines.frames(PHONE, **BOX) as one, lines.frames(PHONE, **BOX) as other:
            await asyncio.gather(soon(one), soon(other))
            await rack.phones.until_followed(PHONE, PHONE)
            assert rack.daemon.clients == 1
        await rack.phones.until_followed()
        async with lines.frames(PHONE, **BOX) as again:
            await soon(again)
            assert rack.daemon.clients == 1


async def test_words_come_of_the_session_that_is_asked_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as rack, looking({THERE: rack.wire}) as lines:
        async with lines.deltas(THERE, "s1") as deltas:
            rack.phones.core.write("s1", "I open")
            async with asyncio.timeout(PATIENCE_S):
                delta = await anext(deltas)
        assert (delta.session_id, delta.text) == ("s1", "I open")
        with pytest.raises(WrongStateError, match="rack-9 does not answer"):
            async with lines.deltas("rack-9", "s1"):
                pass


async def test_a_host_that_ends_is_said_in_the_picture_and_its_next_life_shows_again(
    tmp_path: Path,
) -> None:
    wires: dict[str, str] = {}
    async with looking(wires) as lines, lines.frames(PHONE, **BOX) as frames:
        async with serving(tmp_path / "one") as rack:
            wires[THERE] = rack.wire
            while (await soon(frames)).status is not FrameStatus.LIVE:
                pass
            del wires[THERE]
        while (lost := await soon(frames)).status is FrameStatus.LIVE:
            pass
        assert lost.status is FrameStatus.LOST
        assert lost.rgb == b""
        assert lost.detail
        async with serving(tmp_path / "two") as rack:
            wires[THERE] = rack.wire
            while (await soon(frames)).status is not FrameStatus.LIVE:
                pass


async def test_what_is_followed_of_a_host_that_counts_as_gone_ends(tmp_path: Path) -> None:
    wires: dict[str, str] = {}
    async with (
        serving(tmp_path) as rack,
        looking(wires) as lines,
        lines.frames(PHONE, **BOX) as frames,
    ):
        wires[THERE] = rack.wire
        while (await soon(frames)).status is not FrameStatus.LIVE:
            pass
        # As the database says that it is gone, though its process still answers.
        del wires[THERE]
        lines.hang_up(THERE)
        while (lost := await soon(frames)).status is FrameStatus.LIVE:
            pass
        assert lost.status is FrameStatus.LOST


async def test_a_phone_that_the_host_does_not_have_is_refused(tmp_path: Path) -> None:
    async with (
        serving(tmp_path) as rack,
        looking({THERE: rack.wire}) as lines,
        lines.frames(f"{THERE}/nothing", **BOX) as frames,
    ):
        with pytest.raises(UsageError, match="no device"):
            await soon(frames)


@pytest.mark.parametrize("said", ["{", '{"addresses": 7}', '{"secret": "?"}', "[]"])
async def test_a_way_that_cannot_be_read_is_said_in_the_picture(said: str) -> None:
    with pytest.raises(StoreError):
        read_wire(said)
    async with looking({THERE: said}) as lines, lines.frames(PHONE, **BOX) as frames:
        assert (await soon(frames)).status is FrameStatus.LOST


async def test_an_address_of_another_kind_or_computer_says_where_the_pictures_are(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as rack:
        for address in ("carrier:pigeon", "unix:core.sock", f"unix:{tmp_path}/nobody.sock"):
            wire = rack.door.wire(address)
            async with looking({THERE: wire}) as lines, lines.frames(PHONE, **BOX) as frames:
                frame = await soon(frames)
                assert frame.status is FrameStatus.LOST
                assert "are not available here" in frame.detail
        # One of several that answers is enough.
        wire = rack.door.wire(f"unix:{tmp_path}/nobody.sock", f"unix:{rack.daemon.path}")
        async with looking({THERE: wire}) as lines, lines.frames(PHONE, **BOX) as frames:
            assert (await soon(frames)).status is FrameStatus.LIVE
