"""Looking at a phone until it holds still, on a clock that passes only when it is waited for."""

from __future__ import annotations

import asyncio
import random

import pytest

from agent.devices.device import Capture, UiTree
from agent.errors import DeviceError, DeviceTimeoutError, StoreError, TreeUnavailableError
from agent.loop.observe import Observer, Seen
from agent.loop.pace import PACE
from tests.loop.paper_phone import PaperPhone, button, node
from tests.tasks.scripted import Clock


class Blobs:
    def __init__(self) -> None:
        self.kept: list[tuple[bytes, str]] = []

    async def put(self, data: bytes, media_type: str) -> str:
        self.kept.append((data, media_type))
        return f"digest-{len(self.kept)}"


def observer(clock: Clock, blobs: Blobs | None = None) -> Observer:
    return Observer(
        put_blob=(blobs or Blobs()).put,
        now_ms=lambda: round(clock.now * 1000),
        pace=PACE,
        sleep=clock.sleep,
        seconds=clock.seconds,
    )


def shows(seen: Seen) -> list[str]:
    return [element.label for element in seen.observation.elements]


async def test_the_screen_after_an_action_is_never_the_old_one_however_late_it_comes() -> None:
    dice = random.Random(1)
    clock = Clock()
    changes_at, shown = 0.0, 0
    phone = PaperPhone(
        lambda: [button(f"page {shown if clock.now >= changes_at else shown - 1}", 0.4)]
    )
    eyes = observer(clock)
    seen = await eyes.observe(phone, None)
    for shown in range(1, 100):
        changes_at = clock.now + dice.uniform(0.05, 1.5)
        seen = await eyes.observe(phone, seen.observation, acted=True)
        assert shows(seen) == [f"page {shown}"]


async def test_a_quick_screen_is_not_waited_for_longer_than_two_looks() -> None:
    clock = Clock()
    page = "page 0"
    phone = PaperPhone(lambda: [button(page, 0.4)])
    eyes = observer(clock)
    first = await eyes.observe(phone, None)
    page = "page 1"
    began = clock.now
    await eyes.observe(phone, first.observation, acted=True)
    assert clock.now - began <= PACE.initial_s + PACE.poll_s + 1e-9


async def test_a_screen_that_never_rests_is_taken_as_it_is_in_time() -> None:
    clock = Clock()
    phone = PaperPhone(lambda: [node(f"tick {clock.now:.3f}")])
    first = await observer(clock).observe(phone, None)
    began = clock.now
    await observer(clock).observe(phone, first.observation, acted=True)
    assert clock.now - began <= PACE.settle_s + PACE.poll_s
    assert began <= PACE.first_s + PACE.poll_s


async def test_an_action_without_effect_is_given_up_on_in_time() -> None:
    clock = Clock()
    phone = PaperPhone(lambda: [button("same", 0.4)])
    first = await observer(clock).observe(phone, None)
    began = clock.now
    again = await observer(clock).observe(phone, first.observation, acted=True)
    assert again.observation.fingerprint == first.observation.fingerprint
    assert clock.now - began <= PACE.react_s + PACE.poll_s


async def test_frame_and_tree_are_kept_with_both_ends_of_their_moment() -> None:
    clock, blobs = Clock(), Blobs()
    seen = await observer(clock, blobs).observe(PaperPhone(lambda: [button("a", 0.4)]), None)
    assert [media for _, media in blobs.kept] == ["image/png", "application/xml"]
    assert seen.observation.frame is not None
    assert seen.observation.frame.digest == "digest-1"
    assert seen.observation.tree_digest == "digest-2"
    assert seen.observation.started_ms <= seen.observation.ended_ms


class SlowBlobs(Blobs):
    """A disk that keeps nothing before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_keep = asyncio.Event()

    async def put(self, data: bytes, media_type: str) -> str:
        await self.may_keep.wait()
        return await super().put(data, media_type)


async def test_what_an_action_did_is_seen_while_frame_and_tree_are_being_kept() -> None:
    blobs = SlowBlobs()
    phone = PaperPhone(lambda: [button("a", 0.4)])
    seen = await observer(Clock(), blobs).observe(phone, None, acted=True)
    assert shows(seen) == ["a"]
    assert seen.observation.frame is None
    assert not blobs.kept
    blobs.may_keep.set()
    whole = (await seen.whole()).observation
    assert whole.frame is not None
    assert {whole.frame.digest, whole.tree_digest} == {"digest-1", "digest-2"}
    assert len(blobs.kept) == 2


async def test_a_disk_that_keeps_nothing_is_told_of_to_whoever_wants_the_whole() -> None:
    async def full(_data: bytes, _media_type: str) -> str:
        raise StoreError("The disk is full.")

    clock = Clock()
    eyes = Observer(
        put_blob=full, now_ms=lambda: 0, pace=PACE, sleep=clock.sleep, seconds=clock.seconds
    )
    phone = PaperPhone(lambda: [button("a", 0.4)])
    seen = await eyes.observe(phone, None, acted=True)
    with pytest.raises(StoreError):
        await seen.whole()
    with pytest.raises(StoreError):
        await eyes.observe(phone, None)


async def test_a_phone_without_a_picture_is_observed_by_its_tree() -> None:
    phone = PaperPhone(lambda: [button("a", 0.4)])
    phone.failures["capture"] = [DeviceError("secure window")]
    seen = await observer(Clock()).observe(phone, None)
    assert seen.observation.frame is None
    assert shows(seen) == ["a"]


async def test_a_phone_with_neither_tree_nor_picture_is_an_error() -> None:
    phone = PaperPhone(lambda: [button("a", 0.4)])
    phone.failures["tree"] = [TreeUnavailableError("null root")] * 99
    phone.failures["capture"] = [DeviceTimeoutError("too slow")]
    with pytest.raises(DeviceTimeoutError):
        await observer(Clock()).observe(phone, None)


class Turning(PaperPhone):
    """A phone whose page changes while the first picture of it is taken."""

    def __init__(self) -> None:
        super().__init__(lambda: [button(f"page {self.page}", 0.4)])
        self.page = 0
        self.pictures: list[int] = []

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        if not self.pictures:
            self.page += 1
        self.pictures.append(self.page)
        return await super().capture(timeout_s=timeout_s)

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        tree = await super().tree(timeout_s=timeout_s)
        # Side by side with the picture: what it changes is seen by the look that goes with it.
        await asyncio.sleep(0)
        return tree if tree.nodes[0].text == f"page {self.page}" else await self.tree()


async def test_a_screen_that_changed_while_its_picture_was_taken_is_taken_again() -> None:
    phone = Turning()
    seen = await observer(Clock()).observe(phone, None)
    assert phone.pictures == [1, 1]
    assert shows(seen) == ["page 1"]


async def test_a_quiet_screen_is_pictured_once_and_both_intervals_are_recorded() -> None:
    phone = Turning()
    phone.pictures.append(0)
    seen = await observer(Clock()).observe(phone, None)
    assert phone.pictures == [0, 0]
    observed = seen.observation
    assert (observed.tree_started_ms, observed.tree_ended_ms) == (1, 2)
    assert observed.frame is not None
    assert observed.started_ms <= observed.ended_ms


async def test_a_dump_that_takes_seconds_is_not_repeated_for_the_picture() -> None:
    clock = Clock()
    looks = 0

    class Slow(PaperPhone):
        async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
            nonlocal looks
            looks += 1
            await clock.sleep(2.0)
            return await super().tree(timeout_s=timeout_s)

    seen = await observer(clock).observe(Slow(lambda: [button("page", 0.4)]), None)
    assert shows(seen) == ["page"]
    assert looks == 2
