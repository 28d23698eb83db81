"""Serving over a process's own pipes: what comes over them, and what must not."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

SERVER = """
import asyncio, os, subprocess, sys
import mcp_types as types
from mcp.server.lowlevel import Server
from console.mcp import serving
serving.MAX_MESSAGE_BYTES = 100_000
async def call(context, params):
    print("from a print")
    if params.name == "print":
        child = "import sys; print('from a child', sys.stdin.read())"
        subprocess.run([sys.executable, "-c", child])
    text = params.name * params.arguments.get("times", 1)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])
class Served:
    server = Server("served", version="1", on_call_tool=call)
asyncio.run(serving.serve_stdio(Served()))
print("after")
"""
TO_THE_CLIENT = {"jsonrpc", "id", "result"}


class Pipes:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, number: int, method: str, **params: Any) -> None:
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.write(json.dumps(line).encode())

    def call(self, number: int, name: str, **arguments: Any) -> dict[str, Any]:
        self.ask(number, "tools/call", name=name, arguments=arguments)
        return self.read()


@contextmanager
def served() -> Iterator[Pipes]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        pipes = Pipes(process)
        info = {"name": "by-hand", "version": "1"}
        pipes.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        assert pipes.read()["id"] == 0
        try:
            yield pipes
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Pipes]:
    """A server for all tests that leave it as it was: each start costs seconds."""
    with served() as pipes:
        yield pipes
        pipes.process.communicate()


def test_prints_and_children_miss_the_clients_pipe() -> None:
    with served() as pipes:
        answer = pipes.call(1, "print")
        assert set(answer) == TO_THE_CLIENT and answer["id"] == 1
        assert answer["result"]["content"][0]["text"] == "print"
        out, said = pipes.process.communicate()
    assert out == b"after\n", "stdout is the process's own again once the client has gone"
    assert b"from a print" in said and b"from a child" in said
    assert pipes.process.returncode == 0


def test_lines_that_are_no_messages_are_passed_over(shared_server: Pipes) -> None:
    for line in (b"", b"{", b"\xff\xfe", b"[]", b'{"jsonrpc": "2.0"}', b"null"):
        shared_server.write(line)
    assert shared_server.call(2, "b")["id"] == 2


@pytest.mark.parametrize("length", [100_001, 250_000, 1_000_000])
def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_read(
    shared_server: Pipes, length: int
) -> None:
    shared_server.write(b"x" * length)
    refused = shared_server.read()
    assert refused["id"] is None and "100,000 bytes" in refused["error"]["message"]
    assert shared_server.call(3, "c")["id"] == 3


def test_a_long_answer_comes_whole_to_a_client_that_reads_late(shared_server: Pipes) -> None:
    shared_server.ask(4, "tools/call", name="d" * 1000, arguments={"times": 1000})
    shared_server.ask(5, "tools/call", name="e", arguments={})
    found = {one["id"]: one for one in (shared_server.read(), shared_server.read())}
    assert len(found[4]["result"]["content"][0]["text"]) == 1_000_000
    assert found[5]["result"]["content"][0]["text"] == "e"


def test_a_client_that_reads_nothing_more_ends_the_server_with_its_input() -> None:
    with served() as pipes:
        assert pipes.process.stdout is not None and pipes.process.stdin is not None
        pipes.process.stdout.close()
        pipes.ask(6, "tools/call", name="f" * 1000, arguments={"times": 1000})
        pipes.process.stdin.close()
        assert pipes.process.wait(60) is not None


def test_a_file_for_input_is_served_too() -> None:
    """What no event loop can wait for goes by the SDK's own transport."""
    done = subprocess.run(
        [sys.executable, "-c", SERVER], stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout == b"after\n"
