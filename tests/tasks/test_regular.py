"""The regular task on a paper phone: what is stored, in which order, and how turns end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from agent.errors import DeviceLostError, DeviceTimeoutError, ModelError, TreeUnavailableError
from agent.models.model import MessageKind, ModelReply, Role
from agent.protocol import (
    AbortReason,
    AgentMessage,
    EventMsg,
    ObservationRecorded,
    PlanUpdate,
    RequestUserInput,
    SteerApplied,
    StepCompleted,
    StepStarted,
    StreamError,
    ToolCallFinished,
    ToolCallRequested,
    TurnAborted,
)
from agent.records import ActionOutcome, Question, UiNode
from agent.tasks.task import Limits, Steering
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, Clock, ScriptedModel, raw, says, scripted, task, texts


class Counter:
    """A page with a button that counts its presses, a field, and a button that sends."""

    def __init__(self) -> None:
        self.count = 0
        self.text = ""
        self.focused = False
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        return (
            button("Press", 0.3),
            node(f"pressed {self.count}", (0.1, 0.4, 0.9, 0.45)),
            field("Message", 0.5, self.text, focused=self.focused),
            button("Send", 0.6),
        )

    def on(self, what: str) -> None:
        if what in {"tap Press", "tap Send"}:
            self.count += 1
        elif what == "tap Message":
            self.focused = True
        elif what == "clear":
            self.text = ""
        elif what.startswith("type "):
            self.text += what.removeprefix("type ")


def results(context: MemoryContext) -> list[str]:
    return [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]


def yes(_question: Question) -> str:
    return "Approve"


async def run(
    model: ScriptedModel, counter: Counter | None = None, **more: object
) -> MemoryContext:
    context = MemoryContext(model, (counter or Counter()).phone, **more)  # type: ignore[arg-type]
    await task().run(context)
    return context


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
    plan = says("update_plan", plan=[{"step": "a", "status": "in_progress"}])
    model = scripted(plan, says("wait", seconds=0), plan, says("wait", seconds=0))
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


async def test_only_the_first_of_several_calls_is_carried_out_and_that_is_said() -> None:
    both = says("click_element", element=1)
    twice = type(both)(tool_calls=both.tool_calls * 2)
    counter = Counter()
    context = await run(scripted(twice, DONE), counter)
    assert counter.count == 1
    assert "1 other calls were left out" in results(context)[0]


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


# --- safety ----------


async def test_safety_a_click_by_number_on_a_send_button_waits_for_approval() -> None:
    counter = Counter()
    model = scripted(says("click_element", element=4, expected="Nothing happens."), DONE)
    context = await run(model, counter, answer=yes)
    assert context.questions[0].kind == "approval"
    assert '"Send"' in context.questions[0].text
    assert counter.count == 1
    assert results(context)[0].startswith("OK: ")


@pytest.mark.parametrize("answer", [None, "Deny", "maybe"])
async def test_safety_silence_and_no_are_no(answer: str | None) -> None:
    counter = Counter()
    again = says("click_element", element=4)
    context = await run(scripted(again, again, DONE), counter, answer=lambda _q: answer)
    assert counter.count == 0
    assert len(context.questions) == 1
    assert results(context)[0].startswith("FAILED: ")
    assert "already refused" in results(context)[1]


async def test_safety_an_element_that_is_gone_after_the_approval_is_not_clicked() -> None:
    counter = Counter()

    def vanish(_question: Question) -> str:
        counter.phone.screen = lambda: (button("Pay now", 0.6),)
        return "Approve"

    context = await run(scripted(says("click_element", element=4), DONE), counter, answer=vanish)
    assert counter.phone.done == []
    assert "not there now" in results(context)[0]


async def test_safety_a_label_that_changed_at_its_end_during_the_approval_is_not_clicked() -> None:
    amount = "5"
    label = "Pay the bill of the electricity company, in all {} euros"
    phone = PaperPhone(lambda: (button(label.format(amount), 0.4),))

    def raise_it(_question: Question) -> str:
        nonlocal amount
        amount = "500"
        return "Approve"

    context = MemoryContext(
        scripted(says("click_element", element=1), DONE), phone, answer=raise_it
    )
    await task().run(context)
    assert phone.done == []
    assert "not there now" in results(context)[0]


async def test_safety_enter_is_not_pressed_where_the_focus_has_gone_meanwhile() -> None:
    counter = Counter()
    counter.focused, counter.text = True, "hello"

    def rewrite(_question: Question) -> str:
        counter.text = "something else"
        return "Approve"

    press = says("press_button", button="ENTER")
    context = await run(scripted(press, DONE), counter, answer=rewrite)
    assert len(context.questions) == 1
    assert counter.phone.done == []
    context = await run(scripted(press, DONE), counter, answer=yes)
    assert counter.phone.done == ["press ENTER"]


async def test_safety_text_goes_to_its_field_though_the_focus_moved_during_the_approval() -> None:
    counter = Counter()
    counter.focused = True

    def move(_question: Question) -> str:
        counter.focused = False
        return "Approve"

    typed = says("type_text", text="password: hunter2")
    await run(scripted(typed, DONE), counter, answer=move)
    assert counter.phone.done == ["tap Message", "type password: hunter2"]


class Rows:
    """A list whose rows each have a button that deletes; a dialog may ask once more."""

    def __init__(self, *, confirms: bool) -> None:
        self.left = [0.2, 0.4, 0.6]
        self.asked: float | None = None
        self.confirms = confirms
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        if self.asked is not None:
            return (button("Cancel", 0.5), button("Delete", 0.7))
        return tuple(button("Delete", y) for y in self.left)

    def on(self, what: str) -> None:
        if self.confirms and self.asked is None:
            self.asked = self.left[0]
        else:
            self.left, self.asked = self.left[1:], None


async def test_safety_one_approval_deletes_one_thing() -> None:
    rows = Rows(confirms=False)
    press = says("click_element", element=1)
    context = MemoryContext(scripted(press, press, press, DONE), rows.phone, answer=yes)
    await task().run(context)
    assert len(context.questions) == 3
    assert rows.left == []


async def test_safety_the_phones_own_question_is_covered_by_the_approval() -> None:
    rows = Rows(confirms=True)
    steps = (says("click_element", element=1), says("click_element", element=2))
    context = MemoryContext(scripted(*steps, DONE), rows.phone, answer=yes)
    await task().run(context)
    assert len(context.questions) == 1
    assert len(rows.left) == 2


async def test_a_screen_that_cannot_be_read_after_the_approval_is_no_end_of_the_turn() -> None:
    counter = Counter()

    def stutter(_question: Question) -> str:
        counter.phone.failures["tree"] = [TreeUnavailableError("no tree")] * 50
        counter.phone.failures["capture"] = [DeviceTimeoutError("no picture")]
        return "Approve"

    press = says("click_element", element=4)
    context = MemoryContext(scripted(press, DONE), counter.phone, answer=stutter)
    end = await task().run(context)
    assert end.completed
    assert counter.phone.done == []
    assert "nothing was done" in results(context)[0]


async def test_safety_a_swipe_over_a_slider_that_pays_waits_for_approval() -> None:
    phone = PaperPhone(lambda: (node("Slide to pay", (0.1, 0.4, 0.9, 0.5)),))
    swipe = says("scroll", direction="left", element=1)
    context = MemoryContext(scripted(swipe, DONE), phone)
    await task().run(context)
    assert '"Slide to pay"' in context.questions[0].text
    assert phone.done == []


async def test_safety_a_card_is_never_typed_and_stands_nowhere() -> None:
    counter = Counter()
    typed = says("type_text", text="4111 1111 1111 1111", element=3)
    context = await run(scripted(typed, DONE), counter, answer=yes)
    assert counter.phone.done == []
    assert context.questions == []
    assert "not allowed" in results(context)[0]
    everything = repr(context.events) + repr(context.blobs)
    assert "4111 1111" not in everything


async def test_personal_data_on_the_screen_is_in_no_event_no_blob_and_no_request() -> None:
    counter = Counter()
    screen = counter.screen
    counter.phone.screen = lambda: (*screen(), node("SSN 123-45-6789", (0.1, 0.7, 0.9, 0.75)))
    model = scripted(DONE)
    context = await run(model, counter)
    assert "123-45-6789" not in repr(context.events) + repr(model.requests)
    kept = [data for data in context.blobs.values() if b"<h>" not in data]
    assert not any(b"123-45-6789" in data for data in kept)


async def test_every_action_tool_waits_for_a_review_in_the_background_and_the_turn_ends() -> None:
    counter = Counter()
    for reply in (
        says("click_element", element=1),
        says("long_press_element", element=1),
        says("type_text", text="x", element=3),
        says("scroll", direction="down"),
        says("press_button", button="HOME"),
        says("launch_app", app="com.android.settings"),
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


async def test_text_is_typed_only_once_its_field_has_the_focus() -> None:
    counter = Counter()
    context = await run(scripted(says("type_text", text="hello", element=3), DONE), counter)
    assert counter.phone.done == ["tap Message", "type hello"]
    assert results(context)[0].endswith("The field now holds it.")


async def test_a_field_is_emptied_before_it_is_typed_into_only_when_the_model_says_so() -> None:
    counter = Counter()
    counter.text, counter.focused = "old", True
    typing = says("type_text", text="hello", element=3, clear=True)
    emptying = says("type_text", text="", element=3, clear=True)
    context = await run(scripted(typing, emptying, DONE), counter)
    assert counter.phone.done == ["clear", "type hello", "clear"]
    assert results(context)[0].startswith("OK: Typed")
    assert results(context)[1].startswith("OK: Emptied the field")


async def test_what_the_screen_only_counts_is_listed_on_demand_and_can_be_clicked() -> None:
    counter = Counter()
    many = [button(f"b{n}", 0.15 + n / 60) for n in range(40)]
    counter.phone.screen = lambda: many
    model = scripted(says("more_elements"), says("click_element", element=40), DONE)
    context = await run(model, counter)
    assert results(context)[0].startswith("OK: 10 more items")
    assert '  [40] btn: "b39"' in results(context)[0]
    assert counter.phone.done == ["tap b39"]
    counted = [m.counted for m in context.of(StepCompleted) if isinstance(m, StepCompleted)]
    assert counted[:2] == [False, True]


async def test_text_is_not_typed_into_another_field_that_keeps_the_focus() -> None:
    counter = Counter()
    other = field("Other", 0.8, focused=True)
    screen = counter.screen
    counter.phone.screen = lambda: (*(n for n in screen() if not n.focused), other)
    counter.phone.on = lambda _what: None
    context = await run(scripted(says("type_text", text="hello", element=3), DONE), counter)
    assert "type hello" not in counter.phone.done
    assert "another field kept the focus" in results(context)[0]


async def test_the_third_identical_action_without_effect_is_not_carried_out() -> None:
    counter = Counter()
    counter.phone.on = lambda _what: None
    model = scripted(*[says("click_element", element=1) for _ in range(3)], DONE)
    context = await run(model, counter)
    assert counter.phone.done == ["tap Press"] * 2
    assert "exactly this twice" in results(context)[2]


# --- going on after an interruption ----------


class Crash(Exception):
    """The core dies here."""


async def stopped(
    counter: Counter,
    model: ScriptedModel,
    when: Callable[[EventMsg], bool] = lambda _msg: False,
    answer: Callable[[Question], str | None] = yes,
) -> MemoryContext:
    """Run until an event that must not be stored, or a question that is not answered any more."""
    context = MemoryContext(model, counter.phone, answer=answer)

    def crash(msg: EventMsg) -> None:
        if when(msg):
            raise Crash

    context.on_emit = crash
    with pytest.raises(Crash):
        await task().run(context)
    context.on_emit = None
    await context.emit(TurnAborted(turn_id="t-1", reason=AbortReason.RECOVERED))
    return context


def is_result(msg: EventMsg) -> bool:
    return isinstance(msg, ToolCallFinished)


def never_answered(_question: Question) -> str:
    raise Crash


def resumed(broken: MemoryContext, model: ScriptedModel, **more: object) -> MemoryContext:
    """Go on with a turn, on the same phone."""
    return MemoryContext(model, broken.phone, past=tuple(broken.events), turn_id="t-2", **more)  # type: ignore[arg-type]


async def test_an_action_without_a_result_is_unknown_and_is_not_repeated() -> None:
    counter = Counter()
    broken = await stopped(counter, scripted(says("click_element", element=1)), is_result)
    assert counter.count == 1
    model = scripted(DONE)
    context = resumed(broken, model)
    end = await task().run(context)
    assert end.completed
    assert counter.count == 1
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert finished.outcome is ActionOutcome.UNKNOWN
    assert model.requests[0].messages[-1].kind is MessageKind.OBSERVATION
    assert any("The work was interrupted" in text for text in texts(model))
    steps = [m.step for m in context.of(StepStarted) if isinstance(m, StepStarted)]
    assert steps == [1, 2]


async def test_a_resumed_conversation_is_the_interrupted_one_and_pairs_every_call() -> None:
    first = scripted(says("click_element", element=1, speech="One."), says("wait", seconds=0))
    broken = await stopped(
        Counter(), first, lambda msg: isinstance(msg, StepStarted) and msg.step == 3
    )
    model = scripted(DONE)
    await task().run(resumed(broken, model))
    before, after = first.requests[-1].messages, model.requests[0].messages
    assert [m.text for m in after[: len(before)]] == [m.text for m in before]
    assert [m.tool_calls for m in after[: len(before)]] == [m.tool_calls for m in before]
    for at, message in enumerate(after):
        if message.tool_calls:
            answer = after[at + 1]
            assert (answer.role, answer.call_id) == (Role.TOOL, message.tool_calls[0].call_id)


async def test_an_action_that_still_waited_for_approval_is_taken_up_again() -> None:
    counter = Counter()
    model = scripted(says("click_element", element=4))
    broken = await stopped(counter, model, answer=never_answered)
    context = resumed(broken, scripted(DONE), answer=yes)
    await task().run(context)
    assert counter.count == 1
    asked = [m.question for m in context.of(RequestUserInput) if isinstance(m, RequestUserInput)]
    assert asked[-1].call_id == asked[0].call_id
    assert results(context)[0].startswith("OK: ")


async def test_an_approved_action_that_was_cut_off_is_unknown() -> None:
    counter = Counter()
    broken = await stopped(counter, scripted(says("click_element", element=4)), is_result)
    context = resumed(broken, scripted(DONE), answer=yes)
    await task().run(context)
    assert counter.count == 1
    assert results(context)[0].startswith("UNKNOWN: ")


async def test_a_question_that_was_open_is_asked_on_under_its_own_call() -> None:
    model = scripted(says("ask_user", question="Which?"))
    broken = await stopped(Counter(), model, answer=never_answered)
    going_on = scripted(DONE)
    context = resumed(broken, going_on, answer=lambda _q: "The left one")
    await task().run(context)
    assert context.questions[0].call_id == broken.questions[0].call_id
    assert "The operator answers: The left one" in texts(going_on)
