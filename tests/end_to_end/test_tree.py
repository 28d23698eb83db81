"""A tree that outlives its daemon: kill -9 in the middle, start again, and it completes."""

import os
import signal
from typing import Any

import pytest

from agent.store.database.lock import owner_pid
from tests.end_to_end.harness import Line, Workshop, wait_until
from tests.end_to_end.test_recovery import kinds, no_action_is_blind, stored

pytestmark = pytest.mark.slow

GOAL = (
    'on phone 1 turn on Bluetooth; on phone 2 send "I am late" to Anna; '
    "and on phone 3 turn on the dark mode"
)
START = ("daemon", "start", "--virtual-only", "--phones", "3")
BOUND_S = 240.0


class TreeOf:
    """One parent and its children, as the command line tells of them."""

    def __init__(self, workshop: Workshop, parent_id: str) -> None:
        self._workshop = workshop
        self.parent_id = parent_id

    def members(self) -> list[dict[str, Any]]:
        """Return the parent, then its children by their phones; one call of the command line."""
        data = self._workshop.call("sessions", "list", "--json").json["data"]
        parent = [one for one in data if one["sessionId"] == self.parent_id]
        children = [one for one in data if one.get("parentSessionId") == self.parent_id]
        return parent + sorted(children, key=lambda one: str(one["serial"]))

    def states(self) -> list[str]:
        return [str(one["stateLabel"]) for one in self.members()]

    def ids(self) -> list[str]:
        return [str(one["sessionId"]) for one in self.members()]


def questions(workshop: Workshop, session_id: str) -> list[Line]:
    return [
        line["msg"]["question"]
        for line in stored(workshop, session_id)
        if line["msg"]["type"] == "request_user_input"
    ]


@pytest.mark.timeout(900)
def test_a_tree_on_three_phones_whose_daemon_is_killed_completes_after_the_next_start(
    workshop: Workshop,
) -> None:
    assert workshop.call(*START).code == 0
    try:
        draft = workshop.call("sessions", "create", "--goal", GOAL, "--model", "pilot", "--json")
        assert draft.code == 0, draft
        tree = TreeOf(workshop, draft.json["sessionId"])
        assert workshop.call("sessions", "start", tree.parent_id, "--json").code == 0
        wait_until(lambda: len(tree.members()) == 4, "three children", bound_s=BOUND_S)
        _, _, asking, darkening = tree.ids()
        wait_until(
            lambda: "tool_call_finished" in kinds(stored(workshop, darkening)),
            "the third phone's first deed",
            bound_s=BOUND_S,
        )
        pulled = workshop.call("phone", "fault", "virtual-3", "disconnect")
        assert pulled.code == 0, pulled
        pid = owner_pid(workshop.data)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: owner_pid(workshop.data) is None, "the kernel to drop the lock")
        before = {one: stored(workshop, one) for one in (tree.parent_id, *tree.ids()[1:])}

        assert workshop.call(*START).code == 0
        wait_until(lambda: bool(questions(workshop, asking)), "a question", bound_s=BOUND_S)
        # The phones are the next daemon's own, so the cable is pulled on one of those again.
        again = workshop.call("phone", "fault", "virtual-3", "disconnect", "--for", "3")
        assert again.code == 0, again
        try:
            wait_until(
                lambda: _settled(workshop, tree, asking), "the tree to settle", bound_s=BOUND_S
            )
        except AssertionError as late:
            newest = {one: stored(workshop, one)[-6:] for one in tree.ids()}
            raise AssertionError(f"{late}: {newest}") from None
        assert tree.states() == ["COMPLETED"] * 4, tree.members()
        for session_id, lines in before.items():
            whole = stored(workshop, session_id)
            assert whole[: len(lines)] == lines, "what was published is lost or changed"
            assert [line["seq"] for line in whole] == list(range(1, len(whole) + 1))
            assert no_action_is_blind(whole)
    finally:
        workshop.call("daemon", "stop", "--force")


def _settled(workshop: Workshop, tree: TreeOf, asking: str) -> bool:
    """Answer what the asking child waits for; returns whether the tree has settled."""
    states = {str(one["sessionId"]): one["stateLabel"] for one in tree.members()}
    if states[asking] == "WAITING_FOR_USER":
        workshop.let_scripts_approve()
        workshop.call("sessions", "answer", asking, "--answer", "Approve")
    return states[tree.parent_id] in {"COMPLETED", "FAILED", "CANCELLED"}
