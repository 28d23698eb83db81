"""For every test: an environment that is nobody's, and random data judged by what it shows."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
_LOOKS = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}
# Where people are, Python gathers lines for a pipe, and keeps what it has compiled: where it does
# not, each process that a test starts compiles a thousand modules again, and each run the tests.
_PYTHON = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
# `.ci/run` says it to the tests themselves: to fail where a program that they drive is absent.
_KEPT = {"SWITCHBOARD_NEEDS_ALL"}
_OWNERS = ("SWITCHBOARD_", "OPENAI_", "AZURE_OPENAI_", "ADB_", "ANDROID_", "TEXTUAL_")

# Before anything reads them: what the machine, its network and the person at it have set would
# decide what a test finds, and so would it for every process that a test starts.
for _name in os.environ.keys() - _KEPT:
    if _name in _LOOKS | _PYTHON or _name.lower() in _PROXIES or _name.startswith(_OWNERS):
        del os.environ[_name]

sys.dont_write_bytecode = False

from tests import headless  # noqa: E402 - Textual reads the environment as it is imported

headless.install()

# Stores write through to the disk at every commit, which is most of what many tests wait for:
# where the system has a disk in memory with room, theirs are there.
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
if (
    "TMPDIR" not in os.environ
    and os.access(_MEMORY, os.W_OK | os.X_OK)
    and shutil.disk_usage(_MEMORY).free > _ROOM
):
    os.environ["TMPDIR"] = str(_MEMORY)
    tempfile.tempdir = None

# On a machine that is busy, one example may take any time, and so may drawing its data.
# At a desk each run draws new ones: half as many a run. `.ci/run` has Hypothesis's own profile.
settings.register_profile(
    "switchboard",
    parent=settings(),
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("switchboard")

# Hypothesis would read the source of every module of ours for constants to draw. Ten thousand of
# them make any one as good as never drawn, and which there are, and so what a fixed seed draws,
# would hang on what a worker has imported.
providers._get_local_constants = lambda: providers._local_constants


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, and why a test failed that passed at another try."""
    if left_out[0]:
        terminalreporter.write_line(
            f"{left_out[0]} slow tests were left out; `make test-all` runs them too, "
            "`make test ARGS='-m slow'` them alone."
        )
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"failed once: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


# What is collected lives as long as the process: to look through it for garbage again and again
# takes a tenth of all the time.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
    # A console of a test is a hundred thousand objects: most have gone by themselves by then.
    gc.set_threshold(100_000, 20, 20)


left_out = [0]


def pytest_sessionfinish(session: pytest.Session) -> None:
    # pytest collects garbage five times as it ends; what is frozen costs nothing then.
    gc.collect()
    gc.freeze()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = left_out[0]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker, which alone has collected the tests."""
    left_out[0] = max(left_out[0], getattr(node, "workeroutput", {}).get("left_out", 0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Take our own scheduler for `--dist loadgroup`."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.checkout.scheduling import UnitScheduling

    return UnitScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is slow, unless markers or a file are named; begin with what takes longest."""
    if getattr(config.option, "loadgroup", False):
        from tests.checkout.scheduling import name_groups

        name_groups(items)
    slow = [item for item in items if item.get_closest_marker("slow")]
    if not config.option.markexpr and not any(".py" in word for word in config.args):
        config.hook.pytest_deselected(items=slow)
        left_out[0] = len(slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        return
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
