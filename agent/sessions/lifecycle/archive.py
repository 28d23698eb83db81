"""Carry out ops on session records: fork, roll back, keep, prune, delete, import.

The rules (`rollback`, `fork`, `retention`, `rollout_read`) do no store I/O. Invariants: nothing is
dropped from a session that may still run on its own; blobs are dropped after the events that name
them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from agent import protocol
from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.records import Autonomy, Session, Speaker
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rollout.rollout_read import Rollout, read_blobs, read_rollout
from agent.sessions.rules.creation import new_session_id, requested_id
from agent.sessions.rules.fork import Fork, copied, cut, cut_after_step
from agent.sessions.rules.retention import (
    LooseTree,
    TreeView,
    beyond_newest,
    clear,
    loose,
    oldest_first,
)
from agent.sessions.rules.rollback import rolled_back
from agent.sessions.tree.app_targets import Targets
from agent.store.store import EventDraft
from agent.text import counted, one_line

RecordOp: TypeAlias = (
    protocol.SessionFork
    | protocol.SessionRollback
    | protocol.SessionKeep
    | protocol.SessionDelete
    | protocol.SessionClear
    | protocol.SessionPrune
    | protocol.SessionImport
)
_DAY_MS = 86_400_000
_GB = 1_000_000_000
CLEAR_REFUSED = "sessions clear requires --all"
"""The refusal of Codex Android's bridge, word for word."""


