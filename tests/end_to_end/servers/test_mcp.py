"""The MCP server as a client starts it: real pipes, a daemon, and a server that is killed."""

import json
import subprocess
from typing import Any

import pytest

from tests.end_to_end.harness import SWITCHBOARD, Workshop, wait_until
from tests.end_to_end.test_daemon import daemon

pytestmark = pytest.mark.slow


class Pipes:
    """A client that writes the protocol's lines by hand."""

    def __init__(self, workshop: Workshop) -> None:
        self.process = subprocess.Popen(
            [*SWITCHBOARD, "mcp", "--tools", "phone"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=workshop.environment,
        )
        self._number = 0

    def tell(self, method: str, **params: Any) -> None:
        line = {"jsonrpc": "2.0", "method": method, "params": params}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        line = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        for answer in self.process.stdout:
            found: dict[str, Any] = json.loads(answer)
            if found.get("id") == self._number:
                return found
        raise AssertionError("the server closed its pipe")

    def begin(self) -> None:
        info = {"name": "by-hand", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        self.tell("notifications/initialized")

    def call(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return str(result["content"][0]["text"])

    def end(self) -> None:
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


def states(workshop: Workshop) -> list[str]:
    listed = workshop.call("sessions", "list", "--json").json["data"]
    return [one["stateLabel"] for one in listed]


def test_a_killed_server_lets_go_of_its_phone_and_one_whose_client_leaves_ends(
    workshop: Workshop,
) -> None:
    with daemon(workshop, "--phones", "1"):
        first = Pipes(workshop)
        try:
            first.begin()
            text = first.call("take_phone", purpose="Look around")
            assert "## Screen State" in text, text
        finally:
            first.end()
        wait_until(lambda: states(workshop) == ["CANCELLED"], "the session to be cancelled")
        second = Pipes(workshop)
        try:
            second.begin()
            assert "## Screen State" in second.call("take_phone", purpose="Look again")
            released = second.call("release_phone", success=False, summary="Only looked")
            assert "Only looked" in released
            assert second.process.stdin is not None
            second.process.stdin.close()
            assert second.process.wait(60) == 0
        finally:
            second.end()
    assert sorted(states(workshop)) == ["CANCELLED", "FAILED"]


def test_the_doctor_speaks_to_the_server_as_a_client_does_and_leaves_nothing(
    workshop: Workshop,
) -> None:
    def check() -> dict[str, Any]:
        checks = workshop.call("doctor", "--json").json["checks"]
        (found,) = [one for one in checks if one["name"] == "mcp"]
        assert found["ok"], found
        return dict(found)

    assert "an empty core of its own" in check()["detail"]
    assert not (workshop.data / "switchboard.db").exists(), "nothing of the operator's is begun"
    with daemon(workshop, "--phones", "1") as pid:
        assert f"the core of process {pid}" in check()["detail"]
