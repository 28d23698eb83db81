"""The SDK is imported beside the event loop, whatever it is that a first call needs of it."""

import subprocess
import sys

import pytest

from agent.settings import Wire

FIRST_CALL = """
import asyncio, sys, threading
from importlib.abc import MetaPathFinder

class Watch(MetaPathFinder):
    on_the_loop, beside = [], []
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {"openai", "anthropic"}:
            on_loop = threading.current_thread() is threading.main_thread()
            (self.on_the_loop if on_loop else self.beside).append(name)

sys.meta_path.insert(0, Watch())
from agent.models.endpoint import Endpoint
from agent.models.model import Message, MessageKind, ModelRequest, Role
from agent.models.clients import client_class
from agent.settings import Wire
from tests.openai_server import Reply, openai_server

async def main():
    async with openai_server([Reply(text="yes")]) as server:
        endpoint = Endpoint(base_url=server.base_url, wire=Wire(sys.argv[1]))
        model = client_class(endpoint.wire)("m", endpoint=endpoint, api_key="k")
        message = Message(role=Role.USER, kind=MessageKind.GOAL, text="well?")
        reply = await model.complete(ModelRequest(messages=(message,), tools=()))
        assert reply.text == "yes", reply
        await model.close()
    assert Watch.beside
    assert not Watch.on_the_loop, Watch.on_the_loop

asyncio.run(main())
"""


@pytest.mark.parametrize("wire", list(Wire))
def test_a_first_call_imports_nothing_of_the_sdk_on_the_loop(wire: Wire) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, wire.value], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
