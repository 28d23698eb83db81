"""Only what was tried on the phone is judged; waits, notes and services of the core are not."""

import pytest

from agent.loop.screen.changes import NO_CHANGE
from agent.loop.task_context import ServiceOp, Steering
from agent.models.model import ModelReply
from agent.models.verifying import Verifying
from agent.protocol import Event, JobCreate, Reply, UserMessage
from agent.records import Budget, Question
from agent.tools.arguments import ServiceArguments, ToolKind
from agent.tools.gestures.rotate import RotateScreen
from agent.tools.registry import TOOLS, may_change_screen
from agent.tools.tool_groups import ToolGroup
from tests.jobs.timing.test_schedule import a_job
from tests.loop.paper_phone import PaperPhone, button, field
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, Clock, says, scripted, task, texts

JOB = says("background_job_create", title="Plants", prompt="look", reason="asked")


def created(op: ServiceOp) -> Reply:
    job = a_job(title=op.title) if isinstance(op, JobCreate) else None
    return Reply(submission_id="", job=job)


def yes(question: Question) -> str:
    return question.options[0].label if question.options else "Yes."


@pytest.mark.parametrize(
    "reply",
    [
        JOB,
        says("remember", text="A fact."),
        says("update_plan", plan=[{"step": "Look", "status": "pending"}]),
        says("wait", seconds=3),
        says("ask_user", question="Which one?"),
        says("more_tools", group="jobs"),
        says("clipboard", do="copy", text="a"),
        says("clipboard", do="read"),
        says("click_element", element=99),
        says("watcher_list", reason="asked"),
    ],
)
async def test_nothing_is_judged_where_nothing_was_tried(reply: ModelReply) -> None:
    counter = Counter()
    model = scripted(reply, reply, reply, reply, says("finish", success=False, summary="No."))
    context = MemoryContext(model, counter.phone, answer=yes, reply=created)
    # An operator who was waited for may have used the phone: the screen is looked at anew.
    context.disturbed_ms = context.clock + 10**9
    await task().run(context)
    shown = [
        next(text for text in reversed(texts(model, at)) if text.startswith("Steps left"))
        for at in range(len(model.requests))
    ]
    assert len(shown) > 3
    for text in shown:
        assert NO_CHANGE not in text
        assert "stayed the same" not in text
        assert "changed nothing" not in text


def test_only_tools_that_act_on_the_phone_may_change_its_screen() -> None:
    for name, tool in TOOLS.items():
        acts = tool.tool_kind is ToolKind.ACTION and not issubclass(tool, ServiceArguments)
        assert may_change_screen(name, '{"do": "paste"}') is acts
    assert not may_change_screen("clipboard", '{"do": "copy", "text": "a"}')
    assert not may_change_screen("unnamed", "{}")


def test_a_phone_tool_of_a_group_may_change_the_screen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grouped(RotateScreen, frozen=True, kw_only=True):
        tool_group = ToolGroup.JOBS

    monkeypatch.setitem(TOOLS, "rotate", Grouped)
    assert may_change_screen("rotate", "{}")


async def test_a_long_wait_ends_when_the_operator_says_something() -> None:
    counter, clock = Counter(), Clock()
    model = scripted(says("wait", seconds=300), says("finish", success=False, summary="No."))
    context = MemoryContext(model, counter.phone)
    waited = clock.sleep

    async def sleep(seconds: float) -> None:
        await waited(seconds)
        if 60 < clock.now < 66:
            context.steering.append(Steering(text="I am done.", message_id="m-1"))

    clock.sleep = sleep  # type: ignore[method-assign]
    await task(clock).run(context)
    [said] = [text for text in results(context) if text.startswith("Waited")]
    assert said.endswith("until the operator said something.")
    assert clock.now < 90
    assert any("I am done." in text for text in texts(model))


async def test_a_wait_is_no_longer_than_the_sessions_budget_of_time() -> None:
    clock = Clock()
    model = scripted(says("wait", seconds=500), says("finish", success=False, summary="No."))
    context = MemoryContext(model, Counter().phone, budget=Budget(seconds=40))
    await task(clock).run(context)
    assert results(context)[0] == "Waited 40 s, the session's own time limit."
    assert clock.now < 60


async def test_one_fact_is_counted_as_one() -> None:
    context = await run(
        scripted(says("remember", text="a"), says("remember", text="b"), DONE, DONE)
    )
    assert results(context)[0] == "Remembered; 1 fact is shown with every screen."
    assert results(context)[1] == "Remembered; 2 facts are shown with every screen."


