"""Each tool as one msgspec struct: what a model is told of it, what it takes, what it may do.

Decoding is lenient in form (a number may be a string, a field may have its Resolve name) and strict
in meaning. Invariant: whatever a model wrote comes back as a struct or as a `BadArguments` whose
text a model can act on, never as another exception.
"""

import json
import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
import msgspec.inspect

from agent.records import PlanItem, PlanStatus
from agent.text import one_line
from agent.tools.lenient_json import NotJson, read_json
from agent.tools.tool_groups import ToolGroup

MAX_ARGUMENT_CHARS = 100_000
MAX_PLAN_ITEMS = 30


class BadArguments(Exception):
    """What a model wrote cannot be used; the text says how to correct it."""


class ToolKind(StrEnum):
    """What a tool may do to a phone."""

    OBSERVE = "observe"
    ACTION = "action"
    CONTROL = "control"


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every tool: its fields are what a model writes, its docstring is what a model reads.

    It is in use once it is a member of `agent.tools.registry.ToolArguments`.
    """

    tool_name: ClassVar[str] = ""
    tool_kind: ClassVar[ToolKind] = ToolKind.ACTION
    tool_group: ClassVar[ToolGroup | None] = None
    """Which goals need it; None: every goal."""
    counted: ClassVar[bool] = True
    """Whether its step counts against the limit."""
    needs_picture: ClassVar[bool] = False
    """Whether it is of use only to a model that is sent pictures."""
    moves_view: ClassVar[bool] = False
    """It changes what the screen shows and nothing that lasts, so there is nothing to verify."""
    required: ClassVar[tuple[str, ...]] = ()
    """What a model is told that it must give, beyond the fields without a default; what it leaves
    out all the same has a reply of its own.
    """
    gathered: ClassVar[tuple[str, frozenset[str]]] = ("", frozenset())
    """A field that is an object, and those of its names that are understood outside it, too."""
    labelled: ClassVar[bool] = False
    """Whether its element may be named by `label` too; the number is known only on a screen."""


class ServiceArguments(Arguments, frozen=True, kw_only=True):
    """Base of what the tools take that ask the core's services: jobs, watchers, commitments.

    A name that means nothing is refused: to leave it out would change what goes on when nobody
    looks.
    """


ElementNumber = Annotated[
    int, msgspec.Meta(ge=1, le=100_000, description="Its number on the screen.")
]


class ClickElement(Arguments, frozen=True, kw_only=True):
    """Tap an element."""

    tool_name = "click_element"
    labelled = True

    element: ElementNumber
    expected: Annotated[str, msgspec.Meta(description="What should happen.")] = ""
    double: Annotated[bool, msgspec.Meta(description="Double-tap.")] = False


class LongPressElement(Arguments, frozen=True, kw_only=True):
    """Press and hold an element; many lists then show more actions."""

    tool_name = "long_press_element"
    labelled = True

    element: ElementNumber


class TypeText(Arguments, frozen=True, kw_only=True):
    """Type into a field, after the text it already has."""

    tool_name = "type_text"
    labelled = True

    text: Annotated[str, msgspec.Meta(description="Exactly what to type.")]
    element: (
        Annotated[
            int,
            msgspec.Meta(ge=1, le=100_000, description="Its number; default: the focused field."),
        ]
        | None
    ) = None
    clear: Annotated[bool, msgspec.Meta(description="Empty the field first.")] = False


class Scroll(Arguments, frozen=True, kw_only=True):
    """Scroll a list or page; down shows what is below."""

    tool_name = "scroll"
    moves_view = True

    direction: Literal["up", "down", "left", "right"]
    element: (
        Annotated[
            int, msgspec.Meta(ge=1, le=100_000, description="What to scroll; default: the screen.")
        ]
        | None
    ) = None


class PressButton(Arguments, frozen=True, kw_only=True):
    """Press a button of the phone."""

    tool_name = "press_button"

    button: Literal[
        "HOME",
        "BACK",
        "MENU",
        "ENTER",
        "SEARCH",
        "DELETE",
        "TAB",
        "SPACE",
        "RECENTS",
        "NOTIFICATIONS",
        "VOLUME_UP",
        "VOLUME_DOWN",
        "POWER",
    ]


class LaunchApp(Arguments, frozen=True, kw_only=True):
    """Open an installed app."""

    tool_name = "launch_app"
    moves_view = True

    app: Annotated[str, msgspec.Meta(description="Its name or package.")]


class Wait(Arguments, frozen=True, kw_only=True):
    """Wait for loading, a reply, or what the operator does by hand."""

    tool_name = "wait"
    tool_kind = ToolKind.CONTROL

    seconds: Annotated[float, msgspec.Meta(ge=0, le=600)] = 2.0


class MoreElements(Arguments, frozen=True, kw_only=True):
    """List the elements that the screen folds as `… rows like …`. Costs no step."""

    tool_name = "more_elements"
    tool_kind = ToolKind.OBSERVE
    counted = False


class Remember(Arguments, frozen=True, kw_only=True):
    """Keep a fact: it is shown with every screen from now on. Costs no step."""

    tool_name = "remember"
    tool_kind = ToolKind.CONTROL
    counted = False

    text: Annotated[
        str, msgspec.Meta(description="The fact, complete in itself; empty to forget one.")
    ] = ""
    replaces: (
        Annotated[
            int, msgspec.Meta(ge=1, le=100_000, description="Number of the fact it replaces.")
        ]
        | None
    ) = None


class MoreTools(Arguments, frozen=True, kw_only=True):
    """Get tools for work after this session: jobs (later or repeatedly), watchers (when something
    happens), commitments (promises, reminders). Costs no step.
    """

    tool_name = "more_tools"
    tool_kind = ToolKind.CONTROL
    counted = False

    group: Literal["jobs", "watchers", "commitments"]


class RequiredPart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a goal requires, in the words of the operator."""

    text: Annotated[str, msgspec.Meta(description="The goal's own words.")]
    kind: Annotated[
        str,
        msgspec.Meta(
            description="change, tell, open, keep (untouched), condition (if, limit, choice), "
            "person (judges), withdrawn."
        ),
    ] = ""
    object: Annotated[str, msgspec.Meta(description="As the phone names it.")] = ""
    value: Annotated[str, msgspec.Meta(description="on, off, gone or another.")] = ""
    to: str = ""


