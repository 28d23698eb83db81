"""Define the closed unions of ops and events, the envelope, and their JSON."""

from functools import cache
from typing import ClassVar, TypeAlias, get_args

import msgspec

from agent.errors import RpcCode, UsageError
from agent.protocol.base import EventBase, OpBase
from agent.protocol.events.act_review_events import AnyActReviewEvent
from agent.protocol.events.device_events import AnyDeviceEvent
from agent.protocol.events.job_events import AnyJobEvent
from agent.protocol.events.notice_events import AnyNoticeEvent
from agent.protocol.events.record_events import AnyRecordEvent
from agent.protocol.events.session_events import AnySessionEvent
from agent.protocol.events.step_events import AnyStepEvent
from agent.protocol.events.tree_events import AnyTreeEvent
from agent.protocol.events.undo_events import AnyUndoEvent
from agent.protocol.events.verification_events import AnyVerificationEvent
from agent.protocol.events.warrant_events import AnyWarrantEvent
from agent.protocol.events.watch_events import AnyWatchEvent
from agent.protocol.ops.device_ops import AnyDeviceOp
from agent.protocol.ops.direct_ops import AnyDirectOp
from agent.protocol.ops.job_ops import AnyJobOp
from agent.protocol.ops.look_ops import AnyLookOp
from agent.protocol.ops.notice_ops import AnyNoticeOp
from agent.protocol.ops.record_ops import AnyRecordOp
from agent.protocol.ops.session_ops import AnySessionOp
from agent.protocol.ops.tree_ops import AnyTreeOp
from agent.protocol.ops.undo_ops import AnyUndoOp
from agent.protocol.ops.verification_ops import AnyVerificationOp
from agent.protocol.ops.warrant_ops import AnyWarrantOp
from agent.protocol.ops.watch_ops import AnyWatchOp
from agent.protocol.routes import AnyRouteEvent, AnyRouteOp
from agent.records import (
    Allows,
    Commitment,
    DirectView,
    Job,
    PhoneFinding,
    PhoneLook,
    Right,
    RunRecord,
    TargetResult,
    WarrantView,
    Watcher,
)

PROTOCOL_VERSION = 1


class Shutdown(OpBase, frozen=True, kw_only=True, tag="shutdown"):
    """Close the core; turns in flight can be resumed."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.NOTHING


Op: TypeAlias = (
    AnyDeviceOp
    | AnyDirectOp
    | AnyJobOp
    | AnyLookOp
    | AnyNoticeOp
    | AnyRecordOp
    | AnySessionOp
    | AnyTreeOp
    | AnyUndoOp
    | AnyVerificationOp
    | AnyWarrantOp
    | AnyWatchOp
    | AnyRouteOp
    | Shutdown
)
"""Every request: each module of `agent.protocol.ops` ends in the union of its own."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one op."""

    submission_id: str
    event_id: int = 0
    """The newest event when the op had been carried out: no effect of it has a higher id."""
    session_id: str = ""
    child_ids: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    """The sessions that a clear, a delete or a prune is done with."""
    failed_ids: dict[str, str] = {}
    """The sessions that a clear could not do away with, and why."""
    remaining_ids: tuple[str, ...] = ()
    """The sessions that are left after a clear."""
    skipped_lines: int = 0
    """Broken lines of an imported rollout."""
    target: TargetResult | None = None
    """What a call about a session's app came to."""
    direct: DirectView | None = None
    """What a direct session shows."""
    look: PhoneLook | None = None
    lines: tuple[str, ...] = ()
    """Of a phone's log, the newest last."""
    findings: tuple[PhoneFinding, ...] = ()
    job: Job | None = None
    jobs: tuple[Job, ...] = ()
    after: str = ""
    """Where the next page of the queue begins; empty at its end."""
    runs: tuple[RunRecord, ...] = ()
    """Of one job, the newest first."""
    warrant: WarrantView | None = None
    watcher: Watcher | None = None
    watchers: tuple[Watcher, ...] = ()
    commitment: Commitment | None = None
    commitments: tuple[Commitment, ...] = ()


EventMsg: TypeAlias = (
    AnyActReviewEvent
    | AnyDeviceEvent
    | AnyJobEvent
    | AnyNoticeEvent
    | AnyRecordEvent
    | AnySessionEvent
    | AnyStepEvent
    | AnyTreeEvent
    | AnyUndoEvent
    | AnyVerificationEvent
    | AnyWarrantEvent
    | AnyWatchEvent
    | AnyRouteEvent
)
"""Every fact: each module of `agent.protocol.events` ends in the union of its own."""

OF_NO_SESSION: frozenset[type[EventBase]] = frozenset(
    kind for kind in get_args(EventMsg) if kind.of_no_session
)
"""Facts of the whole store."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A stored fact. `event_id` orders the whole store, `seq` (from 1) orders one session.

    `session_id` is empty for facts of no session (devices, jobs, shutdown).
    """

    event_id: int
    session_id: str = ""
    seq: int = 0
    ts_ms: int
    submission_id: str = ""
    msg: EventMsg


_encoder = msgspec.json.Encoder()


# Made when first needed: a hundred structs take longer than the console has until its first paint.
@cache
def _op_decoder() -> msgspec.json.Decoder[Op]:
    return msgspec.json.Decoder(Op)


@cache
def _event_decoder() -> msgspec.json.Decoder[Event]:
    return msgspec.json.Decoder(Event)


@cache
def _msg_decoder() -> msgspec.json.Decoder[EventMsg]:
    return msgspec.json.Decoder(EventMsg)


def encode(value: Op | Event | EventMsg | Reply) -> bytes:
    """Encode as one line of JSON, without the newline."""
    return _encoder.encode(value)


def decode_op(data: bytes | str) -> Op:
    """Decode an op from outside.

    Raises:
        UsageError: malformed JSON, an unknown type, or a field that is missing, unknown or wrong.
    """
    try:
        return _op_decoder().decode(data)
    except msgspec.ValidationError as error:
        raise UsageError(f"The op is not valid: {error}.", "Correct the field it names.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        malformed = UsageError(f"The op is not JSON: {error}.")
        malformed.code = RpcCode.PARSE
        raise malformed from error


def decode_event(data: bytes | str) -> Event:
    """Decode an event envelope; raises msgspec's own errors."""
    return _event_decoder().decode(data)


def decode_msg(data: bytes | str) -> EventMsg:
    """Decode the body of an event; raises msgspec's own errors."""
    return _msg_decoder().decode(data)
