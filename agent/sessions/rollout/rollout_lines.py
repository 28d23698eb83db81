"""The lines of a rollout: a session as JSON lines, for machines and for other stores.

Not the files (`rollout_write`, `rollout_read`). Each line is `{"timestamp", "type", "payload"}` as
in Codex's rollouts: `session_meta` first, a `turn_context` before each turn, an `event_msg` for
each event, a `blob` for each frame, tree, prompt and reply. Invariant: what cannot be read is one
line, never the file; text comes out clean, text and numbers bounded.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from agent.protocol import EventMsg
from agent.records import Session
from agent.text import clean

FORMAT = 1
"""The version of what is written here; a reader takes its own and older ones."""

LONGEST_LINE_BYTES = 1 << 26
LONGEST_TEXT_CHARS = 100_000
LARGEST_NUMBER = 1 << 43
"""A time in the year 2248; a session's largest figures, added up, still are 64-bit integers."""
_DEEPEST = 40  # How deep JSON may be nested; records are not half as deep.


class SessionMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What the rollout is of."""

    id: str
    forked_from_id: str = ""
    timestamp: str = ""
    originator: str = "switchboard"
    cli_version: str = ""
    source: str = "cli"
    format: int = FORMAT
    session: Session | None = None
    """The session as it was when it was written; the events tell how it came to that."""


class TurnContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Under which settings a turn began."""

    turn_id: str
    kind: str = "regular"
    model: str = ""
    serial: str = ""
    autonomy: str = ""


class EventLine(msgspec.Struct, frozen=True, kw_only=True):
    """One event; `seq` is its place in the session it was written from."""

    seq: int
    ts_ms: int
    msg: EventMsg


class BlobLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One blob; without data it lies beside the rollout under its digest."""

    digest: str
    media_type: str
    data: bytes = b""


Payload = SessionMeta | TurnContext | EventLine | BlobLine


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    timestamp: str
    type: str
    payload: msgspec.Raw


_TYPES: dict[str, type[Payload]] = {
    "session_meta": SessionMeta,
    "turn_context": TurnContext,
    "event_msg": EventLine,
    "blob": BlobLine,
}
_KINDS = {kind: name for name, kind in _TYPES.items()}
_encoder = msgspec.json.Encoder()
_line_decoder = msgspec.json.Decoder(_Line)
_blob_decoder = msgspec.json.Decoder(BlobLine)


def line_of(payload: Payload, ts_ms: int) -> bytes:
    """Write one line, its newline included."""
    line = {"timestamp": iso(ts_ms), "type": _KINDS[type(payload)], "payload": payload}
    return _encoder.encode(line) + b"\n"


def payload_of(line: bytes) -> Payload | None:
    """Read one line; None when it cannot be used, whatever the reason."""
    if len(line) > LONGEST_LINE_BYTES:
        return None
    try:
        read = _line_decoder.decode(line)
        kind = _TYPES.get(read.type)
        if kind is None:
            return None
        if kind is BlobLine:
            return _blob_decoder.decode(read.payload)
        return msgspec.convert(_cleaned(msgspec.json.decode(read.payload)), type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError, OverflowError):
        return None


def iso(ts_ms: int) -> str:
    """Write a time as ISO-8601 in UTC with milliseconds; the epoch for one that is none."""
    try:
        at = datetime.fromtimestamp(ts_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        at = datetime.fromtimestamp(0, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _cleaned(value: Any, depth: int = 0) -> Any:
    """Clean every text of a JSON value, bound its numbers. Raises ValueError: nested too deep."""
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        return clean(value, LONGEST_TEXT_CHARS)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(max(value, -LARGEST_NUMBER), LARGEST_NUMBER)
    if isinstance(value, list):
        return [_cleaned(one, depth + 1) for one in value]
    if isinstance(value, Mapping):
        return {clean(k, 200): _cleaned(one, depth + 1) for k, one in value.items()}
    return value