class UpdatePlan(Arguments, frozen=True, kw_only=True):
    """Write or update your plan. Costs no step."""

    tool_name = "update_plan"
    tool_kind = ToolKind.CONTROL
    counted = False

    plan: Annotated[
        tuple[PlanItem, ...], msgspec.Meta(description="The whole plan; one item in progress.")
    ] = ()
    requirements: Annotated[
        tuple[RequiredPart, ...],
        msgspec.Meta(description="The whole goal, split into what must be true."),
    ] = ()
    explanation: str = ""


class AskedQuestion(Arguments, frozen=True, kw_only=True):
    """One of several questions that are asked together."""

    question: str
    options: tuple[str, ...] = ()
    header: Annotated[str, msgspec.Meta(description="A word or two.")] = ""


class AskUser(Arguments, frozen=True, kw_only=True):
    """Ask the operator what only a person can know or decide, or to do something on the phone
    (option: Done). Waits for the answer.
    """

    tool_name = "ask_user"
    tool_kind = ToolKind.CONTROL
    counted = False

    question: str = ""
    options: Annotated[
        tuple[str, ...], msgspec.Meta(description="A few answers to choose from.")
    ] = ()
    questions: Annotated[
        tuple[AskedQuestion, ...],
        msgspec.Meta(description="Instead of question: up to ten at once."),
    ] = ()
    secret_for: (
        Annotated[
            int,
            msgspec.Meta(
                ge=1,
                le=100_000,
                description="Only to ask for a password, PIN or code: the number of its field, or "
                "of any key of its keypad. You do not see the answer; enter [SECRET] there.",
            ),
        ]
        | None
    ) = None


