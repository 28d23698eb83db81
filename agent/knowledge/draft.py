"""Draft an app card from what a finished session did, for a person to read and correct.

Pure. Invariants: only what the session's own results call done becomes a step; what a phone showed
is cleaned and redacted as it was stored.
"""

import json
from collections import Counter
from collections.abc import Iterable

from agent.errors import UsageError
from agent.knowledge.card import MAX_LINES, Card
from agent.protocol import Event, ObservationRecorded, ToolCallFinished, ToolCallRequested
from agent.records import Element
from agent.text import one_line

_LABEL_CHARS = 60


def draft_card(events: Iterable[Event], *, package: str = "", app_name: str = "") -> Card:
    """Draft a card.

    Args:
        package: of the app; the one the session worked in most when left out.
        app_name: what people call it; made of the package when left out.

    Raises:
        UsageError: the session pressed nothing in that app.
    """
    front = ""
    calls: dict[str, tuple[str, Element]] = {}
    steps: list[tuple[str, str, bool]] = []
    for event in events:
        match event.msg:
            case ObservationRecorded(observation=seen):
                front = seen.foreground.package
            case ToolCallRequested(kind="action", element=Element() as element, call_id=call_id):
                calls[call_id] = (front, element)
            case ToolCallFinished(call_id=call_id, text=text) if call_id in calls:
                where, element = calls.pop(call_id)
                label = one_line(element.label, _LABEL_CHARS)
                if text.startswith("OK"):
                    steps.append((where, label, True))
                elif text.startswith(("WARNING", "BLOCKED")):
                    steps.append((where, label, False))
            case _:
                pass
    chosen = package or _most_used(steps)
    path = [label for where, label, worked in steps if where == chosen and worked]
    astray = [label for where, label, worked in steps if where == chosen and not worked]
    if not chosen or not path:
        raise UsageError(
            f"No press of the session had an effect{f' in {package}' if package else ''}.",
            "Choose a session that met its goal.",
        )
    name = app_name or chosen.rpartition(".")[2].replace("_", " ").capitalize()
    return Card(
        package=chosen,
        app_name=name,
        support_path=tuple(f'Press "{label}".' for label in dict.fromkeys(path))[:MAX_LINES],
        pitfalls=tuple(f'"{label}" leads nowhere.' for label in dict.fromkeys(astray))[:MAX_LINES],
    )


def as_toml(card: Card, *, note: str = "") -> str:
    """Write a card as TOML, empty fields left out.

    Args:
        note: a comment above it.
    """
    lines = [f"# {one_line(note, 300)}"] if note else []
    for name in card.__struct_fields__:
        value = getattr(card, name)
        if isinstance(value, tuple) and value:
            lines += [f"{name} = [", *(f"  {_quoted(line)}," for line in value), "]"]
        elif isinstance(value, dict) and value:
            pairs = (f"{verb} = [{', '.join(map(_quoted, all_))}]" for verb, all_ in value.items())
            lines.append(f"{name} = {{ {', '.join(pairs)} }}")
        elif value:
            lines.append(f"{name} = {_quoted(value)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # What JSON escapes TOML's basic strings escape the same way; DEL they want escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _most_used(steps: list[tuple[str, str, bool]]) -> str:
    counted = Counter(where for where, _, worked in steps if worked and where)
    return counted.most_common(1)[0][0] if counted else ""
