"""Every provider accepts a conversation of any origin; a missing feature is not an outage."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ModelError
from agent.models.anthropic.request import Dialect as MessagesDialect
from agent.models.anthropic.request import body_of
from agent.models.catalog import catalog
from agent.models.clients import client_class
from agent.models.endpoint import Endpoint, Provider
from agent.models.model import Message, MessageKind, ModelReply, ModelRequest, Role, ToolCall
from agent.models.openai.chat import message_of
from agent.models.windows import context_window
from agent.models.wires.call_ids import CallIds, with_accepted_ids
from agent.settings import Wire
from tests.models.asking import FINISH, KEY, chunk, http, reply_with_status, stream
from tests.models.providers.stubs import PROVIDERS
from tests.openai_server import OpenAIServer, Reply, openai_server

# Ids as endpoints and we have written them, and what nobody has yet.
_ids = st.one_of(
    st.sampled_from(
        (
            *("written_0", "call_1_0", "call_0", "", "functions.click_element:0", "D681PevKs"),
            *("chatcmpl-tool-5f0a1b2c3d4e4f5a8b9c0d1e2f3a4b5c", "toolu_01A09q90qw90lq917835lq9"),
            *("fc_67890abcdef12345xyz_and_a_tail_that_is_longer_than_forty", "null"),
            "019b5934411d0ad08fa64ea96856ba05",
        )
    ),
    st.text(max_size=80),
)
_names = st.sampled_from(("click_element", "type_text", "finish"))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Draw a conversation of a few steps, each with one call or several."""
    messages = [
        Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Drive the phone."),
        Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
    ]
    for _ in range(draw(st.integers(0, 6))):
        calls = tuple(
            ToolCall(call_id=call_id, name=draw(_names), arguments="{}")
            for call_id in draw(st.lists(_ids, min_size=1, max_size=3, unique=True))
        )
        messages.append(
            Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text="Next.", tool_calls=calls)
        )
        messages += [
            Message(role=Role.TOOL, kind=MessageKind.RESULT, text="OK.", call_id=call.call_id)
            for call in calls
        ]
        messages.append(Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="A screen."))
    return tuple(messages)


def chat_body(messages: tuple[Message, ...], form: CallIds) -> dict[str, Any]:
    return {"messages": [message_of(m, vision=False) for m in with_accepted_ids(messages, form)]}


@given(conversations(), st.sampled_from(("mistral", "openai", "kimi", "deepseek")))
def test_a_provider_accepts_the_ids_of_a_conversation_begun_anywhere(
    messages: tuple[Message, ...], name: str
) -> None:
    assert PROVIDERS[name](chat_body(messages, CallIds(catalog().presets[name].call_ids))) is None


@given(conversations())
def test_anthropic_accepts_the_ids_of_a_conversation_begun_anywhere(
    messages: tuple[Message, ...],
) -> None:
    request = ModelRequest(messages=messages, tools=(), max_output_tokens=100)
    body = body_of(request, "m", MessagesDialect(), vision=False)
    assert PROVIDERS["anthropic"](body) is None


@given(conversations(), st.sampled_from(CallIds))
def test_what_a_conversation_begins_with_stays_the_same_as_it_grows(
    messages: tuple[Message, ...], form: CallIds
) -> None:
    whole = with_accepted_ids(messages, form)
    for length in range(len(messages)):
        assert with_accepted_ids(messages[:length], form) == whole[:length]
    assert with_accepted_ids(whole, form) == whole


def test_an_id_that_the_endpoint_accepts_is_kept() -> None:
    kept = {
        CallIds.USUAL: "toolu_01A09q90qw90lq917835lq9",
        CallIds.NINE: "D681PevKs",
        CallIds.FUNCTIONS: "functions.click_element:17",
    }
    for form, call_id in kept.items():
        call = ToolCall(call_id=call_id, name="click_element", arguments="{}")
        said = Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,))
        assert with_accepted_ids((said,), form) == (said,)


# --- over the wire ----------

PICTURED = ModelRequest(
    messages=(
        Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="A screen.", image=b"\xff\xd8"),
    ),
    tools=(),
)
FOREIGN = ModelRequest(
    messages=(
        Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
        Message(
            role=Role.ASSISTANT,
            kind=MessageKind.REPLY,
            tool_calls=(ToolCall(call_id="written_0", name="wait", arguments="{}"),),
        ),
        Message(role=Role.TOOL, kind=MessageKind.RESULT, text="OK.", call_id="written_0"),
    ),
    tools=(),
)


