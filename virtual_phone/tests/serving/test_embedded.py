"""Phones inside a program: they show what served phones show, and nothing is waited for."""

import io
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from virtual_phone.embedded import BEGAN_S, EmbeddedHost, EmbeddedPhone, FingerStep
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.timing import SimulatedTiming, finish
from virtual_phone.ui.rows import TreeRow

HOME, BACK, ENTER, MENU, RECENTS, TAB, POWER = 3, 4, 66, 82, 187, 61, 26
PLACES = st.tuples(st.integers(0, 1079), st.integers(0, 2399))
ACTS = st.one_of(
    st.tuples(st.just("tap"), PLACES),
    st.tuples(st.just("swipe"), PLACES, PLACES, st.integers(1, 900)),
    st.tuples(st.just("key"), st.sampled_from([HOME, BACK, ENTER, MENU, RECENTS, TAB, POWER])),
    st.tuples(st.just("text"), st.text(max_size=8)),
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedHost]:
    with EmbeddedHost(tmp_path_factory.mktemp("embedded")) as made:
        yield made


def do(phone: EmbeddedPhone, act: tuple[object, ...]) -> None:
    match act:
        case ("tap", (int(x), int(y))):
            phone.tap(x, y)
        case ("swipe", (int(x1), int(y1)), (int(x2), int(y2)), int(lasting)):
            phone.swipe(x1, y1, x2, y2, lasting)
        case ("key", int(code)):
            phone.key(code)
        case ("text", str(text)):
            phone.type_text(text)
    phone.settle()


def shown_by(phone: EmbeddedPhone) -> tuple[object, ...]:
    try:
        tree: object = phone.tree()
    except PhoneError as error:
        tree = error.message
    return tree, phone.front(), phone.pixels(90, 200), dict(phone.truth())["foreground"]


def parsed(xml: str) -> list[tuple[str, ...]]:
    names = ("text", "content-desc", "hint", "resource-id", "class", "package", "bounds")
    flags = ("checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable")
    more = ("long-clickable", "password", "selected")
    return [
        tuple(node.get(name, "") for name in (*names, *flags, *more))
        for node in ElementTree.fromstring(xml.encode()).iter("node")
    ]


def written(row: TreeRow) -> tuple[str, ...]:
    left, top, right, bottom = row.bounds
    texts = row[:6]
    flags = tuple("true" if flag else "false" for flag in row[9:])
    return (*texts, f"[{left},{top}][{right},{bottom}]", *flags)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTS, max_size=6))
def test_the_same_acts_show_the_same_on_every_phone_and_rows_say_what_the_dump_says(
    host: EmbeddedHost, acts: list[tuple[object, ...]]
) -> None:
    one, other = host.new_phone(), host.new_phone()
    other.tap(300, 300)
    other.reset()
    for act in acts:
        do(one, act)
        do(other, act)
        shown = shown_by(one)
        assert shown == shown_by(other)
        if isinstance(shown[0], tuple):
            assert [written(row) for row in one.tree()] == parsed(one.xml())


def test_a_gesture_takes_its_time_on_the_phone_and_not_here(host: EmbeddedHost) -> None:
    phone = host.new_phone()
    phone.reset()
    assert phone.now() == BEGAN_S
    began = time.process_time()
    phone.swipe(540, 1200, 540, 1200, 60_000)
    phone.wait(86_400)
    assert phone.now() >= BEGAN_S + 86_460
    assert time.process_time() - began < 30
    phone.reset()
    assert phone.now() == BEGAN_S


