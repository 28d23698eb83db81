"""A tree that outlives its daemon: kill -9 in the middle, start again, and it completes."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from agent.store.lock import owner_pid
from tests.end_to_end.harness import Workshop, wait_until

GOAL = "on every phone turn on Bluetooth"


def _tree(workshop: Workshop) -> dict[str, Any]:
    """Give the sessions by kind: the parent, and how the children are."""
    data = workshop.call("sessions", "list", "--json").json["data"]
    parents = [session for session in data if session["kind"] == "agent_parent"]
    children = [session for session in data if session["kind"] == "genie_child"]
    return {"parent": parents[0] if parents else None, "children": children}


@pytest.mark.timeout(300)
def test_a_tree_whose_daemon_is_killed_completes_after_the_next_start(workshop: Workshop) -> None:
    start = ("daemon", "start", "--virtual-only", "--phones", "2")
    assert workshop.call(*start).code == 0
    try:
        draft = workshop.call("sessions", "create", "--goal", GOAL, "--model", "pilot", "--json")
        assert draft.code == 0, draft
        session_id = draft.json["sessionId"]
        started = workshop.call("sessions", "start", session_id, "--json")
        assert started.code == 0, started
        wait_until(
            lambda: any(child["stateLabel"] == "RUNNING" for child in _tree(workshop)["children"]),
            "a child to be at work",
        )
        pid = owner_pid(workshop.data)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: owner_pid(workshop.data) is None, "the kernel to drop the lock")
        assert workshop.call(*start).code == 0
        wait_until(
            lambda: _tree(workshop)["parent"]["stateLabel"] in {"COMPLETED", "FAILED"},
            "the tree to settle",
            bound_s=90.0,
        )
        tree = _tree(workshop)
        assert tree["parent"]["stateLabel"] == "COMPLETED", tree
        assert [child["stateLabel"] for child in tree["children"]] == ["COMPLETED"] * 2
    finally:
        workshop.call("daemon", "stop", "--force")
