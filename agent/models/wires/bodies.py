"""What the body of an answer is: a stream of events, one JSON object, or neither."""

import json
from typing import Any

from agent.models.wires.failures import Failures
from agent.models.wires.foreign import words

EVENT_STREAM = "text/event-stream"
_EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


async def read_object(response: Any, failures: Failures) -> dict[str, Any] | None:
    """Read an answer that is one JSON object though a stream was asked for; None of a stream.

    Raises:
        ModelError: something answered that is no endpoint.
        APIError of the SDK: the object says what went wrong.
    """
    kind = media_type(response)
    if kind == EVENT_STREAM:
        return None
    # Some servers name no type, or a wrong one: what it is, it shows.
    body = (await response.aread()).lstrip()
    if not body.startswith(b"{"):
        if body.startswith(_EVENT_FIELDS):
            return None
        raise failures.not_the_wire(kind)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise failures.broken_off(error) from error
    assert isinstance(answer, dict), "it begins with a brace"
    if answer.get("error"):
        failed = answer["error"]
        said = words(failed.get("message") if isinstance(failed, dict) else failed)
        raise failures.sdk.APIError(said or "it gave no reason", response.request, body=failed)
    return answer


def media_type(response: Any) -> str:
    """Return what an answer claims to be."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