class Archive:
    """The session records of one core."""

    def __init__(self, parts: Services, operations: Operations, targets: Targets) -> None:
        self._parts = parts
        self._targets = targets
        self._operations = operations
        self._one_at_a_time = asyncio.Lock()

    async def carry_out(
        self, op: RecordOp, submission_id: str, *, by: ClientInfo | None = None
    ) -> protocol.Reply:
        """Carry out an op on a record. Raises like the methods below.

        Args:
            by: the client; None for the core itself.
        """
        reply = partial(protocol.Reply, submission_id=submission_id)
        match op:
            case protocol.SessionFork():
                return reply(session_id=await self.fork(op, submission_id))
            case protocol.SessionRollback(session_id=session_id, turns=turns):
                rolled_back_id = await self.rollback(session_id, turns, submission_id, by=by)
                return reply(session_id=rolled_back_id)
            case protocol.SessionKeep(session_id=session_id, kept=kept):
                return reply(session_id=await self.keep(session_id, kept, submission_id))
            case protocol.SessionDelete(session_id=session_id):
                deleted = await self.delete(session_id)
                await self._parts.store.blobs.collect()
                return reply(session_ids=deleted)
            case protocol.SessionClear(all=is_meant):
                if not is_meant:
                    raise UsageError(CLEAR_REFUSED)
                cleared = await clear(self._parts.store.root_ids, self._drop)
                await self._parts.store.blobs.collect()
                return reply(
                    session_ids=cleared.cleared,
                    failed_ids=cleared.failed,
                    remaining_ids=cleared.remaining,
                )
            case protocol.SessionPrune():
                return reply(session_ids=await self.prune())
            case protocol.SessionImport(path=path, as_new=as_new):
                session_id, skipped = await self.import_(Path(path), as_new, submission_id)
                return reply(session_id=session_id, skipped_lines=skipped)
            case _:
                assert_never(op)

    # --- copies ----------

    async def fork(self, op: protocol.SessionFork, submission_id: str = "") -> str:
        """Copy a session's past into a new one; see `SessionFork`. Raises UsageError.

        A request with the id of an earlier one copies nothing.
        """
        if op.after_step and op.before_message >= 0:
            raise UsageError(
                "A fork ends before a message or after a step, not both.", "Give one of the two."
            )
        own_id = requested_id(op.request_id)
        if own_id:
            with suppress(UsageError):
                return (await self._parts.registry.get(own_id)).session_id
        live = await self._parts.registry.get(op.session_id)
        events = await self._parts.registry.events(live.session_id)
        past = (
            cut_after_step(events, op.after_step)
            if op.after_step
            else cut(events, op.before_message)
        )
        own_id = own_id or new_session_id()
        drafts = copied(
            past,
            own_id,
            new_question_id=_new_question_id,
            reason=f"forked from {live.session_id}",
            forked=Fork(live.session_id, self._parts.clock_ms()),
        )
        await self._parts.registry.append(*_submitted(drafts, submission_id))
        return own_id

    async def import_(self, path: Path, as_new: bool, submission_id: str = "") -> tuple[str, int]:
        """Read a rollout into the store.

        Returns:
            The session, and how many lines could not be used.

        Raises:
            UsageError: no such file, too large, no rollout, or its session is here already.
            StoreError: it could not be stored; nothing of it was.
        """
        if not path.is_absolute():
            raise UsageError(
                f"{one_line(str(path), 300)} is relative.", "Name the rollout by its whole path."
            )
        rollout = await asyncio.to_thread(read_rollout, path)
        own_id = new_session_id() if as_new else rollout.session_id
        await self._check_absent(own_id)
        await self._put_blobs(path, rollout)
        drafts = copied(
            self._within_bounds(rollout.events),
            own_id,
            new_question_id=_new_question_id,
            reason="imported; it can be resumed",
        )
        await self._parts.registry.append(*_submitted(drafts, submission_id))
        return own_id, rollout.skipped_lines

    def _within_bounds(self, events: Sequence[protocol.Event]) -> tuple[protocol.Event, ...]:
        """Limit the autonomy of an imported session to that of local ones."""
        first, *others = events
        assert isinstance(first.msg, protocol.SessionConfigured), "a rollout begins with it"
        session = first.msg.session
        order = tuple(Autonomy)
        most = Autonomy(self._parts.settings.safety.autonomy)
        autonomy = min(session.autonomy, most, key=order.index)
        # A file from elsewhere starts none of the operator's programs, and its words allow nothing.
        ours = replace(
            session, autonomy=autonomy, tool_servers=(), goal_speaker=Speaker.MODEL, goal_said=""
        )
        own = protocol.SessionConfigured(session=ours)
        return (replace(first, msg=own), *map(_not_ours, others))

    async def _put_blobs(self, path: Path, rollout: Rollout) -> None:
        blobs = read_blobs(path, rollout)
        while (blob := await asyncio.to_thread(next, blobs, None)) is not None:
            await self._parts.store.blobs.put(blob.data, blob.media_type)

    async def _check_absent(self, session_id: str) -> None:
        try:
            found = await self._parts.store.session(session_id)
        except UsageError:
            return
        if found.session_id == session_id:
            raise UsageError(
                f"Session {session_id} is already in the store.",
                "Import it as a new session (--as-new).",
            )

    # --- rollback ----------

    async def rollback(
        self, session_id: str, turns: int, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> str:
        """Hide the newest turns of a session.

        Args:
            by: the client; None for the core itself.

        Raises:
            UsageError: no such session, no turn to hide, or a session that only delegates.
            WrongStateError: a turn is open, or another client drives it.
        """
        live = await self._parts.registry.get(session_id)
        if live.delegates:
            raise UsageError(
                f"Session {live.session_id} delegates: it has no turns of its own.",
                "Roll back one of its children.",
            )
        async with live.lock:
            self._parts.clients.check_driver(live.session_id, by)
            if live.turn is not None or live.record.turn_id:
                raise WrongStateError(
                    f"A turn of session {live.session_id} is open.",
                    f"Stop it first: switchboard sessions stop {live.session_id}",
                )
            fact = rolled_back(await self._parts.registry.events(live.session_id), turns)
            await self._parts.registry.append(*live.drafts(fact, submission_id=submission_id))
            live.steering.clear()
        return live.session_id

    # --- retention ----------

    async def keep(self, session_id: str, kept: bool, submission_id: str = "") -> str:
        """Keep a tree, or return it to retention; returns its top-level session. Raises
        UsageError.
        """
        live = await self._parts.registry.get(session_id)
        if live.record.parent_id:
            live = await self._parts.registry.get(live.record.parent_id)
        if live.record.kept != kept:
            await self._parts.registry.append(
                *live.drafts(protocol.SessionKept(kept=kept), submission_id=submission_id)
            )
        return live.session_id

    async def prune(self) -> tuple[str, ...]:
        """Drop the frames and caches of trees beyond the retention; returns their top sessions.

        Settled trees that are not kept lose them `keep_days` after their last change, the oldest
        sooner while all blobs exceed `keep_gb`. Displays stay open for the newest `keep_trees`
        only.
        """
        async with self._one_at_a_time:
            old = await self._prune_old()
            # What went by its age counts no more: whose display stays is then the same however
            # many ends one look comes after.
            if self._targets.has_displays:
                await self._release_displays()
            return old + await self._prune_large()

    async def _settled(self) -> AsyncIterator[tuple[Session, ...]]:
        """Read the top sessions that have ended and still have frames, by pages, newest first."""
        async for page in self._parts.store.unpruned_roots():
            yield tuple(root for root in page if root.state.is_terminal)

    async def _prune_old(self) -> tuple[str, ...]:
        days = self._parts.settings.retention.keep_days
        until_ms = self._parts.clock_ms() - days * _DAY_MS
        reason = f"Its frames were dropped after {counted(days, 'day')}."
        pruned: list[str] = []
        async for page in self._settled():
            old = [await self._tree(root) for root in page if root.updated_ms <= until_ms]
            pruned += [
                tree.session_ids[0]
                for tree in oldest_first(loose(old))
                if tree.changed_ms <= until_ms and await self._drop_frames(tree, reason)
            ]
        if pruned:
            await self._parts.store.blobs.collect()
        return tuple(pruned)

    async def _release_displays(self) -> None:
        seen: dict[int, int] = {}
        async for page in self._settled():
            trees = [await self._tree(root) for root in page]
            for tree in beyond_newest(trees, self._parts.settings.retention.keep_trees, seen):
                self._targets.release(*tree.session_ids)

    async def _prune_large(self) -> tuple[str, ...]:
        store = self._parts.store
        limit_gb = self._parts.settings.retention.keep_gb
        if await store.blobs.size_bytes() <= limit_gb * _GB:
            return ()
        trees: list[LooseTree] = []
        async for page in self._settled():
            trees += loose([await self._tree(root) for root in page if not root.kept])
        reason = f"Its frames were dropped: all together took more than {limit_gb:g} GB."
        pruned: list[str] = []
        for tree in oldest_first(trees):
            if await self._drop_frames(tree, reason):
                pruned.append(tree.session_ids[0])
                await store.blobs.collect()
                if await store.blobs.size_bytes() <= limit_gb * _GB:
                    break
        return tuple(pruned)

    async def _drop_frames(self, tree: LooseTree, reason: str) -> bool:
        """Prune a tree unless it runs again or is kept by now; a collection drops its blobs."""
        async with self._at_rest(tree.session_ids) as still_settled:
            if still_settled:
                msg = protocol.SessionPruned(reason=reason)
                drafts = (EventDraft(one, msg) for one in tree.session_ids)
                await self._parts.registry.append(*drafts)
        return still_settled

    @asynccontextmanager
    async def _at_rest(self, session_ids: Sequence[str]) -> AsyncIterator[bool]:
        """Lock a tree; returns whether it is still settled and not kept."""
        async with AsyncExitStack() as locks:
            members: list[LiveSession] = []
            # The parent first, as everybody does who holds more than one.
            for session_id in session_ids:
                live = await self._parts.registry.get(session_id)
                await locks.enter_async_context(live.lock)
                members.append(live)
            yield all(
                one.turn is None and one.record.state.is_terminal and not one.record.kept
                for one in members
            )

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Delete a settled tree; returns its sessions.

        Raises:
            UsageError: no such session, or one that is part of a larger tree.
            WrongStateError: it may still run on its own, or it is kept.
        """
        root = await self._parts.store.session(session_id)
        if root.parent_id:
            raise UsageError(
                f"Session {root.session_id} is part of a tree.",
                f"Delete the whole of it: {root.parent_id}",
            )
        tree = await self._tree(root)
        if tree.is_kept:
            raise WrongStateError(
                f"Session {root.session_id} is kept.",
                f"Release it first: switchboard sessions keep --not {root.session_id}",
            )
        if not tree.is_settled:
            raise WrongStateError(
                f"Session {root.session_id} has not ended.",
                f"Cancel it first: switchboard sessions cancel {root.session_id}",
            )
        async with self._at_rest(tree.session_ids) as still_settled:
            if not still_settled:
                raise WrongStateError(f"Session {root.session_id} is active again.", "Try again.")
            await self._parts.store.delete_sessions(*tree.session_ids)
        for one in tree.session_ids:
            self._parts.withheld.drop(one)
        return tree.session_ids

    async def _drop(self, session_id: str) -> None:
        live: LiveSession = await self._parts.registry.get(session_id)
        if not live.record.kept:
            await self._operations.cancel(live.session_id, reason="cleared by the operator")
        await self.delete(session_id)

    async def _tree(self, root: Session) -> TreeView:
        below: list[Session] = []
        above = [root]
        while above:
            found = await self._parts.store.children(above.pop().session_id)
            below += found
            above += found
        return TreeView(root=root, below=tuple(below))


def _submitted(drafts: tuple[EventDraft, ...], submission_id: str) -> tuple[EventDraft, ...]:
    first, *others = drafts
    return (EventDraft(first.session_id, first.msg, submission_id, first.dated_ms), *others)


def _not_ours(event: protocol.Event) -> protocol.Event:
    """Attribute none of a file's words to the operator."""
    match event.msg:
        case protocol.UserMessage() as msg:
            return replace(event, msg=replace(msg, speaker=Speaker.MODEL, said=""))
        case protocol.QuestionAnswered() as msg:
            return replace(event, msg=replace(msg, speaker=Speaker.MODEL))
        case _:
            return event


def _new_question_id() -> str:
    return f"q-{token_hex(6)}"
