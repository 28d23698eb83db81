"""A verifier's answer is read whatever dialect it is in, and what is no verdict is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.verification.reply import read_reply
from agent.models.model import ModelReply, ToolCall
from agent.records import GoalVerdict

MET, NOT_MET, CANNOT_TELL = GoalVerdict.MET, GoalVerdict.NOT_MET, GoalVerdict.CANNOT_TELL
SAID = {"verdict": "met", "evidence": ["Use Bluetooth [CHECKED]"], "reason": "It is on."}


def called(arguments: str) -> ModelReply:
    call = ToolCall(call_id="c", name="give_verdict", arguments=arguments)
    return ModelReply(tool_calls=(call,))


@pytest.mark.parametrize(
    "reply",
    [
        called(json.dumps(SAID)),
        ModelReply(text=json.dumps(SAID)),
        ModelReply(text=f"Let me see.\n```json\n{json.dumps(SAID)}\n```"),
        ModelReply(text=f'<tool_call>{{"name": "give_verdict", "arguments": {json.dumps(SAID)}}}'),
        ModelReply(text=json.dumps({"name": "give_verdict", "arguments": json.dumps(SAID)})),
        called(json.dumps({**SAID, "evidence": "Use Bluetooth [CHECKED]"})),
        called(json.dumps({**SAID, "evidence": [{"quote": "Use Bluetooth [CHECKED]"}]})),
        called(json.dumps({"met": True, "quotes": ["Use Bluetooth [CHECKED]"]})),
        ModelReply(text='The goal is met: the screen shows "Use Bluetooth [CHECKED]".'),
    ],
)
def test_a_verdict_is_read_from_a_call_from_json_and_from_words(reply: ModelReply) -> None:
    said = read_reply(reply)
    assert (said.verdict, said.quotes) == (MET, ("Use Bluetooth [CHECKED]",))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("not met", NOT_MET),
        ("Not_Met.", NOT_MET),
        ("UNMET", NOT_MET),
        ("cannot tell", CANNOT_TELL),
        ("I can't tell.", CANNOT_TELL),
        ("It is met, or maybe not met.", CANNOT_TELL),
        ("", CANNOT_TELL),
        ("The goal was to be met with", MET),
        ('{"verdict": "perhaps"}', CANNOT_TELL),
        ('{"verdict": "NOT MET"}', NOT_MET),
        ('{"verdict": false}', NOT_MET),
        ('{"verdict": ', CANNOT_TELL),
        ("{" * 5000, CANNOT_TELL),
        ("[" * 100_000, CANNOT_TELL),
    ],
)
def test_what_is_no_clear_verdict_confirms_nothing(text: str, verdict: GoalVerdict) -> None:
    assert read_reply(ModelReply(text=text)).verdict is verdict


@given(st.text(max_size=400), st.text(max_size=400))
def test_no_answer_breaks_the_reading(text: str, arguments: str) -> None:
    call = ToolCall(call_id="c", name="x", arguments=arguments)
    said = read_reply(ModelReply(text=text, tool_calls=(call,)))
    assert said.verdict in GoalVerdict


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=20) | st.integers(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=12,
    )
)
def test_no_json_breaks_the_reading(value: object) -> None:
    said = read_reply(called(json.dumps({"verdict": "met", "evidence": value})))
    assert said.verdict is MET
    assert all(isinstance(quote, str) and quote for quote in said.quotes)


def said_of(verdict: str, quote: str) -> ToolCall:
    said = json.dumps({"verdict": verdict, "evidence": [quote], "reason": f"By {quote}."})
    return ToolCall(call_id=quote, name="give_verdict", arguments=said)


@pytest.mark.parametrize(
    ("verdicts", "verdict", "quotes"),
    [
        (("met", "met"), MET, ("q0", "q1")),
        (("met", "not_met"), NOT_MET, ("q1",)),
        (("not_met", "cannot_tell", "not_met"), NOT_MET, ("q0", "q2")),
        (("met", "cannot_tell"), CANNOT_TELL, ("q1",)),
    ],
)
def test_of_several_verdicts_in_one_answer_the_weakest_counts(
    verdicts: tuple[str, ...], verdict: GoalVerdict, quotes: tuple[str, ...]
) -> None:
    calls = tuple(said_of(one, f"q{at}") for at, one in enumerate(verdicts))
    said = read_reply(ModelReply(tool_calls=calls))
    assert (said.verdict, said.quotes) == (verdict, quotes)
    assert said.reason == " ".join(f"By {quote}." for quote in quotes)
