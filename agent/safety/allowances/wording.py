"""What a session may send or spend without asking, in words."""

from collections.abc import Sequence

from agent.records import Allowance, EffectVerb
from agent.text import one_line

_NAMES_CHARS = 300


def allowance_words(one: Allowance) -> str:
    """Return an allowance in a line: what is left of it, and to whom."""
    names = one_line(", ".join(one.recipients), _NAMES_CHARS)
    if one.verb is EffectVerb.SPEND:
        left, limit = f"{one.left / 100:.2f}", f"{one.limit / 100:.2f}"
        return f"{left} of {limit} {one.currency} left to spend, only to {names}"
    noun = "message" if one.limit == 1 else "messages"
    return f"{one.left} of {one.limit} {noun} left, only to {names}"


def why_asked(verb: EffectVerb, allowances: Sequence[Allowance]) -> str:
    """Return why an effect is asked about although the session has an allowance; empty: it has none
    for such effects."""
    own = [allowance_words(one) for one in allowances if one.verb is verb]
    return f"not covered by what is allowed: {'; '.join(own)}" if own else ""
