"""Read what a verifier answered: its call, else JSON in its words, else its words. Pure.

Invariant: whatever was written is read without an error; what is no verdict is `cannot_tell`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agent.loop.conversation.model_call import tidy
from agent.models.model import ModelReply
from agent.records import GoalVerdict
from agent.text import one_line

MAX_QUOTES = 60
"""Enough for the things of a list that are counted."""
_MAX_CHARS = 20_000
_MAX_CALLS = 8
_WEAKEST_FIRST = (GoalVerdict.NOT_MET, GoalVerdict.CANNOT_TELL, GoalVerdict.MET)
_VERDICT_KEYS = ("verdict", "answer", "result", "status", "goal_met", "met", "decision")
_EVIDENCE_KEYS = ("evidence", "quotes", "quote", "proof")
_REASON_KEYS = ("reason", "explanation", "why", "rationale")
_WORDS = {
    GoalVerdict.NOT_MET: {"not met", "unmet", "no", "false", "failed", "not done", "not achieved"},
    GoalVerdict.MET: {"met", "yes", "true", "done", "achieved", "satisfied", "verified"},
    GoalVerdict.CANNOT_TELL: {"cannot tell", "can t tell", "unknown", "unsure", "unclear", "maybe"},
}
_SAID = re.compile(
    r"\b(?P<not>not[ _-]?met|unmet)\b|\b(?P<tell>can(?:no|')t[ _-]tell)\b|\b(?P<met>met)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"([^\"\n]{2,300})\"|“([^”\n]{2,300})”|`([^`\n]{2,300})`")


class ReadReply(NamedTuple):
    """A verifier's answer as it was read; its quotes have yet to be looked for."""

    verdict: GoalVerdict
    quotes: tuple[str, ...] = ()
    reason: str = ""


def read_reply(reply: ModelReply) -> ReadReply:
    texts = (call.arguments[:_MAX_CHARS] for call in reply.tool_calls[:_MAX_CALLS])
    called = [said for text in texts if (said := _said_in(text)) is not None]
    text = reply.text[:_MAX_CHARS]
    return _together(called) if called else _said_in(text) or _from_words(text)


def _said_in(text: str) -> ReadReply | None:
    """Return the first verdict among the JSON objects of a text; None where there is none."""
    for candidate in _objects(text):
        verdict = _verdict(candidate)
        if verdict is not None:
            return ReadReply(verdict, _quotes(candidate), _reason(candidate))
    return None


def _together(said: Sequence[ReadReply]) -> ReadReply:
    """Return what several verdicts of one answer, each on a part, say of the whole.

    The weakest counts, with what stands to it: a goal is met once all of it is.
    """
    verdict = next(one for one in _WEAKEST_FIRST if any(one is each.verdict for each in said))
    counted = [each for each in said if each.verdict is verdict]
    quotes = dict.fromkeys(quote for each in counted for quote in each.quotes)
    reasons = dict.fromkeys(each.reason for each in counted if each.reason)
    return ReadReply(verdict, tuple(quotes)[:MAX_QUOTES], one_line(" ".join(reasons), 500))


def _objects(text: str) -> Iterable[Mapping[str, Any]]:
    """Return the JSON objects in a text, and those that a call in text wraps."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    tries = 0
    while at >= 0 and tries < 20:
        tries += 1
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict):
            yield found
            for inner in found.values():
                if isinstance(inner, dict):
                    yield inner
                elif isinstance(inner, str) and inner.lstrip().startswith("{"):
                    yield from _inner(inner)
        at = text.find("{", end)


def _inner(text: str) -> Iterable[Mapping[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        yield found


def _verdict(said: Mapping[str, Any]) -> GoalVerdict | None:
    for key in _VERDICT_KEYS:
        value = said.get(key)
        if isinstance(value, bool):
            return GoalVerdict.MET if value else GoalVerdict.NOT_MET
        if isinstance(value, str):
            plain = " ".join(re.findall(r"[a-z]+", value.casefold()))
            found = next((verdict for verdict, words in _WORDS.items() if plain in words), None)
            if found is not None:
                return found
    return None


def _quotes(said: Mapping[str, Any]) -> tuple[str, ...]:
    for key in _EVIDENCE_KEYS:
        value = said.get(key)
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list):
            return _cleaned_quotes(text for one in value for text in _texts(one))
    return ()


def _texts(one: object) -> list[str]:
    if isinstance(one, str):
        return [one]
    if isinstance(one, dict):
        named = [one[key] for key in ("quote", "text", "evidence") if isinstance(one.get(key), str)]
        return named or [text for text in one.values() if isinstance(text, str)]
    return []


def _reason(said: Mapping[str, Any]) -> str:
    texts = (said.get(key) for key in _REASON_KEYS)
    return one_line(tidy(next((text for text in texts if isinstance(text, str)), "")), 500)


def _from_words(text: str) -> ReadReply:
    found = {
        GoalVerdict.NOT_MET
        if match["not"]
        else GoalVerdict.CANNOT_TELL
        if match["tell"]
        else GoalVerdict.MET
        for match in _SAID.finditer(text)
    }
    # "met" in the same breath as "not met" says nothing for sure.
    verdict = found.pop() if len(found) == 1 else GoalVerdict.CANNOT_TELL
    quotes = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return ReadReply(verdict, _cleaned_quotes(quotes), one_line(tidy(text), 300))


def _cleaned_quotes(quotes: Iterable[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(one_line(tidy(quote), 300) for quote in quotes)
    return tuple(quote for quote in kept if quote)[:MAX_QUOTES]
