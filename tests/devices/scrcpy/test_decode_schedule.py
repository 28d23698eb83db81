"""Which stream the decoder serves next."""

import asyncio
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from hypothesis import given
from hypothesis import strategies as st

from agent.devices.scrcpy.decoding.decode_process import DecodeProcess
from agent.devices.scrcpy.decoding.decode_schedule import DecodeSchedule
from agent.devices.scrcpy.decoding.pictures import Pictures
from tests.devices.scrcpy.test_decode_process import decode, stream

END = -1


def test_the_largest_picture_is_next_and_equals_take_turns() -> None:
    schedule: DecodeSchedule[str] = DecodeSchedule()
    for name, number, rank in (("a", 1, 20), ("a2", 1, 20), ("b", 2, 20), ("large", 3, 600)):
        schedule.put(number, name, rank=rank)
    served = []
    for _ in range(4):
        number, work = schedule.take()
        served.append(work)
        schedule.done(number)
    assert served == ["large", "a", "b", "a2"]


def test_work_that_is_put_back_stays_first_in_its_stream() -> None:
    schedule: DecodeSchedule[str] = DecodeSchedule()
    schedule.put(1, "first", rank=20)
    schedule.put(1, "second")
    number, work = schedule.take()
    assert not schedule.should_yield(number)
    schedule.put(2, "large", rank=600)
    assert schedule.should_yield(number)
    schedule.put_back(number, work)
    served = []
    for _ in range(3):
        number, work = schedule.take()
        served.append(work)
        schedule.done(number)
    assert served == ["large", "first", "second"]


def test_a_stream_that_gave_way_is_next_again_before_its_equals() -> None:
    schedule: DecodeSchedule[str] = DecodeSchedule()
    for number in (1, 2, 3):
        schedule.put(number, f"small {number}", rank=20)
    number, work = schedule.take()
    schedule.put(9, "large", rank=600)
    schedule.put_back(number, work)
    served = []
    for _ in range(4):
        number, work = schedule.take()
        served.append(work)
        schedule.done(number)
    assert served == ["large", "small 1", "small 2", "small 3"]


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.none() | st.integers(1, 900), st.integers(0, 3)),
        max_size=60,
    )
)
def test_threads_do_all_work_of_a_stream_in_order_and_one_at_a_time(
    calls: list[tuple[int, int | None, int]],
) -> None:
    schedule: DecodeSchedule[list[int]] = DecodeSchedule()
    done: dict[int, list[int]] = defaultdict(list)
    serving: set[int] = set()
    lock = Lock()

    def serve() -> None:
        while True:
            number, work = schedule.take()
            if number == END:
                schedule.done(number)
                return
            with lock:
                assert number not in serving
                serving.add(number)
            at, pauses = work
            with lock:
                serving.remove(number)
            if pauses:
                work[1] -= 1
                schedule.put_back(number, work)
                continue
            done[number].append(at)
            schedule.done(number)

    with ThreadPoolExecutor(3) as threads:
        serving_threads = [threads.submit(serve) for _ in range(3)]
        for at, (number, rank, pauses) in enumerate(calls):
            schedule.put(number, [at, pauses], rank=rank)
        for _ in serving_threads:
            schedule.put(END, [0, 0], rank=-1)
        for one in serving_threads:
            one.result(60)
    expected: dict[int, list[int]] = defaultdict(list)
    for at, (number, _, _) in enumerate(calls):
        expected[number].append(at)
    assert done == expected


async def test_a_large_picture_does_not_wait_for_the_backlog_of_small_ones() -> None:
    process = DecodeProcess()
    await process.ready()
    try:
        large = process.pictures("large")
        packets = stream(3)
        await decode(large, packets)
        backlog = stream(120) * 20
        finished: list[str] = []

        async def small(pictures: Pictures) -> None:
            decoded = await pictures.decode(
                backlog, left_out=False, compare=False, boxes=((20, 44),), arrived_ms=1
            )
            assert decoded.pictures == 2400
            finished.append("small")

        waiting = [asyncio.create_task(small(process.pictures(f"p{at}"))) for at in range(8)]
        # Each task has asked once it ran up to its first answer.
        await asyncio.sleep(0)
        await decode(large, packets)
        finished.append("large")
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert finished.index("large") < 4
    finally:
        await process.close()
