"""Keep from OpenEnv's WebSockets what would end a session with its episode: frames that are no
message of its protocol.

Its server answers what is wrong inside a message, and goes on. It ends at a frame of bytes, at JSON
that is no object, and where it would have to repeat what no JSON can hold. Invariant: such a frame
is answered in the protocol's words, and nothing is changed by it.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from starlette.types import Message, Receive, Send

_INVALID_JSON = "INVALID_JSON"
_VALIDATION_ERROR = "VALIDATION_ERROR"
_DEEPEST = 32  # What may be nested in what; an action needs three.


def readable(receive: Receive, send: Send) -> Receive:
    """Return what receives the frames of a WebSocket that its server can read."""

    async def received() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            wrong = wrong_with(message)
            if wrong is None:
                return message
            code, why = wrong
            answer = {"type": "error", "data": {"message": why, "code": code}}
            await send({"type": "websocket.send", "text": json.dumps(answer)})

    return received


def wrong_with(message: Message) -> tuple[str, str] | None:
    """Return the code and the reason for which a frame cannot be read; None for none."""
    text = message.get("text")
    if text is None:
        return _INVALID_JSON, "Invalid JSON: send text, not bytes"
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _INVALID_JSON, f"Invalid JSON: {str(error)[:200]}"
    if not isinstance(said, dict):
        return _VALIDATION_ERROR, "Invalid message: send an object with type and data"
    if not isinstance(said.get("type", ""), str):
        return _VALIDATION_ERROR, "Invalid message: type is not text"
    unknown = sorted(set(said) - {"type", "data"})
    if unknown:
        names = ascii(", ".join(unknown))[:200]
        return _VALIDATION_ERROR, f"Invalid message: unknown {names}; the fields are type and data"
    levels = list(_levels(said))
    if len(levels) > _DEEPEST + 1:
        return _VALIDATION_ERROR, f"Invalid message: it is more than {_DEEPEST} levels deep"
    if any(_is_unspeakable(one) for level in levels for one in level):
        return _VALIDATION_ERROR, "Invalid message: it has a number or a text that is none"
    return None


def _levels(value: Any) -> Iterator[list[Any]]:
    """Walk a message level by level, with the names in it; as deep as is allowed and one more."""
    level = [value]
    for _ in range(_DEEPEST + 2):
        if not level:
            return
        yield level
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                inner += one
        level = inner


def _is_unspeakable(value: Any) -> bool:
    """Whether JSON has no way to repeat a value: half of a surrogate pair, not a number."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, str) and any("\ud800" <= one <= "\udfff" for one in value)
