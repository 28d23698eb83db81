"""What can be asked over HTTP: every op of the protocol, and the socket's look-ups.

Not the web server. Invariant: an op or a look-up is here because it is in the protocol's own union
or table; nothing is declared a second time.
"""

import typing
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import msgspec

from agent.core import Overview, TextDelta
from agent.errors import UsageError
from agent.protocol import Event, Number, Op, answer_type, look_ups
from agent.rpc.connection import METHODS
from agent.rpc.rpc_messages import Nothing, Params, Status
from agent.rpc.unknown_fields import unknown_fields, unknown_in

PREFIX = "/v1"


class HistoryPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of a session's stored events, in order."""

    events: tuple[Event, ...]
    more: bool  # Whether there are further ones: ask again after the last one's `seq`.


class EventsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events are followed."""

    after: Number | None = None
    """Stored ones with a larger event id first; left out: only those to come."""
    session_id: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """Only those of this session; empty: all."""


class Stream(msgspec.Struct, frozen=True):
    """What is followed as server-sent events."""

    query: type[Any]
    item: type[Any]
    said: str


LOOK_UPS: Mapping[str, Any] = {
    "overview": Overview,
    "status": Status,
    "history": HistoryPage,
    **{name: answer_type(kind) for name, kind in look_ups.LOOK_UPS.items()},
    "blob": bytes,
}
"""The socket's methods that only look, and what each answers with."""

STREAMS: Mapping[str, Stream] = {
    "events": Stream(
        EventsQuery, Event, "Follow events: stored ones first, then live ones, none twice."
    ),
    "deltas": Stream(
        Nothing, TextDelta, "Follow the text of models as it streams; it is not stored."
    ),
}


@cache
def ops() -> Mapping[str, type[Any]]:
    """Return every op by the name that it has on the wire."""
    return {str(op.__struct_config__.tag): op for op in typing.get_args(Op)}


def op_of(kind: type[Any], body: bytes) -> Op:
    """Read the fields of an op.

    Args:
        kind: the op that the path names; `type` may be left out of the body.
        body: JSON; empty: no fields.

    Raises:
        UsageError: it is not JSON, or a field is missing, unknown or wrong.
    """
    try:
        found: Op = msgspec.json.decode(body or b"{}", type=kind)
        unknown = unknown_fields(kind, msgspec.json.decode(body or b"{}"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"The body is not a valid op: {error}.", "Correct the field.") from error
    if unknown:
        raise unknown_in(unknown)
    return found


def params_of(name: str, query: Mapping[str, str]) -> Params:
    """Read a look-up's parameters. Raises UsageError."""
    found: Params = _read(METHODS[name], query)
    return found


def query_of(name: str, query: Mapping[str, str]) -> Any:
    """Read a stream's parameters. Raises UsageError."""
    return _read(STREAMS[name].query, query)


def _read(kind: type[Any], query: Mapping[str, str]) -> Any:
    try:
        return msgspec.convert(dict(query), kind, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"The query cannot be read: {error}.", "Correct the field.") from error
