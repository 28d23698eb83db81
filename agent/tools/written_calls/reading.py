"""Find the one call that a model meant where it wrote it as text.

Pure. First the forms that models are trained on (`forms`), then what people write: JSON in a
fence or alone, `name(argument=…)`, and ReAct's `Action:`. Invariants: only the model's own words
are read, never what it thought aloud or quotes from the screen; without marks there has to be
exactly one call, or one block of calls, of tools that are offered, that stands for itself; whatever
was written, nothing but calls or no call comes of it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.models.model import ToolCall
from agent.tools.lenient_json import NotJson, read_json
from agent.tools.written_calls.code import MAX_CODE_CHARS, calls_in_code
from agent.tools.written_calls.forms import WrittenCall, marked
from agent.tools.written_calls.names import CALLED_WITH, from_value, plain_name

MAX_CHARS = 20_000
"""Only so much of the end of an answer is read: a call stands at the end."""
MAX_CALLS = 8
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BARE = re.compile(r"^[ \t]*([\[{].*[\]}])[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(
    r"^[ \t]*(?:[-*]\s|\d+[.)]\s|(?:tool|call|tool call|function call):\s*)?`?\[?"
    r"(?P<code>(?P<name>[A-Za-z_]\w{0,80})\s*\(.*\))\]?`?;?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?:[.:!?→⇒]|->|=>)[ \t]+(?=[`{A-Za-z_])")
_MENTION = re.compile(
    r"\b(?:not|never|cannot|without|instead|could|would|should|might|may|if|or|unless|avoid|"
    r"rather|example|e\.g|such as|like)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of a call and does not make it."""
_REACT = re.compile(
    r"^[ \t]*\**Action\**:\**[ \t]*`?(?P<name>[A-Za-z_]\w{0,80})`?[ \t]*\n\s*"
    r"\**Action Input\**:\**[ \t]*(?P<body>.*?)(?=\n\s*\**(?:Observation|Thought|Action)\**:|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_REACT_CODE = re.compile(
    r"^[ \t]*\**Action\**:\**[ \t]*(?P<code>[A-Za-z_]\w*\s*\(.*\))[ \t]*$", re.M
)
_SAME = re.compile(r"[\s\"'`“”‘’\\]+")


@dataclass(frozen=True, slots=True)
class Written:
    """What was read of a text."""

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    """The words around the calls; the whole text where there is no call."""
    several: bool = False
    """Whether more than one call could be meant, so that none was taken."""
    unknown: str = ""
    """The tool that a call names and that there is not, where no other call was read."""


def written_calls(text: str, tools: Mapping[str, Sequence[str]], quoted: str = "") -> Written:
    """Read the calls in a text.

    Args:
        text: what the model said.
        tools: the parameters of each tool that it may call, in order, by its name.
        quoted: the screen that it was shown: what stands there too is not its own.
    """
    if len(text) > MAX_CHARS:
        text = text[-MAX_CHARS:]
    own = _THOUGHT.sub(lambda match: " " * len(match[0]), text)
    shown = _SAME.sub("", quoted)

    def is_own(found: WrittenCall) -> bool:
        return not shown or _SAME.sub("", own[found.start : found.end]) not in shown

    sure = [found for found in marked(own, tools) if is_own(found)][:MAX_CALLS]
    if sure:
        # The same call twice is one that was said twice.
        meant_once = {(one.name, _same_arguments(one.arguments)): one for one in reversed(sure)}
        once = [one for one in sure if one in meant_once.values()]
        return Written(_calls(once), _around(text, sure))
    loose = [found for found in _loose(own, tools) if is_own(found)]
    meant = {(found.name, _same_arguments(found.arguments)) for found in loose}
    if not meant:
        return Written(text=text, unknown=_unknown(own, tools))
    if len(meant) == 1:
        return Written(_calls(loose[:1]), _around(text, loose))
    if len({(found.start, found.end) for found in loose}) > 1:
        return Written(text=text, several=True)
    # A list, or a block of lines, is one statement: its calls are meant together.
    return Written(_calls(loose[:MAX_CALLS]), _around(text, loose[:1]))


def _calls(found: Sequence[WrittenCall]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call_id=f"written_{at}", name=one.name, arguments=one.arguments)
        for at, one in enumerate(found)
    )


