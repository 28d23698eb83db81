"""Format values for a few terminal cells: durations, ages, money, tokens, actions.

Pure functions from records to text without styling. Invariant: every returned foreign string has
passed `agent.text`.
"""

import json
import re
from functools import lru_cache
from typing import TypeAlias

from agent.records import Question, QuestionKind, QuestionOption, Speaker, Usage
from agent.state.reducer import ActionView
from agent.text import counted, one_line

Natural: TypeAlias = tuple[str | int, ...]
_NUMBER = re.compile(r"([0-9]{1,18})")
_PEER = re.compile(r" \((?:process \d+|a process of yours)\)$")
_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000


@lru_cache(maxsize=8192)
def natural(text: str) -> Natural:
    """Return a sort key for names that puts phone 2 before phone 10."""
    # Words and numbers take turns, beginning with a word: like is compared with like.
    return tuple(
        int(part) if at % 2 else part.casefold() for at, part in enumerate(_NUMBER.split(text))
    )


def duration(ms: int) -> str:
    """Return a duration: 340 ms, 4.2 s, 1:05, 2:03:04."""
    ms = max(0, ms)
    if ms < _SECOND:
        return f"{ms} ms"
    if ms < 10 * _SECOND:
        return f"{ms / _SECOND:.1f} s"
    if ms < _MINUTE:
        return f"{ms // _SECOND} s"
    seconds = ms // _SECOND
    if ms < _HOUR:
        return f"{seconds // 60}:{seconds % 60:02}"
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def clock(ms: int) -> str:
    """Return a running time in a steady width: 0:42, 12:07, 1:02:03."""
    seconds = max(0, ms) // _SECOND
    if seconds < 3600:
        return f"{seconds // 60}:{seconds % 60:02}"
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def countdown(ms: int) -> str:
    """Return the time until an event: 0:42, 1:02:03, then 2d 4h, then 12d."""
    if ms < _DAY:
        return clock(ms)
    days, rest = divmod(ms, _DAY)
    hours = rest // _HOUR
    return f"{days}d {hours}h" if hours and days < 10 else f"{days}d"


