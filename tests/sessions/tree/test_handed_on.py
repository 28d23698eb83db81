"""What a plan hands on to its sessions stays with them, whatever becomes of their turns."""

from pathlib import Path

import pytest

from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.requirement_list import given_with_goal
from agent.loop.verification.coverage import Wished, covering
from agent.protocol import (
    RequirementsUpdate,
    SessionCreate,
    SessionFork,
    SessionResume,
    SessionRollback,
    Target,
)
from agent.records import Requirement, RequirementOrigin, Session, SessionState
from agent.records.requirements import numbered
from agent.tasks.plan import PlanTask
from tests.fakes import FakeFleet
from tests.sessions.scripted import ScriptedModel, propose
from tests.stage import Stage, of_type

HANDED = "turn on Do Not Disturb"
GOAL = "On Alpha turn on Night Light, on Beta turn on Do Not Disturb"


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2"))


def handed(session: Session) -> list[str]:
    return [r.text for r in session.requirements if r.origin is RequirementOrigin.PLAN]


async def a_tree(stage: Stage) -> tuple[str, str]:
    """Create a tree with one part, and return the ids of both."""
    target = Target(objective="make it quiet", serial="phone-1", requires=(HANDED,))
    parent = (await stage.do(SessionCreate(goal="quiet", targets=(target,)))).session_id
    [child] = await stage.store.children(parent)
    return parent, child.session_id


async def test_it_outlives_the_core_a_rollback_a_fork_and_another_generation(stage: Stage) -> None:
    told: list[tuple[str, ...]] = []

    async def fails(context: TaskContext) -> TurnEnd:
        told.append(given_with_goal(context))
        listed = covering([Wished("make it quiet")], context.session.requirements, "make it quiet")
        await context.emit(RequirementsUpdate(requirements=listed))
        return TurnEnd(completed=False, message="not today")

    stage.parts["make it quiet"] = fails
    async with stage.play():
        parent, child = await a_tree(stage)
        session = await stage.reach(child, SessionState.FAILED)
        assert handed(session) == [HANDED] and len(session.requirements) == 2
        await stage.do(SessionRollback(session_id=child, turns=1))
        assert handed(await stage.store.session(child)) == [HANDED]
        copy = (await stage.do(SessionFork(session_id=child))).session_id
        assert handed(await stage.store.session(copy)) == [HANDED]
    async with stage.play():
        await stage.do(SessionResume(session_id=parent))
        await stage.reach(parent, SessionState.FAILED)
        assert handed(await stage.store.session(child)) == [HANDED]
    assert told == [(HANDED,), (HANDED,)]


async def test_a_planner_hands_on_the_words_that_it_leaves_out(stage: Stage) -> None:
    stage.fleet = FakeFleet("Alpha", "Beta")
    stage.plan = PlanTask
    model = ScriptedModel(
        propose(
            {"objective": "turn on Night Light", "device": "Alpha"},
            {"objective": "make it quiet", "device": "Beta"},
        )
    )
    stage.make_model = lambda session: model
    async with stage.play():
        parent = await stage.create(GOAL)
        await stage.reach(parent, SessionState.COMPLETED)
        first, second = await stage.store.children(parent)
        [listed] = of_type(await stage.msgs(parent), RequirementsUpdate)
    assert handed(second) == [HANDED]
    assert [one.phone for one in listed.requirements] == ["Alpha", "Beta"]
    assert handed(first) == ["turn on Night Light, on"], "as the places of the names part it"


def test_a_model_cannot_take_it_off_its_list() -> None:
    given = numbered([HANDED], RequirementOrigin.PLAN)
    listed = covering([Wished("turn on Night Light")], given, "turn on Night Light")
    assert [one.text for one in listed] == [HANDED, "turn on Night Light"]
    same = covering([Wished("make it quiet"), Wished(HANDED)], given, "make it quiet")
    assert [one.text for one in same] == [HANDED, "make it quiet"]
    doubt = Requirement(number=1, text="x", origin=RequirementOrigin.PLAN, withdrawn=True)
    assert doubt in covering([Wished("y")], (doubt,), "y")
