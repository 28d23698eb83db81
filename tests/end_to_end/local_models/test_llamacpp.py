"""llama.cpp's own server with a model of 270 million parameters: what it does is what we expect.

The model is far too small to drive a phone, and so it is a test of form: nothing that it writes may
end in anything but a call, a clear refusal or a clear end.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from agent.errors import ModelError
from agent.models.clients import Client, client_class
from agent.models.endpoint import Endpoint
from agent.models.local_servers import once_loaded
from agent.models.model import (
    FinishReason,
    Message,
    MessageKind,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
)
from agent.models.wires.constrained import call_schema
from agent.settings import Wire
from agent.tools.registry import schemas
from tests.end_to_end.conftest import Bench
from tests.end_to_end.local_models.llamacpp import (
    KNOWS_TOOLS,
    MODEL,
    LlamaCpp,
    LlamaServer,
    installed,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("llamacpp")]

WINDOW = 8192
PATIENCE_S = 300.0
TOOLS = tuple(tool for tool in schemas() if tool.name in {"wait", "launch_app", "press_button"})
GOAL = Message(role=Role.USER, kind=MessageKind.GOAL, text="Open the settings of the phone.")
ASKED = ModelRequest(messages=(GOAL,), tools=TOOLS, tool_choice=ToolChoice.REQUIRED)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63faffff"
    "3f0300080502ff9be2c2480000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def llamacpp(tmp_path_factory: pytest.TempPathFactory) -> LlamaCpp:
    return installed(tmp_path_factory.mktemp("llamacpp"))


@pytest.fixture(scope="module")
def server(llamacpp: LlamaCpp) -> Iterator[LlamaServer]:
    with llamacpp.serving(WINDOW) as served:
        yield served


def client(server: LlamaServer, *, preset: str = "llamacpp", model: str = MODEL) -> Client:
    endpoint = Endpoint(base_url=server.base_url, preset=preset, model=model)
    made: Client = client_class(Wire.CHAT)(
        model, endpoint=endpoint, timeout_s=PATIENCE_S, vision=True
    )
    return made


async def patiently(
    model: Client, request: ModelRequest, on_text: Callable[[str], None] | None = None
) -> ModelReply:
    """Ask once the server listens and has loaded its model."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await once_loaded(lambda: model.complete(request, on_text), PATIENCE_S)
            except ModelError as error:
                if "cannot be reached" not in error.message:
                    raise
            await asyncio.sleep(0.2)


async def ask(server: LlamaServer, request: ModelRequest, **where: str) -> ModelReply:
    model = client(server, **where)
    try:
        return await patiently(model, request)
    finally:
        await model.close()


async def test_a_call_by_a_schema_has_its_form_whatever_the_model_is(server: LlamaServer) -> None:
    check = jsonschema.Draft202012Validator(call_schema(TOOLS))
    for goal in ("Open the settings.", "Wait a second.", "Sing me a song!"):
        message = replace(GOAL, text=goal)
        # Room for what a model of this size puts between the parts of its JSON.
        request = replace(ASKED, messages=(message,), max_output_tokens=2048)
        reply = await ask(server, request)
        if reply.finish is FinishReason.LENGTH:
            assert not reply.tool_calls, "a part of a call is none"
            continue
        [call] = reply.tool_calls
        said = {"tool": call.name, "arguments": json.loads(call.arguments)}
        assert check.is_valid(said), said
        assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0


async def test_text_streams_and_ends_at_its_limit(server: LlamaServer) -> None:
    request = replace(ASKED, tools=(), tool_choice=ToolChoice.AUTO, max_output_tokens=12)
    shown: list[str] = []
    model = client(server)
    try:
        reply = await patiently(model, request, shown.append)
    finally:
        await model.close()
    assert reply.finish is FinishReason.LENGTH
    assert reply.usage.output_tokens == 12
    assert shown and shown[-1] == reply.text


async def test_the_server_says_what_it_can_do(server: LlamaServer) -> None:
    await ask(server, replace(ASKED, tools=(), max_output_tokens=1))
    model = client(server)
    try:
        offer = await model.offer()
    finally:
        await model.close()
    assert offer is not None
    assert (offer.window, offer.pictures, offer.tools, offer.schema) == (WINDOW, False, False, True)
    assert set(offer.said_in.values()) == {"/props"}


async def test_a_picture_is_refused_and_left_out(server: LlamaServer) -> None:
    seen = Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="A screen.", image=PNG)
    request = ModelRequest(
        messages=(GOAL, replace(seen, image_type="image/png")), tools=(), max_output_tokens=4
    )
    # A model of which everything is known is not asked for its features, so it gets the picture.
    reply = await ask(server, request, preset="openai", model="gpt-5-mini")
    assert "takes no pictures (image input is not supported" in reply.note
    assert reply.usage.output_tokens == 4


