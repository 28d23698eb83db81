"""Judge a text that is to be typed, copied or opened: secrets, and its length.

Not a redactor: what counts as a secret is `agent.safety.redacting`'s.
"""

from collections.abc import Collection

from agent.safety.capabilities import Capability, Decision
from agent.safety.effects.verdict import ALLOWED, Risk, Verdict
from agent.safety.redacting.finding import Kind
from agent.safety.redacting.notice import NAMES
from agent.safety.redacting.redaction import find_secrets

MAX_TEXT_CHARS = 2000  # CONTRACTS 5.4: a longer text is blocked.


def judge_text(text: str) -> Verdict:
    """Judge a text that is to be typed (the order is that of CONTRACTS 5.7)."""
    kinds = {one.kind for one in find_secrets(text)}
    if kinds:
        return _judge_secrets(kinds, "the text holds")
    if len(text) > MAX_TEXT_CHARS:
        return Verdict(
            decision=Decision.BLOCK,
            rule="long text",
            risk=Risk.LENGTH,
            reason=f"the text has {len(text)} characters, more than {MAX_TEXT_CHARS}",
        )
    return ALLOWED


def judge_completed(kinds: Collection[Kind]) -> Verdict:
    """Judge a text that makes a secret together with what is there or was typed before."""
    return _judge_secrets(kinds, "together with what was typed before, the text makes")


def _judge_secrets(kinds: Collection[Kind], opening: str) -> Verdict:
    names = " and ".join(sorted(NAMES[kind] for kind in kinds))
    reason = f"{opening} what looks like {names}"
    if Kind.SSN in kinds or Kind.CARD in kinds:
        return Verdict(
            decision=Decision.BLOCK, risk=Risk.SECRET, reason=reason, rule="secret in the text"
        )
    return Verdict(
        decision=Decision.ASK,
        risk=Risk.SECRET,
        reason=reason,
        rule="secret in the text",
        capability=Capability.ACCOUNT,
    )
