"""The tools that can be called without having seen a screen: what a watcher's reaction may name.

Not their carrying out: a job calls them like a model would, so each waits for a review. Invariant:
what passes here is a tool of the registry whose arguments name nothing on a screen.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.models.model import ToolCall
from agent.text import one_line
from agent.tools.arguments import BadArguments
from agent.tools.registry import read_call

DIRECT_TOOLS = (
    "background_job_create",
    "background_job_stop",
    "commitment_create",
    "commitment_update_status",
    "launch_app",
    "message_commitment_create",
    "notification_commitment_create",
    "press_button",
    "watcher_create",
    "watcher_stop",
)
ARGUMENTS_LIMIT_BYTES = 8000
DEEPEST = 16  # How deep lists and objects may lie in each other: no tool takes more.
_PLACE = re.compile(r"\{\{\s*event\.\w{1,40}\s*\}\}")


def direct_call(tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    """Return the call of a tool, checked; places such as `{{event.title}}` pass as words.

    Raises:
        UsageError: there is no such tool, or not without a screen, or its arguments cannot be used.
    """
    if tool not in DIRECT_TOOLS:
        raise UsageError(
            f"{one_line(tool, 60)!r} is not a tool that can be called without looking at a screen.",
            f"Use one of {', '.join(DIRECT_TOOLS)}; or describe it in a prompt.",
        )
    try:
        if _depth(arguments) > DEEPEST:
            raise ValueError("nested too deep")
        written = msgspec.json.encode(arguments).decode()
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"The arguments of {tool} are not a plain JSON object.", "Write names and their values."
        ) from error
    if len(written.encode()) > ARGUMENTS_LIMIT_BYTES:
        raise UsageError(
            f"The arguments of {tool} are too long.", f"Use {ARGUMENTS_LIMIT_BYTES:,} bytes."
        )
    call = ToolCall(call_id=f"direct_{tool}", name=tool, arguments=written)
    try:
        read_call(msgspec.structs.replace(call, arguments=_PLACE.sub("x", written)))
    except BadArguments as error:
        raise UsageError(
            f"The arguments of {tool} cannot be used: {error}.", "Correct what it names."
        ) from error
    return call


def _depth(value: object) -> int:
    """Return how deep lists and objects lie in each other, without recursion."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            inner
            for one in level
            if isinstance(one, Mapping | list | tuple)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
    return depth
