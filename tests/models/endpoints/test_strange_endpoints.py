"""Endpoints that speak OpenAI's protocol in their own way, or badly, or with ill will."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.models.wires.failures import Failures
from agent.models.wires.gathering import Gathering
from agent.settings import Wire
from tests.models.asking import (
    END,
    FINISH,
    WAIT,
    ask,
    ask_at,
    call,
    calls,
    chunk,
    http,
    refusal,
    reply_with_status,
    stream,
)
from tests.openai_server import Reply, openai_server

# --- the chat wire, spoken otherwise ----------

WHOLE = {
    "id": "x",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Now.",
                "tool_calls": [{"id": "c1", "type": "function", "function": WAIT}],
            },
        }
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
}


@pytest.mark.parametrize("kind", ["application/json", "text/html", ""])
async def test_an_endpoint_that_does_not_stream_is_understood(kind: str) -> None:
    reply = await ask(http(json.dumps(WHOLE).encode(), kind))
    assert (reply.text, calls(reply)) == ("Now.", [("wait", WAIT["arguments"])])
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 7, 3)


@pytest.mark.parametrize("kind", ["text/plain", ""])
async def test_a_stream_under_a_wrong_name_is_understood(kind: str) -> None:
    reply = await ask(http(stream(chunk({"content": "Now."}), END), kind))
    assert reply.text == "Now."


async def test_an_error_with_the_status_of_success_is_an_error_in_its_own_words() -> None:
    error = await refusal(
        reply_with_status({"error": {"message": "The model is loading."}}, "200 OK")
    )
    assert (error.message, error.retryable) == ("m failed: The model is loading.", True)


async def test_a_call_in_the_wires_elder_form_is_a_call() -> None:
    parts = [{"name": "wait", "arguments": ""}, {"arguments": '{"sec'}, {"arguments": 'onds": 1}'}]
    deltas = [chunk({"content": None, "function_call": part}) for part in parts]
    reply = await ask(http(stream(*deltas, chunk({}, "function_call"))))
    assert calls(reply) == [("wait", WAIT["arguments"])]
    assert reply.tool_calls[0].call_id


async def test_a_whole_answer_in_the_wires_elder_form_is_understood() -> None:
    message = {"role": "assistant", "content": None, "function_call": WAIT}
    whole = {"choices": [{"index": 0, "finish_reason": "function_call", "message": message}]}
    reply = await ask(http(json.dumps(whole).encode(), "application/json"))
    assert calls(reply) == [("wait", WAIT["arguments"])]


async def test_a_call_that_is_said_in_both_forms_is_one_call() -> None:
    tool = {"index": 0, "id": "c1", "function": WAIT}
    both = chunk({"tool_calls": [tool], "function_call": WAIT})
    apart = (call(WAIT), chunk({"function_call": WAIT}))
    assert calls(await ask(http(stream(both, END)))) == [("wait", WAIT["arguments"])]
    assert calls(await ask(http(stream(*apart, END)))) == [("wait", WAIT["arguments"])]


@pytest.mark.parametrize("reason", ["eos_token", "tool_use", "length", "content_filter"])
async def test_an_unknown_reason_to_finish_is_a_reason(reason: str) -> None:
    reply = await ask(http(stream(call(WAIT), chunk({}, reason), done=False)))
    assert calls(reply) == [("wait", WAIT["arguments"])]


async def test_the_wires_own_mark_ends_an_answer_that_names_no_reason() -> None:
    reply = await ask(http(stream(call(WAIT), chunk({}, ""))))
    assert calls(reply) == [("wait", WAIT["arguments"])]


@pytest.mark.parametrize(
    "events",
    [
        (call({"name": "wait", "arguments": '{"seco'}),),
        (call(WAIT),),
        (chunk({"content": "I was ju"}),),
    ],
    ids=["in a call", "after a call", "in a text"],
)
async def test_a_stream_that_is_cut_before_its_end_may_be_asked_for_again(
    events: tuple[object, ...],
) -> None:
    error = await refusal(http(stream(*events, done=False)))
    assert error.retryable
    assert "broke off" in error.message


@pytest.mark.parametrize(
    "events",
    [
        (call(WAIT), call(FINISH, id="c2")),
        (call(WAIT, index=None), call(FINISH, index=None, id="c2")),
        (call(WAIT, id=None), call(FINISH, id=None)),
        (call(WAIT, id="same"), call(FINISH, id="same")),
        (call(WAIT, index=1), call(FINISH, index=7, id="c1")),
        (chunk({"tool_calls": [{"id": "a", "function": WAIT}, {"id": "b", "function": FINISH}]}),),
        (
            call({"name": "wait", "arguments": '{"seconds"'}, index=None),
            call({"name": "finish", "arguments": "{"}, index=None, id="c2"),
            call({"arguments": ": 1}"}, index=None),
            call({"arguments": "}"}, index=None, id="c2"),
        ),
        (
            call({"name": "wait", "arguments": '{"seconds"'}, index="0"),
            call({"name": "finish", "arguments": "{"}, index="1", id="c2"),
            call({"arguments": ": 1}"}, index="0", id=None),
            call({"arguments": "}"}, index="1", id=None),
        ),
    ],
    ids=[
        *("one number", "no number", "no id", "one id", "numbers from 1", "both in one"),
        *("in turn by id", "in turn by a number as text"),
    ],
)
async def test_two_calls_are_two_however_they_are_numbered(events: tuple[object, ...]) -> None:
    reply = await ask(http(stream(*events, END)))
    assert calls(reply) == [("wait", WAIT["arguments"]), ("finish", "{}")]


@pytest.mark.parametrize(
    "parts",
    [
        [{"name": "click_", "arguments": ""}, {"name": "element", "arguments": '{"a":1}'}],
        [{"name": "click_", "arguments": ""}, {"name": "click_element", "arguments": '{"a":1}'}],
        [{"name": "click_element", "arguments": '{"a'}, {"arguments": '":1}', "name": None}],
        [{"name": "click_element", "arguments": part} for part in ('{"a', "", '":1}')],
        [{"name": "click_element", "arguments": {"a": 1}}],
    ],
    ids=["in parts", "growing", "once", "with every part", "arguments as an object"],
)
async def test_a_name_and_its_arguments_come_together(parts: list[dict[str, Any]]) -> None:
    reply = await ask(http(stream(*[call(part) for part in parts], END)))
    [(name, arguments)] = calls(reply)
    assert (name, json.loads(arguments)) == ("click_element", {"a": 1})


async def test_only_the_first_of_several_answers_is_read() -> None:
    other = {"index": 1, "delta": {"content": "Other"}, "finish_reason": None}
    both = {**chunk({"content": "First"}), "choices": [*chunk({"content": "First"})["choices"]]}
    both["choices"].append(other)
    assert (await ask(http(stream(both, END)))).text == "First"


async def test_what_a_model_refuses_in_is_its_text() -> None:
    assert (await ask(http(stream(chunk({"refusal": "I will not."}), END)))).text == "I will not."


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "lots", "completion_tokens": -3, "prompt_tokens_details": []},
        {"prompt_tokens": 1e300, "completion_tokens": None},
        {"prompt_tokens": float("nan"), "completion_tokens": True, "prompt_tokens_details": 5},
        [1, 2],
        "lots",
    ],
)
async def test_a_count_that_is_no_count_is_estimated(usage: object) -> None:
    reply = await ask(http(stream(chunk({"content": "a"}), END, {**END, "usage": usage})))
    assert reply.text == "a"
    used = reply.usage
    counts = (used.input_tokens, used.output_tokens, used.cached_input_tokens)
    # "Do it." and no tools, by four characters a token; `True` counts as one.
    assert all(type(count) is int and 0 <= count <= 2 for count in counts), used


async def test_a_count_that_is_written_as_text_counts() -> None:
    usage = {"prompt_tokens": "12", "completion_tokens": "3"}
    reply = await ask(http(stream(chunk({"content": "a"}), END, {**END, "usage": usage})))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 3)


@pytest.mark.parametrize(
    "delta", [None, [], 5, "x", {"content": 5}, {"content": [{"text": None}]}, {"tool_calls": [{}]}]
)
async def test_a_part_that_is_nothing_is_passed_over(delta: object) -> None:
    reply = await ask(http(stream(chunk({"content": "a"}), chunk(delta), END)))
    assert (reply.text, reply.tool_calls) == ("a", ())


async def test_names_and_ids_reach_nobody_with_control_characters() -> None:
    function = {"name": "wa\x1b[2Jit\ud800", "arguments": "{}"}
    reply = await ask(http(stream(call(function, id="\ud800\x07"), END)))
    [only] = reply.tool_calls
    assert (only.name, only.call_id) == ("wait", "call_0")


# --- how an answer ends ----------


def head(*lines: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"content-type: text/event-stream", *lines, b"", b""])


def packed(length: bytes, body: bytes) -> bytes:
    """Return a body in one chunk without the last, or as it is: neither ends as its head says."""
    return b"%x\r\n%b\r\n" % (len(body), body) if b"chunked" in length and body else body


@pytest.mark.parametrize("length", [b"content-length: 9999", b"transfer-encoding: chunked"])
async def test_a_connection_that_ends_before_its_answer_is_an_answer_that_broke_off(
    length: bytes,
) -> None:
    for body in (b"", stream(call(WAIT), done=False)):
        error = await refusal(Reply(raw=head(length) + packed(length, body)))
        assert (error.retryable, error.message) == (True, "The answer of m broke off.")


@pytest.mark.parametrize("length", [b"content-length: 9999", b"transfer-encoding: chunked"])
async def test_an_answer_that_is_whole_is_not_asked_for_again_however_its_connection_ends(
    length: bytes,
) -> None:
    for body in (stream(call(WAIT), END, done=False), stream(call(WAIT), END)):
        reply = await ask(Reply(raw=head(length) + packed(length, body)))
        assert calls(reply) == [("wait", WAIT["arguments"])]
    reply = await ask(
        Reply(raw=head(length) + packed(length, stream(COMPLETED, done=False))), Wire.RESPONSES
    )
    assert reply.usage.calls == 1


async def test_a_whole_answer_whose_connection_stays_open_is_taken_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.models.wires.parts.AFTER_THE_END_S", 0.05)
    # Behind the reason to finish comes what was used, which this endpoint never sends.
    async with openai_server([Reply(text="Now.", stall_after=3)]) as server:
        assert (await ask_at(server)).text == "Now."


@pytest.mark.parametrize("choices", [[], [None]])
async def test_a_whole_answer_without_a_choice_is_none(choices: object) -> None:
    error = await refusal(reply_with_status({"choices": choices}, "200 OK"))
    assert (error.retryable, error.message) == (True, "The answer of m broke off.")


@pytest.mark.parametrize("strange", ["null", "5", "[]", '"x"'])
async def test_what_is_no_part_is_passed_over_where_parts_come_too(strange: str) -> None:
    line = f"data: {strange}\n\n".encode()
    parts = stream(call(WAIT), END, done=False)
    for body in (line + parts, parts + line, line + parts + line):
        assert calls(await ask(http(body))) == [("wait", WAIT["arguments"])]
    assert not (await refusal(http(line))).retryable


# --- the responses wire, spoken otherwise ----------

RESPONSE = {"id": "r", "object": "response", "status": "completed", "output": []}
ITEM = {"type": "function_call", "id": "f", "call_id": "c1", **WAIT}
SAID = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Now."}]}
COMPLETED = {"type": "response.completed", "response": RESPONSE}


@pytest.mark.parametrize(
    "reply",
    [
        reply_with_status({**RESPONSE, "output": [SAID, ITEM]}, "200 OK"),
        http(stream({**COMPLETED, "response": {**RESPONSE, "output": [SAID, ITEM]}}, done=False)),
        http(
            stream(
                {"type": "response.output_text.done", "output_index": 0, "text": "Now."},
                {
                    "type": "response.output_item.added",
                    "output_index": 1,
                    "item": {**ITEM, "arguments": ""},
                },
                {
                    "type": "response.function_call_arguments.done",
                    "output_index": 1,
                    "arguments": WAIT["arguments"],
                },
                COMPLETED,
                done=False,
            )
        ),
        http(
            stream(
                {"type": "response.output_text.delta", "delta": "Now."},
                {"type": "response.output_item.done", "item": ITEM},
                COMPLETED,
            )
        ),
    ],
    ids=["whole", "whole at the end", "without deltas", "without numbers"],
)
async def test_an_answer_of_the_responses_wire_is_understood_however_it_comes(reply: Reply) -> None:
    answer = await ask(reply, Wire.RESPONSES)
    assert (answer.text, calls(answer)) == ("Now.", [("wait", WAIT["arguments"])])


async def test_the_other_wire_than_the_one_that_was_set_is_not_asked_again() -> None:
    other = await refusal(http(stream(call(WAIT), END)), Wire.RESPONSES)
    assert not other.retryable
    other = await refusal(http(stream(COMPLETED)))
    assert not other.retryable


async def test_one_count_that_is_none_is_estimated_beside_one_that_is() -> None:
    usage = {"input_tokens": -4, "output_tokens": "7"}
    ended = {**COMPLETED, "response": {**RESPONSE, "usage": usage}}
    reply = await ask(http(stream(ended, done=False)), Wire.RESPONSES)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (2, 7)


async def test_a_response_that_failed_for_good_is_not_asked_for_again() -> None:
    for code, retryable in {"context_length_exceeded": False, "rate_limit_exceeded": True}.items():
        failed = {**RESPONSE, "status": "failed", "error": {"code": code, "message": "So it is."}}
        streamed = http(stream({"type": "response.failed", "response": failed}, done=False))
        for reply in (streamed, reply_with_status(failed, "200 OK")):
            error = await refusal(reply, Wire.RESPONSES)
            assert error.retryable is retryable, code
            assert "So it is." in error.message


# --- whatever comes ----------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 40) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "index", "function", "name", "arguments", "content", "tool_calls", "text"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(deltas=st.lists(JSON, max_size=4), usage=JSON)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_stands_in_a_chunk_is_read_as_text_calls_and_counts(
    deltas: list[object], usage: object
) -> None:
    from openai.types.chat import ChatCompletionChunk

    from agent.models.openai.chat import _take, _usage

    gathering = Gathering(Failures("m", "here", 1.0), None)
    for delta in deltas:
        made = ChatCompletionChunk.construct(**chunk(delta, None, usage=usage))
        _take(gathering, made)
        assert _usage(made).input_tokens >= 0
    text, found = gathering.finish()
    assert isinstance(text, str)
    for one in found:
        assert one.name
        assert one.call_id
        assert isinstance(one.arguments, str)
