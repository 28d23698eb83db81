"""How long a model may reason is said on both wires, and left out where an endpoint refuses it."""

from typing import Any

import pytest

from agent.models.endpoint import Endpoint, Provider
from agent.models.model import Message, MessageKind, ModelRequest, Role
from agent.models.openai import OpenAIModel
from agent.settings import Wire
from agent.tools.registry import schemas
from tests.openai_server import Reply, openai_server, tool

REQUEST = ModelRequest(
    messages=(Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),), tools=schemas()
)


async def asked(wire: Wire, effort: str, *replies: Reply) -> list[dict[str, Any]]:
    """Return the bodies of what one call sent."""
    async with openai_server(replies) as server:
        endpoint = Endpoint(base_url=server.base_url, provider=Provider.OPENAI, wire=wire)
        model = OpenAIModel("m", endpoint=endpoint, api_key="k", effort=effort)
        await model.complete(REQUEST)
        await model.close()
        return server.requests


DONE = Reply(tools=(tool("wait", seconds=1),))


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (Wire.CHAT, {"reasoning_effort": "high"}),
        (Wire.RESPONSES, {"reasoning": {"effort": "high"}}),
    ],
)
async def test_the_effort_goes_out_as_the_wire_says_it(wire: Wire, said: dict[str, Any]) -> None:
    (body,) = await asked(wire, "high", DONE)
    assert said.items() <= body.items()


@pytest.mark.parametrize("wire", [Wire.CHAT, Wire.RESPONSES])
async def test_nothing_is_said_of_effort_where_nobody_asked_for_any(wire: Wire) -> None:
    (body,) = await asked(wire, "", DONE)
    assert not {"reasoning", "reasoning_effort"} & set(body)


@pytest.mark.parametrize("parameter", ["reasoning_effort", ""])
async def test_an_endpoint_that_knows_no_effort_is_asked_again_without_it(parameter: str) -> None:
    refusal = Reply(status=400, error_param=parameter)
    first, second = await asked(Wire.CHAT, "low", refusal, DONE)
    assert first["reasoning_effort"] == "low"
    assert "reasoning_effort" not in second
    assert second["tools"][0]["function"]["strict"], "nothing else was left out"
