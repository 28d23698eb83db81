"""Keep parents true to their children: apply the roll-up whenever a child has moved.

Not the rule (`agent.sessions.rules.rollup`). Invariants: a parent that delegates changes state by
roll-up, by a resume or by a cancel, and by nothing else; a roll-up that cannot be stored is tried
again.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from agent import protocol, records
from agent.errors import ErrorKind, StoreError
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.session_registry import SessionRegistry
from agent.sessions.registry.supervisor import Supervisor
from agent.sessions.rules.parent_verdict import parent_verification, verification_in
from agent.sessions.rules.presentation import rollup_presented
from agent.sessions.rules.rollup import (
    counting,
    guarded,
    is_part,
    published,
    results,
    sources_of_parts,
    summary,
)
from agent.sessions.tree.app_targets import Targets
from agent.state.event_text import completed_reason

_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class Tree:
    """The parents of one core."""

    def __init__(self, registry: SessionRegistry, targets: Targets, supervisor: Supervisor) -> None:
        self._registry = registry
        self._targets = targets
        self._supervisor = supervisor
        self._attaching: set[str] = set()
        self._unmovable: set[str] = set()
        self._due: dict[str, None] = {}
        self._ring = asyncio.Event()

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Note which parents may have to change; the registry has folded these events already."""
        for event in events:
            if isinstance(event.msg, protocol.TaskComplete | protocol.TurnAborted):
                self._note_if_parent(event.session_id)
            if isinstance(event.msg, protocol.SessionFlagsChanged) and not event.msg.held:
                self._note_if_parent(event.session_id)
            if isinstance(
                event.msg,
                protocol.SessionStateChanged
                | protocol.SessionContinued
                | protocol.VerificationRecorded,
            ):
                parent_id = self._registry.parent_of(event.session_id)
                if parent_id:
                    self._note(parent_id)

    def look_at_all(self) -> None:
        """Note every parent that is not settled: the core may have died before a roll-up."""
        for live in self._registry.active():
            if live.delegates:
                self._note(live.session_id)

    async def run(self) -> None:
        """Roll up whoever is noted, for ever."""
        while True:
            await self._ring.wait()
            self._ring.clear()
            while self._due:
                parent_id = next(iter(self._due))
                del self._due[parent_id]
                try:
                    await self.settle(await self._registry.get(parent_id))
                except StoreError as error:
                    _log.warning("Parent %s could not be rolled up: %s", parent_id, error)
                    self._due[parent_id] = None
                    await asyncio.sleep(_RETRY_S)

    async def settle(self, parent: LiveSession) -> None:
        """Bring one parent's state in line with its children's. Raises StoreError."""
        async with parent.lock:
            if parent.turn is not None:
                return  # its planner is at work; once it has ended
            children = [child.record for child in await self._registry.children(parent)]
            counted = counting(children, parent.record)
            rolled = rollup_presented(counted, self._unmovable)
            for child_id in rolled.attach:
                self._bring_back(child_id)
            state = guarded(parent.record.state, rolled.state)
            if state is parent.record.state:
                await self._keep_verified(parent, counted)
                return
            if state.is_terminal and parent.record.held:
                return  # once it is let go (CONTRACTS 1.4)
            parts = [child for child in children if is_part(parent.record, child)]
            sources = await self._sources(parts) if state is records.SessionState.COMPLETED else ()
            found = await self._verified(parent, counted, state)
            told = _telling(parent, state, parts, counted, rolled.mismatches, sources, found)
            await self._registry.append(*parent.drafts(*told))

    async def _sources(
        self, children: Sequence[records.Session]
    ) -> tuple[records.FieldSource, ...]:
        """Return where the values of the children's results were read."""
        if not results(children):
            return ()
        read = [
            (child, published(await self._registry.events(child.session_id))) for child in children
        ]
        return sources_of_parts(read)

    async def _verified(
        self, parent: LiveSession, children: Sequence[records.Session], state: records.SessionState
    ) -> records.Verification:
        """Judge a completed parent by its requirements and its children's evidence."""
        if state is not records.SessionState.COMPLETED:
            return records.Verification()
        said = {
            child.session_id: verification_in(await self._registry.events(child.session_id))
            for child in children
        }
        return parent_verification(parent.record, children, said)

    async def _keep_verified(self, parent: LiveSession, counted: Sequence[records.Session]) -> None:
        """Follow what was said of a child after its parent was completed."""
        record = parent.record
        said = record.verified_by in {records.VerifiedBy.OPERATOR, records.VerifiedBy.CHECKER}
        if record.state is not records.SessionState.COMPLETED or not counted or said:
            return
        found = await self._verified(parent, counted, record.state)
        if (found.verified_by, found.verdict) != (record.verified_by, record.verdict):
            await self._registry.append(
                *parent.drafts(protocol.VerificationRecorded(verification=found))
            )

    def _bring_back(self, child_id: str) -> None:
        """Attach the app of a completed child; its parent is rolled up again then."""
        if child_id not in self._attaching:
            self._attaching.add(child_id)
            self._supervisor.start(self._attach(child_id), f"attaching of session {child_id}")

    async def _attach(self, child_id: str) -> None:
        try:
            child = await self._registry.get(child_id)
            result = await self._targets.move(child, records.TargetAction.ATTACH)
            if result.status is not records.TargetStatus.OK:
                self._unmovable.add(child_id)
        finally:
            self._attaching.discard(child_id)
        self._note(child.record.parent_id)

    def _note_if_parent(self, session_id: str) -> None:
        if self._registry.delegates(session_id):
            self._note(session_id)

    def _note(self, parent_id: str) -> None:
        self._due[parent_id] = None
        self._ring.set()


def _telling(
    parent: LiveSession,
    state: records.SessionState,
    parts: Iterable[records.Session],
    counted: tuple[records.Session, ...],
    mismatches: tuple[str, ...],
    sources: tuple[records.FieldSource, ...],
    found: records.Verification,
) -> tuple[protocol.EventMsg, ...]:
    """Return what a parent's move tells: the outcome of its children, then the move."""
    told: tuple[protocol.EventMsg, ...] = ()
    reason = f"rolled up from {len(counted)} sessions"
    if state is records.SessionState.COMPLETED:
        members = tuple(parts)
        told = (
            protocol.VerificationRecorded(verification=found),
            protocol.ResultPublished(
                text=summary(members),
                result=results(members),
                sources=sources,
                speaker=records.Speaker.PRODUCT,
            ),
        )
        if not found.is_met:
            reason = f"{reason}; {completed_reason(found)}"
    elif state is records.SessionState.FAILED:
        told = (
            protocol.ErrorEvent(
                message="\n".join((*mismatches, summary(tuple(parts)))),
                kind=ErrorKind.GOAL,
                remedy="Resume the session to send off again what did not succeed.",
            ),
        )
    unpaused = parent.flagging(paused=False) if state.is_terminal else ()
    return (*told, *unpaused, protocol.SessionStateChanged(state=state, reason=reason))
