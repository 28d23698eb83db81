"""Following a core through its daemon: events, deltas and frames, however slow the viewer."""

import asyncio

import pytest

import agent.rpc.connection
import agent.rpc.rpc_messages
import agent.rpc.subscriptions
from agent.errors import RuntimeDiedError, UsageError
from agent.protocol import SessionCreate
from agent.rpc.rpc_messages import EVENT_CREDIT
from support.patience import until
from tests.daemon.bench import Bench


async def test_events_are_followed_without_gap_or_repetition(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    await bench.steps("s1", 50)
    seen: list[int] = []
    async with bench.client.events(after=10) as events:
        writing = asyncio.create_task(bench.steps("s1", 700))
        async for event in events:
            seen.append(event.event_id)
            if event.event_id == 751:
                break
        await writing
    assert seen == list(range(11, 752))
    await until(lambda: bench.core.followers == 0)


async def test_without_a_starting_point_only_what_comes_is_followed(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events() as events:
        await bench.steps("s1", 1)
        async with asyncio.timeout(30):
            assert (await anext(aiter(events))).event_id == 2


async def test_a_listener_that_falls_behind_costs_the_core_nothing_and_misses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.rpc.subscriptions, "PATIENCE_S", 0.05)
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events(after=0) as events:
        await until(lambda: bench.core.followers == 1)
        await bench.steps("s1", EVENT_CREDIT * 3)
        await until(lambda: bench.core.followers == 0)  # nothing piles up for it any more
        seen: list[int] = []
        async for event in events:
            seen.append(event.event_id)
            if len(seen) == EVENT_CREDIT * 3 + 1:
                break
    assert seen == list(range(1, EVENT_CREDIT * 3 + 2))


async def test_a_slow_listener_does_not_hold_up_other_calls(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events(after=0):
        await bench.steps("s1", 5000)
        async with asyncio.timeout(30):
            assert len(await bench.client.sessions()) == 1


# --- frames and deltas ----------


async def test_a_slow_viewer_gets_the_newest_delta_of_each_session(bench: Bench) -> None:
    async with bench.client.deltas() as deltas:
        for number in range(100):
            bench.core.write("a", f"a{number}")
            bench.core.write("b", f"b{number}")
        async with asyncio.timeout(30):
            found = {(await anext(aiter(deltas))).text, (await anext(aiter(deltas))).text}
    assert found == {"a99", "b99"}


async def test_a_frame_is_made_only_when_a_viewer_asks_for_one(bench: Bench) -> None:
    async with bench.client.frames("emu", width_px=90, height_px=200, max_hz=10) as frames:
        await bench.client.sessions()
        assert bench.core.frames_made == 0
        frame = await anext(aiter(frames))
        assert (frame.serial, frame.width_px, frame.captured_ms) == ("emu", 90, 1)
        assert frame.rgb == b"\x01" * (90 * 200 * 3)
        await bench.client.sessions()
        assert bench.core.frames_made == 1
        assert (await anext(aiter(frames))).captured_ms == 2


async def test_a_full_size_frame_travels(bench: Bench) -> None:
    async with bench.client.frames("emu", width_px=1080, height_px=2400, max_hz=1) as frames:
        assert len((await anext(aiter(frames))).rgb) == 1080 * 2400 * 3


async def test_a_subscription_that_cannot_begin_says_why(bench: Bench) -> None:
    with pytest.raises(RuntimeDiedError, match="no such phone"):
        async with bench.client.frames("gone", width_px=9, height_px=9, max_hz=1):
            pytest.fail("it began")
    with pytest.raises(UsageError, match="8192"):
        async with bench.client.frames("emu", width_px=1 << 30, height_px=9, max_hz=1):
            pytest.fail("it began")
