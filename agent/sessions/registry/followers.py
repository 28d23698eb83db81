"""Who in the core hears of committed facts, and in which order.

Not the listeners outside (`agent.sessions.registry.listeners`). Invariants: the registry comes
first, so whoever comes after it finds the records as these facts make them; those outside last.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent import protocol
from agent.state.commit import Commit

Follow: TypeAlias = Callable[[tuple[protocol.Event, ...]], None]
FollowCommit: TypeAlias = Callable[[Commit], None]

_OF_STEPS = frozenset(
    {
        protocol.StepStarted,
        protocol.ObservationRecorded,
        protocol.AgentMessage,
        protocol.ToolCallRequested,
        protocol.ToolCallFinished,
        protocol.StepCompleted,
    }
)
"""Nearly every event is one of these; only the registry and the listeners follow them."""


class Followers:
    """The followers of one core.

    Args:
        registry: keeps the records.
        rooms: hear of what changes sessions, and of no step's inside.
        outside: hears of everything.
        elsewhere: hears, instead of the registry and the rooms, of what another host stored; None
            where what is stored is this core's alone.
    """

    def __init__(
        self,
        registry: FollowCommit,
        rooms: Sequence[Follow],
        outside: FollowCommit,
        elsewhere: FollowCommit | None = None,
    ) -> None:
        self._elsewhere = elsewhere
        self._registry = registry
        self._rooms = tuple(rooms)
        self._outside = outside

    def on_commit(self, commit: Commit) -> None:
        """Publish committed facts to every follower."""
        if self._elsewhere is not None and commit.is_elsewhere:
            self._elsewhere(commit)
            self._outside(commit)
            return
        self._registry(commit)
        news = tuple(event for event in commit.events if type(event.msg) not in _OF_STEPS)
        if news:
            for follow in self._rooms:
                follow(news)
        self._outside(commit)
