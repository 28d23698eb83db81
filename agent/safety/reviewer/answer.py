"""Read what a reviewer answered, and hold it to its own words.

Pure. Invariants: whatever was written is read without an error; an answer that is not of the schema
asks; words that ask for an effect count only if the operator wrote them; what cannot be taken back
is never allowed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from agent.records import ActReview, EffectVerb, ReviewVerdict
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.reviewer.question import EFFECTS, NO_EFFECT, PARAMETERS, ReviewQuestion
from agent.text import clean, one_line

_TEXT_CHARS = 200
_SENTENCE_CHARS = 300
_QUOTES = "\"'“”„«»‘’` .…"
_SPACE = re.compile(r"\s+")
_FINAL = frozenset({EffectVerb.SPEND, EffectVerb.SEND, EffectVerb.PUBLISH, EffectVerb.CALL})
"""What nobody takes back, whatever an answer says of it."""


def read_answer(
    said: Mapping[str, Any] | None, question: ReviewQuestion, reviewer: str
) -> ActReview:
    """Return the review that an answer gives.

    Args:
        said: the answer, by the names of the schema; None: there was none.
        question: what was asked.
        reviewer: who answered.
    """
    wrong = _off_schema(said)
    if said is None or wrong:
        return without_answer(reviewer, wrong)
    quote = said["asked_by"]
    effect = None if said["effect"] == NO_EFFECT else _verb(said["effect"])
    review = ActReview(
        verdict=ReviewVerdict(said["verdict"]),
        effect=effect,
        affects=_tidy(said["object"]),
        reaches=_tidy(said["reaches"]),
        amount=_tidy(said["amount"]),
        reversible=said["reversible"],
        asked_by=_tidy(quote, 400) if is_written(quote, question.words) else "",
        sentence=_tidy(said["reason"], _SENTENCE_CHARS),
        reviewer=one_line(reviewer, 80),
    )
    if review.verdict is not ReviewVerdict.ALLOW or effect is None:
        return review
    if question.approved and said["approved"]:
        # The rest of what a person has just let pass; the rules see to it that it is the same.
        return review
    if not review.reversible or effect in _FINAL:
        return replace(review, verdict=ReviewVerdict.ASK)
    if not review.asked_by:
        fault = "it quotes no words of yours that ask for this"
        return replace(review, verdict=ReviewVerdict.ASK, fault=fault)
    return review


def without_answer(reviewer: str, fault: str) -> ActReview:
    """Return the review that stands for an answer that was not given, or cannot be used."""
    return ActReview(verdict=ReviewVerdict.ASK, reviewer=one_line(reviewer, 80), fault=fault)


def is_written(quote: str, words: Sequence[str]) -> bool:
    """Return whether the operator wrote these words, in one text; space and case apart."""
    wanted = _plain(quote).strip(_QUOTES)
    return bool(wanted) and any(wanted in _plain(text) for text in words)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()


def _off_schema(said: Mapping[str, Any] | None) -> str:
    """Return what of an answer is not as asked for; empty: nothing."""
    if said is None:
        return "it gave no review"
    for name, kind in PARAMETERS["properties"].items():
        value = said.get(name)
        fits = isinstance(value, bool) if kind["type"] == "boolean" else isinstance(value, str)
        if not fits or ("enum" in kind and value not in kind["enum"]):
            return f"its answer has no usable {name}"
    return ""


def _verb(name: str) -> EffectVerb:
    assert name in EFFECTS, "the schema was checked"
    return EffectVerb.UNKNOWN if name == "other" else EffectVerb(name)


def _tidy(text: str, limit: int = _TEXT_CHARS) -> str:
    return redact_secrets(one_line(clean(text, 2000), limit)).strip()
