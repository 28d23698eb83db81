"""The forms in which models are trained to write calls with marks of their own.

Forms as in the chat templates of the models and the parsers of vLLM, SGLang and llama.cpp: Hermes
and Qwen 2.5/3 (`<tool_call>{…}`), Qwen 3 Coder (`<function=…><parameter=…>`), Llama 3
(`<|python_tag|>`, `<function=…>{…}`), GLM 4.5 (`<arg_key>`), Mistral (`[TOOL_CALLS]`), DeepSeek
(`<｜tool▁call▁begin｜>`), Kimi K2 (`<|tool_call_begin|>`), gpt-oss (`to=functions.…`), Phi and
Granite (`<|tool_call|>`, `functools`), MiniMax and Anthropic (`<invoke name=…>`). Pure.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agent.tools.lenient_json import NotJson, read_json

_NAME = r"[A-Za-z_][\w.-]{0,80}"


class WrittenCall(NamedTuple):
    """A call and where it stands."""

    name: str
    arguments: str
    start: int
    end: int


def marked(text: str) -> list[WrittenCall]:
    """Return the calls between a model's own marks, in the order in which they stand."""
    found: list[WrittenCall] = []
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                # Another form has read this already.
                continue
            found += (
                WrittenCall(plain_name(name), arguments, match.start(), match.end())
                for name, arguments in read(match)
            )
    return sorted(found, key=lambda one: one.start)


def from_value(value: object) -> Iterator[tuple[str, str]]:
    """Yield the calls in a JSON value: an object with a name and arguments, or several."""
    if isinstance(value, list):
        for one in value[:8]:
            yield from from_value(one)
        return
    if not isinstance(value, dict):
        return
    if isinstance(value.get("tool_calls"), list):
        yield from from_value(value["tool_calls"])
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        yield from from_value(inner)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not name:
        return
    given = next((value[key] for key in CALLED_WITH if key in value), None)
    if given is None:
        # The arguments beside the name.
        given = {key: one for key, one in value.items() if key not in {*_NAMES, "id", "type"}}
    yield name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def plain_name(name: str) -> str:
    """Return a tool's name without what some forms put around it: `functions.name:0`."""
    name = name.strip().strip("`\"'")
    return name.removeprefix("functions.").removeprefix("tools.").partition(":")[0]


_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action")
CALLED_WITH = ("arguments", "parameters", "args", "input", "action_input", "params")


def _json(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    try:
        yield from from_value(read_json(match["body"]))
    except NotJson:
        # The name is all that can be read; the arguments are refused with the place.
        name = re.search(rf'"name"\s*:\s*"({_NAME})"', match["body"])
        body = re.search(r'"(?:arguments|parameters)"\s*:\s*(.*)', match["body"], re.DOTALL)
        if name:
            yield name[1], body[1] if body else ""


def _named(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    yield match["name"], match["body"].strip() or "{}"


def _parameters(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    pairs = _PARAMETER.findall(match["body"])
    yield match["name"], json.dumps({key: _value(text) for key, text in pairs}, ensure_ascii=False)


def _glm(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    pairs = _GLM_PAIR.findall(match["body"])
    arguments = {key.strip(): _value(text) for key, text in pairs}
    yield match["name"], json.dumps(arguments, ensure_ascii=False)


def _value(text: str) -> object:
    """Read a value that stands without quotes: JSON if it is one, else the text itself."""
    text = text.strip("\n")
    try:
        value = json.loads(text.strip())
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list | int | float | bool) else text


_PARAMETER = re.compile(
    r"<parameter(?:=|\s+name=\")([\w.-]{1,80})\"?>(.*?)(?:</parameter>|(?=<parameter)|\Z)",
    re.DOTALL,
)
_GLM_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL)
_Reader = Callable[[re.Match[str]], Iterator[tuple[str, str]]]


def _form(pattern: str, read: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(pattern, re.DOTALL), read


_FORMS = (
    _form(
        rf"(?:<tool_call>\s*)?<function=(?P<name>{_NAME})>(?P<body>\s*<parameter.*?)"
        r"(?:</function>|\Z)(?:\s*</tool_call>)?",
        _parameters,
    ),
    _form(rf'<invoke\s+name="(?P<name>{_NAME})">(?P<body>.*?)(?:</invoke>|\Z)', _parameters),
    _form(rf"<function=(?P<name>{_NAME})>(?P<body>\s*\{{.*?)(?:</function>|\Z)", _named),
    _form(
        rf"<tool_call>\s*(?P<name>{_NAME})\s*(?P<body>(?:<arg_key>.*?)?)(?:</tool_call>|\Z)", _glm
    ),
    _form(r"<(?P<mark>tool_call|function_call)>\s*(?P<body>[\[{].*?)(?:</(?P=mark)>|\Z)", _json),
    _form(r"<\|python_tag\|>\s*(?P<body>\{.*?)(?:<\|e\w+_id\|>|\Z)", _json),
    _form(
        rf"\[TOOL_CALLS\]\s*(?P<name>{_NAME})(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*(?P<body>\{{.*?)"
        r"(?=\[TOOL_CALLS\]|</s>|\Z)",
        _named,
    ),
    _form(r"\[TOOL_CALLS\]\s*(?P<body>\[?\s*\{.*?)(?:</s>|\Z)", _json),
    _form(
        rf"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>{_NAME})(?:<｜tool▁sep｜>)?\s*"
        r"(?:```json)?\s*(?P<body>\{.*?)(?:```)?\s*(?:<｜tool▁call▁end｜>|\Z)",
        _named,
    ),
    _form(
        r"<\|tool_call_begin\|>\s*(?P<name>[\w.:-]{1,90})\s*<\|tool_call_argument_begin\|>\s*"
        r"(?P<body>\{.*?)(?:<\|tool_call_end\|>|\Z)",
        _named,
    ),
    _form(
        rf"to=functions\.(?P<name>{_NAME})[^{{]{{0,80}}(?P<body>\{{.*?)(?:<\|call\|>|\Z)", _named
    ),
    _form(r"(?:<\|tool_call\|>|functools)\s*(?P<body>[\[{].*?)(?:<\|/?tool_call\|>|\Z)", _json),
)
