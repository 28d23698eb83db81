"""Understand calls by the names that other systems have for the same tools.

Resolve's (CONTRACTS 5.6) and OpenPhone's (2.4), and what most harnesses for phones call a tap or an
app: models know them from elsewhere, and call them though they are offered others. Pure. Invariant:
what is made of a call is judged, stored and carried out as any call of that tool; a call that is
none of these stays as it is.
"""

import json

from msgspec.structs import replace

from agent.models.model import ToolCall
from agent.tools.argument_names import with_our_names

OTHER_NAMES = frozenset(
    (
        *("type_message", "click_button", "scroll_down", "scroll_up", "press_back"),
        *("wait_for_response", "request_human_review", "open_app", "start_app"),
        *("launch", "go_back", "navigate_back", "go_home", "navigate_home", "tap", "click"),
        *("tap_element", "press_element", "long_press", "long_click", "long_tap", "input_text"),
        *("enter_text", "mark_resolved", "finish_task", "fail_task", "task_complete"),
        *("task_completed", "complete_task", "task_done", "final_answer", "save_memory"),
        *("add_memory", "store_memory", "save_note", "take_note", "ask_human", "ask_operator"),
        *("create_plan", "make_plan", "set_plan", "todo_write"),
        *("toggle_switch", "tap_on", "click_on", "set_text", "fill_text", "press_key"),
        *("swipe_up", "swipe_down", "swipe_left", "swipe_right"),
    )
)
"""What is read as a call also where it stands in words; words of one meaning in speech are not."""
RESPONSE_WAIT_S = 5
"""CONTRACTS 5.4: how long `wait_for_response` waits."""
_FIELD = ("elementId", "element")
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
_TARGET = ("element", "element_id", "elementId", "index", "id", "number", "label")
_SUMMARY = (
    *("summary", "result", "message", "answer", "text", "reason", "error", "explanation"),
    *("conclusion", "response", "final_answer", "output", "content", "description"),
)
_STATUS = ("success", "status", "goal_status", "outcome")
_SUCCEEDED = frozenset(
    (
        *("success", "successful", "succeeded", "complete", "completed", "done", "ok", "true"),
        *("yes", "met", "achieved", "finished"),
    )
)
_FAILED = frozenset(
    (
        *("failure", "failed", "fail", "infeasible", "impossible", "incomplete", "error"),
        *("false", "no", "unmet", "aborted"),
    )
)
_QUESTION = ("inputPrompt", "question", "message", "text", "prompt", "query", "reason")
_FACT = ("text", "fact", "note", "memory", "content", "value", "information", "message", "data")
_NAME_OF_FACT = ("key", "name", "title", "label")
_ENDS = frozenset(
    (
        *("done", "complete", "completed", "task_complete", "task_completed", "end"),
        *("complete_task", "task_done", "terminate", "final_answer", "answer"),
    )
)
_REMEMBERS = frozenset(
    (
        *("save_memory", "add_memory", "store_memory", "memorize", "memorise", "memory"),
        *("note", "save_note", "take_note", "remember_fact", "save_fact"),
    )
)
_SECONDS = ("seconds", "duration", "time", "secs", "timeout")


