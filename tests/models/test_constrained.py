"""Calls by a JSON schema: what is asked for, what the model is told, and what is read."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ModelError
from agent.models.clients import client_class
from agent.models.endpoint import Endpoint
from agent.models.model import (
    Message,
    MessageKind,
    ModelReply,
    ModelRequest,
    Role,
    ToolCall,
    ToolChoice,
    ToolSchema,
)
from agent.models.windows import context_window
from agent.models.wires.constrained import call_schema, in_words, read_call, tools_text
from agent.settings import ConstrainedCalls, Wire
from agent.tools.planning import planning_schemas
from agent.tools.registry import schemas
from tests.models.asking import KEY, reply_with_status
from tests.models.llamacpp import MODEL, Body, llamacpp_server, untranslated
from tests.openai_server import OpenAIServer, Reply, openai_server

TOOLS = schemas()
WAIT = tuple(tool for tool in TOOLS if tool.name == "wait")
CALL = {"tool": "wait", "arguments": {"seconds": 1}}
FOREIGN = ToolSchema(
    name="server__find",
    description="Find things.",
    parameters={
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "properties": {
            "since": {"type": "string", "format": "date-time", "pattern": "^(?=2)"},
            "tree": {"$ref": "#/$defs/Node"},
            "odd": {"$ref": "https://elsewhere.example/schema"},
            "both": {"allOf": [{"type": "string"}]},
        },
        "required": ["since"],
        "patternProperties": {"^x-": {}},
    },
)
"""A tool of somebody else's server, with what no grammar is made of."""


@pytest.mark.parametrize("tools", [TOOLS, planning_schemas(), (*WAIT, FOREIGN)])
def test_a_schema_has_only_what_grammars_are_made_of(tools: tuple[ToolSchema, ...]) -> None:
    schema = call_schema(tools)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert untranslated(schema) == []
    text = tools_text(tools)
    for tool in tools:
        assert tool.name in text and tool.description in text
        for name in tool.parameters.get("properties", ()):
            assert name in text


def test_only_a_call_of_an_offered_tool_fits_the_schema() -> None:
    check = jsonschema.Draft202012Validator(call_schema((*WAIT, FOREIGN)))
    chain = {"tool": "server__find", "arguments": {"since": "x", "tree": {"next": {"next": {}}}}}
    assert check.is_valid(CALL) and check.is_valid(chain)
    for wrong in (
        {"tool": "reboot", "arguments": {}},
        {"tool": "server__find", "arguments": {}},
        {"tool": "server__find", "arguments": {"since": "x", "tree": {"next": 3}}},
        {"tool": "wait"},
        {"tool": "wait", "arguments": {"minutes": 1}},
        {**CALL, "why": "because"},
    ):
        assert not check.is_valid(wrong), wrong


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.text(max_size=200) | st.builds(json.dumps, _anything))
def test_whatever_was_written_is_read_without_an_error(text: str) -> None:
    call = read_call(text, TOOLS)
    assert call is None or call.name in {tool.name for tool in TOOLS}


@given(st.sampled_from(TOOLS), st.dictionaries(st.text(max_size=8), _anything, max_size=3))
def test_a_call_is_read_as_it_was_written_and_no_part_of_one(
    tool: ToolSchema, arguments: dict[str, Any]
) -> None:
    text = json.dumps({"tool": tool.name, "arguments": arguments})
    call = read_call(text, TOOLS)
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == (tool.name, arguments)
    assert read_call(text[:-1], TOOLS) is None


def test_a_schema_of_anything_is_no_error() -> None:
    odd: tuple[Any, ...] = ({}, {"type": "object", "properties": 3}, {"properties": {"a": True}})
    for parameters in odd:
        tool = ToolSchema(name="odd", description="", parameters=parameters)
        assert untranslated(call_schema((tool,))) == []
        assert "odd" in tools_text((tool,))


def conversation(steps: int) -> tuple[Message, ...]:
    messages = [
        Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Drive the phone."),
        Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
    ]
    for at in range(steps):
        call = ToolCall(call_id=f"c{at}", name="wait", arguments='{"seconds": 1}')
        messages += [
            Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=f"Screen {at}."),
            Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text="Hm.", tool_calls=(call,)),
            Message(role=Role.TOOL, kind=MessageKind.RESULT, text=f"Done {at}.", call_id=f"c{at}"),
        ]
    return tuple(messages)