class Finish(Arguments, frozen=True, kw_only=True):
    """End the work."""

    tool_name = "finish"
    tool_kind = ToolKind.CONTROL

    success: Annotated[
        bool, msgspec.Meta(description="True only when the screen shows that the goal is met.")
    ]
    summary: Annotated[str, msgspec.Meta(description="What was achieved, or why it cannot be.")]
    result: Any = None
    """In the shape of the session's output schema; no part of the tool without one."""


NEAR = 0.8
"""How near a misspelled name has to be to the field that it is taken for."""
# Resolve's names for the same things (CONTRACTS 5.6), and the usual slips.
ALIASES = {
    "elementId": "element",
    "element_id": "element",
    "element_number": "element",
    "index": "element",
    "id": "element",
    "expectedOutcome": "expected",
    "steps": "plan",
    "package": "app",
    "name": "app",
    "app_name": "app",
    "key": "button",
    "message": "text",
    "reason": "summary",
    "fact": "text",
    "note": "text",
    "choices": "options",
    "clear_first": "clear",
    "clear_text": "clear",
    "clear_existing": "clear",
    "replace": "clear",
    "overwrite": "clear",
}
"""Other names of fields."""
NUMBERS = frozenset({"element"} | {alias for alias, name in ALIASES.items() if name == "element"})
"""What an element's number may be called."""

_TEXTS = (
    *("step", "label", "text", "option", "value", "title", "name", "content", "task"),
    *("description",),
)
"""Where the text stands in an entry that was written as an object."""
_STATUSES = {
    **{status.value: status.value for status in PlanStatus},
    **dict.fromkeys(("done", "complete", "finished", "[x]", "x"), PlanStatus.COMPLETED.value),
    **dict.fromkeys(
        ("doing", "active", "current", "started", "in-progress", "[~]"),
        PlanStatus.IN_PROGRESS.value,
    ),
    **dict.fromkeys(
        ("todo", "to_do", "open", "not_started", "waiting", "[_]", ""), PlanStatus.PENDING.value
    ),
}
"""What else the statuses of a plan are called."""
_PART_NAMES = ("text", "requirement", "part", "description", "step")
"""What the text of a requirement is called."""
_PART_FIELDS = ("kind", "object", "value", "to")
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])\s+")
_BETWEEN = re.compile(r"\s*(?:[,;/|]\s*(?:or\s+|and\s+)?|\s+or\s+)\s*", re.IGNORECASE)
_NUMBERED = re.compile(
    r"(?:element|index|id|no\.?|#)?\s*[#\[(]?\s*(\d{1,9})(?:\.0)?\s*[\])]?", re.I
)

A = TypeVar("A", bound=Arguments)


