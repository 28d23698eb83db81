"""What a session sends stays small and begins like the call before, in real tokens (o200k)."""

import pytest

from agent.settings import Wire
from bench._tokens import count_tokens
from bench.steps._first_call import first_call, first_request
from bench.steps.prefix import sent_by_a_session, shared_tokens

FIRST_CALL_TOKENS = 2500
"""Instructions, every tool for a phone and the goal; without the screen and the list of apps."""
TOOL_TOKENS = 150
LARGER = {
    "tool ask_user": 250,  # It asks one thing, several, or for a secret.
    "tool update_plan": 290,  # It takes the plan, and what the goal requires.
}
CACHED_SHARE = 0.85


@pytest.mark.parametrize("wire", list(Wire))
async def test_the_first_call_of_a_session_has_at_most_2500_tokens(wire: Wire) -> None:
    request = await first_request()
    parts = await first_call(request, wire)
    assert {f"tool {tool.name}" for tool in request.tools} <= set(parts)
    assert {"tool tap_point", "tool drag", "instructions", "goal"} <= set(parts)
    together = sum(parts.values())
    said = "\n".join(f"{tokens:6} {part}" for part, tokens in parts.items())
    assert together <= FIRST_CALL_TOKENS, f"{together} tokens on {wire}:\n{said}"
    for part, tokens in parts.items():
        if part.startswith("tool "):
            most = LARGER.get(part, TOOL_TOKENS)
            assert tokens <= most, f"{part} takes {tokens} tokens on {wire}, {most} at most"


async def test_85_percent_of_forty_calls_are_a_prefix_of_the_call_before() -> None:
    sent = await sent_by_a_session(39)
    assert len(sent) == 40
    tokens, shared = shared_tokens(sent)
    assert shared / tokens >= CACHED_SHARE, (
        f"{shared:,} of {tokens:,} tokens: {shared / tokens:.1%}"
    )


def test_tokens_are_counted_as_by_the_reference() -> None:
    # Counts of tiktoken 0.14 with o200k_base.
    assert count_tokens("hello world, 🚉 Grüße") == 6
    assert count_tokens("") == 0
    assert count_tokens("<|endoftext|>") == 7
