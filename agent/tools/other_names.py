"""Understand calls by the names that other systems have for the same tools.

Resolve's (CONTRACTS 5.6) and OpenPhone's (2.4): models know them from elsewhere, and call them
though they are offered others. Pure. Invariant: what is made of a call is judged, stored and
carried out as any call of that tool; a call that is none of these stays as it is.
"""

from __future__ import annotations

import json

from msgspec.structs import replace

from agent.models.model import ToolCall

RESPONSE_WAIT_S = 5
"""CONTRACTS 5.4: how long `wait_for_response` waits."""
_FIELD = ("elementId", "element")
_SUMMARY = ("summary", "result", "message", "reason", "error")
_QUESTION = ("inputPrompt", "question", "reason")


def in_our_words(call: ToolCall) -> ToolCall:
    """Give a call by our own name and arguments where it has another system's."""
    try:
        said = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return call
    if not isinstance(said, dict):
        return call
    known = _translated(call.name, said)
    if known is None:
        return call
    name, arguments = known
    given = {key: value for key, value in arguments.items() if value is not None}
    return replace(call, name=name, arguments=json.dumps(given))


def _translated(name: str, said: dict[str, object]) -> tuple[str, dict[str, object]] | None:
    match name:
        case "type_message":
            return "type_text", {"text": said.get("text"), "element": _first(said, _FIELD)}
        case "click_button":
            return "click_element", {"label": _first(said, ("buttonLabel", "label"))}
        case "scroll_down" | "scroll_up":
            direction = name.removeprefix("scroll_")
            return "scroll", {"direction": direction, "element": _first(said, _FIELD)}
        case "press_back":
            return "press_button", {"button": "BACK"}
        case "wait_for_response":
            return "wait", {"seconds": RESPONSE_WAIT_S}
        case "request_human_review":
            return "ask_user", {"question": _first(said, _QUESTION)}
        case "mark_resolved" | "finish_task" | "fail_task":
            success = name != "fail_task"
            return "finish", {"success": success, "summary": _first(said, _SUMMARY)}
        case _:
            return None


def _first(said: dict[str, object], names: tuple[str, ...]) -> object:
    """Give the first of several arguments that says something."""
    return next((said[name] for name in names if said.get(name) not in (None, "")), None)