@given(st.integers(0, 5))
def test_a_conversation_in_words_alternates_and_keeps_its_beginning(steps: int) -> None:
    told = in_words(conversation(steps), WAIT)
    roles = [message.role for message in told]
    assert roles[0] is Role.SYSTEM
    assert all((role is Role.USER) is (at % 2 == 0) for at, role in enumerate(roles[1:])), (
        "templates with two senders refuse anything else"
    )
    assert "wait(seconds" in told[0].text
    whole = "\n".join(message.text for message in told)
    for at in range(steps):
        assert f"Screen {at}." in whole and f"Result of wait: Done {at}." in whole
    assert not any(message.tool_calls or message.call_id for message in told)
    if steps:
        # What a call before it was shown is the beginning of this one.
        before = in_words(conversation(steps - 1), WAIT)
        assert told[: len(before) - 1] == before[:-1]
        assert told[len(before) - 1].text.startswith(before[-1].text)


def test_a_picture_goes_with_the_message_that_it_is_joined_to() -> None:
    seen = Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="A screen.", image=b"\xff")
    [_, joined] = in_words((*conversation(0), seen), WAIT)
    assert joined.image == b"\xff" and joined.text.startswith("Do it.")
    two = in_words((*conversation(0), seen, seen), WAIT)
    assert [message.image for message in two[1:]] == [b"\xff", b"\xff"]


# --- over the wire ----------


def request_of(steps: int = 1, unread: int = 0) -> ModelRequest:
    return ModelRequest(
        messages=conversation(steps), tools=WAIT, tool_choice=ToolChoice.REQUIRED, unread=unread
    )


async def ask(
    server: OpenAIServer,
    request: ModelRequest,
    *,
    model: str,
    constrained: ConstrainedCalls = ConstrainedCalls.AUTO,
) -> ModelReply:
    endpoint = Endpoint(base_url=server.base_url, model=model)
    client = client_class(Wire.CHAT)(
        model, endpoint=endpoint, api_key=KEY, constrained_calls=constrained
    )
    try:
        return await client.complete(request)
    finally:
        await client.close()


def obedient(body: Body) -> object:
    """Write a call where one is enforced, and ramble elsewhere."""
    return CALL if "response_format" in body else "Well, well. " * 100


async def test_a_server_whose_template_knows_no_tools_enforces_the_first_call() -> None:
    async with llamacpp_server(obedient) as server:
        reply = await ask(server, request_of(), model=MODEL)
        again = await ask(server, request_of(), model=MODEL)
    [call] = reply.tool_calls
    assert (call.name, json.loads(call.arguments), reply.text) == ("wait", {"seconds": 1}, "")
    assert "/props says so" in reply.note and not again.note
    assert len(server.requests) == 2
    sent = server.requests[0]
    assert "tools" not in sent and "tool_choice" not in sent
    assert sent["max_completion_tokens"] == 1024
    assert context_window(MODEL) == 4096


async def test_a_server_that_tells_nothing_enforces_the_call_after_two_that_could_not_be_read() -> (
    None
):
    model = "tells-nothing"
    async with llamacpp_server(obedient, tells=False) as server:
        for unread in range(2):
            assert not (await ask(server, request_of(unread=unread), model=model)).tool_calls
        reply = await ask(server, request_of(unread=2), model=model)
        assert reply.tool_calls
        assert "2 answers in a row" in reply.note
        assert (await ask(server, request_of(), model=model)).tool_calls, "it stays so"


