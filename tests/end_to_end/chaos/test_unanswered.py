"""A core that is killed after it did what a command asked, and before it answered."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.end_to_end.harness import BOUND_S, Workshop

DAEMON = """
import os, signal
from agent.protocol.base import CreatingOp
from agent.runtime.op_queue import Submission

answer = Submission.succeed

def die_before_the_answer(self, reply):
    if isinstance(self.op, CreatingOp):
        os.kill(os.getpid(), signal.SIGKILL)
    answer(self, reply)

Submission.succeed = die_before_the_answer
from console.cli import main
main()
"""


@contextmanager
def doomed_core(workshop: Workshop, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", DAEMON, "daemon", "run", "--virtual-only", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(workshop.environment),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), "it serves"
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "listed"),
    [
        (("jobs", "create", "look at it", "--every", "1h"), ("jobs", "list")),
        (
            ("watchers", "create", "time", "--at", "23:59", "--again", "--every", "1h"),
            ("watchers", "list"),
        ),
        (("commitments", "create", "call Ana"), ("commitments", "list")),
        (("sessions", "create", "--goal", "look"), ("sessions", "list")),
    ],
    ids=["a job", "a watcher", "a commitment", "a draft"],
)
def test_what_was_asked_for_is_there_once(
    workshop: Workshop, made: tuple[str, ...], listed: tuple[str, ...]
) -> None:
    with doomed_core(workshop, "--phones", "0") as core:
        done = workshop.call(*made, "--json")
        assert core.wait(BOUND_S) == -signal.SIGKILL
    assert done.code == 0, done
    assert "asking again" in done.err
    found = workshop.call(*listed, "--json").json
    rows = next(iter(found.values())) if isinstance(found, dict) else found
    assert len(rows) == 1, rows


@pytest.mark.slow
def test_a_run_goes_on_with_the_session_that_was_begun(workshop: Workshop) -> None:
    goal = "turn on Bluetooth"
    with doomed_core(workshop, "--phones", "0") as core:
        done = workshop.call("run", goal, "--virtual", "--json", bound_s=2 * BOUND_S)
        assert core.wait(BOUND_S) == -signal.SIGKILL
    found = workshop.call("sessions", "list", "--json").json
    rows = next(iter(found.values())) if isinstance(found, dict) else found
    assert len(rows) == 1, (rows, done)
    assert done.code == 0, done
