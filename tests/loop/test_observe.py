"""Looking at a phone until it holds still, on a clock that passes only when it is waited for."""

import asyncio
import io
import random
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageDraw

from agent.devices.protocols import Capture, UiTree
from agent.errors import DeviceError, DeviceTimeoutError, StoreError, TreeUnavailableError
from agent.loop.images.image_prep import Pictures
from agent.loop.observe import Observer, TimedObservation
from agent.loop.ocr.reader import TextReader
from agent.loop.timing import PACE
from agent.records import Frame
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


def shows(seen: TimedObservation) -> list[str]:
    return [element.label for element in seen.observation.elements]


async def test_the_screen_after_an_action_is_never_the_old_one_however_late_it_comes() -> None:
    dice = random.Random(1)
    clock = Clock()
    changes_at, shown = 0.0, 0
    phone = PaperPhone(
        lambda: [button(f"page {shown if clock.now >= changes_at else shown - 1}", 0.4)]
    )
    observations = observer(clock)
    seen = await observations.observe(phone, None)
    for shown in range(1, 100):
        changes_at = clock.now + dice.uniform(0.05, 1.5)
        seen = await observations.observe(phone, seen.observation, acted=True)
        assert shows(seen) == [f"page {shown}"]


async def test_a_quick_screen_is_not_waited_for_longer_than_two_looks() -> None:
    clock = Clock()
    page = "page 0"
    phone = PaperPhone(lambda: [button(page, 0.4)])
    observations = observer(clock)
    first = await observations.observe(phone, None)
    page = "page 1"
    began = clock.now
    await observations.observe(phone, first.observation, acted=True)
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
    whole = (await seen.when_stored()).observation
    assert whole.frame is not None
    assert {whole.frame.digest, whole.tree_digest} == {"digest-1", "digest-2"}
    assert len(blobs.kept) == 2


async def test_a_disk_that_keeps_nothing_is_told_of_to_whoever_wants_the_whole() -> None:
    async def full(_data: bytes, _media_type: str) -> str:
        raise StoreError("The disk is full.")

    clock = Clock()
    observations = Observer(
        put_blob=full, now_ms=lambda: 0, pace=PACE, sleep=clock.sleep, seconds=clock.seconds
    )
    phone = PaperPhone(lambda: [button("a", 0.4)])
    seen = await observations.observe(phone, None, acted=True)
    with pytest.raises(StoreError):
        await seen.when_stored()
    with pytest.raises(StoreError):
        await observations.observe(phone, None)


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


class SeenPhone(PaperPhone):
    """A phone whose picture and toasts a test draws."""

    def __init__(self, *arguments: Any, picture: Callable[[], Image.Image]) -> None:
        super().__init__(*arguments)
        self.picture = picture
        self.toasts: list[str] = []

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        out = io.BytesIO()
        self.picture().save(out, "PNG")
        data = out.getvalue()
        frame = Frame(digest="", width_px=180, height_px=400, captured_ms=1)
        return Capture(frame=frame, data=data)

    async def toast(self, *, timeout_s: float = 2.0) -> str:
        return self.toasts.pop(0) if self.toasts else ""


PAGE = [button(f"b{n}", 0.1 + n / 10) for n in range(6)]


def drawn(*rows: float) -> Image.Image:
    picture = Image.new("RGB", (180, 400), "white")
    for row in rows:
        ImageDraw.Draw(picture).rectangle((30, row * 400 + 4, 90, row * 400 + 12), fill="black")
    return picture


WHOLE = drawn(*(0.1 + n / 10 for n in range(6)))


def watcher(clock: Clock, *, sees: bool = True, reader: TextReader | None = None) -> Observer:
    return Observer(
        put_blob=Blobs().put,
        now_ms=lambda: round(clock.now * 1000),
        pace=PACE,
        sleep=clock.sleep,
        seconds=clock.seconds,
        pictures=Pictures() if sees else None,
        reader=reader,
    )


async def test_a_model_that_sees_is_shown_no_splash_screen_with_the_pages_marks_on_it() -> None:
    clock = Clock()
    phone = SeenPhone(lambda: PAGE, picture=lambda: drawn() if clock.now < 0.9 else WHOLE)
    await watcher(clock).observe(phone, None)
    assert 0.9 <= clock.now < PACE.first_s


async def test_a_model_that_sees_is_shown_a_picture_that_rests() -> None:
    clock = Clock()
    phone = SeenPhone(
        lambda: PAGE,
        picture=lambda: drawn(*(0.1 + n / 10 + min(clock.now, 0.7) / 10 for n in range(6))),
    )
    await watcher(clock).observe(phone, None)
    assert 0.7 <= clock.now < 0.7 + 3 * PACE.poll_s