def decode(kind: type[A], arguments: str) -> A:
    """Decode what a model wrote as a tool's arguments.

    Raises:
        BadArguments: not JSON, not an object, too long, a field missing or of the wrong type.
    """
    if len(arguments) > MAX_ARGUMENT_CHARS:
        raise BadArguments(f"the arguments have {len(arguments)} characters, too many to read")
    try:
        raw = read_json(arguments or "{}")
        # No store, phone or terminal takes half of a surrogate pair.
        json.dumps(raw, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadArguments("the arguments contain half of a character; write it whole") from error
    except (NotJson, RecursionError) as error:
        raise BadArguments(
            f"the arguments are not valid JSON: {one_line(str(error), 160)}"
        ) from error
    if not isinstance(raw, dict):
        raise BadArguments("the arguments must be one JSON object")
    fields = set(kind.__struct_fields__)
    # Endpoints that enforce schemas write null for what may be left out.
    raw = {name: value for name, value in raw.items() if value is not None}
    known: dict[str, Any] = {name: value for name, value in raw.items() if name in fields}
    for alias, name in ALIASES.items():
        if name in fields and name not in known and alias in raw:
            known[name] = raw[alias]
    _gather(kind, raw, known)
    _correct_names(raw, known, fields)
    if issubclass(kind, ServiceArguments):
        _check_known(kind, raw, fields)
    if "requirements" in fields and "requirements" in known:
        known["requirements"] = _required_parts(known["requirements"])
    if "plan" in fields and ("plan" in known or not known.get("requirements")):
        known["plan"] = _plan_items(known.get("plan"))
    for name in ("payload", "arguments"):
        if isinstance(known.get(name), dict):
            known[name] = json.dumps(known[name])
    _read_forms(kind, known)
    if "element" in known:
        known["element"] = _number(known["element"])
    if isinstance(known.get("button"), str):
        known["button"] = _button(known["button"])
    if isinstance(known.get("direction"), str):
        known["direction"] = known["direction"].strip().lower()
    try:
        return msgspec.convert(known, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadArguments(_worded(kind, error, raw, fields)) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadArguments("the arguments contain a value that cannot be used") from error


def _read_forms(kind: type[Arguments], known: dict[str, Any]) -> None:
    """Read lists and objects that were written as one text, where the field takes no text, and
    numbers where it takes nothing else.
    """
    for field in _fields(kind):
        said = known.get(field.name)
        if isinstance(said, int | float) and not isinstance(said, bool) and _is_text(field.type):
            known[field.name] = said = json.dumps(said)
        if isinstance(said, str) and not _takes_text(field.type):
            known[field.name] = said = _parsed(said)
        if isinstance(said, str) and _is_list_of_texts(field.type):
            known[field.name] = said = (
                _alternatives(said) if field.name == "options" else [said] if said.strip() else []
            )
        if isinstance(said, list) and _is_list_of_texts(field.type):
            known[field.name] = [_label(one) for one in said]
        if isinstance(said, list) and field.name == "questions":
            known[field.name] = [_question(one) for one in said]


@cache
def _fields(kind: type[Arguments]) -> tuple[msgspec.inspect.Field, ...]:
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    return described.fields


def _bare(kind: msgspec.inspect.Type) -> msgspec.inspect.Type:
    return _bare(kind.type) if isinstance(kind, msgspec.inspect.Metadata) else kind


def _takes_text(kind: msgspec.inspect.Type) -> bool:
    """Return whether a text is a value of a type as it is, or can be read as one."""
    kind = _bare(kind)
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(map(_takes_text, kind.types))
    holds = (
        msgspec.inspect.VarTupleType,
        msgspec.inspect.StructType,
        msgspec.inspect.ListType,
        msgspec.inspect.NoneType,
    )
    return not isinstance(kind, holds)


def _is_text(kind: msgspec.inspect.Type) -> bool:
    return isinstance(_bare(kind), msgspec.inspect.StrType)


def _is_list_of_texts(kind: msgspec.inspect.Type) -> bool:
    kind = _bare(kind)
    if not isinstance(kind, msgspec.inspect.VarTupleType):
        return False
    return isinstance(_bare(kind.item_type), msgspec.inspect.StrType)


def _parsed(said: str) -> Any:
    """Return what a text holds as JSON; the text where it is none."""
    if not said.lstrip().startswith(("[", "{")):
        return said
    try:
        return read_json(said)
    except (NotJson, RecursionError):
        return said


def _alternatives(said: str) -> list[str]:
    """Read "a, b or c", or a line each, as the answers to choose from."""
    lines = [_BULLET.sub("", line).strip() for line in said.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 1:
        return lines
    parts = (part.strip(" \t\"'.?") for part in _BETWEEN.split(lines[0] if lines else ""))
    return [part for part in parts if part]


def _label(one: object) -> object:
    """Return an entry of a list of texts that was written as an object by its text."""
    if isinstance(one, dict):
        texts = (one.get(name) for name in _TEXTS)
        return next((text for text in texts if isinstance(text, str)), one)
    return str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one


def _question(one: object) -> object:
    """Return one of several questions as an object, its options as a list."""
    if isinstance(one, str):
        return {"question": one}
    if isinstance(one, dict):
        one = {name: value for name, value in one.items() if value is not None}
        _read_forms(AskedQuestion, one)
    return one


def _gather(kind: type[Arguments], raw: dict[str, Any], known: dict[str, Any]) -> None:
    """Put names that belong into an object of the arguments where they belong."""
    into, names = kind.gathered
    strays = {name: raw.pop(name) for name in names & raw.keys()}
    if not strays:
        return
    inside = known.get(into, {})
    if not isinstance(inside, dict):
        return
    known[into] = strays | inside


def _check_known(kind: type[Arguments], raw: dict[str, Any], fields: set[str]) -> None:
    strange = [
        name
        for name in sorted(raw.keys() - fields - ALIASES.keys())
        if not get_close_matches(name, fields, n=1, cutoff=NEAR)
    ]
    if strange:
        shown = ", ".join(f"`{one_line(name, 40)}`" for name in strange[:5])
        raise BadArguments(f"there is no {shown}; the arguments are {', '.join(sorted(fields))}")


def _correct_names(raw: dict[str, Any], known: dict[str, Any], fields: set[str]) -> None:
    """Take a field whose name is misspelled for the one that is not given."""
    for name in raw.keys() - fields - ALIASES.keys():
        near = get_close_matches(name, fields - known.keys(), n=1, cutoff=NEAR)
        if near:
            known[near[0]] = raw[name]


def _worded(
    kind: type[Arguments], error: msgspec.ValidationError, raw: dict[str, Any], fields: set[str]
) -> str:
    """Return what is wrong, and which fields there are where one was called by another name."""
    said = one_line(str(error), 200)
    if kind.labelled:
        fields = fields | {"label"}
        if "`element`" in said or "$.element" in said:
            said += "; give its number, or its exact `label`"
    strange = sorted(raw.keys() - fields - ALIASES.keys())[:5]
    if not strange:
        return said
    shown = ", ".join(f"`{one_line(name, 40)}`" for name in strange)
    return f"{said}; there is no {shown}; the arguments are {', '.join(sorted(fields))}"


def _number(value: object) -> object:
    """Read an element's number in any form that can mean one thing: 3, "3", "[3]", 3.0, [3]."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        found = _NUMBERED.fullmatch(value.strip())
        return found[1] if found else value
    return value


def element_number(value: object) -> int | None:
    """Return the number of an element in any form that can mean one thing; None for a label."""
    number = _number(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, str) and number.isascii() and number.isdigit():
        number = int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _button(value: str) -> str:
    name = value.strip().upper().replace(" ", "_").replace("-", "_")
    return name.removeprefix("KEYCODE_").removesuffix("_BUTTON").removesuffix("_KEY")


def _required_parts(raw: object) -> list[dict[str, str]]:
    """Read what a goal requires: a list of objects or of texts, or a text of lines."""
    if isinstance(raw, str):
        raw = _parsed(raw)
    if isinstance(raw, str):
        raw = [_BULLET.sub("", line).strip() for line in raw.splitlines() if line.strip()]
    parts: list[dict[str, str]] = []
    for one in raw[:MAX_PLAN_ITEMS] if isinstance(raw, list) else []:
        said = one if isinstance(one, dict) else {"text": one}
        text = next((said[name] for name in _PART_NAMES if isinstance(said.get(name), str)), "")
        known = {name: str(said[name]) for name in _PART_FIELDS if said.get(name) is not None}
        if text.strip():
            to = known.get("to") or str(said.get("recipient") or "")
            parts.append({**known, "text": text, "to": to})
    if not parts:
        raise BadArguments(
            '`requirements` is no list of parts; write it as [{"text": "turn on Bluetooth", '
            '"object": "Bluetooth", "value": "on"}]'
        )
    return parts


def _plan_items(raw: object) -> list[dict[str, str]]:
    if isinstance(raw, str):
        raw = _parsed(raw)
    if isinstance(raw, str) and len(lines := raw.strip().splitlines()) > 1:
        raw = [_BULLET.sub("", line).strip() for line in lines if line.strip()]
    if not isinstance(raw, list) or not raw:
        found = "an empty list" if raw == [] else "no list"
        raise BadArguments(
            f'`plan` is {found}; write at least one step: [{{"step": "Open Settings", '
            '"status": "in_progress"}]'
        )
    items = []
    for item in raw[:MAX_PLAN_ITEMS]:
        if isinstance(item, str):
            items.append({"step": one_line(item), "status": PlanStatus.PENDING.value})
            continue
        step = _label(item) if isinstance(item, dict) else item
        if not isinstance(step, str):
            raise BadArguments(f"step {len(items) + 1} of `plan` needs a text as `step`")
        status = item.get("status") or PlanStatus.PENDING.value
        status = _STATUSES.get(str(status).strip().casefold().replace(" ", "_"), status)
        if status not in {s.value for s in PlanStatus}:
            shown = one_line(str(status), 40)
            raise BadArguments(
                f'step {len(items) + 1} of `plan` has the status "{shown}"; '
                "it is pending, in_progress or completed"
            )
        items.append({"step": one_line(step), "status": str(status)})
    return items


def clean_json(arguments: str, tidy: Callable[[str], str], limit: int = 8000) -> str:
    """Make a model's arguments fit to be stored: tidied, bounded, and a JSON object.

    What is not a JSON object is kept as the one field `unreadable`.

    Args:
        tidy: cleans and redacts one text.
        limit: the most characters that the object may have.
    """
    try:
        raw = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raw = None
    if isinstance(raw, dict):
        # Cleaned as text before encoding, so that an escape written as \u001b is seen too.
        text = json.dumps(_cleaned(raw, tidy), ensure_ascii=False)
        if len(text) <= limit:
            return text
    return json.dumps({"unreadable": tidy(arguments[: limit // 2])}, ensure_ascii=False)


def _cleaned(value: object, tidy: Callable[[str], str], depth: int = 0) -> object:
    if isinstance(value, str):
        return tidy(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if depth > 20:
        return "…"
    if isinstance(value, dict):
        return {tidy(str(k)): _cleaned(v, tidy, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, tidy, depth + 1) for item in value]
    return value


_FAR = 100_000  # A bound that protects the reader and tells a model nothing.


def schema(kind: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, without references.

    What only the reader of a call needs is left out, as each call of a model pays for it: names and
    docstrings of nested types, defaults that mean "none", and bounds that nobody comes near.
    """
    (root,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    inlined = _inline(root, components)
    assert isinstance(inlined, dict)
    inlined.pop("description", None)
    inlined["additionalProperties"] = False
    return inlined


def _inline(node: object, components: dict[str, Any]) -> Any:
    if isinstance(node, dict):
        if "anyOf" in node and node.get("default", "") is None:
            # It may be left out, so nobody needs to write null.
            kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
            rest = {name: node[name] for name in node.keys() - {"anyOf", "default"}}
            node = {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}
        reference = node.get("$ref")
        if isinstance(reference, str):
            nested = _inline(components[reference.rsplit("/", 1)[-1]], components)
            return {name: value for name, value in nested.items() if name != "description"}
        return {
            name: _inline(value, components)
            for name, value in node.items()
            if not _says_nothing(name, value)
        }
    if isinstance(node, (list, tuple)):
        return [_inline(item, components) for item in node]
    return node


def _says_nothing(name: str, value: object) -> bool:
    match name:
        case "title":
            return isinstance(value, str)
        case "required":
            return value == []
        case "default":
            return value in (None, "", [], (), 0)
        case "minimum":
            return value in (0, 1)
        case "maximum":
            return isinstance(value, int) and value >= _FAR
        case _:
            return False
