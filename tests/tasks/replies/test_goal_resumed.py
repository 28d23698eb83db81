"""A turn that was cut and resumed reads what it would have read uncut."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.loop.conversation import prompts
from agent.loop.task_context import Steering
from agent.models.model import ModelReply, ModelRequest
from agent.models.verifying import Verifying
from agent.records import SessionState
from agent.sessions.rules.turn_input import stage
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter
from tests.tasks.scripted import DONE, ScriptedModel, says, scripted, task

GOAL = "Press and count one"
STOPS = says("finish", success=False, summary="Enough.")
ACTS = {
    "press": says("click_element", element=1),
    "note": says("remember", text="the counter counts"),
    "plan": says("update_plan", plan=[{"step": "Press", "status": "in_progress"}]),
}
Act = Literal["press", "note", "plan", "hint"]
Begins = Literal["goal", "other", "continued", "once more", "after a stop"]
Part = tuple[Begins, list[Act]]


def after(past: Sequence[protocol.Event], *msgs: protocol.EventMsg) -> list[protocol.Event]:
    first = len(past) + 1
    more = (
        protocol.Event(event_id=n, session_id="s-1", seq=n, ts_ms=n, msg=msg)
        for n, msg in enumerate(msgs, first)
    )
    return [*past, *more]


def steps_of(events: Sequence[protocol.Event]) -> list[int]:
    return [n for n, event in enumerate(events) if isinstance(event.msg, protocol.StepCompleted)]


class Play:
    """A session of several turns, one after the other, on one page."""

    def __init__(self) -> None:
        self.events: list[protocol.Event] = []
        self.generation = 0
        self.counter = Counter()

    def begin(self, how: Begins, number: int) -> None:
        """Store what comes before a turn."""
        if not self.events:
            return
        match how:
            case "after a stop":
                stopped = protocol.TurnAborted(turn_id="t", reason=protocol.AbortReason.INTERRUPTED)
                self.events = after(self.events, stopped)
                return
            case "continued" | "once more":
                self.generation += 1
                state = SessionState.COMPLETED if how == "once more" else SessionState.FAILED
                self.events = after(self.events, protocol.SessionStateChanged(state=state))
                again = protocol.SessionContinued(generation=self.generation, after_step=number)
                self.events = after(self.events, protocol.TaskComplete(turn_id="t"), again)
            case _:
                text = GOAL if how == "goal" else f"Count to ten, {number}"
                prompt = protocol.UserMessage(text=text, message_id=f"p-{number}")
                self.events = after(self.events, protocol.TaskComplete(turn_id="t"), prompt)

    def context(
        self, model: ScriptedModel, number: str, past: Sequence[protocol.Event], **more: Verifying
    ) -> MemoryContext:
        staged = stage(past)
        return MemoryContext(
            model,
            self.counter.phone,
            goal=GOAL,
            past=past,
            turn_id=f"t-{number}",
            asks_goal=staged.asks_goal,
            steering=list(staged.steering),
            **more,
        )

    async def turn(self, acts: Sequence[Act], number: int) -> None:
        """Play a turn, and compare it with itself, cut after each of its steps."""
        replies = [
            self._hinted(f"{number}-{at}") if a == "hint" else ACTS[a] for at, a in enumerate(acts)
        ]
        model = scripted(*replies, STOPS)
        before = len(self.events)
        live = self.live = self.context(model, str(number), self.events)
        await task().run(live)
        ends = [
            n
            for n, e in enumerate(live.events)
            if isinstance(e.msg, protocol.StepCompleted) and n >= before
        ]
        for step, end in enumerate(ends[:-1], 1):
            resumed = scripted(STOPS)
            await task().run(self.context(resumed, f"{number}-{step}", live.events[: end + 1]))
            assert prompt_lines(resumed.requests[0]) == prompt_lines(model.requests[step])
        self.events = live.events

    def _hinted(self, key: str) -> Callable[[ModelRequest], ModelReply]:
        def reply(_request: ModelRequest) -> ModelReply:
            hint = protocol.UserMessage(text=f"Mind {key}", message_id=f"h-{key}", steer=True)
            self.live.events[:] = after(self.live.events, hint)
            self.live.steering.append(Steering(message_id=hint.message_id, text=hint.text))
            return ACTS["press"]

        return reply


def prompt_lines(request: ModelRequest) -> list[str]:
    """Return what a model is told, but for the screen of the moment and that it was interrupted."""
    return [one.text for one in request.messages[:-1] if one.text != prompts.RESUMED]


begins: st.SearchStrategy[Begins] = st.sampled_from(
    ["goal", "other", "continued", "once more", "after a stop"]
)
acts: st.SearchStrategy[list[Act]] = st.lists(
    st.sampled_from(["press", "note", "plan", "hint"]), min_size=1, max_size=4
)


@settings(max_examples=20)
@given(st.lists(st.tuples(begins, acts), min_size=1, max_size=4))
@example([("goal", ["press"]), ("other", ["press"]), ("continued", ["plan", "press", "hint"])])
@example([("goal", ["press"]), ("other", ["hint"]), ("after a stop", ["plan", "press"])])
def test_a_turn_reads_the_same_cut_or_uncut(parts: list[Part]) -> None:
    async def play() -> None:
        session = Play()
        for number, (how, acts) in enumerate(parts):
            session.begin(how, number)
            await session.turn(acts, number)

    asyncio.run(play())


async def test_a_goal_that_was_met_is_asked_for_anew_and_judged_by_what_was_done_since() -> None:
    session = Play()
    await session.turn(["press"], 0)
    session.begin("once more", 1)
    verifier = scripted(says("give_verdict", verdict="met", evidence=["2"], reason="It counts."))
    model = scripted(ACTS["press"], DONE, DONE)
    judged = session.context(model, "1", session.events, verifying=Verifying(model=verifier))
    await task().run(judged)
    asked = [one.text for one in model.requests[0].messages if GOAL in one.text]
    assert len(asked) == 2
    assert prompts.goal_again_text(GOAL) == asked[1]
    assert all(one.text != prompts.RESUMED for one in model.requests[0].messages)
    assert verifier.requests[0].messages[-1].text.count("OK: Clicked") == 1


async def test_a_goal_that_was_not_met_is_resumed_and_not_asked_for_anew() -> None:
    session = Play()
    await session.turn(["press"], 0)
    session.begin("continued", 1)
    model = scripted(STOPS)
    await task().run(session.context(model, "1", session.events))
    texts = [one.text for one in model.requests[0].messages]
    assert sum(GOAL in text for text in texts) == 1
    assert prompts.RESUMED in texts


async def test_a_claim_is_judged_by_what_was_done_before_the_cut_too() -> None:
    session = Play()
    for number, how in enumerate(("goal", "other", "continued")):
        session.begin(how, number)
        await session.turn(["press"], number)
    cut = max(steps_of(session.events))
    verifier = scripted(says("give_verdict", verdict="met", evidence=["1"], reason="It counts."))
    model = scripted(ACTS["press"], DONE, DONE)
    judged = session.context(model, "9", session.events[:cut], verifying=Verifying(model=verifier))
    await task().run(judged)
    assert verifier.requests[0].messages[-1].text.count("OK: Clicked") == 2
