"""Where the tests' time goes: `make test ARGS='-p tests.checkout.costs'` prints it at the end.

CPU is that of the workers and of the processes that they have started and waited for: a busy
machine changes it little. Waiting is what the clock says beyond it, less what a worker waited for
a free core where the system counts that (Linux).

A server that tests share is waited for once they are through: what it took is told of its module,
or of the worker where it serves all modules, and of no test.
"""

import resource
import sys
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_ROWS = 25
_LONG_S = 5.0
_QUEUED = Path("/proc/self/schedstat")
_FIXTURES = pytest.StashKey[Counter[str]]()
_SPENT = pytest.StashKey[dict[str, Any]]()
_OF_A_WORKER = "(worker)"
_sums: dict[str, Counter[str]] = {}
_tests: Counter[str] = Counter()
_unmarked: Counter[str] = Counter()
_before_s: list[float] = []


def _now() -> tuple[float, float]:
    """Return the seconds of CPU of this process and its children, and those of the clock."""
    try:
        queued_s = int(_QUEUED.read_text(encoding="ascii").split()[1]) / 1e9
    except OSError:
        queued_s = 0.0
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    # Commands that were forked from one that had imported them are the children of that one.
    warm = sys.modules.get("tests.end_to_end.warm")
    forked_s = warm.spent_s[0] if warm else 0.0
    cpu_s = forked_s + sum(one.ru_utime + one.ru_stime for one in used)
    return cpu_s, time.monotonic() - queued_s


def _phase(item: pytest.Item) -> Generator[None, Any, Any]:
    fixtures = item.session.stash[_FIXTURES] = Counter()
    begun = _now()
    try:
        return (yield)
    finally:
        cpu_s, clock_s = (end - start for start, end in zip(begun, _now(), strict=True))
        waited_s = max(0.0, clock_s - cpu_s)
        item.stash[_SPENT] = {
            "cpu_s": cpu_s,
            "waited_s": waited_s,
            "fixtures": dict(fixtures),
            "is_slow": item.get_closest_marker("slow") is not None,
        }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, Any, Any]:
    try:
        return (yield from _phase(item))
    finally:
        ends = "worker" if nextitem is None else "module" if nextitem.path != item.path else ""
        item.stash[_SPENT]["ends"] = ends


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: Any, request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    begun, _ = _now()
    try:
        return (yield)
    finally:
        name = f"{fixturedef.baseid or fixturedef.func.__module__}::{fixturedef.argname}"
        fixtures = request.session.stash.setdefault(_FIXTURES, Counter())
        fixtures[f"{name} ({fixturedef.scope})"] += _now()[0] - begun


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    # A worker sends its reports to the process that sums them up, with all that they hold.
    report.spent = item.stash.get(_SPENT, None)
    return report


def pytest_runtest_logreport(report: Any) -> None:
    spent = getattr(report, "spent", None)
    if not spent:
        return
    test = report.nodeid.partition("@")[0]
    file = test.partition("::")[0]
    room = "/".join(file.split("/")[: 2 if file.startswith("tests/") else 3])
    if report.when == "call":
        _tests[room] += 1
    match spent.get("ends"):
        case "module":
            test = f"{file}::(module)"
        case "worker":
            room = file = test = _OF_A_WORKER
    for table, key in (("room", room), ("file", file), ("test", test), ("phase", report.when)):
        _sums.setdefault(f"CPU by {table}", Counter())[key] += spent["cpu_s"]
        _sums.setdefault(f"waiting by {table}", Counter())[key] += spent["waited_s"]
    _sums.setdefault("CPU by fixture", Counter()).update(spent["fixtures"])
    if not spent["is_slow"]:
        _unmarked[test] += spent["cpu_s"] + spent["waited_s"]


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.items:
        # All that this process has used so far: to start, to import and to collect.
        _before_s.append(_now()[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["before_s"] = sum(_before_s)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _before_s.append(getattr(node, "workeroutput", {}).get("before_s", 0.0))


def by_room() -> str:
    """Return a table of what each room takes, the dearest first, and all of them together."""
    cpu, waiting = (_sums.get(f"{what} by room", Counter()) for what in ("CPU", "waiting"))
    rows = [(room, _tests[room], cpu_s, waiting[room]) for room, cpu_s in cpu.most_common()]
    rows.append(("all", _tests.total(), cpu.total(), waiting.total()))
    width = max(len(room) for room, *_ in rows)
    lines = [f"\n{'room':{width}}  tests    CPU s  waiting s"]
    for room, number, cpu_s, waiting_s in rows:
        lines.append(f"{room:{width}}  {number:5}  {cpu_s:7.1f}  {waiting_s:9.1f}")
    return "\n".join(lines)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tests_s = sum(_sums.get("CPU by phase", Counter()).values())
    terminalreporter.section("what the tests cost")
    terminalreporter.write_line(
        f"{tests_s:.1f} s of CPU in tests, and {sum(_before_s):.1f} s before them to start, import "
        f"and collect, by workers: {len(_before_s)}"
    )
    terminalreporter.write_line(by_room())
    long = Counter({test: taken_s for test, taken_s in _unmarked.items() if taken_s > _LONG_S})
    # The rooms stand in the table above.
    told = {name: sums for name, sums in _sums.items() if not name.endswith("by room")}
    titles = {f"longer than {_LONG_S:g} s and not marked slow": long, **told}
    for name, seconds in sorted(titles.items()):
        terminalreporter.write_line(f"\n{name}, in seconds")
        for key, taken_s in seconds.most_common(_ROWS):
            terminalreporter.write_line(f"{taken_s:9.2f}  {key}")
