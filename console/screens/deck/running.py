"""Run a plan, one op per session, report each result, and remember how to undo it.

Invariants: a failure for one session does not affect the others; an undo covers only what was done;
an undo requested during an act runs as soon as the act is done.
"""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from agent.errors import SwitchboardError
from agent.state.reducer import State
from console.keys.controllers import Controller
from console.screens.deck.batch import PAST, Act, Plan, Step, inverse, result_words, sessions

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

_KEPT = 20  # Acts that can be taken back.


class _RunningPlan(NamedTuple):
    done: asyncio.Future[Plan]  # What was done of it; the act is under way until it is known.
    before: State  # The picture when the act was planned.


class BatchRunner(Controller):
    """Sends the ops of plans.

    Args:
        deck: whose app sends them.
    """

    def __init__(self, deck: "BaseDeck") -> None:
        self._deck = deck
        self._asked: list[_RunningPlan] = []

    def can(self, action_id: str) -> bool:
        return bool(self._asked)

    def run(self, plan: Plan, *, undoes: bool = False) -> None:
        """Run a plan in the background.

        Args:
            plan: which op each session gets.
            undoes: whether it undoes an act, and is therefore not undoable.
        """
        app = self._deck.console_app
        if not plan.steps:
            app.say(result_words(plan, ()) if plan.skipped else "There is nothing to do.")
            return
        asked = _RunningPlan(asyncio.get_running_loop().create_future(), app.bridge.state)
        if not undoes:
            self._asked = [*self._asked, asked][-_KEPT:]
        outcomes = [app.ops.attempt(step.op) for step in plan.steps]

        async def carry_out() -> None:
            replies = await asyncio.gather(*outcomes)
            failed = [
                (step, reply.message)
                for step, reply in zip(plan.steps, replies, strict=True)
                if isinstance(reply, SwitchboardError)
            ]
            wrong = {id(step) for step, _ in failed}
            done = tuple(step for step in plan.steps if id(step) not in wrong)
            if not done and asked in self._asked:
                self._asked.remove(asked)
            asked.done.set_result(Plan(plan.act, done))
            self._deck.refresh_all()
            app.say(
                self._result_words(plan, failed, undoes),
                tone="warning" if failed else "information",
            )

        app.spawn(carry_out(), f"to {plan.act.value} {sessions(len(plan.steps))}")

    def _result_words(self, plan: Plan, failed: list[tuple[Step, str]], undoes: bool) -> str:
        said = result_words(plan, failed)
        if undoes and plan.act is Act.TAG:
            return f"Undone: {sessions(len(plan.steps))} tagged as before."
        if undoes:
            return f"Undone: {said[0].lower()}{said[1:]}"
        takes_back = len(failed) < len(plan.steps) and plan.act not in _FINAL
        return f"{said} {self._deck.key_of('view.undo')} undoes it." if takes_back else said

    # --- undo ----------

    def do_view_undo(self) -> None:
        """Undo the newest act on sessions, as far as possible."""
        app = self._deck.console_app
        if not self._asked:
            app.say("There is nothing to undo.")
            return
        asked = self._asked.pop()

        async def take_back() -> None:
            done = await asked.done
            if done.act is Act.WRITE:
                # Which hints still wait is in transcripts, of which only those looked at are here.
                await app.bridge.read_behind(step.session_id for step in done.steps)
            plan = inverse(done, asked.before, app.bridge.state) if done.steps else None
            if plan is not None:
                self.run(plan, undoes=True)
            elif done.steps:
                app.say(f"What was {PAST[done.act].lower()} cannot be undone.")

        app.spawn(take_back(), "to undo")


_FINAL = frozenset({Act.CANCEL, Act.ANSWER, Act.BEGIN, Act.SEND})  # What cannot be taken back.
