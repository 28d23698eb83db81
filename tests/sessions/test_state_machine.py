"""Random operators, phones and crashes: what the stored facts of every session must still say."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent import protocol
from agent.errors import DeviceLostError, SwitchboardError, UsageError, WrongStateError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.models.model import ModelReply, ModelRequest
from agent.sessions.rules.rollup import counting, guarded, rollup
from agent.tasks.plan import PlanTask
from tests.fakes import FakeFleet
from tests.sessions.facts import check_facts
from tests.sessions.scripted import call, propose
from tests.stage import PATIENCE_S, Stage

STARTS = st.sampled_from([True, True, True, False])
LATELY = 5  # Ops go to one of so many sessions, the newest, so that each gets a long life.
PHONES = ("phone-1", "phone-2", "phone-3", "phone-4")
GOALS = ("quick", "fails", "hangs", "asks", "breaks", "loses", "stubborn")
PLANNED = "plans"
PARENTS = frozenset({"delegates", PLANNED})


class AnyModel:
    """Plans where the goal says so, and has nothing to say otherwise."""

    name = "any"
    sees = False

    def __init__(self, goal: str) -> None:
        self._goal = goal

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        await asyncio.sleep(0)
        if "propose_targets" not in {tool.name for tool in request.tools}:
            return ModelReply(text="fine")
        if self._goal == PLANNED:
            return propose({"objective": "quick"}, {"objective": "asks", "device": "phone-2"})
        return call("work_alone")

    async def close(self) -> None:
        return None


class Play:
    """The parts, and how many of them play in one session at once."""

    def __init__(self) -> None:
        self.at_work: Counter[str] = Counter()
        self.go = asyncio.Event()

    def part(self, goal: str) -> Any:
        async def play(context: TaskContext) -> TurnEnd | str:
            session_id = context.session.session_id
            assert self.at_work[session_id] == 0, "two tasks in one session"
            self.at_work[session_id] += 1
            try:
                await context.emit(protocol.AgentMessage(step=1, text="begun"))
                await context.checkpoint()
                for hint in context.take_steering():
                    await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=1))
                return await self._act(goal, context)
            finally:
                self.at_work[session_id] -= 1

        return play

    async def _act(self, goal: str, context: TaskContext) -> TurnEnd | str:
        match goal:
            case "fails":
                return TurnEnd(completed=False, message="it cannot be")
            case "hangs":
                await self.go.wait()
            case "stubborn":
                try:
                    await self.go.wait()
                except asyncio.CancelledError:
                    await asyncio.sleep(0.01)
                    await context.emit(protocol.AgentMessage(step=2, text="never stored"))
            case "asks":
                await context.ask("Which?", call_id="c1", step=1)
            case "breaks":
                raise ZeroDivisionError
            case "loses":
                raise DeviceLostError("The phone is gone.")
            case _:
                pass
        return "done"


class Operators(RuleBasedStateMachine):
    """Any op at any time, phones that come and go, and cores that die."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.directory = tempfile.TemporaryDirectory()
        self.ids: list[str] = []
        self.published: list[protocol.Event] = []

        self.patience = patch("agent.sessions.turns.turns.HARD_ABORT_S", 0.004)
        self.patience.start()
        self.pauses = patch("agent.sessions.rules.next_turn.RECOVERY_PAUSES_S", (0.001,))
        self.pauses.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def one(self, pick: int) -> str:
        lately = self.ids[-LATELY:]
        return lately[pick % len(lately)]

    # --- cores ----------

    @initialize()
    def begin(self) -> None:
        async def build() -> None:
            self.stage = Stage(Path(self.directory.name), FakeFleet(*PHONES))
            self.stage.set(recovery={"device_grace_s": 0.01, "auto_resume": True, "retries": 2})
            self.stage.plan = PlanTask
            self.stage.make_model = lambda session: AnyModel(session.goal)
            self.play = Play()
            for goal in GOALS:
                self.stage.parts[goal] = self.play.part(goal)

        self.run(build())
        self.run(self._spawn())

    async def _spawn(self) -> None:
        self.core_life = AsyncExitStack()
        await self.core_life.enter_async_context(self.stage.play())
        self.stage.store.subscribe(lambda commit: self.published.extend(commit.events))

    @rule(ticks=st.integers(0, 60))
    def the_core_dies(self, ticks: int) -> None:
        async def die() -> None:
            for _ in range(ticks):
                await asyncio.sleep(0)
            stage = self.stage
            await stage.core.close()
            await self.core_life.aclose()
            self.play.at_work.clear()
            await self._spawn()

        self.run(die())

    @rule(rounds=st.integers(1, 15))
    def time_passes(self, rounds: int) -> None:
        async def spin() -> None:
            for _ in range(rounds):
                await asyncio.sleep(0.001)

        self.run(spin())

    # --- phones ----------

    @rule(serial=st.sampled_from(PHONES), ticks=st.integers(0, 30))
    def a_phone_goes_and_comes_back(self, serial: str, ticks: int) -> None:
        async def blink() -> None:
            self.stage.fleet.unplug(serial)
            for _ in range(ticks):
                await asyncio.sleep(0)
            self.stage.fleet.plug(serial)

        self.run(blink())

    @rule()
    def the_hanging_are_let_go(self) -> None:
        async def let_go() -> None:
            self.play.go.set()
            await asyncio.sleep(0.002)
            self.play.go.clear()

        self.run(let_go())

    # --- ops ----------

    def ask(self, *ops: protocol.Op, ticks: int = 0) -> None:
        """Hand ops in at once; what may not be is refused, and nothing else goes wrong."""

        async def request() -> None:
            for _ in range(ticks):
                await asyncio.sleep(0)
            async with asyncio.timeout(PATIENCE_S):
                outcomes = await asyncio.gather(
                    *(self.stage.core.request(op) for op in ops), return_exceptions=True
                )
            for op, outcome in zip(ops, outcomes, strict=True):
                if isinstance(outcome, SwitchboardError):
                    assert isinstance(outcome, WrongStateError | UsageError), (op, outcome)
                elif isinstance(outcome, BaseException):
                    raise outcome
                elif isinstance(op, protocol.SessionCreate):
                    self.ids += [outcome.session_id, *outcome.child_ids]
            await asyncio.sleep(0.002)

        self.run(request())

    @rule(goal=st.sampled_from((*GOALS, PLANNED)), start=STARTS)
    def create(self, goal: str, start: bool) -> None:
        self.ask(protocol.SessionCreate(goal=goal, start=start))

    @rule(goals=st.lists(st.sampled_from(GOALS), min_size=1, max_size=3), start=STARTS)
    def create_a_tree(self, goals: list[str], start: bool) -> None:
        targets = tuple(protocol.Target(objective=goal) for goal in goals)
        self.ask(protocol.SessionCreate(goal="delegates", targets=targets, start=start))

    @rule(
        pick=st.integers(0, 99),
        ticks=st.integers(0, 30),
        kinds=st.lists(
            st.sampled_from(
                [
                    protocol.SessionStart,
                    protocol.Interrupt,
                    protocol.SessionCancel,
                    protocol.SessionPause,
                    protocol.SessionResume,
                    protocol.SessionReview,
                    protocol.SessionCompact,
                ]
            ),
            min_size=1,
            max_size=3,
        ),
    )
    def handle_one(self, pick: int, ticks: int, kinds: list[Any]) -> None:
        if self.ids:
            self.ask(*(kind(session_id=self.one(pick)) for kind in kinds), ticks=ticks)

    @rule(pick=st.integers(0, 99))
    def tell(self, pick: int) -> None:
        if self.ids:
            self.ask(protocol.UserInput(session_id=self.one(pick), text="hint"))

    @rule()
    def answer_all(self) -> None:
        questions = self.run(self.stage.store.open_questions())
        self.ask(
            *(protocol.UserInputAnswer(question_id=q.question_id, answer="this") for q in questions)
        )

    @rule(ticks=st.integers(0, 60))
    def stop_all(self, ticks: int) -> None:
        self.ask(protocol.Interrupt(), ticks=ticks)

    @rule()
    def take_a_settled_child_on_alone(self) -> None:
        for session in self.run(self.stage.store.sessions()):
            if session.parent_id and session.state.is_terminal:
                self.ask(protocol.SessionResume(session_id=session.session_id))
                return

    # --- what must hold ----------

    @invariant()
    def the_facts_of_every_session_are_in_order(self) -> None:
        if not hasattr(self, "core_life"):
            return
        published = list(self.published)
        events = self.run(self.stage.all_events())
        ids = {event.event_id for event in published}
        assert published == [event for event in events if event.event_id in ids]
        for session_id in self.ids:
            mine = [event for event in events if event.session_id == session_id]
            check_facts(mine)

    def teardown(self) -> None:
        async def end() -> None:
            for serial in PHONES:
                self.stage.fleet.plug(serial)
            for _ in range(20):
                await asyncio.sleep(0.005)
            await self._check_roll_up()
            await self._check_nothing_is_stuck()
            await self.core_life.aclose()

        if hasattr(self, "core_life"):
            self.run(end())
        self.patience.stop()
        self.pauses.stop()
        self.runner.close()
        self.directory.cleanup()

    async def _check_nothing_is_stuck(self) -> None:
        """Whatever happened, every session can be ended, and taken on again from there."""
        leaves = [s for s in await self.stage.store.sessions() if s.goal not in PARENTS]
        async with asyncio.timeout(PATIENCE_S):
            for session in leaves:
                await self.stage.core.request(protocol.SessionCancel(session_id=session.session_id))
            for session in leaves:
                await self.stage.core.request(protocol.SessionResume(session_id=session.session_id))

    async def _check_roll_up(self) -> None:
        for session in await self.stage.store.sessions():
            children = await self.stage.store.children(session.session_id)
            if children:
                counted = counting(children, session)
                rolled = rollup(child.state for child in counted)
                assert guarded(session.state, rolled) is session.state


TestOperators = pytest.mark.slow(Operators.TestCase)
TestOperators.settings = settings(
    max_examples=12,
    stateful_step_count=40,
    deadline=None,
    # What fails here depends on the moment; shrinking would chase it for minutes.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
