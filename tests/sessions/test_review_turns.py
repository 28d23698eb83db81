"""Reviews and compactions: they read a session and leave its state alone; and hints are changed."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import ModelError, WrongStateError
from agent.loop.conversation.memory import Memory
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.compaction import KEPT_WORDS_CHARS, compacted_text
from agent.models.model import Model, ModelReply, ModelRequest
from agent.records import ActionOutcome, SessionState, Usage
from agent.tasks.review import read_review
from tests.sessions.scripted import ScriptedModel, call
from tests.stage import Cue, Stage, of_type, waiting_at

COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER
REVIEW = call(
    "publish_review",
    findings=[{"title": "It tapped the wrong row", "step": 1, "confidence": 0.8}],
    explanation="It looked at the label only.",
    confidence=0.7,
    app_card="[card]",
)


def use(stage: Stage, model: Model) -> None:
    stage.make_model = lambda session: model


async def acts(context: TaskContext) -> TurnEnd:
    request = protocol.ToolCallRequested(step=1, call_id="c1", tool="click_element", arguments="{}")
    await context.emit(request)
    done = protocol.ToolCallFinished(
        step=1, call_id="c1", outcome=ActionOutcome.FAILED, text="FAILED: no"
    )
    await context.emit(done)
    return TurnEnd(completed=False, message="it cannot be")


async def until_told(stage: Stage, session_id: str, kind: type) -> list[object]:
    async def told() -> list[object] | None:
        msgs = await stage.msgs(session_id)
        open_turns = len(of_type(msgs, protocol.TaskStarted)) - len(
            [m for m in msgs if isinstance(m, protocol.TaskComplete | protocol.TurnAborted)]
        )
        return msgs if of_type(msgs, kind) and open_turns == 0 else None

    return await stage.until(told, f"{kind.__name__} of {session_id}")


async def test_a_review_reads_a_settled_session_and_leaves_it_settled(stage: Stage) -> None:
    model = ScriptedModel(REVIEW)
    use(stage, model)
    stage.parts["tap"] = acts
    async with stage.play():
        session_id = await stage.create("tap")
        before = await stage.reach(session_id, SessionState.FAILED)
        await stage.do(protocol.SessionReview(session_id=session_id, request="the tap"))
        msgs = await until_told(stage, session_id, protocol.ReviewPublished)
        after = await stage.store.session(session_id)
    [published] = of_type(msgs, protocol.ReviewPublished)
    assert published.review.findings[0].title == "It tapped the wrong row"
    assert published.review.app_card == "[card]"
    assert (after.state, after.latest_error) == (before.state, before.latest_error)
    assert [started.kind for started in of_type(msgs, protocol.TaskStarted)] == [
        "regular",
        "review",
    ]
    shown = model.messages[-1].text
    assert "FAILED: no" in shown and "the tap" in shown


async def test_a_review_that_fails_says_so_and_a_resume_replaces_one_that_runs(
    stage: Stage,
) -> None:
    reached = asyncio.Event()

    class Stuck(ScriptedModel):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            reached.set()
            await asyncio.Event().wait()
            raise AssertionError

    class Broken(ScriptedModel):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            raise ModelError("no key", retryable=False)

    async with stage.play():
        session_id = await stage.create("small")
        await stage.reach(session_id, COMPLETED)
        use(stage, Broken(REVIEW))
        await stage.do(protocol.SessionReview(session_id=session_id))
        msgs = await until_told(stage, session_id, protocol.WarningEvent)
        assert "no key" in of_type(msgs, protocol.WarningEvent)[0].message
        assert (await stage.store.session(session_id)).state is COMPLETED
        use(stage, Stuck(REVIEW))
        await stage.do(protocol.SessionReview(session_id=session_id))
        await asyncio.wait_for(reached.wait(), 30)
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    reasons = [end.reason for end in of_type(msgs, protocol.TurnAborted)]
    assert reasons == [protocol.AbortReason.FAILED, protocol.AbortReason.REPLACED]
    assert [s.kind for s in of_type(msgs, protocol.TaskStarted)] == [
        "regular",
        "review",
        "review",
        "regular",
    ]


async def test_a_session_at_work_is_not_reviewed(stage: Stage) -> None:
    cue = Cue()
    stage.parts["long"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        with pytest.raises(WrongStateError):
            await stage.do(protocol.SessionReview(session_id=session_id))


class SlowReader(ScriptedModel):
    """A reviewer that reads until it is let go."""

    def __init__(self) -> None:
        super().__init__(REVIEW)
        self.cue = Cue()

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        await self.cue.wait()
        return await super().complete(request, on_text)


async def under_review(stage: Stage, reader: SlowReader, session_id: str) -> None:
    await stage.do(protocol.SessionReview(session_id=session_id))
    await reader.cue.there()


async def test_cancelling_an_idle_session_ends_it_though_it_is_being_reviewed(stage: Stage) -> None:
    cue, reader = Cue(), SlowReader()
    stage.parts["long"] = waiting_at(cue)
    use(stage, reader)
    async with stage.play():
        session_id = await stage.create("long")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        await under_review(stage, reader, session_id)
        await stage.do(protocol.SessionCancel(session_id=session_id))
        session = await stage.store.session(session_id)
        ends = of_type(await stage.msgs(session_id), protocol.TurnAborted)
    assert session.state is SessionState.CANCELLED
    assert [end.reason for end in ends] == [
        protocol.AbortReason.INTERRUPTED,
        protocol.AbortReason.CANCELLED,
    ]


async def test_a_review_that_died_with_its_core_is_ended_once_at_the_next_start(
    stage: Stage,
) -> None:
    reader = SlowReader()
    use(stage, reader)
    async with stage.play():
        session_id = await stage.create("go")
        await stage.reach(session_id, COMPLETED)
        await under_review(stage, reader, session_id)
    for _ in range(2):
        async with stage.play():
            msgs = await stage.msgs(session_id)
            session = await stage.store.session(session_id)
        assert [end.reason for end in of_type(msgs, protocol.TurnAborted)] == [
            protocol.AbortReason.RECOVERED
        ]
        assert session.state is COMPLETED


async def test_a_review_is_nothing_to_pause(stage: Stage) -> None:
    reader = SlowReader()
    use(stage, reader)
    async with stage.play():
        session_id = await stage.create("go")
        await stage.reach(session_id, COMPLETED)
        await under_review(stage, reader, session_id)
        with pytest.raises(WrongStateError, match="nothing to pause"):
            await stage.do(protocol.SessionPause(session_id=session_id))
        assert not (await stage.store.session(session_id)).paused


async def test_what_a_parent_is_told_reaches_a_child_that_is_being_reviewed(stage: Stage) -> None:
    cue, reader = Cue(), SlowReader()
    stage.parts["long"] = waiting_at(cue)
    use(stage, reader)
    async with stage.play():
        parent_id = await stage.create("all", "long")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=parent_id))
        [child] = await stage.store.children(parent_id)
        await stage.idle(child.session_id)
        await under_review(stage, reader, child.session_id)
        cue.go.set()
        stage.parts["go another way"] = waiting_at(cue, "another way")
        await stage.do(protocol.UserInput(session_id=parent_id, text="go another way"))
        await stage.reach(child.session_id, COMPLETED)
        told = of_type(await stage.msgs(child.session_id), protocol.UserMessage)
    assert [(one.text, one.steer) for one in told] == [("go another way", False)]


async def test_compacting_replaces_the_turn_and_the_memory_and_keeps_words_and_actions(
    stage: Stage,
) -> None:
    cue = Cue()

    async def part(context: TaskContext) -> str:
        if not cue.reached.is_set():
            await acts(context)
            await cue.wait()
        context.take_steering()
        return "done"

    stage.parts["long work"] = part
    use(stage, ScriptedModel(ModelReply(text="Halfway there.")))
    async with stage.play():
        session_id = await stage.create("long work")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="mind the gap"))
        await stage.do(protocol.SessionCompact(session_id=session_id))
        msgs = await until_told(stage, session_id, protocol.HistoryCompacted)
        assert (await stage.store.session(session_id)).state is WAITING
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
    [compacted] = of_type(msgs, protocol.HistoryCompacted)
    assert "Halfway there." in compacted.text and "mind the gap" in compacted.text
    assert "step 1: click_element {} -> failed: FAILED: no" in compacted.text
    assert [end.reason for end in of_type(msgs, protocol.TurnAborted)] == [
        protocol.AbortReason.REPLACED
    ]
    memory = Memory("long work")
    for msg in msgs:
        memory.fold(msg)  # type: ignore[arg-type]
    assert [message.text for message in memory.messages[2:]] == [compacted.text]
    assert memory.pending is None


async def test_what_a_review_and_a_compaction_take_counts_for_their_session(stage: Stage) -> None:
    used = Usage(calls=1, input_tokens=900, output_tokens=40, cost_usd=0.5)
    async with stage.play():
        session_id = await stage.create("small")
        before = (await stage.reach(session_id, COMPLETED)).usage
        use(stage, ScriptedModel(replace(REVIEW, usage=used)))
        await stage.do(protocol.SessionReview(session_id=session_id))
        await until_told(stage, session_id, protocol.ReviewPublished)
        use(stage, ScriptedModel(ModelReply(text="It was small.", usage=used)))
        await stage.do(protocol.SessionCompact(session_id=session_id))
        await until_told(stage, session_id, protocol.HistoryCompacted)
        after = (await stage.store.session(session_id)).usage
    assert after == before.plus(used).plus(used)


def test_a_compaction_keeps_every_action_and_the_newest_words_that_fit() -> None:
    words = ("oldest " + "x" * KEPT_WORDS_CHARS, "newer", "newest")
    traces = tuple(f"step {n}: tap" for n in range(500))
    text = compacted_text("sum", words, traces)
    assert "oldest" not in text and text.index("newer") < text.index("newest")
    assert all(f"- {trace}" in text for trace in traces)


@pytest.mark.parametrize(
    ("reply", "titles", "explanation"),
    [
        (ModelReply(text="All fine."), [], "All fine."),
        (ModelReply(text=""), [], "The model said nothing."),
        (
            ModelReply(text='So: {"findings": [{"title": "late"}], "explanation": "slow"} .'),
            ["late"],
            "slow",
        ),
        (ModelReply(text='{"findings": 7}'), [], '{"findings": 7}'),
    ],
)
def test_whatever_a_reviewer_writes_becomes_a_review(
    reply: ModelReply, titles: list[str], explanation: str
) -> None:
    review = read_review(reply)
    assert [finding.title for finding in review.findings] == titles
    assert review.explanation == explanation


# --- hints ----------


async def test_a_hint_can_be_changed_or_taken_back_until_a_step_applies_it(stage: Stage) -> None:
    cue, heard = Cue(), []

    async def part(context: TaskContext) -> str:
        await cue.wait()
        for hint in context.take_steering():
            heard.append(hint.text)
            await context.emit(protocol.SteerApplied(message_id=hint.message_id, step=1))
        await second.wait()
        return "done"

    second = Cue()
    stage.parts["walk"] = part
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        for text in ("left", "up"):
            await stage.do(protocol.UserInput(session_id=session_id, text=text))
        hints = [m for m in of_type(await stage.msgs(session_id), protocol.UserMessage) if m.steer]
        left, up = (hint.message_id for hint in hints)
        await stage.do(protocol.SteerEdit(session_id=session_id, message_id=left, text="right"))
        await stage.do(protocol.SteerWithdraw(session_id=session_id, message_id=up))
        with pytest.raises(WrongStateError):
            await stage.do(protocol.SteerEdit(session_id=session_id, message_id=up, text="down"))
        cue.go.set()
        await second.there()
        with pytest.raises(WrongStateError, match="applied"):
            await stage.do(protocol.SteerWithdraw(session_id=session_id, message_id=left))
        second.go.set()
        await stage.reach(session_id, COMPLETED)
    assert heard == ["right"]


async def test_a_hint_changed_after_the_core_died_is_what_the_next_turn_hears(stage: Stage) -> None:
    cue, heard = Cue(), []

    async def part(context: TaskContext) -> str:
        if not cue.reached.is_set():
            await cue.wait()
        heard.extend(hint.text for hint in context.take_steering())
        return "done"

    stage.parts["walk"] = part
    async with stage.play():
        session_id = await stage.create("walk")
        await cue.there()
        await stage.do(protocol.UserInput(session_id=session_id, text="left"))
    async with stage.play():
        [hint] = [m for m in of_type(await stage.msgs(session_id), protocol.UserMessage) if m.steer]
        edit = protocol.SteerEdit(session_id=session_id, message_id=hint.message_id, text="right")
        await stage.do(edit)
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)
        assert len(of_type(await stage.msgs(session_id), protocol.SteerEdited)) == 1
    assert heard == ["right"]
