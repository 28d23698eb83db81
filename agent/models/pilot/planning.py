"""Divide a goal among phones by its words: “on every phone …”, “X; and on phone 2 Y”.

The pilot as a planner. Pure, English, and honest: a goal that names no phone is left to one phone,
a phone that is not there is said to be missing. Invariant: quoted text comes through letter for
letter, and is never taken for the name of a phone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.models.model import Message, MessageKind, Role
from agent.models.pilot.moves import Call
from agent.models.pilot.reading import read
from agent.text import call_result_words

_PHONE_LINE = re.compile(r"^- (?P<serial>\S+): (?P<about>.*)$")
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|(?<!\w)['‘].+?['’](?!\w)", re.DOTALL)
_MARK = re.compile(r"§(\d+)§")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_NOUN = r"(?:phones?|devices?|handsets?)"
_EVERY = re.compile(
    rf"\b(?:on|in|for)\s+(?:every|each|all|both|any\s+of)(?:\s+(?:of\s+)?(?:the|my|your|our|these))?"
    rf"(?:\s+\w+)?\s+{_NOUN}\b,?",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    rf"\bon\s+(?:the\s+)?(?P<count>{'|'.join(_COUNTS)}|[2-9])\s+{_NOUN}\b,?", re.IGNORECASE
)
_ONE = (
    rf"(?:the\s+)?(?:(?P<ordinal>{'|'.join(_ORDINALS)}|other)\s+{_NOUN}"
    rf"|{_NOUN}\s+(?:no\.?\s*|number\s*|#\s*)?(?P<number>\d{{1,2}}|[A-Za-z])(?![\w-]))"
)


@dataclass
class _Plan:
    """What each phone is to do, by serial, in the order of the phones."""

    parts: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def give(self, serial: str, objective: str) -> None:
        said = self.parts.setdefault(serial, [])
        if objective and objective not in said:
            said.append(objective)


def plan(messages: Sequence[Message]) -> Call:
    """Choose a planner's next call."""
    done = read(messages).done
    # A plan that is asked about is made again as it is: the words say all that is known.
    failed = [a for a in done if a.result.startswith("FAILED") and "say why" not in a.result]
    if failed:
        return _give_up(call_result_words(failed[-1].result))
    goal, phones = _read(messages)
    divided = divide(goal, phones)
    if divided.missing:
        return _give_up(f"there is no phone “{divided.missing[0]}”; there are: {', '.join(phones)}")
    if not divided.parts:
        why = "The goal names no phone, so one is enough."
        return Call("work_alone", {"reason": why}, why)
    targets = [
        {"objective": "; ".join(said), "device": serial} for serial, said in divided.parts.items()
    ]
    why = f"The goal names {len(targets)} phones; each works on its part."
    return Call("propose_targets", {"targets": targets, "reason": why}, why)


def read_goal(messages: Sequence[Message]) -> Call:
    """Choose how a goal is read: what it asks of which phones, by its words."""
    goal, phones = _read(messages)
    parts = [
        {"words": objective, "phones": [serial]}
        for serial, said in divide(goal, phones).parts.items()
        for objective in said
    ]
    return Call("read_goal", {"parts": parts}, "The goal says it of these phones.")


def divide(goal: str, phones: Sequence[str]) -> _Plan:
    """Read which phone is to do what.

    Args:
        goal: the operator's words.
        phones: serials, in the order they are listed.

    Returns:
        No parts when the goal names no phone.
    """
    quoted: list[str] = []

    def hide(found: re.Match[str]) -> str:
        quoted.append(found.group())
        return f"§{len(quoted) - 1}§"

    masked = _QUOTED.sub(hide, goal)
    one = _reference(phones)
    divided = _Plan()
    homeless: list[str] = []
    last: list[str] = []
    for clause in _clauses(masked, one):
        serials, rest = _place(clause, one, phones, divided)
        objective = _MARK.sub(lambda found: quoted[int(found.group(1))], rest).strip(" ,.;")
        if serials:
            last = serials
        for serial in serials or last:
            divided.give(serial, objective)
        if not serials and not last:
            homeless.append(objective)
    if divided.parts and homeless:
        free = [serial for serial in phones if serial not in divided.parts]
        for objective in homeless:
            divided.give(free[0] if free else phones[0], objective)
    order = {serial: at for at, serial in enumerate(phones)}
    divided.parts = {
        serial: divided.parts[serial] for serial in sorted(divided.parts, key=order.__getitem__)
    }
    return divided


