"""What a console shows of other hosts of a fleet: how fast they answer, and what they write."""

from msgspec.structs import replace

from agent.protocol import DeviceChanged, SessionHosted, SessionStateChanged
from agent.records import HostInfo, HostState, SessionState
from console.screens.device.device import DeviceScreen
from tests.console.conftest import Open, select
from tests.console.fakes import FakeCore, phone
from tests.console.script import configure

HERE, FAR = (HostInfo(name=name, state=HostState.HERE) for name in ("rack-1", "rack-2"))


def two_hosts(core: FakeCore) -> None:
    """Play a phone and a session on each of two hosts."""
    core.hosts = (replace(HERE, is_here=True, beat_ms=0.7), replace(FAR, beat_ms=3.0))
    for number in ("1", "2"):
        core.tell(DeviceChanged(device=phone(f"rack-{number}/p{number}")))
        configure(
            core, f"s{number}", "read", serial=f"rack-{number}/p{number}", host=f"rack-{number}"
        )
        core.tell(SessionStateChanged(state=SessionState.RUNNING), f"s{number}")


async def test_the_words_of_another_hosts_session_are_followed_while_it_is_on_screen(
    console: Open,
) -> None:
    async with console(play=two_hosts) as seat:
        bridge, core = seat.app.bridge, seat.core
        await select(seat, "s2")
        await seat.until(lambda: list(core.far_listeners) == ["s2"], "somebody who listens")
        core.say_afar("s2", "I open")
        await seat.until(lambda: bridge.said_now("s2") == "I open", "what it says")
        # It comes to the core's own host, whose words come unasked.
        core.tell(SessionHosted(host="rack-1"), "s2")
        await seat.until(lambda: not core.far_listeners, "nobody who listens")
        core.tell(SessionHosted(host="rack-2"), "s2")
        await seat.until(lambda: "s2" in core.far_listeners, "somebody who listens again")
        await select(seat, "s1")
        await seat.until(lambda: not core.far_listeners, "nobody who listens to what is not seen")


async def test_the_device_screen_says_how_fast_the_phones_host_answers(console: Open) -> None:
    async with console(play=two_hosts) as seat:
        seat.app.navigation.show_device("rack-2/p2")
        await seat.until(lambda: isinstance(seat.app.top, DeviceScreen), "the device screen")
        await seat.until(
            lambda: "rack-2 reaches the database in 3.0 ms" in seat.text(), "its latency"
        )
        seat.core.hosts = (seat.core.hosts[0], replace(FAR, reply_ms=41.0))
        await seat.app.bridge.read_hosts()
        await seat.until(lambda: "rack-2 answers in 41 ms" in seat.text(), "the new one")
