"""Which trees keep their frames, caches and displays, and what a clear does: rules without I/O.

Not the dropping (`agent.sessions.lifecycle.archive`). Invariants: a tree that is at work, queued,
waiting or kept is never pruned; transcripts and the record of approvals are nobody's to prune.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from agent.errors import SwitchboardError
from agent.records import Session

CLEAR_PASSES = 32  # The most rounds of one clear (Codex Android's `sessions clear`).


class TreeView(msgspec.Struct, frozen=True, kw_only=True):
    """A top-level session and everything below it."""

    root: Session
    below: tuple[Session, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether nothing in it may still move by itself."""
        return all(one.state.is_terminal for one in (self.root, *self.below))

    @property
    def is_kept(self) -> bool:
        """Whether the operator keeps it."""
        return any(one.kept for one in (self.root, *self.below))

    @property
    def changed_ms(self) -> int:
        """When the newest event of any of it was stored, in milliseconds since the epoch."""
        return max(one.updated_ms for one in (self.root, *self.below))

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Its sessions, the top one first."""
        return (self.root.session_id, *(one.session_id for one in self.below))


class LooseTree(NamedTuple):
    """What is to be known of a settled tree that nobody keeps: little, as there may be many."""

    changed_ms: int
    session_ids: tuple[str, ...]


def loose(trees: Iterable[TreeView]) -> tuple[LooseTree, ...]:
    """Return the settled trees that nobody keeps, in their order."""
    return tuple(
        LooseTree(tree.changed_ms, tree.session_ids)
        for tree in trees
        if tree.is_settled and not tree.is_kept
    )


def oldest_first(trees: Sequence[LooseTree]) -> tuple[LooseTree, ...]:
    """Return trees, the longest unchanged first.

    Args:
        trees: the newest first; of those that changed in the same millisecond the older goes first.
    """
    return tuple(sorted(reversed(trees), key=lambda tree: tree.changed_ms))


def beyond_newest(
    trees: Iterable[TreeView], keep: int, seen: dict[int, int]
) -> tuple[TreeView, ...]:
    """Return the trees beyond the newest `keep` settled ones: their displays are to be closed.

    Trees that jobs opened count for each job by itself, all others together.

    Args:
        trees: those that still have frames, the newest first; or a page of them.
        keep: how many settled trees keep their displays.
        seen: how many were on the pages before, by job; what is on this one is added.
    """
    beyond: list[TreeView] = []
    for tree in trees:
        if not tree.is_settled or tree.is_kept:
            continue
        group = tree.root.job_id
        seen[group] = seen.get(group, 0) + 1
        if seen[group] > keep:
            beyond.append(tree)
    return tuple(beyond)


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """What a clear came to."""

    cleared: tuple[str, ...] = ()
    failed: dict[str, str] = {}
    remaining: tuple[str, ...] = ()


async def clear(
    present: Callable[[], Awaitable[Sequence[str]]], drop: Callable[[str], Awaitable[None]]
) -> Cleared:
    """Drop everything that is there, again and again until nothing is or nothing moves.

    Args:
        present: lists the top-level sessions that are left.
        drop: does away with one; raises SwitchboardError when it cannot.
    """
    cleared: dict[str, None] = {}
    failed: dict[str, str] = {}
    left = await present()
    for _ in range(CLEAR_PASSES):
        if not left:
            break
        for session_id in left:
            try:
                await drop(session_id)
            except SwitchboardError as error:
                failed[session_id] = str(error)
            else:
                cleared[session_id] = None
                failed.pop(session_id, None)
        before, left = left, await present()
        if set(left) >= set(before):
            break
    # What a drop said it had done away with, and is still there, was not cleared.
    gone = tuple(session_id for session_id in cleared if session_id not in set(left))
    return Cleared(
        cleared=gone,
        failed={key: said for key, said in failed.items() if key in set(left)},
        remaining=tuple(left),
    )
