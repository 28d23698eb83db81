"""Find the calls that stand between a model's own marks, by the table of forms (`forms.toml`).

Pure, and linear in the length of the text. Invariant: a new form is a row of the table; a new way
to hold a call is a reader here.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from agent.tools.lenient_json import NotJson, read_json
from agent.tools.written_calls.code import calls_in_code
from agent.tools.written_calls.names import from_value, plain_name

Tools = Mapping[str, Sequence[str]]
_Calls = Iterator[tuple[str, str]]


class Holds(StrEnum):
    """How the inside of a form names the tool and its arguments."""

    CALL = "call"
    NAMED = "named"
    TAGGED = "tagged"
    PAIRS = "pairs"
    BRACES = "braces"


class Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the table; the fields are described at its top."""

    models: str
    source: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    holds: Holds
    prefixes: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ("",)


class WrittenCall(NamedTuple):
    """A call and where it stands."""

    name: str
    arguments: str
    start: int
    end: int


@cache
def forms() -> tuple[Form, ...]:
    """Return the table, with each mark once for each namespace."""
    text = files(__package__ or "").joinpath("forms.toml").read_text(encoding="utf-8")
    rows = msgspec.convert(tomllib.loads(text)["form"], tuple[Form, ...])
    return tuple(_spelled_out(row) for row in rows)


def _spelled_out(row: Form) -> Form:
    def each(marks: Sequence[str]) -> tuple[str, ...]:
        return tuple(mark.replace("@", space) for space in row.namespaces for mark in marks)

    opens, closes = zip(*row.parameters, strict=True) if row.parameters else ((), ())
    return msgspec.structs.replace(
        row,
        opens=each(row.opens),
        closes=each(row.closes),
        wrappers=each(row.wrappers),
        parameters=tuple(zip(each(opens), each(closes), strict=True)),
    )


def marked(text: str, tools: Tools) -> list[WrittenCall]:
    """Return the calls between a model's own marks, in the order in which they stand.

    Args:
        tools: the parameters of each tool that may be called, in order, by its name.
    """
    found: list[WrittenCall] = []
    for form in forms():
        for start, inside, end in _spans(text, form):
            if any(start < one.end and one.start < end for one in found):
                # Another form has read this already.
                continue
            calls = list(_READERS[form.holds](form, inside, tools))
            if calls:
                first, last = _with_wrappers(text, form, start, end)
                found += [WrittenCall(plain_name(n), given, first, last) for n, given in calls]
    return sorted(found, key=lambda one: one.start)


def _spans(text: str, form: Form) -> Iterator[tuple[int, str, int]]:
    """Yield where each call of a form begins, what it holds, and where it ends."""
    marks = _alternatives((*form.opens, *form.closes))
    closes = frozenset(form.closes)
    begun: tuple[int, int] | None = None
    for mark in marks.finditer(text):
        if begun is not None:
            start, inside = begun
            end = mark.end() if mark[0] in closes else mark.start()
            yield start, text[inside : mark.start()], end
        begun = (mark.start(), mark.end()) if mark[0] in form.opens else None
    if begun is not None:
        yield begun[0], text[begun[1] :], len(text)


@cache
def _alternatives(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(mark) for mark in sorted(set(marks), key=len)[::-1]))


def _with_wrappers(text: str, form: Form, start: int, end: int) -> tuple[int, int]:
    """Return the place of a call with the marks of its group that stand beside it."""
    grown = True
    while grown:
        grown = False
        before = text[:start].rstrip()
        after = len(text) - len(text[end:].lstrip())
        for mark in form.wrappers:
            if before.endswith(mark):
                start, grown = len(before) - len(mark), True
                break
            if text.startswith(mark, after):
                end, grown = after + len(mark), True
                break
    return start, end


# --- what a form holds ----------

_NAME_IN_JSON = re.compile(r'"name"\s*:\s*"([A-Za-z_][\w.-]{0,80})"')
_ARGUMENTS_IN_JSON = re.compile(r'"(?:arguments|parameters)"\s*:\s*(.*)', re.DOTALL)
_LEADING_NAME = re.compile(r"\s*([A-Za-z_][\w.:-]{0,90})")
_BETWEEN_CHARS = 120
"""The most characters between a name and its JSON: other marks, a fence, the id of the call."""