def test_a_long_press_and_several_fingers_are_felt(host: EmbeddedHost) -> None:
    phone = host.new_phone()
    phone.reset()
    before = phone.tree()
    phone.swipe(540, 1400, 540, 1400, 1000)
    phone.settle()
    # Two fingers are no tap, whatever they are on.
    phone.reset()
    steps = [
        FingerStep(0, 0, "down", 200, 1200),
        FingerStep(0, 1, "down", 800, 1200),
        FingerStep(300, 0, "move", 100, 1200),
        FingerStep(300, 1, "up", 900, 1200),
        FingerStep(320, 0, "up", 100, 1200),
    ]
    phone.fingers(steps)
    phone.settle()
    assert phone.tree() == before
    assert phone.now() == pytest.approx(BEGAN_S + 0.32)
    with pytest.raises(PhoneError, match="touch action"):
        phone.fingers([FingerStep(0, 0, "hover", 1, 1)])


async def test_what_one_phone_writes_no_other_sees_and_a_reset_takes_away(
    host: EmbeddedHost,
) -> None:
    one, other = host.new_phone(), host.new_phone()
    first = list(one.state()["files"])  # type: ignore[call-overload]
    assert first
    status, said = await one.shell("echo kept > /sdcard/Documents/note.txt; echo done")
    assert (status, said) == (0, "done\n")
    assert ["Documents/note.txt", 5] in one.state()["files"]  # type: ignore[operator]
    assert other.state()["files"] == first
    kept = one.snapshot()
    one.reset()
    assert one.state()["files"] == first
    other.restore(kept)
    assert ["Documents/note.txt", 5] in other.state()["files"]  # type: ignore[operator]
    other.reset()
    with pytest.raises(PhoneError, match="snapshot"):
        other.restore(b"nothing")
    assert other.state()["files"] == first


def test_a_snapshot_is_gone_back_to_and_a_scenario_is_begun(host: EmbeddedHost) -> None:
    phone = host.new_phone()
    phone.reset(scenario="many-notes")
    notes = phone.state()["notes"]
    assert isinstance(notes, list) and len(notes) >= 40
    phone.reset(scenario="wallet-in-front")
    assert phone.front()[0] == "com.example.wallet"
    shown, kept = shown_by(phone), phone.snapshot()
    phone.reset()
    assert shown_by(phone) != shown
    phone.restore(kept)
    assert shown_by(phone) == shown
    with pytest.raises(PhoneError, match="scenario"):
        phone.reset(scenario="nonsense")


def test_full_size_is_what_a_served_phone_shows_and_smaller_is_drawn_smaller(
    host: EmbeddedHost, tmp_path: Path
) -> None:
    embedded, plain = host.new_phone(), Phone(tmp_path, clock=lambda: BEGAN_S)
    embedded.reset()
    whole = Image.open(io.BytesIO(embedded.png())).convert("RGB")
    assert whole.tobytes() == plain.compositor.screenshot().convert("RGB").tobytes()
    buffer = bytearray(256 * 512 * 3 + 1)
    embedded.draw(buffer, 256, 512)
    small = Image.frombytes("RGB", (256, 512), bytes(buffer[:-1]))
    scaled = whole.resize((256, 512), Image.Resampling.BOX)
    off = sum(abs(a - b) for a, b in zip(small.tobytes(), scaled.tobytes(), strict=True))
    assert off / (256 * 512 * 3) < 6
    assert buffer[-1] == 0
    with pytest.raises(PhoneError, match="256x512"):
        embedded.draw(bytearray(10), 256, 512)


@given(st.lists(st.floats(0, 9), max_size=20), st.floats(0, 9))
def test_what_is_planned_is_done_in_its_order_and_none_too_early(
    delays: list[float], length: float
) -> None:
    timing = SimulatedTiming()
    done: list[float] = []
    for delay in delays:
        timing.later(delay, lambda delay=delay: done.append(delay))  # type: ignore[misc]
    cancelled = timing.later(0, lambda: done.append(-1))
    cancelled.cancel()
    finish(timing.sleep(length))
    assert done == sorted(delay for delay in delays if delay <= length)
    assert timing.monotonic() == length
    timing.restart()
    timing.advance(10)
    assert len(done) == sum(delay <= length for delay in delays)
