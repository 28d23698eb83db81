"""Google's endpoint gets each call's signature back; a call made elsewhere says it has none."""

from typing import Any

from msgspec.structs import replace

from agent.models.clients import client_class
from agent.models.endpoint import Endpoint
from agent.models.model import Message, MessageKind, ModelReply, ModelRequest, Role, ToolCall
from agent.settings import Wire
from tests.models.asking import KEY, WAIT, chunk, http, reply_with_status, stream
from tests.openai_server import OpenAIServer, Reply, openai_server

SIGNED = {"google": {"thought_signature": "CpcHAdHtim9+tIdzDS8="}}
GOAL = Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it.")


def signed_calls(calls: int = 1) -> Reply:
    """Answer as Gemini 3 does: the first call of an answer has the signature."""
    parts = [{"index": at, "id": f"c{at}", "function": WAIT} for at in range(calls)]
    parts[0] |= {"extra_content": SIGNED}
    return http(stream(chunk({"tool_calls": parts}, "tool_calls")))


def gemini(body: dict[str, Any]) -> Reply:
    """Refuse a call without a signature, in the words of the API."""
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            if not call.get("extra_content", {}).get("google", {}).get("thought_signature"):
                said = "Function call is missing a thought_signature in functionCall parts."
                return reply_with_status([{"error": {"code": 400, "message": said}}], "400 Bad")
    return signed_calls()


async def ask(server: OpenAIServer, *messages: Message, preset: str = "google") -> ModelReply:
    endpoint = Endpoint(base_url=server.base_url, preset=preset, model="gemini-3-flash")
    client = client_class(Wire.CHAT)(f"gemini-{preset}", api_key=KEY, endpoint=endpoint)
    try:
        return await client.complete(ModelRequest(messages=(GOAL, *messages), tools=()))
    finally:
        await client.close()


def step_of(reply: ModelReply, at: int = 0) -> tuple[Message, Message]:
    call = reply.tool_calls[at]
    said = Message(
        role=Role.ASSISTANT,
        kind=MessageKind.REPLY,
        tool_calls=(call,),
        reasoning=reply.reasoning if at == 0 else (),
    )
    done = Message(role=Role.TOOL, kind=MessageKind.RESULT, text="OK.", call_id=call.call_id)
    return said, done


def extras(body: dict[str, Any]) -> list[Any]:
    messages = body["messages"]
    return [call.get("extra_content") for m in messages for call in m.get("tool_calls") or ()]


async def test_the_signature_of_a_call_goes_back_with_it() -> None:
    async with openai_server([signed_calls(2), signed_calls()]) as server:
        first = await ask(server)
        assert len(first.tool_calls) == 2
        await ask(server, *step_of(first, 0), *step_of(first, 1))
        signed, second = extras(server.requests[-1])
    assert signed == SIGNED
    assert second["google"]["thought_signature"] == "skip_thought_signature_validator"


async def test_a_session_begun_elsewhere_goes_on_at_gemini_wherever_that_is_asked() -> None:
    elsewhere = ModelReply(tool_calls=(ToolCall(call_id="toolu_1", name="wait", arguments="{}"),))
    for preset in ("google", ""):
        async with openai_server(gemini) as server:
            assert (await ask(server, *step_of(elsewhere), preset=preset)).tool_calls


async def test_no_other_endpoint_gets_a_signature() -> None:
    reply = ModelReply(tool_calls=(ToolCall(call_id="c", name="wait", arguments="{}"),))
    async with openai_server([signed_calls()]) as server:
        await ask(server, *step_of(replace(reply, reasoning=())), preset="groq")
        assert extras(server.requests[-1]) == [None]
