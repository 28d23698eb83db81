"""How long phones took to be looked at: from what sessions saw, and from what the operator read."""

import pytest

from agent.protocol import DeviceChanged, DeviceLook, ObservationRecorded, Reply
from agent.records import DeviceState, Foreground, Observation, PhoneLook
from console.latency_stats import KEPT, LatencyStats
from console.screens.device.device import DeviceScreen
from console.screens.wall import WallScreen
from tests.console.conftest import Open
from tests.console.fakes import FakeCore, phone


def look(core: FakeCore, session_id: str, took_ms: int) -> None:
    seen = Observation(
        started_ms=core.now_ms,
        ended_ms=core.now_ms + took_ms,
        foreground=Foreground(package="org.example"),
    )
    core.tell(ObservationRecorded(step=1, observation=seen), session_id)


async def test_what_sessions_saw_is_timed_on_the_wall_and_on_the_phones_own_screen(
    console: Open,
) -> None:
    async with console() as seat:
        for took_ms in (200, 400, 5_200):
            look(seat.core, "s1", took_ms)
        await seat.press("2")
        await seat.until(lambda: isinstance(seat.app.screen, WallScreen), "the wall")
        await seat.see("5.2 s")
        seat.app.navigation.show_device("phone-1")
        await seat.until(lambda: isinstance(seat.app.screen, DeviceScreen), "the phone")
        await seat.see("usually 400 ms, 5.2 s at most")
        seat.core.tell(DeviceChanged(device=phone("phone-1", state=DeviceState.GONE)))
        await seat.until(lambda: seat.app.bridge.latencies.of("phone-1") == (), "nothing of it")


@pytest.mark.parametrize("size", [(160, 50), (60, 24)])
async def test_what_the_operator_reads_is_timed_where_no_session_works(
    console: Open, size: tuple[int, int]
) -> None:
    def play(core: FakeCore) -> None:
        core.tell(DeviceChanged(device=phone("phone-2")))
        seen = PhoneLook(
            serial="phone-2", at_ms=core.now_ms, foreground=Foreground(package="org.example")
        )
        core.answers[DeviceLook] = lambda _op: Reply(submission_id="x", look=seen)

    async with console(play=play, size=size) as seat:
        assert seat.app.bridge.latencies.of("phone-2") == ()
        seat.app.navigation.show_device("phone-2")
        await seat.until(lambda: seat.app.bridge.latencies.of("phone-2"), "a timed look")
        await seat.see("screen read ")


def test_a_phone_keeps_its_newest_times_and_no_more() -> None:
    latencies = LatencyStats()
    for took_ms in range(KEPT + 5):
        latencies.note("p", took_ms)
    latencies.note("", 1)
    latencies.note("p", -1)
    assert latencies.of("p") == tuple(range(5, KEPT + 5))
    assert latencies.of("q") == ()
