"""Hand the tests to xdist's workers: a group to one of them, and none of them waits for counting.

xdist 3.8 writes the name of a group into an attribute of its tests that pytest 9.2 no longer reads:
`--dist loadgroup` groups nothing then, and what a module sets up once is set up by each worker.
Its scheduler also counts, after each test, all units that a worker was ever given, which grows with
the square of the tests: 5 of the 20 s of CPU that six thousand empty tests take.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling


def name_groups(items: Sequence[pytest.Item]) -> None:
    """End the id of a test with `@` and the name of its group: by it xdist knows the group.

    A group is what `xdist_group` names; without that, the tests of a module that share what a
    fixture sets up once a module: phones, servers, clusters.
    """
    for item in items:
        names = {str(mark.args[0]) for mark in item.iter_markers("xdist_group")}
        if not names and _shares(item):
            names = {item.nodeid.partition("::")[0]}
        suffix = "@" + "_".join(sorted(names))
        if names and not item.nodeid.endswith(suffix):
            item._id = type(item._id).parse(item.nodeid + suffix)


def _shares(item: pytest.Item) -> bool:
    """Return whether a test uses a fixture of ours that a module has one of."""
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return any(one.scope == "module" and one.baseid for made in known.values() for one in made[-1:])


class UnitScheduling(LoadGroupScheduling):
    """As `--dist loadgroup`; a unit that is done is let go of, and places are looked up once."""

    _places: dict[str, int] | None = None

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Note that a worker is through with a test, and hand it more where it has little left."""
        test = self.registered_collections[node][item_index]
        unit = self._split_scope(test)
        workload = self.assigned_work[node]
        # What is tried once more is reported again.
        if unit in workload:
            workload[unit][test] = True
            if all(workload[unit].values()):
                del workload[unit]
        self._reschedule(node)

    def _assign_work_unit(self, node: Any) -> None:
        unit, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][unit] = tests
        if self._places is None:
            # All workers have collected the same, or nothing would have been handed out.
            self._places = {test: at for at, test in enumerate(self.collection or ())}
        node.send_runtest_some([self._places[test] for test, done in tests.items() if not done])
