"""What each tool takes: one msgspec struct per tool, from which its JSON Schema is made.

Decoding is lenient in form (a number may be a string, a field may have its Resolve name) and strict
in meaning. Invariant: whatever a model wrote comes back as a struct or as a `BadArguments` whose
text a model can act on, never as another exception.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from agent.records import PlanItem, PlanStatus
from agent.text import one_line

MAX_ARGUMENT_CHARS = 100_000
MAX_PLAN_ITEMS = 30


class BadArguments(Exception):
    """What a model wrote cannot be used; the text says how to correct it."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every tool's arguments."""


ElementNumber = Annotated[
    int, msgspec.Meta(ge=1, le=100_000, description="Number of the element on the screen.")
]


class ClickElement(Arguments, frozen=True, kw_only=True):
    element: ElementNumber
    expected: Annotated[str, msgspec.Meta(description="What should happen.")] = ""


class LongPressElement(Arguments, frozen=True, kw_only=True):
    element: ElementNumber


class TypeText(Arguments, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(description="Exactly what to type.")]
    element: (
        Annotated[
            int,
            msgspec.Meta(ge=1, le=100_000, description="The field; without it, the focused one."),
        ]
        | None
    ) = None
    clear: Annotated[
        bool, msgspec.Meta(description="Delete first what the field holds; otherwise it is kept.")
    ] = False


class Scroll(Arguments, frozen=True, kw_only=True):
    direction: Annotated[
        Literal["up", "down", "left", "right"],
        msgspec.Meta(description="Where to look: down shows what lies below."),
    ]
    element: (
        Annotated[
            int,
            msgspec.Meta(ge=1, le=100_000, description="What to scroll; without it, the screen."),
        ]
        | None
    ) = None


class PressButton(Arguments, frozen=True, kw_only=True):
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
        "VOLUME_UP",
        "VOLUME_DOWN",
        "POWER",
    ]


class LaunchApp(Arguments, frozen=True, kw_only=True):
    app: Annotated[str, msgspec.Meta(description="Name or package of an installed app.")]


class Wait(Arguments, frozen=True, kw_only=True):
    seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 2.0


class MoreElements(Arguments, frozen=True, kw_only=True):
    pass


class UpdatePlan(Arguments, frozen=True, kw_only=True):
    plan: Annotated[
        tuple[PlanItem, ...], msgspec.Meta(description="The whole plan; one item in progress.")
    ]
    explanation: str = ""


class AskedQuestion(Arguments, frozen=True, kw_only=True):
    """One of several questions that are asked together."""

    question: str
    options: Annotated[
        tuple[str, ...], msgspec.Meta(description="Answers to choose from, if there are few.")
    ] = ()
    header: Annotated[str, msgspec.Meta(description="A word or two that name it.")] = ""


class AskUser(Arguments, frozen=True, kw_only=True):
    question: str = ""
    options: Annotated[
        tuple[str, ...], msgspec.Meta(description="Answers to choose from, if there are few.")
    ] = ()
    questions: Annotated[
        tuple[AskedQuestion, ...],
        msgspec.Meta(description="Instead of `question`: several at once, at most ten."),
    ] = ()
    secret_for: (
        Annotated[
            int,
            msgspec.Meta(
                ge=1,
                le=100_000,
                description="Only to ask for a password, PIN or code: the number of its field. You "
                "do not see the answer; it is typed when you type [SECRET] into that field.",
            ),
        ]
        | None
    ) = None


class Finish(Arguments, frozen=True, kw_only=True):
    success: Annotated[
        bool, msgspec.Meta(description="True only when the screen shows that the goal is met.")
    ]
    summary: Annotated[str, msgspec.Meta(description="What was achieved, or why it cannot be.")]


# Resolve's names for the same things (CONTRACTS 5.6), and the usual slips.
_ALIASES = {
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
}
NUMBERS = frozenset({"element"} | {alias for alias, name in _ALIASES.items() if name == "element"})
"""What an element's number may be called."""

A = TypeVar("A", bound=Arguments)


