"""The regular task on a paper phone: what is stored, in which order, and how turns end."""

import asyncio
from collections.abc import Sequence

import pytest

from agent.errors import (
    DeviceLostError,
    DeviceTimeoutError,
    InputRefusedError,
    ModelError,
    TreeUnavailableError,
)
from agent.loop.task_context import Limits, Steering
from agent.models.model import ModelReply
from agent.protocol import (
    AgentMessage,
    EventMsg,
    ObservationRecorded,
    PlanUpdate,
    SteerApplied,
    StepCompleted,
    StreamError,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, UiNode
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, Clock, raw, says, scripted, task, texts


async def test_a_step_is_stored_in_order_with_the_intent_before_the_deed() -> None:
    counter = Counter()
    context = MemoryContext(
        scripted(says("click_element", speech="I press it.", element=1), DONE), counter.phone
    )
    before: list[tuple[str, int]] = []
    context.on_emit = lambda msg: before.append((type(msg).__name__, counter.count))
    end = await task().run(context)
    assert (end.completed, end.message) == (True, "All done.")
    assert before[:6] == [
        ("StepStarted", 0),
        ("ObservationRecorded", 0),
        ("AgentMessage", 0),
        ("ToolCallRequested", 0),
        ("ToolCallFinished", 1),
        ("StepCompleted", 1),
    ]
    requested = context.of(ToolCallRequested)[0]
    assert isinstance(requested, ToolCallRequested)
    assert requested.element is not None
    assert (requested.element.label, requested.kind) == ("Press", "action")
    assert requested.point == requested.element.bounds.center
    assert results(context)[0] == 'OK: Clicked [1] "Press". Now shows "pressed 1".'
    assert results(context)[-1] == "RESOLVED: All done."


class SlowToKeep(MemoryContext):
    async def put_blob(self, data: bytes, media_type: str) -> str:
        for _ in range(100):
            await asyncio.sleep(0)
        return await super().put_blob(data, media_type)


async def test_nothing_that_a_turn_keeps_is_left_unkept_when_it_ends() -> None:
    context = SlowToKeep(
        scripted(*[says("click_element", element=1)] * 2),
        Counter().phone,
        answer=lambda _question: "no",
        limits=Limits(max_total_steps=1),
    )
    others = asyncio.all_tasks()
    end = await task().run(context)
    assert not end.completed
    assert asyncio.all_tasks() == others
    # Of two looks: their frames, their trees; the prompt and the reply.
    assert len(context.blobs) >= 5


async def test_what_a_step_knows_at_one_moment_is_stored_together() -> None:
    context = await run(
        scripted(*[says("click_element", speech="I press it.", element=1)] * 2, DONE)
    )
    together = [[type(msg).__name__ for msg in append] for append in context.appends]
    # A phone that was not looked at yet is looked at for long, so the step is told of before.
    assert together[:2] == [["StepStarted"], ["ObservationRecorded"]]
    intent, result = ["AgentMessage", "ToolCallRequested"], ["ToolCallFinished", "StepCompleted"]
    assert together[2:7] == [intent, result, ["StepStarted", "ObservationRecorded"], intent, result]


async def test_the_screen_that_verified_an_action_is_the_next_steps_observation() -> None:
    counter = Counter()
    looks = 0
    screen = counter.screen

    def counted() -> Sequence[UiNode]:
        nonlocal looks
        looks += 1
        return screen()

    counter.phone.screen = counted
    await run(scripted(DONE), counter)
    first = looks
    looks = 0
    context = await run(scripted(says("click_element", element=1), DONE), counter)
    # One tap looks the label up once; the screen after it is read twice to be stable, and once
    # more beside its picture.
    assert looks == first + 4
    first_seen, second_seen = context.of(ObservationRecorded)
    assert isinstance(first_seen, ObservationRecorded)
    assert isinstance(second_seen, ObservationRecorded)
    assert second_seen.observation.change.startswith("CONTENT_UPDATED")
    assert second_seen.observation.started_ms <= second_seen.observation.ended_ms
    assert first_seen.observation.frame is not None
    assert first_seen.observation.frame.digest in context.blobs
    assert first_seen.observation.tree_digest in context.blobs


async def test_prompt_and_reply_are_kept_and_usage_is_added_up() -> None:
    context = await run(scripted(says("wait", seconds=1), DONE))
    requested = context.of(ToolCallRequested)[0]
    assert isinstance(requested, ToolCallRequested)
    assert b"Press" in context.blobs[requested.prompt_digest]
    assert b"wait" in context.blobs[requested.reply_digest]
    assert context.session.usage.calls == 2
    assert context.session.steps == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (raw("click_element", '{"element": '), "not valid JSON"),
        (raw("click_element", '{"element": 77}'), "there is no element [77]"),
        (raw("fly", "{}"), 'there is no tool "fly"'),
        (says("launch_app", app="org.nothing"), "no installed app"),
    ],
)
async def test_a_bad_call_is_a_failed_result_and_the_work_goes_on(reply: object, said: str) -> None:
    model = scripted(reply, DONE)  # type: ignore[arg-type]
    context = await run(model)
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert finished.outcome is ActionOutcome.FAILED
    assert said in finished.text
    assert said in texts(model)[-2]