_REFUSALS = [
    (400, "registry.ollama.ai/library/gemma3:270m does not support tools"),
    (500, "tools param requires --jinja flag"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (404, "No endpoints found that support tool use. To learn more about provider routing"),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
]


@pytest.mark.parametrize(("status", "said"), _REFUSALS, ids=[said[:20] for _, said in _REFUSALS])
async def test_a_refusal_of_tools_is_no_outage_whatever_its_status(status: int, said: str) -> None:
    def script(body: Body) -> Reply:
        if "tools" in body:
            return reply_with_status({"error": {"message": said}}, f"{status} Refused")
        return Reply(text=json.dumps(CALL))

    async with openai_server(script) as server:
        model = f"no-tools-{said[:9]}"
        assert (await ask(server, request_of(), model=model)).tool_calls
        assert [sorted(body.keys() & {"tools", "response_format"}) for body in server.requests] == [
            ["tools"],
            ["response_format"],
        ]


async def test_what_takes_neither_tools_nor_schemas_is_told_of_tools_in_words() -> None:
    def script(body: Body) -> Reply:
        for name in ("tools", "response_format"):
            if name in body:
                error = {"message": f"{name} is not supported by this server"}
                return reply_with_status({"error": error}, "501 Refused")
        return Reply(text=json.dumps(CALL))

    async with openai_server(script) as server:
        reply = await ask(server, request_of(), model="neither")
    assert reply.tool_calls
    assert "writes its calls as text" in reply.note
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("constrained", "form"),
    [(ConstrainedCalls.ON, "response_format"), (ConstrainedCalls.OFF, "tools")],
)
async def test_the_operator_may_decide_it(constrained: ConstrainedCalls, form: str) -> None:
    write: Callable[[Body], object] = lambda body: CALL  # noqa: E731
    async with llamacpp_server(write) as server:
        await ask(server, request_of(unread=3), model=MODEL, constrained=constrained)
    [sent] = server.requests
    assert form in sent and len(sent.keys() & {"tools", "response_format"}) == 1


async def test_one_bad_tool_schema_is_not_taken_for_a_lack_of_tools() -> None:
    said = "Invalid schema for function 'wait': tools[0].function.parameters is required"
    refusal = reply_with_status({"error": {"message": said, "param": "tools[0]"}}, "400 Bad")
    async with openai_server([refusal]) as server:
        with pytest.raises(ModelError, match="Invalid schema"):
            await ask(server, request_of(), model="bad-schema")
    assert "tools" in server.requests[0]


async def test_a_call_that_was_cut_off_is_no_call() -> None:
    cut = Reply(text=json.dumps(CALL)[:-3], finish="length")
    async with openai_server([cut]) as server:
        reply = await ask(server, request_of(), model="cut", constrained=ConstrainedCalls.ON)
    assert not reply.tool_calls
    assert reply.output_limit == 1024, "so that it is asked again with twice as much"


@pytest.mark.parametrize("status", [400, 404, 500, 501, 503])
async def test_a_refusal_of_tools_ends_the_turn_where_nothing_may_stand_for_them(
    status: int,
) -> None:
    error = {"message": "This model does not support tools"}
    refusal = reply_with_status({"error": error}, f"{status} Refused")
    async with openai_server([refusal]) as server:
        with pytest.raises(ModelError, match="takes no tools") as caught:
            await ask(server, request_of(), model=f"off-{status}", constrained=ConstrainedCalls.OFF)
    assert not caught.value.retryable


@pytest.mark.parametrize("status", [403, 500, 501])
@pytest.mark.parametrize("name", ["tool_choice", "stream_options", "max_completion_tokens"])
async def test_a_parameter_that_is_refused_is_left_out_whatever_the_status(
    name: str, status: int
) -> None:
    def script(body: Body) -> Reply:
        if name in body:
            error = {"message": f"Parameter {name} is not supported by this server"}
            return reply_with_status({"error": error}, f"{status} Refused")
        return Reply(text="Hm.")

    async with openai_server(script) as server:
        if status == 403:
            with pytest.raises(ModelError, match="refused the key"):
                await ask(server, request_of(), model=f"{name}-{status}")
        else:
            await ask(server, request_of(), model=f"{name}-{status}")
            assert [name in body for body in server.requests] == [True, False]


@pytest.mark.parametrize(
    "said",
    [
        "upstream function is not available",
        "This serverless function has crashed",
        "The model is overloaded; tools and chats resume soon",
        "image decoder crashed",
    ],
)
async def test_an_outage_that_names_a_thing_is_an_outage(said: str) -> None:
    refusal = reply_with_status({"error": {"message": said}}, "500 Failed")
    async with openai_server([refusal]) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server, request_of(), model=f"outage-{said[:9]}")
    assert caught.value.retryable and caught.value.status == 500
