"""A model that calls one tool, says what came of it, and is done: for work that is decided already.

No model of language: what it calls was checked when it was written down. Invariant: it calls its
tool once for each goal, and claims success only when the tool's own reply does. What it says of it
is for people; the reply itself stays with its step.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.reply_words import in_words
from agent.text import one_line

if TYPE_CHECKING:
    from agent.models.pilot.reading import PastAction

_NOT_DONE = ("error", ".refused", ".not_found", ".create_failed", "confirmation_required")
_SUMMARY_CHARS = 400


class OneCall:
    """Implements the Model protocol.

    Args:
        call: what is called.
    """

    def __init__(self, call: ToolCall) -> None:
        self._call = call

    @property
    def name(self) -> str:
        return "one call"

    @property
    def sees(self) -> bool:
        return False

    @property
    def notice(self) -> str:
        return ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the tool; once there is a reply to it, finish."""
        # With it comes all that the pilot understands, which a core can be opened without.
        from agent.models.pilot.reading import read

        done = [act for act in read(request.messages).done if act.tool == self._call.name]
        call = self._call if not done else _finish(done[-1])
        return ModelReply(tool_calls=(call,))

    async def close(self) -> None:
        return None


def _finish(act: "PastAction") -> ToolCall:
    summary = one_line(in_words(act.result), _SUMMARY_CHARS)
    arguments = json.dumps({"success": _is_done(act), "summary": summary})
    return ToolCall(call_id="finish", name="finish", arguments=arguments)


class _Status(msgspec.Struct):
    status: str = ""


def _is_done(act: "PastAction") -> bool:
    """Return whether a reply says that it was done: the first words of a phone's, or the status."""
    if act.ok:
        return True
    try:
        status = msgspec.json.decode(act.result, type=_Status).status
    except msgspec.MsgspecError:
        return False
    return bool(status) and not status.endswith(_NOT_DONE)