async def test_a_phone_that_refuses_touches_is_told_with_what_its_owner_can_do() -> None:
    counter = Counter()
    remedy = 'On the phone, switch on "USB debugging (Security settings)".'
    counter.phone.failures["tap"] = [InputRefusedError("paper refuses touches.", remedy)]
    context = await run(scripted(says("click_element", element=1), DONE), counter)
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert finished.outcome is ActionOutcome.FAILED
    assert finished.text == (
        "FAILED: paper refuses touches. No tap and no key works on it until its owner acts. "
        f"{remedy}"
    )


async def test_a_time_out_leaves_the_outcome_unknown_and_looks_again() -> None:
    counter = Counter()
    counter.phone.failures["tap"] = [DeviceTimeoutError("The tap took too long.")]
    model = scripted(says("click_element", element=1), DONE)
    context = await run(model, counter)
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert finished.outcome is ActionOutcome.UNKNOWN
    assert finished.text.startswith("UNKNOWN: ")
    assert len(context.of(ObservationRecorded)) == 2


async def test_a_lost_device_is_waited_for_and_no_model_is_called_meanwhile() -> None:
    counter = Counter()
    model = scripted(says("click_element", element=1), DONE)
    counter.phone.failures["tap"] = [DeviceLostError("Unplugged.")]
    counter.phone.failures["capture"] = []
    context = MemoryContext(model, counter.phone)

    def unplug(msg: EventMsg) -> None:
        if isinstance(msg, ToolCallFinished) and msg.outcome is ActionOutcome.UNKNOWN:
            counter.phone.failures["tree"] = [DeviceLostError("Unplugged.")]

    calls_while_away: list[int] = []
    context.on_emit = unplug
    context.on_wait = lambda: calls_while_away.append(len(model.requests))
    end = await task().run(context)
    assert end.completed
    assert context.waits_for_device == 1
    assert calls_while_away == [1]


async def test_a_device_that_stays_away_ends_the_turn_with_its_error() -> None:
    counter = Counter()
    counter.phone.failures["tree"] = [DeviceLostError("Unplugged.")]
    with pytest.raises(DeviceLostError):
        await run(scripted(DONE), counter)


async def test_a_phone_without_a_tree_is_observed_and_says_why() -> None:
    counter = Counter()
    counter.phone.failures["tree"] = [TreeUnavailableError("null root node")] * 99
    model = scripted(DONE)
    context = await run(model, counter)
    observed = context.of(ObservationRecorded)[0]
    assert isinstance(observed, ObservationRecorded)
    assert observed.observation.tree_note == "null root node"
    assert "(no UI tree: null root node)" in texts(model)[-1]


