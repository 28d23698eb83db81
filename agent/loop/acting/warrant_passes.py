"""Let pass what is inside a signed warrant, or have its card say so and its reviewer answer it.

`agent.safety.warrants.reach` decides what is inside. Invariants: a use is stored before the act it
lets pass; what structure cannot read is asked about; the reviewer answers only where the operator
switched that on, only if it reads the act as the card and the clause do, and after its answer was
shown.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from agent.loop.task_context import PreparedAnswer, TaskContext
from agent.protocol import AllowanceUsed
from agent.records import ActReview, Autonomy, Clause, Effect, Element, Warrant
from agent.safety.approval import APPROVE
from agent.safety.warrants.agreement import contradicts, disagreement, with_items
from agent.safety.warrants.reach import Reach, Scene, reach_of
from agent.safety.warrants.wording import cited, reach_words


@dataclass(frozen=True, slots=True)
class Nearest:
    """How an act stands to the warrant that it is inside of, or nearest to."""

    warrant: Warrant
    reach: Reach
    effect: Effect
    scene: Scene

    @property
    def clause(self) -> Clause:
        return self.warrant.clauses[self.reach.clause - 1]

    @property
    def words(self) -> str:
        """How it stands, as a sentence for its card."""
        said = reach_words(self.warrant.warrant_id, self.reach)
        return f"{said[:1].upper()}{said[1:]}."


@dataclass(slots=True)
class WarrantPasses:
    """The warrants of one turn."""

    context: TaskContext
    _used: Reach | None = None
    """The use that the reviewer's answer took, until it was told of."""

    def nearest(self, effect: Effect, scene: Scene) -> Nearest | None:
        """Find the warrant that an act is inside of, else the nearest; None: none is about it."""
        found = []
        for view in self.context.warranting.standing_for(self.context.session):
            reach = reach_of(effect, view.warrant, view.uses, scene)
            if reach is not None:
                found.append(Nearest(view.warrant, reach, effect, scene))
        inside = next((one for one in found if one.reach.is_inside), None)
        return inside or max(found, key=lambda one: one.reach.depth, default=None)

    def words(self) -> tuple[str, ...]:
        """Return the operator's words of the warrants that hold, for the reviewer."""
        held = self.context.warranting.standing_for(self.context.session)
        return tuple(view.warrant.words for view in held)

    async def passes(
        self, near: Nearest | None, review: ActReview | None, element: Element | None, call_id: str
    ) -> bool:
        """Store that an act passes without a question, and return whether it does."""
        if near is None or not near.reach.is_inside or contradicts(review, near.effect):
            return False
        if self.context.session.autonomy is not Autonomy.TRUSTED_ACTIONS:
            return False
        reach = await self._use(near, call_id)
        if reach is None:
            return False
        await self._tell(near, reach, element, call_id)
        return True

    def prepared(
        self, near: Nearest | None, review: ActReview | None, call_id: str
    ) -> PreparedAnswer | None:
        """Return the reviewer's answer to an approval; None: it gives none."""
        warranting = self.context.warranting
        if near is None or review is None or not warranting.reviewer_may_approve:
            return None
        if disagreement(review, near.effect, near.clause):
            return None
        read = self.as_read(near, review)
        if read is None:
            return None

        async def settle() -> bool:
            self._used = await self._use(read, call_id)
            return self._used is not None

        name = cited(near.warrant.warrant_id, read.reach.clause)
        return PreparedAnswer(warranting.delay_s, APPROVE, f"the reviewer, {name}", settle)

    def as_read(self, near: Nearest, review: ActReview) -> Nearest | None:
        """Return how an act stands with what the reviewer says it buys; None: it is not inside."""
        effect = with_items(near.effect, review, near.clause)
        scene = replace(near.scene, reads_items=True)
        found = self.nearest(effect, scene)
        is_inside = found is not None and found.reach.is_inside
        return found if is_inside and found is not None and _is_same(found, near) else None

    async def told_of_use(
        self, near: Nearest | None, element: Element | None, call_id: str
    ) -> None:
        """Tell of the use that the reviewer's answer took, if it did."""
        used, self._used = self._used, None
        if used is not None and near is not None:
            await self._tell(near, used, element, call_id)

    async def _use(self, near: Nearest, call_id: str) -> Reach | None:
        return await self.context.warranting.warrants.use(
            near.warrant.warrant_id,
            near.effect,
            near.scene,
            session=self.context.session.session_id,
            call_id=call_id,
        )

    async def _tell(
        self, near: Nearest, reach: Reach, element: Element | None, call_id: str
    ) -> None:
        used = AllowanceUsed(
            call_id=call_id,
            at=-1,
            amount=reach.amount,
            effect=near.effect,
            element=element,
            warrant_id=near.warrant.warrant_id,
            clause=reach.clause,
        )
        await self.context.emit(used)


def _is_same(one: Nearest, other: Nearest) -> bool:
    same_clause = one.reach.clause == other.reach.clause
    return one.warrant.warrant_id == other.warrant.warrant_id and same_clause
