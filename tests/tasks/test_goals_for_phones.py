"""Trees by a generator: random goals, plans that are true or not, and the phones as the judge."""

import json
from collections import Counter
from types import SimpleNamespace
from typing import NamedTuple, cast

from agent.loop.task_context import TaskContext
from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.verifying import Verifying
from agent.protocol import Target
from agent.records import GoalVerdict, RequirementOrigin, Session, SessionState, VerifiedBy
from agent.records.requirements import numbered
from agent.sessions.rules.parent_verdict import parent_verification
from agent.tasks.delegation import PhoneView
from agent.tasks.goal_reading import parts_of_goal
from agent.tasks.plan_check import gaps, handed_on, required
from tests.tasks.goals_for_phones import (
    Goal,
    Plan,
    done_by,
    goals,
    is_torn,
    is_true,
    plans,
    true_reading,
)

SEED, GOALS = 20, 14
Read = tuple[tuple[str, tuple[str, ...], int], ...]


class Reader:
    """A model that reads a goal as it is told to."""

    name, sees, notice = "reader", False, ""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        self.asked.append(request)
        parts = [{"words": w, "phones": list(p), "how_many": n} for w, p, n in self.read]
        call = ToolCall(call_id="", name="read_goal", arguments=json.dumps({"parts": parts}))
        return ModelReply(tool_calls=(call,))

    async def close(self) -> None:
        return None


class Came(NamedTuple):
    """What became of a tree whose children are honest, and whose planner insists."""

    told: tuple[str, ...]
    verified: bool
    true: bool


async def came_of(goal: Goal, plan: Plan, read: Read) -> Came:
    reader = Reader(read)
    context = cast(
        TaskContext, SimpleNamespace(model=reader, verifying=Verifying(model=reader, is_same=True))
    )
    views = [PhoneView(info=phone) for phone in goal.phones]
    found = await parts_of_goal(context, goal.text, views, plan.targets, ())
    told = gaps(goal.text, plan.targets, found.parts, goal.phones, plan.scope)
    doubts = told if found.parts else (*told, found.why)
    targets = handed_on(goal.text, plan.targets, found.parts)
    listed = required(targets, found.parts, doubts, ())
    state: dict[str, frozenset[str]] = {}
    for target in targets:
        done = state.get(target.serial, frozenset()) | done_by(goal, target)
        state[target.serial] = done
    parent = Session(session_id="p", goal=goal.text, created_ms=1, requirements=listed)
    children = [_child(at, goal, target) for at, target in enumerate(targets)]
    verified = parent_verification(parent, children, {}).is_met
    return Came(told, verified, is_true(goal, state))


def _child(at: int, goal: Goal, target: Target) -> Session:
    torn = is_torn(goal, target)
    return Session(
        session_id=f"c{at}",
        goal=target.objective,
        created_ms=1,
        serial=target.serial,
        state=SessionState.COMPLETED,
        verdict=GoalVerdict.CANNOT_TELL if torn else GoalVerdict.MET,
        verified_by=VerifiedBy.NOBODY if torn else VerifiedBy.EFFECTS,
        requirements=numbered(target.requires, RequirementOrigin.PLAN),
    )


async def test_only_a_true_plan_is_verified_and_a_reader_who_helps_others_helps_rarely() -> None:
    helped, false = Counter[str](), 0
    for at, goal in enumerate(goals(SEED, GOALS)):
        for plan in plans(goal, at):
            came = await came_of(goal, plan, true_reading(goal))
            assert came.verified is came.true, (goal, plan, came)
            assert not (came.true and came.told), (goal, plan, came)
            alone = await came_of(goal, plan, ())
            assert alone.true or not alone.verified, (goal, plan, alone)
            assert alone.verified or plan.kind != "honest, copied", "each has the whole goal"
            lying = await came_of(goal, plan, plan.reading)
            false += not lying.true
            helped[f"{goal.form}: {plan.kind}"] += lying.verified and not lying.true
    assert helped.total() <= 0.05 * false, helped