def time_left(ms: int) -> str:
    """Return the remaining time, rounded more the longer it is: 4:50, 23 h, 3 days."""
    if ms < _HOUR:
        return clock(ms)
    if ms < 2 * _DAY:
        return f"{ms // _HOUR} h"
    return counted(ms // _DAY, "day")


def age(ms: int) -> str:
    """Return an age in one unit: now, 8s, 5m, 3h, 2d."""
    if ms < _SECOND:
        return "now"
    if ms < _MINUTE:
        return f"{ms // _SECOND}s"
    if ms < _HOUR:
        return f"{ms // _MINUTE}m"
    if ms < _DAY:
        return f"{ms // _HOUR}h"
    return f"{ms // _DAY}d"


def age_ends_ms(ms: int) -> int:
    """Return the age at which `age` reads otherwise than at this one."""
    for unit, most in ((_SECOND, _MINUTE), (_MINUTE, _HOUR), (_HOUR, _DAY)):
        if ms < most:
            return (max(ms, 0) // unit + 1) * unit
    return (ms // _DAY + 1) * _DAY


def ago(ms: int) -> str:
    """Return the time since an event: just now, 8s ago, 5m ago."""
    return "just now" if ms < _SECOND else f"{age(ms)} ago"


def interval(ms: int) -> str:
    """Return an interval: every 15 s, 10 min, 2 h, 1 d; "once" for 0."""
    if ms <= 0:
        return "once"
    for unit, size in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if ms >= size and ms % size == 0:
            return f"{ms // size} {unit}"
    return f"{ms / _SECOND:g} s"


def tokens(count: int) -> str:
    """Return a number of tokens: 812, 4.1k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def cost(usage: Usage) -> str:
    """Return the cost of model calls; empty if there were none."""
    parts = []
    if total := usage.input_tokens + usage.output_tokens:
        parts.append(f"{tokens(total)} tok")
    if usage.cost_usd:
        parts.append(money(usage.cost_usd))
    return " · ".join(parts)


def money(cost_usd: float) -> str:
    """Return an amount, small ones exactly: $0.0042, $1.20."""
    return f"${cost_usd:.4f}" if cost_usd < 0.1 else f"${cost_usd:.2f}"


def spent(usage: Usage) -> str:
    """Return the tokens and cost of model calls by share; empty if there were none."""
    if not usage.calls and not usage.input_tokens and not usage.output_tokens:
        return ""
    parts = [f"{tokens(usage.input_tokens)} tok in"]
    if usage.cached_input_tokens:
        parts[0] += f" ({tokens(usage.cached_input_tokens)} of them cached)"
    parts.append(f"{tokens(usage.output_tokens)} out")
    if usage.calls > 1:
        parts.append(counted(usage.calls, "call"))
    if usage.cost_usd:
        parts.append(f"${usage.cost_usd:.4f}")
    return " · ".join(parts)


def answer_word(question: Question, answer: str) -> str:
    """Return an option or an answer for display: the core's deny is shown as reject."""
    head, colon, reason = answer.partition(":")
    if question.kind is QuestionKind.APPROVAL and head.strip().casefold() == "deny":
        return f"Reject{colon}{reason}"
    return answer


def option_words(question: Question, option: QuestionOption) -> str:
    """Return an option for display; a model's own is quoted."""
    own = option.speaker is Speaker.PRODUCT
    return answer_word(question, option.label) if own else option.shown


_VERBS = {
    "click_element": "Tap",
    "long_press_element": "Hold",
    "type_text": "Type",
    "scroll": "Scroll",
    "press_button": "Press",
    "launch_app": "Open",
    "tap_point": "Tap",
    "drag": "Drag",
    "press_keys": "Press",
    "open_link": "Open",
    "clipboard": "Clipboard",
    "wait": "Wait",
    "update_plan": "Plan",
    "remember": "Remember",
    "more_tools": "Get tools",
    "ask_user": "Ask",
    "work_alone": "One phone is enough",
    "propose_targets": "Divide the goal",
    "list_devices": "List phones",
    "list_apps": "List apps",
    "finish": "Finish",
    "more_elements": "Read the rest of the screen",
    "background_job_create": "Create a job",
    "background_job_list": "List jobs",
    "background_job_stop": "Stop a job",
    "watcher_create": "Create a watcher",
    "watcher_list": "List watchers",
    "watcher_stop": "Stop watchers",
    "commitment_search": "Look for commitments",
    "commitment_create": "Create a commitment",
    "notification_commitment_create": "Create a commitment from a notification",
    "message_commitment_create": "Create a commitment from a message",
    "commitment_update_status": "Change a commitment",
}
# The one argument worth a line, by tool; whatever else there is shows when the step is expanded.
_TELLING = {
    "type_text": ("text",),
    "scroll": ("direction",),
    "press_button": ("button",),
    "launch_app": ("package", "app", "name"),
    "press_keys": ("keys",),
    "open_link": ("link",),
    "clipboard": ("do",),
    "wait": ("seconds", "duration_s", "ms"),
    "ask_user": ("question", "text"),
    "remember": ("text",),
    "more_tools": ("group",),
    "finish": ("summary", "message", "result"),
}


def action_verb(action: ActionView) -> str:
    """Return a tool's action in one or two words."""
    if action.tool == "scroll":
        return f"Scroll {_telling(action)}".rstrip()
    return tool_words(action.tool)


def tool_words(tool: str) -> str:
    """Return a tool's action in one or two words; for an unknown tool, the words of its name."""
    known = _VERBS.get(tool)
    return known or one_line(tool.replace("_", " ").capitalize(), 30)


_UNLABELED = "unlabeled"  # How the model reads the label of an element that has none.


def action_object(action: ActionView) -> str:
    """Return the object of an action: the element, the text, the direction."""
    if action.tool == "ask_user":
        # The question itself stands right below.
        return ""
    about = "" if action.tool == "scroll" else _telling(action)
    if action.tool == "type_text" and about:
        about = quoted(about, 120)
    if action.element is not None:
        label = one_line(action.element.label, 60)
        if label in ("", _UNLABELED):
            label = "list" if action.tool == "scroll" else action.element.kind
        about = f"{about} into {label}" if about else label
    return about


def _telling(action: ActionView) -> str:
    try:
        given = json.loads(action.arguments)
    except ValueError:
        return ""
    if not isinstance(given, dict):
        return ""
    for name in _TELLING.get(action.tool, ()):
        if name in given:
            return one_line(str(given[name]), 120)
    return ""


def quoted(text: str, most: int) -> str:
    """Return a foreign text in quotation marks, those within it as inner ones; one line."""
    inner = one_line(text, most).translate(_INNER)
    return f"“{inner}”"


_INNER = str.maketrans('“”„"', "‘’‚'")


def answerer(client: str) -> str:
    """Return who answered, by the client's name: "you" for the operator of a console.

    Args:
        client: as the core stores it, such as "console (process 12)" or "Ana: mcp (process 3)".
    """
    owner, _, program = _PEER.sub("", one_line(client, 80)).rpartition(": ")
    if program in {"", "operator", "console"}:
        return owner or "you"
    return f"{owner}: {program}" if owner else program
