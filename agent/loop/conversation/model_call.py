"""Ask the model what to do next, with retries, and store the request and the reply.

Invariant: the same redacted conversation is stored and sent; a picture is sent but not stored
again, because the observation has the frame.
"""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from agent.errors import ModelError
from agent.loop.observe import Sleep
from agent.loop.task_context import TaskContext
from agent.models.model import FinishReason, MessageKind, ModelReply, ModelRequest, ToolCall
from agent.models.retry import complete_with_retries
from agent.protocol import StreamError, WarningEvent
from agent.records import Usage
from agent.safety.redacting.redaction import redact_secrets
from agent.text import clean, one_line
from agent.tools.arguments import clean_json
from agent.tools.lenient_json import NotJson, read_json
from agent.tools.tool_aliases import OTHER_NAMES, in_our_words
from agent.tools.written_calls import plain_name, written_calls

MAX_REPLY_CHARS = 20_000
BY_ROUTE = "As the session before did."
_UNKNOWN_LIMIT = -1
BEFORE_OTHERS = frozenset({"remember", "update_plan"})
"""What changes nothing that a call after it in the same answer needs."""
_PHONE_TOOL = "click_element"
"""Where it is offered, other systems' names for a phone's tools mean something."""
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_encoder = msgspec.json.Encoder()


def tidy(text: str, limit: int = MAX_REPLY_CHARS) -> str:
    """Make what a model wrote fit to be stored."""
    return redact_secrets(clean(text, limit))


@dataclass(frozen=True, slots=True)
class CleanReply:
    """One answer of the model, its words fit to be stored."""

    text: str
    call: ToolCall | None
    """The first, in our own names: to be carried out, not to be stored."""
    reply: ModelReply
    cut_at: int = 0
    """The limit in tokens at which it was cut off before it called anything; 0: it was not, -1: the
    endpoint's own limit, or the end of the context window."""

    @property
    def cut_off(self) -> str:
        """Where it was cut off, in words."""
        if self.cut_at < 0:
            return "cut off at the endpoint's limit or the end of the context window"
        return f"cut off at the limit of {self.cut_at:,} tokens"

    doubled_to: int = 0
    """The limit that it was asked with again, after an answer that was cut off; 0: it was not."""
    prompt: asyncio.Task[str] | None = None
    """Stores the conversation that was sent, beside everything else; None where none was sent."""

    @property
    def rest(self) -> "CleanReply | None":
        """The answer without its first call; None where there is no other."""
        calls = self.reply.tool_calls[1:]
        if self.call is None or not calls:
            return None
        rest = replace(self.reply, text="", tool_calls=calls, reasoning=(), usage=Usage())
        return CleanReply(text="", call=in_our_words(_repaired(calls[0])), reply=rest)

    @property
    def calls_after(self) -> int:
        """How many calls come after the first."""
        return max(len(self.reply.tool_calls) - 1, 0)


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What is stored of an answer."""

    text: str
    arguments: str  # Of the call, as a JSON object.
    digest: str  # Where the whole answer is kept.
    prompt_digest: str  # Where the conversation that was sent is kept; empty where none was.


async def think(
    context: TaskContext, request: ModelRequest, *, sleep: Sleep, random: Callable[[], float]
) -> CleanReply:
    """Ask the session's model what to do, and store what it was shown meanwhile.

    The answer is to be given to `keep` before anything else is waited for.

    Raises:
        ModelError: see `agent.models.retry`.
    """
    kept = [replace(message, image=None, brief="", reasoning=()) for message in request.messages]
    # Beside the call: nothing names it before there is an answer.
    storing = asyncio.create_task(
        context.put_blob(_encoder.encode(kept), "application/json"), name="prompt to the store"
    )
    try:
        reply, limit = await _complete_reply(context, request, sleep=sleep, random=random)
    except BaseException:
        # Awaited, so that a failure of its own is not left unseen.
        await asyncio.gather(storing, return_exceptions=True)
        raise
    cut_at = 0
    if _is_cut(reply):
        cut_at = reply.output_limit or _UNKNOWN_LIMIT
        reply = replace(reply, tool_calls=())
    elif not reply.tool_calls and reply.text:
        reply = _with_written(reply, request)
    return CleanReply(
        text=tidy(reply.text).strip(),
        call=in_our_words(_repaired(reply.tool_calls[0])) if reply.tool_calls else None,
        reply=reply,
        cut_at=cut_at,
        doubled_to=limit,
        prompt=storing,
    )


async def _complete_reply(
    context: TaskContext, request: ModelRequest, *, sleep: Sleep, random: Callable[[], float]
) -> tuple[ModelReply, int]:
    """Ask; once more with twice the room where the answer was cut off before its call was whole."""
    reply = await ask(context, request, sleep=sleep, random=random)
    if not _is_cut(reply) or not reply.output_limit or request.max_output_tokens:
        return reply, 0
    limit = 2 * reply.output_limit
    await context.emit(
        WarningEvent(
            message=f"The answer was cut off at its limit of {reply.output_limit:,} tokens; "
            f"asking again with {limit:,}."
        )
    )
    larger = replace(request, max_output_tokens=limit)
    again = await ask(context, larger, sleep=sleep, random=random)
    return replace(again, usage=reply.usage.plus(again.usage)), limit


def _is_cut(reply: ModelReply) -> bool:
    """Return whether an answer was cut off, and no whole call came before that."""
    if reply.finish is not FinishReason.LENGTH:
        return False
    try:
        return not (reply.tool_calls and json.loads(reply.tool_calls[0].arguments or "{}"))
    except (ValueError, RecursionError):
        return True


def _with_written(reply: ModelReply, request: ModelRequest) -> ModelReply:
    """Read a call that was written as text; what stands on the newest screen is not the model's."""
    tools = {tool.name: tuple(tool.parameters.get("properties", ())) for tool in request.tools}
    if _PHONE_TOOL in tools:
        tools = dict.fromkeys(OTHER_NAMES, ("element",)) | tools
    shown = (m.text for m in reversed(request.messages) if m.kind is MessageKind.OBSERVATION)
    written = written_calls(reply.text, tools, next(shown, ""))
    return replace(reply, text=written.text, tool_calls=written.calls) if written.calls else reply


