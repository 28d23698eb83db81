"""A session's stored events as rows of the tables; pure but for the blobs that rows hold.

Not the files. Invariants: a row holds what was stored and nothing that was not, so what is redacted
there is redacted here; a decision has one row, with the screen that it was made on.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec

from agent import protocol
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import StoreError, TreeUnavailableError, UsageError
from agent.records import GoalVerdict, Observation, Session, SessionState
from agent.store.changes.blob_refs import uses_of

Row = dict[str, Any]  # By the names of a table's columns.
Blob = Callable[[str], Awaitable[bytes]]


class Blobs:
    """The bytes that rows hold, each read once for a row and counted where it is gone.

    Args:
        read: returns the bytes of a digest; raises StoreError or UsageError where they are gone.
    """

    def __init__(self, read: Blob) -> None:
        self._read = read
        self._gone: set[str] = set()
        self.held: set[str] = set()
        """The digests that some row holds whole."""

    @property
    def missing(self) -> int:
        """How many are gone."""
        return len(self._gone)

    async def get(self, digest: str) -> bytes:
        """Read the bytes of a digest; empty for no digest and for one that is gone."""
        if not digest:
            return b""
        try:
            return await self._read(digest)
        except (StoreError, UsageError):
            self._gone.add(digest)
            return b""

    async def text(self, digest: str) -> str:
        """Read a text that comes back byte for byte; empty for one that would not."""
        data = await self.get(digest)
        try:
            said = data.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        if said:
            self.held.add(digest)
        return said


def episode_row(session: Session, index: int, length: int) -> Row:
    return {
        "episode_id": session.session_id,
        "episode_index": index,
        "goal": session.goal,
        "parent_id": session.parent_id,
        "model": session.model,
        "serial": session.serial,
        "state": session.state.value,
        "verdict": session.verdict.value,
        "verified_by": session.verified_by.value,
        "result": session.latest_result or session.latest_error,
        "tags": _json(session.tags),
        "created_ms": session.created_ms,
        "length": length,
        "input_tokens": session.usage.input_tokens,
        "output_tokens": session.usage.output_tokens,
        "cost_usd": session.usage.cost_usd,
        "session": _json(session),
    }


def event_row(event: protocol.Event) -> Row:
    payload = msgspec.json.encode(event.msg)
    return {
        "episode_id": event.session_id,
        "seq": event.seq,
        "ts_ms": event.ts_ms,
        "type": str(type(event.msg).__struct_config__.tag),
        "payload": payload.decode(),
    }


async def step_rows(
    session: Session, index: int, events: Sequence[protocol.Event], blobs: Blobs
) -> AsyncIterator[Row]:
    """Yield the rows of `steps`, one at a time: each holds a picture.

    Args:
        session: as it is now.
        index: the episode's place in the dataset.
        events: all that are stored of it, in order.
        blobs: what their bytes are read from.
    """
    decisions = _decisions(events)
    for at, decision in enumerate(decisions):
        row = await _step_row(session, decision, blobs)
        is_last = at == len(decisions) - 1
        ended = session.state in {SessionState.COMPLETED, SessionState.FAILED}
        row |= {
            "episode_index": index,
            "frame_index": at,
            "reward": float(is_last and session.verdict is GoalVerdict.MET),
            "terminated": is_last and ended,
            "truncated": is_last and not ended,
        }
        yield row


class _Decision(msgspec.Struct):
    """What one row tells of."""

    step: int
    ts_ms: int
    seen: Observation | None
    thought: str = ""
    call: protocol.ToolCallRequested | None = None
    finished: protocol.ToolCallFinished | None = None


def _decisions(events: Sequence[protocol.Event]) -> list[_Decision]:
    found: list[_Decision] = []
    by_call: dict[str, _Decision] = {}
    seen: Observation | None = None
    unused: _Decision | None = None
    thought = ""
    for event in events:
        match event.msg:
            case protocol.ObservationRecorded(step=step, observation=seen):
                # A screen that nothing is decided on has a row of its own: an episode's last one.
                unused = _Decision(step, event.ts_ms, seen)
            case protocol.AgentMessage(text=thought):
                pass
            case protocol.ToolCallRequested(step=step, call_id=call_id) as call:
                made = _Decision(step, event.ts_ms, seen, thought, call)
                found.append(made)
                by_call[call_id] = made
                unused, thought = None, ""
            case protocol.ToolCallFinished(call_id=call_id) as finished if call_id in by_call:
                by_call[call_id].finished = finished
            case _:
                pass
    return [*found, unused] if unused is not None else found


async def _step_row(session: Session, decision: _Decision, blobs: Blobs) -> Row:
    seen, call, finished = decision.seen, decision.call, decision.finished
    row: Row = {
        "episode_id": session.session_id,
        "step": decision.step,
        "timestamp_ms": decision.ts_ms,
        "goal": session.goal,
        "thought": decision.thought,
        "tool": call.tool if call else "",
        "kind": call.kind if call else "",
        "arguments": call.arguments if call else "",
        "call_id": call.call_id if call else "",
        "element": _json(call.element) if call and call.element else "",
        "x": call.point.x if call and call.point else None,
        "y": call.point.y if call and call.point else None,
        "path": _json([(point.x, point.y) for point in call.path]) if call and call.path else "",
        "decision": call.decision if call else "",
        "outcome": finished.outcome.value if finished else "",
        "observation": finished.text if finished else "",
        "prompt_digest": call.prompt_digest if call else "",
        "reply_digest": call.reply_digest if call else "",
    }
    row["prompt"] = await blobs.text(row["prompt_digest"])
    row["reply"] = await blobs.text(row["reply_digest"])
    return row | await _screen(seen, blobs)


async def _screen(seen: Observation | None, blobs: Blobs) -> Row:
    frame = seen.frame if seen else None
    picture = await blobs.get(frame.digest) if frame else b""
    if frame and picture:
        blobs.held.add(frame.digest)
    tree = ""
    if seen and seen.tree_digest:
        xml = await blobs.get(seen.tree_digest)
        size = (frame.width_px, frame.height_px) if frame else (1080, 2400)
        tree = _tree(xml, size)
    return {
        "image": {"bytes": picture, "path": None} if picture else None,
        "image_digest": frame.digest if frame else "",
        "width_px": frame.width_px if frame else 0,
        "height_px": frame.height_px if frame else 0,
        "package": seen.foreground.package if seen else "",
        "activity": seen.foreground.activity if seen else "",
        "screen_text": seen.screen_text if seen else "",
        "elements": _json(seen.elements) if seen else "[]",
        "tree": tree,
        "tree_digest": seen.tree_digest if seen else "",
    }


def _tree(xml: bytes, size_px: tuple[int, int]) -> str:
    """Write a tree as JSON; empty where the XML cannot be read, which `blobs` still holds."""
    if not xml:
        return ""
    try:
        # The document's own rotation says which way round the natural size is.
        return _json(parse_tree(xml, (min(size_px), max(size_px))))
    except TreeUnavailableError:
        return ""


async def blob_rows(events: Sequence[protocol.Event], blobs: Blobs) -> AsyncIterator[Row]:
    """Yield the rows of `blobs`: what events name and no row of `steps` holds.

    Call it after `step_rows` of the same events.
    """
    told: set[str] = set()
    for event in events:
        for use in uses_of(event.msg):
            if use.digest in blobs.held or use.digest in told:
                continue
            told.add(use.digest)
            data = await blobs.get(use.digest)
            if data:
                yield {
                    "episode_id": event.session_id,
                    "digest": use.digest,
                    "media_type": use.media_type,
                    "data": data,
                }


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