async def test_a_picture_that_never_rests_costs_a_bounded_time() -> None:
    clock = Clock()
    phone = SeenPhone(
        lambda: PAGE, picture=lambda: drawn(*(0.1 + n / 10 for n in range(6)), clock.now % 1)
    )
    await watcher(clock).observe(phone, None)
    assert clock.now <= PACE.picture_s + 3 * PACE.poll_s


async def test_a_model_that_does_not_see_waits_for_no_picture() -> None:
    clock = Clock()
    phone = SeenPhone(lambda: PAGE, picture=lambda: drawn(clock.now % 1))
    await watcher(clock, sees=False).observe(phone, None)
    assert clock.now <= 2 * PACE.poll_s


async def test_a_screen_that_says_it_is_loading_is_waited_for_within_a_bound() -> None:
    clock = Clock()
    loaded_at = 4.0
    phone = PaperPhone(
        lambda: [*PAGE, *([] if clock.now >= loaded_at else [node("Loading…", (0, 0.9, 1, 0.95))])]
    )
    seen = await observer(clock).observe(phone, None)
    assert clock.now >= loaded_at
    assert not seen.observation.is_loading
    began, loaded_at = clock.now, 1e9
    never = await observer(clock).observe(phone, seen.observation, acted=True)
    assert never.observation.is_loading
    assert PACE.settle_s < clock.now - began <= PACE.loading_s + 2 * PACE.poll_s
    began = clock.now
    await observer(clock).observe(phone, never.observation)
    assert clock.now - began <= PACE.settle_s


async def test_a_clock_that_runs_on_the_screen_is_no_unrest() -> None:
    clock = Clock()
    phone = PaperPhone(lambda: [*PAGE, node(f"0:{clock.now * 100:05.0f}", (0, 0.9, 1, 0.95))])
    await observer(clock).observe(phone, None)
    assert clock.now <= 2 * PACE.poll_s


async def test_a_toast_and_another_picture_of_the_same_elements_are_in_the_observation() -> None:
    clock, at = Clock(), 0.75
    phone = SeenPhone(lambda: PAGE, picture=lambda: drawn(at))
    observations = watcher(clock, sees=False)
    first = await observations.observe(phone, None)
    again = await observations.observe(phone, first.observation, acted=True)
    assert (again.observation.toast, again.observation.picture_change) == ("", 0.0)
    phone.toasts, at = ["Saved as 4111 1111 1111 1111"], 0.85
    after = await observations.observe(phone, again.observation, acted=True)
    assert after.observation.toast == "Saved as [CARD REDACTED]"
    assert after.observation.picture_change > 0


SURFACE = node(at=(0.0, 0.0, 1.0, 1.0), class_name="android.view.SurfaceView")


def game_reader() -> TextReader:
    return TextReader(
        lambda: (
            lambda _pixels: [
                ((60, 220, 120, 240), "START GAME", 0.95),
                ((40, 100, 140, 120), "Call 4111 1111 1111 1111", 0.95),
            ]
        )
    )


async def test_text_that_only_the_picture_shows_becomes_elements_that_can_be_pressed() -> None:
    clock = Clock()
    phone = SeenPhone(lambda: [SURFACE], picture=lambda: WHOLE)
    observations = watcher(clock, sees=False, reader=game_reader())
    seen = (await observations.observe(phone, None)).observation
    assert [(e.number, e.kind, e.label, e.clickable) for e in seen.elements] == [
        (1, "seen-text", "Call [CARD REDACTED]", True),
        (2, "seen-text", "START GAME", True),
    ]
    assert not seen.is_silent
    began = clock.now
    again = (await observations.observe(phone, seen, acted=True)).observation
    assert again.fingerprint == seen.fingerprint
    assert clock.now - began >= PACE.react_s - PACE.poll_s


async def test_without_the_extra_a_drawn_screen_says_that_it_is_silent() -> None:
    phone = SeenPhone(lambda: [SURFACE], picture=lambda: WHOLE)
    assert (await watcher(Clock()).observe(phone, None)).observation.is_silent
    blank = SeenPhone(lambda: [SURFACE], picture=drawn)
    assert not (await watcher(Clock()).observe(blank, None)).observation.is_silent
    told = SeenPhone(lambda: [SURFACE, *PAGE], picture=lambda: WHOLE)
    assert not (await watcher(Clock()).observe(told, None)).observation.is_silent
