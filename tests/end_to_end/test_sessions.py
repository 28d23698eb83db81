"""`switchboard sessions` as scripts use it, and the bridge's calls on the socket behind it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.end_to_end.harness import Workshop

BRIDGE_FIELDS = {
    *("sessionId", "parentSessionId", "kind", "anchor", "state", "stateLabel", "targetPackage"),
    *("targetPresentation", "targetRuntime", "latestQuestion", "latestResult", "latestError"),
    *("latestTrace", "model", "reasoningEffort", "threadId", "attachable"),
}


@contextmanager
def daemon(workshop: Workshop, *options: str) -> Iterator[str]:
    """Run the daemon for the length of the block; returns its socket."""
    started = workshop.call("daemon", "start", "--virtual-only", *options)
    assert started.code == 0, started
    try:
        yield workshop.call("daemon", "status", "--json").json["socket"]
    finally:
        workshop.call("daemon", "stop", "--force")


class Wire:
    """A stranger's program on the socket: lines of JSON, and nothing of ours."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def raw(self, line: bytes) -> dict[str, Any]:
        self._socket.sendall(line + b"\n")
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def call(self, method: str, **params: object) -> dict[str, Any]:
        asked = {"id": 7, "method": f"androidSession/{method}", "params": params}
        answer = self.raw(json.dumps(asked).encode())
        assert answer["id"] == 7
        return answer

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def test_a_script_of_the_android_bridge_finds_its_calls_and_its_error_codes(
    workshop: Workshop,
) -> None:
    with daemon(workshop) as path:
        wire = Wire(path)
        made = wire.call("create", targetPackage="com.android.settings")["result"]
        assert set(made) >= BRIDGE_FIELDS
        assert (made["kind"], made["anchor"], made["state"]) == ("home_session", "HOME", 1)
        assert (made["stateLabel"], made["attachable"]) == ("CREATED", False)
        session_id = made["sessionId"]
        agent = wire.call("create")["result"]
        assert (agent["kind"], agent["targetPackage"]) == ("agent_parent", None)
        listed = wire.call("list")["result"]["data"]
        assert {one["sessionId"] for one in listed} == {session_id, agent["sessionId"]}
        assert wire.call("attach", sessionId=session_id)["result"]["threadId"] == session_id
        read = wire.call("read", sessionId=session_id[:8])["result"]
        assert (read["stateLabel"], read["attachable"]) == ("WAITING_FOR_USER", True)
        assert read["timeline"] == []
        assert wire.call("cancel", sessionId=session_id)["result"] == {"ok": True}
        codes = {
            "not json": wire.raw(b"{nonsense")["error"]["code"],
            "method": wire.call("nothing")["error"]["code"],
            "missing": wire.call("read")["error"]["code"],
            "blank": wire.call("read", sessionId=" ")["error"]["code"],
            "unknown": wire.call("read", sessionId="nowhere")["error"]["code"],
            "state": wire.call("attach", sessionId=session_id)["error"]["code"],
        }
        assert codes == {
            "not json": -32700,
            "method": -32601,
            "missing": -32602,
            "blank": -32602,
            "unknown": -32602,
            "state": -32000,
        }
        refused = wire.call("clear", all=False)["error"]
        assert (refused["code"], refused["message"]) == (-32602, "sessions clear requires --all")
        wire.close()
        # What this client drove was let go when it hung up, and is left for others.
        cleared = workshop.call("sessions", "clear", "--all", "--json").json
        assert cleared["ok"] and cleared["remainingSessionIds"] == []
        assert set(cleared["clearedSessionIds"]) == {session_id, agent["sessionId"]}


@pytest.mark.slow
def test_a_draft_is_made_started_kept_forked_exported_imported_and_deleted(bench: Workshop) -> None:
    limits = (
        "--max-steps",
        "9",
        "--max-tokens",
        "5000",
        "--max-cost",
        "0.5",
        "--max-seconds",
        "90",
    )
    care = ("--autonomy", "trusted_actions", "--reasoning-effort", "low")
    made = bench.call("sessions", "create", "--device", bench.serial, *limits, *care, "--json")  # type: ignore[attr-defined]
    session_id = made.json["sessionId"]
    assert [made.json[name] for name in ("maxSteps", "maxTokens", "maxCostUsd", "maxSeconds")] == [
        *(9, 5000, 0.5, 90.0)
    ]
    assert (made.json["autonomy"], made.json["reasoningEffort"]) == ("trusted_actions", "low")
    without = bench.call("sessions", "start", session_id)
    assert without.code == 2 and "--prompt" in without.err
    started = bench.call("sessions", "start", session_id, "--prompt", "open Settings", "--json")
    assert started.code == 0, started
    assert started.json["goal"] == "open Settings" and started.json["childSessionIds"] == []
    assert started.json["stateLabel"] == "COMPLETED" and "geniePackage" in started.json
    read = bench.call("sessions", "read", session_id[:6], "--json").json
    assert 0 < len(read["timeline"]) <= 12
    assert any(line.startswith("Result: ") for line in read["timeline"])
    assert bench.call("sessions", "keep", session_id).code == 0
    fork = bench.call("sessions", "fork", session_id, "--json").json
    assert fork["forkedFrom"] == session_id and fork["stateLabel"] == "WAITING_FOR_USER"
    file = str(bench.data.parent / "run.jsonl")
    assert bench.call("sessions", "export", session_id, file).out.strip() == file
    again = bench.call("sessions", "export", session_id, file)
    assert again.code == 2, again
    copy = bench.call("sessions", "import", file, "--as-new", "--json").json
    assert copy["sessionId"] != session_id and copy["skippedLines"] == 0
    asked = bench.call("sessions", "delete", copy["sessionId"])
    assert asked.code == 2 and "--yes" in asked.err
    deleted = bench.call("sessions", "delete", copy["sessionId"], "--yes", "--json").json
    assert deleted["deletedSessionIds"] == [copy["sessionId"]]
    assert bench.call("sessions", "show", copy["sessionId"]).code == 2
    refused = bench.call("sessions", "clear")
    assert refused.code == 2 and "sessions clear requires --all" in refused.err
    early = bench.call("sessions", "attach", session_id)
    assert early.code == 2 and "needs a terminal" in early.err
