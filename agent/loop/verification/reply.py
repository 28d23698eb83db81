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

MAX_POINTERS = 60
"""Enough for the things of a list that are counted."""
_MAX_CHARS = 20_000
_MAX_CALLS = 16
_STRENGTH = (GoalVerdict.NOT_MET, GoalVerdict.CANNOT_TELL, GoalVerdict.MET)
_LIST_KEYS = ("verdicts", "requirements", "results", "items")
_NUMBER_KEYS = ("requirement", "number", "id", "n")
_VERDICT_KEYS = ("verdict", "answer", "result", "status", "goal_met", "met", "decision")
_EVIDENCE_KEYS = ("evidence", "pointers", "quotes", "quote", "proof")
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
_QUOTED = re.compile(
    r"\"([^\"\n]{2,300})\"|“([^”\n]{2,300})”|`([^`\n]{2,300})`|(\b[ES]\d+(?:\[\d+\])?)"
)
_POINTER_KEYS = ("id", "pointer", "quote", "text", "evidence")


class ReadVerdict(NamedTuple):
    """A verifier's word on one requirement, as it was read; what it points at is to be found."""

    verdict: GoalVerdict
    pointers: tuple[str, ...] = ()
    reason: str = ""


def read_reply(reply: ModelReply, numbers: Sequence[int]) -> dict[int, ReadVerdict]:
    """Return the verdict on each of some requirements; one verdict alone is on all of them.

    Of several calls each may be on one requirement; of two on the same the weaker counts.
    """
    text = reply.text[:_MAX_CHARS]
    found: dict[int, ReadVerdict] = {}
    for candidate in (*_called(reply), *_objects(text)):
        said = _each(candidate, numbers)
        verdict = _verdict(candidate)
        if not said and verdict is not None:
            named = {_int(candidate[key]) for key in _NUMBER_KEYS if key in candidate}
            on = [number for number in numbers if number in named] or numbers
            alone = ReadVerdict(verdict, _pointers(candidate), _reason(candidate))
            said = dict.fromkeys(on, alone)
        for number, one in said.items():
            before = found.get(number)
            weaker = before is None or _STRENGTH.index(one.verdict) < _STRENGTH.index(
                before.verdict
            )
            found[number] = one if weaker else found[number]
    return found or dict.fromkeys(numbers, _from_words(text))


def _each(said: Mapping[str, Any], numbers: Sequence[int]) -> dict[int, ReadVerdict]:
    lists = (said[key] for key in _LIST_KEYS if isinstance(said.get(key), list))
    listed: list[Any] = next(lists, [])
    entries = [entry for entry in listed if isinstance(entry, dict)]
    found: dict[int, ReadVerdict] = {}
    for at, entry in enumerate(entries):
        number = next((_int(entry[key]) for key in _NUMBER_KEYS if key in entry), None)
        if number not in numbers and len(entries) == len(numbers):
            number = numbers[at]
        verdict = _verdict(entry)
        if number is not None and verdict is not None:
            found[number] = ReadVerdict(verdict, _pointers(entry), _reason(entry))
    return found


def _int(value: object) -> int | None:
    digits = re.search(r"\d+", str(value)[:20])
    return int(digits[0]) if digits else None


def _called(reply: ModelReply) -> Iterable[Mapping[str, Any]]:
    for call in reply.tool_calls[:_MAX_CALLS]:
        yield from _objects(call.arguments[:_MAX_CHARS])


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


def _pointers(said: Mapping[str, Any]) -> tuple[str, ...]:
    for key in _EVIDENCE_KEYS:
        value = said.get(key)
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list):
            return _cleaned(text for one in value for text in _texts(one))
    return ()


def _texts(one: object) -> list[str]:
    if isinstance(one, str):
        return [one]
    if isinstance(one, dict):
        named = [one[key] for key in _POINTER_KEYS if isinstance(one.get(key), str)]
        return named or [text for text in one.values() if isinstance(text, str)]
    return []


def _reason(said: Mapping[str, Any]) -> str:
    texts = (said.get(key) for key in _REASON_KEYS)
    return one_line(tidy(next((text for text in texts if isinstance(text, str)), "")), 500)


def _from_words(text: str) -> ReadVerdict:
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
    pointers = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return ReadVerdict(verdict, _cleaned(pointers), one_line(tidy(text), 300))


def _cleaned(pointers: Iterable[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(one_line(tidy(text), 300) for text in pointers)
    return tuple(text for text in kept if text)[:MAX_POINTERS]