async def test_a_question_for_a_pin_over_a_keypad_is_asked_as_a_secret() -> None:
    keys = [button(str(n), 0.3 + n / 20) for n in range(10)]
    phone = PaperPhone(lambda: keys)
    model = scripted(
        says("ask_user", question="Please enter your PIN."),
        says("finish", success=False, summary="No."),
    )
    context = MemoryContext(model, phone, answer=lambda _question: "1379")
    await task().run(context)
    assert [question.secret for question in context.questions] == [True]
    assert "press_keys" in results(context)[0]
    assert not any("1379" in text for at in range(2) for text in texts(model, at))


async def test_a_question_for_a_password_without_a_place_for_it_is_refused() -> None:
    two = [field("Password", 0.3), field("Repeat password", 0.5)]
    for screen in ([button("Next", 0.4)], two):
        model = scripted(
            says("ask_user", question="Please tell me your password."),
            says("finish", success=False, summary="No."),
        )
        context = MemoryContext(model, PaperPhone(lambda shown=screen: shown), answer=yes)
        await task().run(context)
        assert context.questions == []
        assert "secret_for" in results(context)[0]


async def test_an_operator_may_be_asked_to_enter_a_pin_with_own_hands() -> None:
    question = "Please enter the PIN on the phone yourself, then choose Done."
    model = scripted(
        says("ask_user", question=question, options=["Done", "Stop"]),
        says("finish", success=False, summary="No."),
    )
    context = MemoryContext(model, PaperPhone(lambda: [button("Next", 0.4)]), answer=yes)
    await task().run(context)
    assert results(context)[0] == "The operator answers: Done"


async def test_a_label_that_a_row_and_its_switch_share_is_not_guessed() -> None:
    switch = button("Wi-Fi", 0.3, checkable=True, class_name="android.widget.Switch")
    row = button("Wi-Fi | Connected to Home", 0.4)
    phone = PaperPhone(lambda: [switch, row])
    model = scripted(
        says("click_element", label="Wi-Fi"), says("finish", success=False, summary="No.")
    )
    context = MemoryContext(model, phone)
    await task().run(context)
    assert phone.done == []
    assert '[1] switch "Wi-Fi" UNCHECKED' in results(context)[0]
    assert '[2] btn "Wi-Fi | Connected to Home"' in results(context)[0]


async def test_an_unknown_tool_is_answered_with_the_tools_of_this_step_only() -> None:
    model = scripted(says("fly"), says("finish", success=False, summary="No."))
    context = await run(model)
    offered = {tool.name for tool in model.requests[0].tools}
    listed = results(context)[0].partition("there are: ")[2].partition(". ")[0].split(", ")
    assert set(listed) == offered
    assert "tap_point" not in offered


@pytest.mark.parametrize("asks_goal", [True, False])
async def test_a_claim_is_judged_by_what_the_turn_was_asked_for(asks_goal: bool) -> None:
    counter = Counter()
    first = await run(
        scripted(says("click_element", element=1), DONE, DONE), goal="Press and count one"
    )
    message = UserMessage(text="Count to ten", message_id="m1")
    told = Event(event_id=99, session_id="s-1", seq=99, ts_ms=1, msg=message)
    verdict = says("give_verdict", verdict="met", evidence=["1"], reason="It counts.")
    verifier = scripted(verdict)
    context = MemoryContext(
        scripted(says("click_element", element=1), DONE, DONE),
        counter.phone,
        goal="Press and count one",
        past=(*first.events, told),
        asks_goal=asks_goal,
        verifying=Verifying(model=verifier),
    )
    await task().run(context)
    (request,) = verifier.requests
    wanted = "Press and count one" if asks_goal else "Count to ten"
    assert f"## Goal\n{wanted}" in request.messages[1].text


async def test_a_verifier_reads_what_the_operator_said_and_answered_while_the_turn_ran() -> None:
    counter = Counter()
    verifier = scripted(says("give_verdict", verdict="met", evidence=["1"], reason="It counts."))
    asks = says("ask_user", question="Which color?", options=["Blue", "Red"])
    model = scripted(asks, says("click_element", element=1), DONE, DONE)
    context = MemoryContext(
        model,
        counter.phone,
        goal="Choose my color",
        answer=lambda _question: "Red",
        verifying=Verifying(model=verifier),
    )
    context.steering.append(Steering(message_id="m1", text="Not the dark one"))
    await task().run(context)
    (request,) = verifier.requests
    case = request.messages[1].text
    assert "Not the dark one" in case
    assert 'was asked "Which color?" and answered "Red"' in case
