"""Ask the model what to do next, with retries, and keep what was asked and answered.

Not the loop. Invariant: what is kept and what is sent is the same redacted conversation; a picture
is sent but never kept twice, the frame of the observation holds it already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from agent.errors import ModelError
from agent.loop.observe import Sleep
from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.retry import complete_with_retries
from agent.protocol import StreamError
from agent.safety.redaction import redact_secrets
from agent.tasks.task import TaskContext
from agent.text import clean, one_line
from agent.tools.arguments import clean_json
from agent.tools.other_names import in_our_words

MAX_REPLY_CHARS = 20_000
BY_ROUTE = "As the session before did."
_encoder = msgspec.json.Encoder()


def tidy(text: str) -> str:
    """Make what a model wrote fit to be stored."""
    return redact_secrets(clean(text, MAX_REPLY_CHARS))


@dataclass(frozen=True, slots=True)
class Thought:
    """One answer of the model, its words fit to be stored."""

    text: str
    call: ToolCall | None
    """The first, in our own names: to be carried out, not to be stored."""
    reply: ModelReply
    prompt: asyncio.Task[str] | None = None
    """Stores the conversation that was sent, beside everything else; None where none was sent."""

    @property
    def dropped_calls(self) -> int:
        """How many calls beside the first were left out."""
        return max(len(self.reply.tool_calls) - 1, 0)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored of an answer."""

    text: str
    arguments: str
    """Of the call, as a JSON object."""
    digest: str
    """Where the whole answer is kept."""
    prompt_digest: str
    """Where the conversation that was sent is kept; empty where none was."""


async def think(
    context: TaskContext, request: ModelRequest, *, sleep: Sleep, random: Callable[[], float]
) -> Thought:
    """Ask the session's model what to do, and store what it was shown meanwhile.

    The answer is to be given to `keep` before anything else is waited for.

    Raises:
        ModelError: see `agent.models.retry`.
    """
    kept = tuple(replace(message, image=None) for message in request.messages)
    # Beside the call: nothing names it before there is an answer.
    storing = asyncio.create_task(
        context.put_blob(_encoder.encode(kept), "application/json"), name="prompt to the store"
    )
    try:
        reply = await ask(context, request, sleep=sleep, random=random)
    except BaseException:
        # Awaited, so that a failure of its own is not left unseen.
        await asyncio.gather(storing, return_exceptions=True)
        raise
    return Thought(
        text=tidy(reply.text).strip(),
        call=in_our_words(reply.tool_calls[0]) if reply.tool_calls else None,
        reply=reply,
        prompt=storing,
    )


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

    return await complete_with_retries(
        context.model,
        request,
        on_text=lambda text: context.delta(tidy(text)),
        on_failure=tell,
        sleep=sleep,
        random=random,
    )


def remembered(call: ToolCall | None) -> Thought | None:
    """Make a thought of what another session did, which no model was asked for; None of nothing."""
    if call is None:
        return None
    reply = ModelReply(text=BY_ROUTE, tool_calls=(call,))
    return Thought(text=BY_ROUTE, call=call, reply=reply)


async def keep(context: TaskContext, thought: Thought, hide: Callable[[str], str]) -> Kept:
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
    whole = _encoder.encode(replace(reply, text=said, tool_calls=calls))
    # Side by side: each waits for the disk.
    digest, prompt_digest = await asyncio.gather(
        context.put_blob(whole, "application/json"), _stored(thought.prompt)
    )
    return Kept(
        text=said,
        arguments="{}" if thought.call is None else clean_json(thought.call.arguments, fit),
        digest=digest,
        prompt_digest=prompt_digest,
    )


async def _stored(prompt: asyncio.Task[str] | None) -> str:
    return "" if prompt is None else await prompt
