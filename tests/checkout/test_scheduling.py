"""Tests are handed to workers once each, a group to one worker, and what is done is let go of."""

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checkout.scheduling import UnitScheduling, name_groups

TESTS = [f"tests/test_a.py::test_{n}" for n in range(300)]
GROUP = [f"tests/test_b.py::test_{n}@one_phone" for n in range(7)]


class Worker:
    """What a scheduler sees of a worker: the places of tests that it was sent."""

    def __init__(self) -> None:
        self.gateway = SimpleNamespace(id="worker")
        self.shutting_down = False
        self.waiting: deque[int] = deque()
        self.seen: list[int] = []

    def send_runtest_some(self, places: list[int]) -> None:
        self.waiting.extend(places)

    def shutdown(self) -> None:
        self.shutting_down = True


def scheduler(workers: list[Worker]) -> UnitScheduling:
    config: Any = SimpleNamespace(
        getvalue=lambda _name: ["popen"] * len(workers),
        option=SimpleNamespace(loadscopereorder=True),
    )
    made = UnitScheduling(config)
    for worker in workers:
        node: Any = worker
        made.add_node(node)
        made.add_node_collection(node, TESTS + GROUP)
    made.schedule()
    return made


def play(made: UnitScheduling, worker: Worker, times: int = 1) -> None:
    """Have a worker do the next of its tests and report it, once for each try."""
    place = worker.waiting.popleft()
    worker.seen.append(place)
    node: Any = worker
    for _ in range(times):
        made.mark_test_complete(node, place)


def test_each_test_is_done_once_and_little_is_held_of_what_is_done() -> None:
    workers = [Worker(), Worker()]
    made = scheduler(workers)
    turn = 0
    while any(worker.waiting for worker in workers):
        turn += 1
        # One of them is three times as fast, and every fifth test is tried again.
        worker = workers[0] if turn % 4 and workers[0].waiting else workers[1]
        if worker.waiting:
            play(made, worker, 2 if turn % 5 == 0 else 1)
        held = sum(map(len, made.assigned_work.values()))
        assert held <= 2 * 4, "what is done is let go of"
    done = [place for worker in workers for place in worker.seen]
    assert sorted(done) == list(range(len(TESTS + GROUP)))
    assert made.tests_finished and all(worker.shutting_down for worker in workers)
    group = set(range(len(TESTS), len(TESTS + GROUP)))
    assert sum(bool(group & set(worker.seen)) for worker in workers) == 1


def test_what_a_lost_worker_had_left_goes_to_another() -> None:
    lost, other = workers = [Worker(), Worker()]
    made = scheduler(workers)
    play(made, lost)
    left = list(lost.waiting)
    node: Any = lost
    assert made.remove_node(node) == (TESTS + GROUP)[left[0]]
    while other.waiting:
        play(made, other)
    assert sorted(lost.seen + other.seen) == list(range(len(TESTS + GROUP)))


@pytest.mark.xdist_group("one_worker")
def test_a_worker_names_the_group_in_the_id(request: pytest.FixtureRequest) -> None:
    if not getattr(request.config.option, "loadgroup", False):
        # No worker of `--dist loadgroup`: nobody has done it.
        assert "@" not in request.node.nodeid
        name_groups([request.node])
    assert request.node.nodeid.endswith("::test_a_worker_names_the_group_in_the_id@one_worker")


@pytest.fixture(scope="module")
def phone() -> int:
    return 1


def test_what_a_module_sets_up_once_makes_its_tests_a_group(
    phone: int, request: pytest.FixtureRequest
) -> None:
    if not getattr(request.config.option, "loadgroup", False):
        name_groups([request.node])
    assert request.node.nodeid.endswith("_a_group@tests/checkout/test_scheduling.py")