def _reference(phones: Sequence[str]) -> re.Pattern[str]:
    serials = "|".join(re.escape(serial) for serial in sorted(phones, key=len, reverse=True))
    listed = rf"(?:{_NOUN}\s+)?(?P<serial>{serials})(?![\w-])|" if serials else ""
    return re.compile(rf"\bon\s+(?:{listed}{_ONE}),?", re.IGNORECASE)


def _clauses(masked: str, one: re.Pattern[str]) -> list[str]:
    """Part the goal where another phone's part may begin."""
    ahead = one.pattern
    # Groups may be named once in a pattern, and these are only looked ahead at.
    ahead = re.sub(r"\(\?P<\w+>", "(?:", ahead)
    joint = re.compile(
        rf"\s*;\s*|\s*\.\s+|,?\s+(?:and|while|then)\s+(?={ahead})|,\s+(?={ahead})", re.IGNORECASE
    )
    parts = (re.sub(r"^(?:and|then)\s+", "", part.strip()) for part in joint.split(masked))
    return [part for part in parts if part.strip(" ,.")]


def _place(
    clause: str, one: re.Pattern[str], phones: Sequence[str], divided: _Plan
) -> tuple[list[str], str]:
    """Return the phones that a clause names, and the clause without their names."""
    if found := _EVERY.search(clause):
        return list(phones), _without(clause, found)
    if found := _SEVERAL.search(clause):
        word = found["count"].casefold()
        count = _COUNTS.get(word) or int(word)
        if count > len(phones):
            divided.missing.append(found.group().strip(" ,"))
        return list(phones[:count]), _without(clause, found)
    if found := one.search(clause):
        serial = _serial(found, phones, divided)
        if serial is None:
            divided.missing.append(re.sub(r"^on\s+(?:the\s+)?", "", found.group().strip(" ,")))
            return [], clause
        return [serial], _without(clause, found)
    return [], clause


def _serial(found: re.Match[str], phones: Sequence[str], divided: _Plan) -> str | None:
    named = found.groupdict()
    if named.get("serial"):
        wanted = named["serial"].casefold()
        return next(serial for serial in phones if serial.casefold() == wanted)
    ordinal, number = named.get("ordinal"), named.get("number")
    if ordinal and ordinal.casefold() == "other":
        return next((serial for serial in phones if serial not in divided.parts), None)
    if ordinal:
        at = _ORDINALS[ordinal.casefold()]
    elif number and number.isdigit():
        at = int(number)
    else:
        at = ord((number or "?").upper()) - ord("A") + 1
    return phones[at - 1] if 1 <= at <= len(phones) else None


def _without(clause: str, found: re.Match[str]) -> str:
    return re.sub(r"\s{2,}", " ", clause[: found.start()] + " " + clause[found.end() :]).strip()


def _read(messages: Sequence[Message]) -> tuple[str, tuple[str, ...]]:
    """Return the newest goal, and the serials of the phones as last listed."""
    goal = ""
    phones: tuple[str, ...] = ()
    for message in messages:
        if message.kind is MessageKind.GOAL:
            _, _, rest = message.text.partition("\n")
            goal = rest.split("\n## ", 1)[0].strip()
        if message.kind is MessageKind.GOAL or message.role is Role.TOOL:
            _, heading, listed = message.text.partition("## Phones\n")
            found = (_PHONE_LINE.match(line) for line in listed.split("\n## ")[0].splitlines())
            phones = tuple(f["serial"] for f in found if f) if heading else phones
    return goal, phones


def _give_up(reason: str) -> Call:
    summary = f"{reason[:1].upper()}{reason[1:]}".rstrip(".") + "."
    return Call("finish", {"success": False, "summary": summary}, summary)
