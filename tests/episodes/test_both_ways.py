"""In process and over adb: the same phone, the same random acts, the same trees and pixels."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.pool.allocation import PooledPhone
from agent.devices.protocols import Button
from agent.episodes.actions import checked
from agent.episodes.adb_phones import AdbPhone
from agent.episodes.in_process import InProcessPhone, InProcessPhones
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phone import EpisodePhone, Look
from agent.errors import DeviceError
from support.patience import until
from virtual_phone.embedded import BEGAN_S
from virtual_phone.phone import Phone
from virtual_phone.server.serve import PhoneHost

WHOLE = Look(size_px=(1080, 2400))
TOASTED_S = 6.0  # After it toasts and notices have gone, and what loads is there.
SHARE = st.floats(0, 1).map(lambda share: round(share, 3))
PLACE = st.fixed_dictionaries({"x": SHARE, "y": SHARE})
TYPED = st.fixed_dictionaries({"text": st.sampled_from(["a b", "\u4e16\U0001f30d", "x\ny"])})
FINGERS = st.one_of(
    st.tuples(st.just("pinch"), st.fixed_dictionaries({"scale": st.sampled_from([0.2, 2])})),
    st.tuples(st.just("rotate"), st.fixed_dictionaries({"degrees": st.sampled_from([-90, 360])})),
    st.tuples(
        st.just("multi_swipe"),
        st.fixed_dictionaries(
            {"x1": SHARE, "y1": SHARE, "x2": SHARE, "y2": SHARE, "fingers": st.integers(2, 4)}
        ),
    ),
)
FINGERS_EACH: list[tuple[str, dict[str, object]]] = [
    ("pinch", {"scale": 2, "x": 0.4}),
    ("pinch", {"scale": 0.2}),
    ("rotate", {"degrees": 90}),
    ("multi_swipe", {"x1": 0.5, "y1": 0.7, "x2": 0.5, "y2": 0.3, "fingers": 2}),
]
BUTTON = st.fixed_dictionaries({"button": st.sampled_from([str(one) for one in Button])})
ACTS = st.one_of(
    st.tuples(st.sampled_from(["tap", "long_press", "double_tap"]), PLACE),
    st.tuples(st.sampled_from(["scroll_down", "scroll_up", "swipe_left"]), st.just({})),
    st.tuples(st.just("type_text"), TYPED),
    st.tuples(st.just("press_button"), BUTTON),
    FINGERS,
)


class Both(NamedTuple):
    """The same phone twice."""

    here: InProcessPhone
    there: AdbPhone
    inside: Phone  # What the adb server leads to.


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Both]:
    adb = AdbServer(tmp_path / "adb")
    clock = lambda: BEGAN_S  # noqa: E731
    async with (
        PhoneHost(tmp_path / "phones", clock=clock) as host,
        InProcessPhones(1, tmp_path / "here") as phones,
    ):
        address = await adb.start()
        serial = host.serials[0]
        await AdbClient(address).connect(serial)
        there = AdbPhone(PooledPhone(serial, str(address), frozenset(), 0, 0))
        try:
            yield Both(await phones.take(1), there, host.served(serial).phone)
        finally:
            await there.close()
            await adb.stop()


def at_rest(phone: Phone) -> bool:
    """Whether nothing on the screen goes away by itself."""
    return phone.animations.idle and not (
        phone.toasts.shown
        or phone.notifications.heads_up
        or phone.activities.splash
        or phone.activities.any_loading
        or phone.animations.in_transition
    )


async def act(both: Both, tool: str, parameters: dict[str, object]) -> None:
    for phone in both[:2]:
        one: EpisodePhone = phone
        try:
            await one.act(tool, checked(tool, parameters))
        except DeviceError:
            # A field that nobody chose: neither way types there.
            assert tool == "type_text"
    both.here.phone.wait(TOASTED_S)
    both.here.phone.settle()
    await until(lambda: both.inside.compositor.version and at_rest(both.inside))


async def compare(both: Both) -> tuple[EpisodeObservation, EpisodeObservation]:
    here, there = await both.here.look(WHOLE), await both.there.look(WHOLE)
    for name in ("package", "activity", "keyboard_shown", "orientation", "width_px", "height_px"):
        assert getattr(here, name) == getattr(there, name), name
    assert here.nodes == there.nodes and bool(here.error) == bool(there.error)
    assert here.rgb == there.rgb
    return here, there


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(ACTS, min_size=1, max_size=4))
async def test_random_acts_show_the_same_trees_and_pixels(
    both: Both, acts: list[tuple[str, dict[str, object]]]
) -> None:
    for phone in both[:2]:
        await phone.begin(None, b"")
    await compare(both)
    for tool, parameters in acts:
        await act(both, tool, parameters)
        await compare(both)


async def test_a_walk_through_an_app_shows_the_same_and_a_saved_phone_goes_both_ways(
    both: Both,
) -> None:
    for phone in both[:2]:
        await phone.begin(None, b"")
    here, there = await compare(both)
    assert here.nodes
    await act(both, "scroll_up", {})
    for tool, parameters in FINGERS_EACH:
        await act(both, tool, parameters)
        await compare(both)
    await act(both, "press_button", {"button": "HOME"})
    await act(both, "press_button", {"button": "RECENTS"})
    here, there = await compare(both)
    # Their clocks differ by what the acts took here.
    timed = {"time": 0, "tasks": []}
    states = [{**await phone.state(keep=True), **timed} for phone in both[:2]]
    assert states[0] == states[1]
    from_here, from_there = await both.here.save(), await both.there.save()
    for phone in both[:2]:
        await phone.begin(None, b"")
    await both.here.begin(None, from_there)
    await both.there.begin(None, from_here)
    again = (await both.here.look(WHOLE)), (await both.there.look(WHOLE))
    assert [one.nodes for one in again] == [here.nodes, there.nodes]
