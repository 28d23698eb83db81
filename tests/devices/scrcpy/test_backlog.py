"""What of a stream is decoded, and when: pure, and with real H.264."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.frames.subscribers import Reader
from agent.devices.scrcpy import backlog as module
from agent.devices.scrcpy.backlog import EARLY, LONGEST_WAIT_S, MOST_PACKETS, Backlog
from agent.devices.scrcpy.decoding.decoder import Decoder
from agent.devices.scrcpy.packets import VideoPacket
from tests.devices.scrcpy.test_decode_process import stream

CONFIG = VideoPacket(0, b"config", is_config=True, is_key=False)
SIZE = (9, 20)


def packet(number: int, *, key: bool = False) -> VideoPacket:
    return VideoPacket(number, b"%d" % number, is_config=False, is_key=key)


def test_nothing_before_a_newer_key_frame_is_decoded_but_how_to_read_it() -> None:
    backlog = Backlog()
    old = VideoPacket(0, b"old", is_config=True, is_key=False)
    every = [old, packet(1, key=True), packet(2), CONFIG, packet(3, key=True), packet(4)]
    for one in every:
        backlog.put(one, 0.0)
    assert backlog.take() == ([CONFIG, *every[4:]], False)
    assert backlog.take() == ([], False)


def test_what_waits_too_long_is_given_up_until_a_key_frame() -> None:
    backlog = Backlog()
    backlog.put(CONFIG, 0.0)
    for number in range(MOST_PACKETS + 2):
        backlog.put(packet(number), 0.0)
    packets, left_out = backlog.take()
    assert left_out and packets[0] == CONFIG and len(packets) <= 4
    backlog.miss()
    backlog.put(packet(500, key=True), 0.0)
    assert backlog.take() == ([packet(500, key=True)], False), "it refers to nothing"


def test_bytes_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    backlog = Backlog()
    for number in range(5):
        backlog.put(VideoPacket(number, bytes(40), is_config=False, is_key=False), 0.0)
    packets, left_out = backlog.take()
    assert left_out and sum(len(one.data) for one in packets) <= 100


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), max_size=400))
def test_what_is_taken_can_be_decoded_or_says_that_it_cannot(
    acts: list[tuple[bool, bool, int]],
) -> None:
    backlog = Backlog()
    follows = 0
    """The number that a packet must have to go on where the last one ended."""
    for number, (is_key, takes, lost) in enumerate(acts):
        backlog.put(packet(number, key=is_key), 0.0)
        if not lost:
            backlog.miss()
        assert len(backlog) <= MOST_PACKETS
        if not takes:
            continue
        packets, left_out = backlog.take()
        numbers = [one.pts_us for one in packets]
        assert numbers == list(range(number - len(numbers) + 1, number + 1)), "the newest, in order"
        assert not any(one.is_key for one in packets[1:])
        if packets:
            assert packets[0].is_key or left_out or numbers[0] == follows
            follows = number + 1


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_the_newest_picture_is_the_one_that_decoding_everything_gives(takes: list[bool]) -> None:
    packets = (stream(20) + stream(17) + stream(25))[: len(takes)]
    every, ours = Decoder(), Decoder()
    backlog = Backlog()
    for one, takes_now in zip(packets, takes, strict=False):
        every.decode([one])
        backlog.put(one, 0.0)
        if takes_now:
            taken = backlog.take()
            assert not taken.left_out
            ours.decode(taken.packets)
            if every.size is not None:
                assert ours.scaled([SIZE]) == every.scaled([SIZE])
    assert ours.pictures <= every.pictures


def test_packets_wait_for_a_readers_time_and_not_for_long() -> None:
    backlog = Backlog()
    reader = Reader.checked(20, 44, 10.0)
    assert backlog.wait_s([reader], 5.0) == math.inf, "nothing waits"
    backlog.put(packet(1, key=True), 5.0)
    assert backlog.wait_s([reader], 5.0) == 0, "it was never served"
    reader.due_s = 5.08
    assert backlog.wait_s([reader], 5.0) == pytest.approx(0.08 - EARLY * 0.1)
    backlog.put(packet(2), 5.02)
    assert backlog.wait_s([reader], 5.02) == pytest.approx(0.06 - EARLY * 0.1)
    fast = Reader.checked(20, 44, 60.0)
    assert backlog.wait_s([reader, fast], 5.02) == 0
    reader.due_s = 9.0
    assert backlog.wait_s([reader], 5.0) == pytest.approx(LONGEST_WAIT_S)
    assert backlog.wait_s([], 5.0 + LONGEST_WAIT_S) == 0