def _repaired(call: ToolCall) -> ToolCall:
    """Write a call's name plainly, and its arguments as JSON where they were JSON with a slip."""
    if not _NAME.fullmatch(call.name):
        call = replace(call, name=plain_name(call.name))
    try:
        json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        try:
            value = read_json(call.arguments)
        except NotJson:
            return call
        return replace(call, arguments=json.dumps(value, ensure_ascii=False))
    return call


async def ask(
    context: TaskContext, request: ModelRequest, *, sleep: Sleep, random: Callable[[], float]
) -> ModelReply:
    """Ask the session's model; each failure that will be tried again is a StreamError event.

    Raises:
        ModelError: see `agent.models.retry`.
    """

    async def tell(error: ModelError, attempt: int, wait_s: float) -> None:
        message = redact_secrets(one_line(error.message, 500))
        await context.emit(
            StreamError(message=message, attempt=attempt, delay_ms=round(wait_s * 1000))
        )

    reply = await complete_with_retries(
        context.model,
        request,
        on_text=lambda text: context.delta(tidy(text)),
        on_failure=tell,
        sleep=sleep,
        random=random,
    )
    if reply.note:
        await context.emit(WarningEvent(message=redact_secrets(one_line(reply.note, 500))))
    return reply


def remembered(call: ToolCall | None) -> CleanReply | None:
    """Make a thought of what another session did, which no model was asked for; None of nothing."""
    if call is None:
        return None
    reply = ModelReply(text=BY_ROUTE, tool_calls=(call,))
    return CleanReply(text=BY_ROUTE, call=call, reply=reply)


async def keep(
    context: TaskContext, thought: CleanReply, hide: Callable[[str], str]
) -> StoredReply:
    """Store an answer, once it is known what in it is a secret, and see the prompt stored.

    Args:
        hide: takes out what is to be typed as a secret.
    """

    def fit(text: str) -> str:
        return tidy(hide(text))

    reply = thought.reply
    calls = tuple(
        replace(call, arguments=clean_json(call.arguments, fit)) for call in reply.tool_calls[:10]
    )
    said = fit(reply.text).strip()
    # Reasoning is signed as it is, so nothing could be redacted in it.
    whole = _encoder.encode(replace(reply, text=said, tool_calls=calls, reasoning=()))
    # Side by side: each waits for the disk.
    digest, prompt_digest = await asyncio.gather(
        context.put_blob(whole, "application/json"), _stored(thought.prompt)
    )
    return StoredReply(
        text=said,
        arguments="{}" if thought.call is None else clean_json(thought.call.arguments, fit),
        digest=digest,
        prompt_digest=prompt_digest,
    )


async def _stored(prompt: asyncio.Task[str] | None) -> str:
    return "" if prompt is None else await prompt