async def test_the_step_limit_ends_the_turn_and_plans_are_free() -> None:
    plan, other = (
        says("update_plan", plan=[{"step": step, "status": "in_progress"}]) for step in "ab"
    )
    model = scripted(plan, says("wait", seconds=0), other, says("wait", seconds=0))
    context = MemoryContext(model, Counter().phone, limits=Limits(max_steps=2))
    end = await task().run(context)
    assert not end.completed
    assert "limit of 2 steps" in end.message
    counted = [m.counted for m in context.of(StepCompleted) if isinstance(m, StepCompleted)]
    assert counted == [False, True, False, True]
    assert len(context.of(PlanUpdate)) == 2


async def test_uncounted_steps_are_bounded_too() -> None:
    plans = [says("update_plan", plan=["a"]) for _ in range(5)]
    context = MemoryContext(scripted(*plans), Counter().phone, limits=Limits(max_total_steps=4))
    end = await task().run(context)
    assert not end.completed
    assert "4 steps in all" in end.message


async def test_a_model_that_calls_no_tool_is_reminded_and_then_given_up() -> None:
    silent = scripted(*[ModelReply(text=f"I am thinking {n}") for n in range(4)])
    context = MemoryContext(silent, Counter().phone)
    end = await task().run(context)
    assert not end.completed
    assert "no tool 4 times" in end.message
    assert any("You did not call a tool" in text for text in texts(silent))
    assert len(context.of(AgentMessage)) == 4


async def test_finish_without_success_ends_incomplete_with_its_reason() -> None:
    context = MemoryContext(
        scripted(says("finish", success=False, summary="There is no such app.")), Counter().phone
    )
    end = await task().run(context)
    assert (end.completed, end.message) == (False, "There is no such app.")


async def test_steering_reaches_the_next_request_and_is_recorded() -> None:
    model = scripted(DONE)
    context = MemoryContext(model, Counter().phone)
    context.steering.append(Steering(message_id="m1", text="Use the blue one."))
    await task().run(context)
    assert context.of(SteerApplied) == [SteerApplied(message_id="m1", step=1)]
    assert "The operator says: Use the blue one." in texts(model)


async def test_an_answer_reaches_the_model_and_silence_is_a_failure() -> None:
    for answer, said in (("Berlin", "The operator answers: Berlin"), (None, "Nobody answered")):
        model = scripted(says("ask_user", question="Where?", options=["Berlin", "Rome"]), DONE)
        context = await run(model, answer=lambda _q, answer=answer: answer)
        assert [o.label for o in context.questions[0].options] == ["Berlin", "Rome"]
        assert said in results(context)[0]


async def test_five_model_failures_end_the_turn_and_each_retry_is_told() -> None:
    clock = Clock()
    busy = [ModelError("busy", retryable=True, status=503) for _ in range(5)]
    context = MemoryContext(scripted(*busy), Counter().phone)
    with pytest.raises(ModelError):
        await task(clock).run(context)
    delays = [m.delay_ms for m in context.of(StreamError) if isinstance(m, StreamError)]
    assert delays == [4000, 8000, 16000, 30000]


async def test_every_action_tool_waits_for_a_review_in_the_background_and_the_turn_ends() -> None:
    counter = Counter()
    for reply in (
        says("click_element", element=1),
        says("long_press_element", element=1),
        says("type_text", text="x", element=3),
    ):
        context = MemoryContext(scripted(reply), counter.phone, background=True)
        end = await task().run(context)
        assert not end.completed
        assert "background.confirmation_required" in end.message
        assert end.review is not None and end.review.review is not None
        assert end.review.subject is not None and end.review.subject.frame is not None
        # The call stays open: what is decided resolves it.
        assert results(context) == []
    assert counter.phone.done == []
    context = MemoryContext(scripted(says("wait", seconds=1), DONE), counter.phone, background=True)
    assert (await task().run(context)).completed
