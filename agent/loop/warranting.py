"""What a turn asks of the warrants: which stand, and one use of one of them.

`agent.warrants` implements it over the store. Invariant: without it nothing is covered.
"""

from dataclasses import dataclass
from typing import Protocol

from agent.records import Effect, EffectVerb, Session, WarrantView
from agent.safety.warrants.reach import Reach, Scene


class Warrants(Protocol):
    """The warrants of a core."""

    def in_force(self) -> tuple[WarrantView, ...]:
        """List those that allow something now, the oldest first."""

    async def use(
        self, warrant_id: str, effect: Effect, scene: Scene, *, session: str, call_id: str
    ) -> Reach | None:
        """Store that an act passes, and return by which clause; None: it does not."""


@dataclass(frozen=True, slots=True)
class _NoWarrants:
    def in_force(self) -> tuple[WarrantView, ...]:
        return ()

    async def use(
        self, warrant_id: str, effect: Effect, scene: Scene, *, session: str, call_id: str
    ) -> Reach | None:
        return None


NO_WARRANTS: Warrants = _NoWarrants()


@dataclass(frozen=True, slots=True)
class Warranting:
    """The warrants as one turn has them.

    Args:
        warrants: of the core.
        reviewer_may_approve: whether the reviewer may answer what is inside one.
        delay_s: how long its answer is shown before it counts.
        two_people: the effects that two operators must approve, which no warrant covers.
    """

    warrants: Warrants = NO_WARRANTS
    reviewer_may_approve: bool = False
    delay_s: float = 8.0
    two_people: tuple[EffectVerb, ...] = ()

    def standing_for(self, session: Session) -> tuple[WarrantView, ...]:
        """List the warrants that hold for a session now."""
        found = self.warrants.in_force()
        return tuple(view for view in found if _holds_for(view, session))


def _holds_for(view: WarrantView, session: Session) -> bool:
    one = view.warrant
    if session.for_job:
        # A job's turn never acts by itself.
        return False
    if one.session_id:
        return session.session_id == one.session_id
    # What a program or a planner began is covered only where the warrant names it.
    return session.has_operators_goal and not session.parent_id