def decode(kind: type[A], arguments: str) -> A:
    """Decode what a model wrote as a tool's arguments.

    Raises:
        BadArguments: not JSON, not an object, too long, a field missing or of the wrong type.
    """
    if len(arguments) > MAX_ARGUMENT_CHARS:
        raise BadArguments(f"the arguments have {len(arguments)} characters, too many to read")
    try:
        raw = json.loads(arguments or "{}")
        # No store, phone or terminal takes half of a surrogate pair.
        json.dumps(raw, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadArguments("the arguments hold half of a character; write it whole") from error
    except (ValueError, RecursionError) as error:
        raise BadArguments(
            f"the arguments are not valid JSON ({one_line(str(error), 100)})"
        ) from error
    if not isinstance(raw, dict):
        raise BadArguments("the arguments must be one JSON object")
    fields = set(kind.__struct_fields__)
    # Endpoints that enforce schemas write null for what may be left out.
    raw = {name: value for name, value in raw.items() if value is not None}
    known: dict[str, Any] = {name: value for name, value in raw.items() if name in fields}
    for alias, name in _ALIASES.items():
        if name in fields and name not in known and alias in raw:
            known[name] = raw[alias]
    if "plan" in fields:
        known["plan"] = _plan_items(known.get("plan"))
    for name in ("payload", "arguments"):
        if isinstance(known.get(name), dict):
            known[name] = json.dumps(known[name])
    if isinstance(known.get("element"), str):
        known["element"] = known["element"].strip().strip("[]")
    if isinstance(known.get("button"), str):
        known["button"] = known["button"].strip().upper().removeprefix("KEYCODE_")
    if isinstance(known.get("direction"), str):
        known["direction"] = known["direction"].strip().lower()
    try:
        return msgspec.convert(known, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadArguments(one_line(str(error), 200)) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadArguments("the arguments hold a value that cannot be used") from error


def _plan_items(raw: object) -> list[dict[str, str]]:
    if not isinstance(raw, list) or not raw:
        raise BadArguments("`plan` must be a list of steps, each with `step` and `status`")
    items = []
    for item in raw[:MAX_PLAN_ITEMS]:
        if isinstance(item, str):
            items.append({"step": one_line(item), "status": PlanStatus.PENDING.value})
            continue
        if not isinstance(item, dict) or not isinstance(item.get("step"), str):
            raise BadArguments("each step of `plan` needs `step`, a text")
        status = item.get("status", PlanStatus.PENDING.value)
        if status not in {s.value for s in PlanStatus}:
            raise BadArguments("`status` must be pending, in_progress or completed")
        items.append({"step": one_line(item["step"]), "status": str(status)})
    return items


def clean_json(arguments: str, tidy: Callable[[str], str], limit: int = 8000) -> str:
    """Make a model's arguments fit to be stored: tidied, bounded, and a JSON object.

    What is no JSON object is kept as the one field `unreadable`.

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
        text = json.dumps(_tidied(raw, tidy), ensure_ascii=False)
        if len(text) <= limit:
            return text
    return json.dumps({"unreadable": tidy(arguments[: limit // 2])}, ensure_ascii=False)


def _tidied(value: object, tidy: Callable[[str], str], depth: int = 0) -> object:
    if isinstance(value, str):
        return tidy(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if depth > 20:
        return "…"
    if isinstance(value, dict):
        return {tidy(str(k)): _tidied(v, tidy, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_tidied(item, tidy, depth + 1) for item in value]
    return value


def schema(kind: type[Arguments]) -> dict[str, Any]:
    """Give the JSON Schema of a tool's arguments, without references."""
    (root,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    inlined = _inline(root, components)
    assert isinstance(inlined, dict)
    inlined.pop("title", None)
    inlined.pop("description", None)
    inlined["additionalProperties"] = False
    return inlined


def _inline(node: object, components: dict[str, Any]) -> Any:
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str):
            return _inline(components[reference.rsplit("/", 1)[-1]], components)
        return {name: _inline(value, components) for name, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_inline(item, components) for item in node]
    return node