async def test_a_conversation_beyond_the_window_is_understood(server: LlamaServer) -> None:
    long = replace(GOAL, text="All work and no play. " * WINDOW)
    with pytest.raises(ModelError) as refused:
        await ask(server, ModelRequest(messages=(long,), tools=()))
    assert (refused.value.too_long, refused.value.window) == (True, WINDOW)
    assert not refused.value.retryable


async def test_a_template_that_knows_tools_does_not_make_a_model_call_them(
    llamacpp: LlamaCpp,
) -> None:
    with llamacpp.serving(WINDOW, template=KNOWS_TOOLS) as server:
        first = await ask(server, replace(ASKED, max_output_tokens=32))
        assert "by a JSON schema" not in first.note, "the server says that it takes tools"
        reply = await ask(server, replace(ASKED, max_output_tokens=2048, unread=2))
    assert "writes each call by a JSON schema" in reply.note
    assert reply.tool_calls or reply.finish is FinishReason.LENGTH


async def test_a_server_that_is_killed_and_started_again_is_asked_again(llamacpp: LlamaCpp) -> None:
    request = replace(ASKED, tools=(), tool_choice=ToolChoice.AUTO, max_output_tokens=4000)
    with llamacpp.serving(WINDOW) as server:
        model = client(server)
        try:
            await patiently(model, replace(request, max_output_tokens=1))
            with pytest.raises(ModelError) as broken:
                await model.complete(request, lambda _: server.process.kill())
            assert broken.value.retryable
            with pytest.raises(ModelError) as gone:
                await model.complete(request)
            assert gone.value.retryable and "cannot be reached" in gone.value.message
            server.process.wait()
            with llamacpp.serving(WINDOW // 2, port=server.port):
                short = replace(request, max_output_tokens=4)
                assert (await patiently(model, short)).usage.output_tokens == 4
                offer = await model.offer()
                assert offer is not None and offer.window == WINDOW // 2, "asked anew"
        finally:
            await model.close()


# --- commands ----------


async def test_it_is_set_up_tested_and_shown(bench: Bench, server: LlamaServer) -> None:
    await ask(server, replace(ASKED, tools=(), max_output_tokens=1))
    words = ("models", "setup", "llamacpp", "--url", server.base_url)
    setup = await asyncio.to_thread(bench.call, *words, bound_s=PATIENCE_S)
    show = await asyncio.to_thread(bench.call, "models", "show", "--json")
    assert setup.code == 0, setup
    assert "called its tool" in setup.err
    known = show.json["known"]
    assert show.json["calls"] == "JSON schema"
    assert (known["window"]["value"], known["window"]["how"]) == (WINDOW, "asked by /props")
    assert known["streaming"]["how"].startswith("an answer, ")


async def test_a_session_takes_its_calls_and_ends(bench: Bench, server: LlamaServer) -> None:
    bench.begin()
    call = await asyncio.to_thread(
        bench.call,
        *("run", "open Settings", "--device", bench.serial, "--max-steps", "2", "--json"),
        *("--model", f"llamacpp/{MODEL}", "--base-url", server.base_url),
        # It may well ask something: nobody answers.
        *("--answer-timeout", "1", "--timeout", "900"),
        # And one that only ever writes plans takes no step that counts: three or four calls are it.
        *("--max-tokens", "12000"),
        SWITCHBOARD_MODEL_TIMEOUT_S=str(PATIENCE_S),
        SWITCHBOARD_MODEL_VERIFIER="off",
        # A model of this size may put blanks between the parts of its JSON until it is cut off.
        SWITCHBOARD_MODEL_MAX_OUTPUT_TOKENS="400",
        bound_s=1200,
    )
    assert call.code in {0, 1, 3, 5}, call
    kinds = [line["msg"]["type"] for line in call.lines]
    assert "tool_call_requested" in kinds, call
    ended = [line["msg"] for line in call.lines if line["msg"]["type"] == "tool_call_finished"]
    assert all("is not JSON" not in one["text"] for one in ended)


async def test_a_window_without_room_for_a_session_is_told_at_once(
    bench: Bench, llamacpp: LlamaCpp, tmp_path: Path
) -> None:
    bench.begin()
    with llamacpp.serving(1024) as server:
        await ask(server, replace(ASKED, tools=(), max_output_tokens=1))
        call = await asyncio.to_thread(
            bench.call,
            *("run", "open Settings", "--device", bench.serial),
            *("--model", f"llamacpp/{MODEL}", "--base-url", server.base_url),
            SWITCHBOARD_MODEL_TIMEOUT_S=str(PATIENCE_S),
        )
    assert call.code == 1, call
    assert "cannot take so long a conversation" in call.err
    assert "1024" in call.err