def in_our_words(call: ToolCall) -> ToolCall:
    """Return a call by our own name and arguments where it has another system's."""
    try:
        said = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return call
    if not isinstance(said, dict):
        return call
    name, arguments = _translated(call.name, said) or (call.name, said)
    given = with_our_names(name, arguments)
    if (name, given) == (call.name, said):
        return call
    given = {key: value for key, value in given.items() if value is not None}
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
        case "swipe" | "swipe_screen" | "fling" if _OPPOSITE.keys() & {_way(said)}:
            # A finger that moves up shows what is below.
            return "scroll", {"direction": _OPPOSITE[_way(said)], "element": _first(said, _FIELD)}
        case "swipe_up" | "swipe_down" | "swipe_left" | "swipe_right":
            direction = _OPPOSITE[name.removeprefix("swipe_")]
            return "scroll", {"direction": direction, "element": _first(said, _FIELD)}
        case "press_back":
            return "press_button", {"button": "BACK"}
        case "wait_for_response":
            return "wait", {"seconds": RESPONSE_WAIT_S}
        case "request_human_review" | "ask_human" | "ask_operator" | "ask" | "ask_question":
            return "ask_user", {
                "question": _first(said, _QUESTION),
                "options": _first(said, ("options", "choices", "answers")),
            }
        case "open_app" | "start_app" | "open" | "launch":
            return "launch_app", {"app": _first(said, ("app", "name", "app_name", "package"))}
        case "back" | "go_back" | "navigate_back" | "home" | "go_home" | "navigate_home":
            return "press_button", {"button": name.rpartition("_")[2].upper()}
        case "tap" | "click" | "tap_element" | "press_element" | "tap_on" | "click_on":
            return "click_element", said
        case "toggle" | "toggle_switch" | "select" | "choose" | "press" | "touch":
            # Of the words that come with these ("on", a reason) a press needs none.
            return "click_element", {key: said[key] for key in _TARGET if key in said}
        case "long_press" | "long_click" | "long_tap":
            return "long_press_element", said
        case "type" | "input_text" | "enter_text" | "input" | "set_text" | "fill_text":
            return "type_text", said
        case "mark_resolved" | "finish_task" | "fail_task":
            success = name != "fail_task"
            return "finish", {"success": success, "summary": _first(said, _SUMMARY)}
        case "finish":
            return _finish(said)
        case _ if name in _ENDS:
            return "finish", {
                "success": _succeeded(said) is not False,
                "summary": _first(said, _SUMMARY) or "Done.",
                **_only(said, "result"),
            }
        case _ if name in _REMEMBERS:
            return "remember", {"text": _fact(said), **_only(said, "replaces")}
        case "plan" | "create_plan" | "make_plan" | "set_plan" | "todo_write" | "write_plan":
            return "update_plan", {"plan": _first(said, ("plan", "steps", "todos", "items"))}
        case "sleep" | "pause" | "wait_seconds":
            return "wait", {"seconds": _first(said, _SECONDS)}
        case "press_key":
            key = _first(said, ("key", "button", "name"))
            return "press_button", {"button": key.upper() if isinstance(key, str) else key}
        case "press_enter" | "press_home":
            return "press_button", {"button": name.removeprefix("press_").upper()}
        case _:
            return None


def _way(said: dict[str, object]) -> str:
    return str(_first(said, ("direction", "dir", "to"))).strip().casefold()


def _finish(said: dict[str, object]) -> tuple[str, dict[str, object]] | None:
    """Return a finish whose summary or success has another name; None where none has."""
    given = dict(said)
    if "summary" not in given:
        words = _first(given, _SUMMARY)
        if isinstance(words, str):
            given["summary"] = words
    success = _succeeded(given)
    if "success" not in given and success is not None:
        given["success"] = success
    return None if given == said else ("finish", given)


def _succeeded(said: dict[str, object]) -> bool | None:
    """Return what a call says of success by any of its names; None where it says nothing."""
    value = _first(said, _STATUS)
    if isinstance(value, bool):
        return value
    word = str(value).strip().casefold()
    return True if word in _SUCCEEDED else False if word in _FAILED else None


def _fact(said: dict[str, object]) -> object:
    """Return what a call wants remembered, with its name where it has one apart."""
    text = _first(said, _FACT)
    name = _first(said, _NAME_OF_FACT)
    if text is None or name is None:
        return name if text is None else text
    return f"{name}: {text}"


def _only(said: dict[str, object], name: str) -> dict[str, object]:
    """Return one argument by its own name, where it is given."""
    return {name: said[name]} if said.get(name) is not None else {}


def _first(said: dict[str, object], names: tuple[str, ...]) -> object:
    """Return the first of several arguments that says something."""
    return next((said[name] for name in names if said.get(name) not in (None, "")), None)
