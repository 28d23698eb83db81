"""Probes run within their time, and what goes wrong in one is its row."""

import asyncio
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.frames.png import png_of_raw, png_size
from agent.devices.frames.raw_screen import read_raw_screen
from agent.devices.passport.passport import Area, Outcome, Row
from agent.devices.qualify.probe import Ask, Examination, Probe, works
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError


def probe(ask: Ask, timeout_s: float = 30.0, name: str = "it") -> Probe:
    return Probe(Area.LINK, name, timeout_s, ask)


def raising(error: Exception) -> Ask:
    async def ask() -> list[Row]:
        raise error

    return ask


async def never() -> list[Row]:
    await asyncio.Event().wait()
    return []


async def fine() -> list[Row]:
    return [works(Area.LINK, "it", "fine")]


def examination(budget_s: float = 60.0) -> tuple[Examination, list[tuple[Row, ...]]]:
    told: list[tuple[Row, ...]] = []
    return Examination(told.append, budget_s), told


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (DeviceError("It refuses.", "Do this."), Outcome.FAILS),
        (DeviceTimeoutError("It is slow."), Outcome.UNKNOWN),
        (DeviceLostError("It is away."), Outcome.UNKNOWN),
    ],
)
async def test_an_error_is_a_row_with_its_words(error: DeviceError, outcome: Outcome) -> None:
    examining, told = examination()
    (row,) = await examining.one(probe(raising(error)))
    assert (row.outcome, row.detail, row.remedy) == (
        outcome,
        error.message.rstrip("."),
        error.remedy,
    )
    assert told == [(row,)]


async def test_a_probe_that_nobody_answers_ends_at_its_own_time_and_stops_no_other() -> None:
    examining, told = examination()
    async with asyncio.timeout(30):
        await examining.side_by_side([probe(never, 0.05, "hangs"), probe(fine)])
    by_name = {row.name: row for rows in told for row in rows}
    assert by_name["hangs"].outcome is Outcome.UNKNOWN
    assert "no answer within 0.05 s" in by_name["hangs"].detail
    assert by_name["it"].outcome is Outcome.WORKS


async def test_rows_are_told_when_they_are_there_and_not_at_the_end() -> None:
    examining, told = examination()
    gate = asyncio.Event()

    async def gated() -> list[Row]:
        await gate.wait()
        return [works(Area.LINK, "late", "fine")]

    running = asyncio.create_task(examining.side_by_side([probe(gated), probe(fine)]))
    async with asyncio.timeout(30):
        while not told:
            await asyncio.sleep(0)
        assert [row.name for row in told[0]] == ["it"]
        gate.set()
        await running
    assert [row.name for row in told[1]] == ["late"]


async def test_a_phone_that_is_away_is_asked_nothing_more() -> None:
    examining, told = examination()
    await examining.in_turn([probe(raising(DeviceLostError("It is away."))), probe(fine)])
    assert [row.outcome for rows in told for row in rows] == [Outcome.UNKNOWN, Outcome.UNKNOWN]
    assert "not tried: It is away" in told[1][0].detail


async def test_when_the_time_is_up_nothing_is_begun_but_what_puts_things_back() -> None:
    examining, told = examination(budget_s=0.0)
    await examining.one(probe(fine))
    await examining.one(probe(fine), beyond_budget=True)
    assert [row.outcome for rows in told for row in rows] == [Outcome.UNKNOWN, Outcome.WORKS]


# --- raw screens ----------


@pytest.mark.parametrize("head", [struct.pack("<III", 2, 1, 1), struct.pack("<IIII", 2, 1, 1, 0)])
def test_a_raw_screen_is_read_with_and_without_a_colour_space(head: bytes) -> None:
    screen = read_raw_screen("phone", head + bytes(range(8)))
    assert (screen.size, screen.order, screen.pixels) == ((2, 1), "RGBX", bytes(range(8)))
    assert png_size("phone", png_of_raw(screen.pixels, screen.order, screen.size)) == (2, 1)


def test_a_raw_screen_is_read_behind_the_words_about_several_displays() -> None:
    # The shape of screencap.cpp since Android 14, where `exec` joins both streams.
    words = b"[Warning] Multiple displays were found, but no display id was given.\nSee -d.\n\n"
    screen = read_raw_screen("phone", words + struct.pack("<IIII", 2, 1, 1, 0) + bytes(8))
    assert screen.size == (2, 1)
    with pytest.raises(DeviceError, match="Multiple displays"):
        read_raw_screen("phone", words)


@given(st.binary(max_size=64))
def test_no_bytes_are_a_raw_screen_by_accident(data: bytes) -> None:
    try:
        screen = read_raw_screen("phone", data)
    except DeviceError:
        return
    width, height = screen.size
    assert len(screen.pixels) == width * height * len(screen.order)