def _around(text: str, found: Sequence[WrittenCall]) -> str:
    said, at = [], 0
    for one in found:
        said.append(text[at : max(one.start, at)])
        at = max(one.end, at)
    return "\n".join(part.strip() for part in (*said, text[at:]) if part.strip())


def _same_arguments(arguments: str) -> str:
    try:
        return json.dumps(read_json(arguments or "{}"), sort_keys=True)
    except (NotJson, ValueError):
        return arguments


# --- without marks ----------


def _loose(text: str, tools: Mapping[str, Sequence[str]]) -> Iterator[WrittenCall]:
    taken: list[tuple[int, int]] = []

    def free(start: int, end: int) -> bool:
        return all(end <= first or last <= start for first, last in taken)

    for match in _FENCE.finditer(text):
        taken.append(match.span())
        for name, arguments in _in_fence(match[1], match[2], tools):
            yield WrittenCall(name, arguments, *match.span())
    for match in _REACT.finditer(text):
        if free(*match.span()) and plain_name(match["name"]) in tools:
            taken.append(match.span())
            yield WrittenCall(plain_name(match["name"]), match["body"].strip(), *match.span())
    for pattern in (_REACT_CODE, _CODE):
        for match in pattern.finditer(text):
            if not free(*match.span()):
                continue
            called = _from_code(match["code"], tools)
            if called is not None:
                taken.append(match.span())
                yield WrittenCall(*called, *match.span())
    for match in _BARE.finditer(text):
        if free(*match.span()):
            for name, arguments in _from_json(match[1], tools):
                yield WrittenCall(name, arguments, *match.span())
    if not taken:
        yield from _after_words(text, tools)


def _after_words(text: str, tools: Mapping[str, Sequence[str]]) -> Iterator[WrittenCall]:
    """Find a call that ends the text, as a sentence of its own behind others on its line."""
    text = text.rstrip().rstrip(".;")
    line = max(text.rfind("\n"), len(text) - MAX_CODE_CHARS)
    for end in _SENTENCE_END.finditer(text, max(line, 0)):
        written = text[end.end() :].strip("`")
        called = (
            next(_from_json(written, tools), None)
            if written.startswith("{")
            else _from_code(written, tools)
        )
        if called is None:
            continue
        before = text[: end.start()]
        speaks_of_it = _MENTION.search(re.split(r"[.!?]\s|\n", before)[-1])
        if not speaks_of_it and not any(f"{name}(" in before for name in tools):
            yield WrittenCall(*called, end.end(), len(text))
        return


def _in_fence(
    language: str, body: str, tools: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    if re.match(r"\s*(?:\[\s*)?\{", body):
        whole = list(_from_json(body, tools))
        # Or an object in each line.
        yield from whole or (call for line in body.splitlines() for call in _from_json(line, tools))
        return
    if language.casefold() not in {"", "python", "py", "tool_code", "tool_call", "tool"}:
        return
    lines = [line for line in body.splitlines() if line.strip()]
    for line in lines:
        yield from calls_in_code(line, tools)


def _unknown(text: str, tools: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a call that has the form of one and names no tool; empty without one."""
    bodies = [match[2] for match in _FENCE.finditer(text)]
    bodies += [match[1] for match in _BARE.finditer(text)]
    for body in bodies:
        try:
            value = read_json(body)
        except NotJson:
            continue
        if isinstance(value, dict) and any(key in value for key in CALLED_WITH):
            names = [plain_name(name) for name, _ in from_value(value)]
            if len(names) == 1 and names[0] not in tools:
                return names[0]
    for match in _CODE.finditer(text):
        # Only one with named arguments: `print(…)` and the like stand in explanations.
        if re.search(r"\(\s*\w+\s*=", match["code"]) and match["name"] not in tools:
            return match["name"]
    return ""


def _from_json(text: str, tools: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    try:
        value = read_json(text)
    except NotJson:
        return
    for name, arguments in from_value(value):
        if plain_name(name) in tools:
            yield plain_name(name), arguments


def _from_code(code: str, tools: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """Read one call that was written as code; None where there is none, or several."""
    calls = calls_in_code(code, tools)
    return calls[0] if len(calls) == 1 else None
