"""The memory that two processes share: places that never overlap, pictures that are never torn."""

import os
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.frames.shared_memory import TornFrameError
from agent.devices.scrcpy.decoding.decode_memory import (
    MEMORY_BYTES,
    PictureMemory,
    Place,
    Places,
    new_file,
)
from agent.errors import DeviceError

SIZE = (16, 24)
BYTES = SIZE[0] * SIZE[1] * 3


@pytest.fixture
def both() -> Iterator[tuple[PictureMemory, PictureMemory]]:
    """One file, mapped twice."""
    file = new_file()
    yield PictureMemory(file), PictureMemory(file)
    os.close(file)


def test_a_picture_is_read_as_it_was_written(both: tuple[PictureMemory, PictureMemory]) -> None:
    writer, reader = both
    at = Places().take(SIZE).at
    for number in (1, 2, 7):
        rgb = bytes([number]) * BYTES
        writer.write(at, number, SIZE, rgb, captured_ms=5)
        assert reader.read(at, number) == (SIZE, rgb)


def test_a_picture_that_was_overwritten_is_not_given(
    both: tuple[PictureMemory, PictureMemory],
) -> None:
    writer, reader = both
    at = Places().take(SIZE).at
    writer.write(at, 1, SIZE, bytes(BYTES), captured_ms=5)
    writer.write(at, 2, SIZE, bytes(BYTES), captured_ms=5)
    with pytest.raises(TornFrameError):
        reader.read(at, 1)


def test_whoever_reads_while_another_writes_gets_whole_pictures_or_none(
    both: tuple[PictureMemory, PictureMemory],
) -> None:
    writer, reader = both
    at = Places().take(SIZE).at
    writer.write(at, 1, SIZE, bytes([1]) * BYTES, captured_ms=5)
    over = threading.Event()

    def write() -> None:
        for number in range(2, 3000):
            writer.write(at, number, SIZE, bytes([number % 251]) * BYTES, captured_ms=5)
        over.set()

    writing = threading.Thread(target=write)
    writing.start()
    number = 1
    while not over.is_set() and number < 3000:
        try:
            _, rgb = reader.read(at, number)
        except TornFrameError:
            number += 1
            continue
        assert set(rgb) == {number % 251}
    writing.join()


def test_what_is_decoded_is_known_from_the_other_side(
    both: tuple[PictureMemory, PictureMemory],
) -> None:
    there, here = both
    assert here.marked() == frozenset()
    there.mark(0, 7)
    there.mark(1, 9)
    assert here.marked() == {7, 9}
    there.mark(0, 0)
    assert here.marked() == {9}


sides = st.integers(1, 4096)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(sides, sides, st.booleans()), max_size=40))
def test_places_never_overlap_and_always_have_the_room(asked: list[tuple[int, int, bool]]) -> None:
    places, taken = Places(), list[Place]()
    for width, height, gives_back in asked:
        try:
            place = places.take((width, height))
        except DeviceError:
            continue
        assert place.room_bytes >= width * height * 3 + 64
        assert place.at >= 4096 and place.at + place.room_bytes <= MEMORY_BYTES
        taken.append(place)
        if gives_back:
            places.give_back(taken.pop(0))
    spans = sorted((one.at, one.at + one.room_bytes) for one in taken)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_more_than_there_is_room_for_is_refused_in_words() -> None:
    places = Places()
    with pytest.raises(DeviceError, match="Too many pictures"):
        for _ in range(64):
            places.take((4096, 4096))


def test_memory_that_was_given_back_has_no_pictures_and_says_so() -> None:
    handle = new_file()
    try:
        memory = PictureMemory(handle)
    finally:
        os.close(handle)
    memory.mark(0, 7)
    assert memory.marked() == {7}
    memory.close()
    memory.close()
    assert memory.marked() == frozenset()
    with pytest.raises(TornFrameError, match="has ended"):
        memory.read(4096, 1)