def _call(_form: Form, inside: str, tools: Tools) -> _Calls:
    if not inside.strip().startswith(("{", "[", '"')):
        for line in inside.splitlines():
            yield from calls_in_code(line, tools)
        if "{" in inside[:_BETWEEN_CHARS]:
            yield from _named(_form, inside, tools)
        return
    try:
        yield from from_value(read_json(inside))
    except NotJson:
        code = calls_in_code(inside, tools)
        # The name is all that can be read; the arguments are refused with the place.
        name = _NAME_IN_JSON.search(inside)
        if code or not name:
            yield from code
            return
        given = _ARGUMENTS_IN_JSON.search(inside)
        yield name[1], given[1] if given else ""


def _named(form: Form, inside: str, _tools: Tools) -> _Calls:
    body = inside.lstrip()
    for prefix in form.prefixes:
        body = body.removeprefix(prefix)
    name = _LEADING_NAME.match(body)
    at = body.find("{", 0, _BETWEEN_CHARS + len(name[0])) if name else -1
    if name and at >= 0:
        yield name[1], body[at:].strip().removesuffix("```").strip()


def _tagged(form: Form, inside: str, _tools: Tools) -> _Calls:
    head, closed, body = inside.partition(">")
    name = _LEADING_NAME.match(head)
    if not closed or not name:
        return
    given: dict[str, object] = {}
    opens = {mark: close for mark, close in form.parameters}
    at = 0
    marks = _alternatives(tuple(opens))
    while found := marks.search(body, at):
        tag, tag_closed, _ = body[found.end() :].partition(">")
        key = re.match(r"[\w.-]{1,80}", tag)
        start = found.end() + len(tag) + 1
        if not tag_closed or not key:
            break
        end = body.find(opens[found[0]], start)
        following = marks.search(body, start)
        if end < 0 or (following and following.start() < end):
            end = following.start() if following else len(body)
        text = body[start:end]
        # DeepSeek says whether a value is text; the others leave it to its look.
        given[key[0]] = text.strip("\n") if 'string="true"' in tag else _value(text)
        at = end
    if given:
        yield name[1], json.dumps(given, ensure_ascii=False)
    elif body.lstrip().startswith("{"):
        yield name[1], body.strip()
    elif not body.strip():
        yield name[1], "{}"


def _pairs(form: Form, inside: str, _tools: Tools) -> _Calls:
    name = re.match(r"\s*([A-Za-z_][\w.-]{0,80})\s*(?=<|\Z)", inside)
    if not name:
        return
    (key_opens, key_closes), (value_opens, value_closes) = form.parameters
    given: dict[str, object] = {}
    for part in inside.split(key_opens)[1:]:
        key, _, rest = part.partition(key_closes)
        value = rest.partition(value_opens)[2].partition(value_closes)[0]
        given[key.strip()] = _value(value)
    yield name[1], json.dumps(given, ensure_ascii=False)


def _braces(form: Form, inside: str, _tools: Tools) -> _Calls:
    head, opened, body = inside.partition("{")
    name = _LEADING_NAME.match(head.strip().removeprefix("call:"))
    if not name or not opened:
        return
    quote = next((mark for mark in form.quotes if mark in body), "")
    parts = body.rpartition("}")[0].split(quote) if quote else [body.rpartition("}")[0]]
    # Every second part stands between two marks, and is text whatever it holds.
    said = "".join(
        json.dumps(part, ensure_ascii=False) if at % 2 else _quoted_keys(part)
        for at, part in enumerate(parts)
    )
    yield name[1], "{" + said + "}"


def _quoted_keys(text: str) -> str:
    return re.sub(r"([{,]|^)\s*([A-Za-z_][\w-]{0,80})\s*:", r'\1"\2":', text)


def _value(text: str) -> object:
    """Read a value that stands without quotes: JSON if it is one, else the text itself."""
    text = text.strip("\n")
    try:
        value = json.loads(text.strip())
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list | int | float | bool) else text


_Reader = Callable[[Form, str, Tools], _Calls]
_READERS: dict[Holds, _Reader] = {
    Holds.CALL: _call,
    Holds.NAMED: _named,
    Holds.TAGGED: _tagged,
    Holds.PAIRS: _pairs,
    Holds.BRACES: _braces,
}