def strict_script(name: str) -> Any:
    """Answer as a provider does: with its refusal, or with a call."""

    def script(body: dict[str, Any]) -> Reply:
        refused = PROVIDERS[name](body)
        if refused is None:
            return http(stream(chunk({"tool_calls": [{"id": "c", "function": FINISH}]}, "stop")))
        error = {"message": refused.message, "param": refused.param or None}
        return reply_with_status({"error": error}, f"{refused.status} Refused")

    return script


async def ask_strictly(
    server: OpenAIServer, request: ModelRequest, *, model: str, preset: str = ""
) -> ModelReply:
    endpoint = Endpoint(base_url=server.base_url, wire=Wire.CHAT, preset=preset)
    client = client_class(Wire.CHAT)(model, api_key=KEY, endpoint=endpoint, vision=True)
    try:
        return await client.complete(request)
    finally:
        await client.close()


@pytest.mark.parametrize("name", ["deepseek", "groq", "llamacpp", "openrouter", "vllm"])
async def test_a_refused_picture_is_left_out_and_said_whatever_the_status(name: str) -> None:
    async with openai_server(strict_script(name)) as server:
        reply = await ask_strictly(server, PICTURED, model=f"text-only-{name}")
        assert reply.tool_calls
        assert "takes no pictures" in reply.note
        asked = len(server.requests)
        again = await ask_strictly(server, PICTURED, model=f"text-only-{name}")
        assert not again.note, "said once"
        assert len(server.requests) == asked + 1, "learnt, not tried again"


@pytest.mark.parametrize("preset", ["mistral", ""], ids=["by its name", "by its refusal"])
async def test_a_session_begun_elsewhere_goes_on_at_mistral(preset: str) -> None:
    async with openai_server(strict_script("mistral")) as server:
        model = f"m-{preset or 'unknown'}"
        assert (await ask_strictly(server, FOREIGN, model=model, preset=preset)).tool_calls
        [call] = server.requests[-1]["messages"][1]["tool_calls"]
        assert server.requests[-1]["messages"][2]["tool_call_id"] == call["id"]


async def test_an_outage_that_names_no_feature_is_an_outage() -> None:
    down = reply_with_status({"error": {"message": "upstream timed out"}}, "500 Broken")
    async with openai_server(lambda _body: down) as server:
        with pytest.raises(ModelError) as caught:
            await ask_strictly(server, PICTURED, model="down")
        assert caught.value.retryable
        assert len(server.requests) == 1


# --- what a list of models says ----------

# Rows as the servers write them: llama.cpp tools/server/README.md (October 2026), OpenRouter
# api-reference/list-available-models, Mistral api/endpoint/models, vLLM serving docs, Groq's list.
_ROWS = [
    (
        {
            "id": "gemma",
            "meta": {"n_ctx": 4096, "n_ctx_train": 32768},
            "architecture": {"input_modalities": ["text"]},
        },
        (4096, False),
    ),
    (
        {"id": "a/b", "context_length": 262144, "architecture": {"input_modalities": ["image"]}},
        (262144, True),
    ),
    ({"id": "m", "max_context_length": 131072, "capabilities": {"vision": True}}, (131072, True)),
    ({"id": "v", "max_model_len": 8192}, (8192, None)),
    ({"id": "g", "context_window": 131072}, (131072, None)),
    ({"id": "kimi-k", "context_length": 262144, "supports_image_in": False}, (262144, False)),
    ({"id": "odd", "context_length": "much", "architecture": [], "capabilities": 3}, (0, None)),
]


@pytest.mark.parametrize(("row", "expected"), _ROWS, ids=[str(row["id"]) for row, _ in _ROWS])
async def test_a_model_is_used_as_its_endpoint_lists_it(
    row: dict[str, Any], expected: tuple[int, bool | None]
) -> None:
    window, pictures = expected
    model = f"listed-{row['id']}"
    answer = http(stream(chunk({"content": "Seen."}, "stop")))
    async with openai_server(lambda _body: answer) as server:
        server.models_page = json.dumps({"data": [{**row, "id": model}]}).encode()
        reply = await ask_strictly(server, PICTURED, model=model)
        sent = server.requests[-1]["messages"][-1]["content"]
        assert isinstance(sent, list) is (pictures is not False)
        assert bool(reply.note) is (pictures is False)
        if window:
            assert context_window(model) == window


async def test_a_provider_whose_facts_are_known_is_not_asked_for_them() -> None:
    async with openai_server([Reply(text="ok")]) as server:
        endpoint = Endpoint(base_url=server.base_url, provider=Provider.OPENAI)
        client = client_class(Wire.CHAT)("gpt-5-mini", api_key=KEY, endpoint=endpoint)
        await client.complete(FOREIGN)
        await client.close()
        assert len(server.headers) == 1
