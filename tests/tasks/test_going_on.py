"""How a turn goes on after an interruption: nothing is done twice, nothing asked anew."""

from collections.abc import Callable

import pytest

from agent.loop.turn.unfinished_call import what_became_of
from agent.loop.verification.claim_history import DO_AGAIN
from agent.models.model import MessageKind, Role
from agent.protocol import (
    AbortReason,
    CloseReason,
    EventMsg,
    QuestionClosed,
    RequestUserInput,
    StepStarted,
    ToolCallFinished,
    TurnAborted,
)
from agent.records import ActionOutcome, Question
from agent.text import call_result_words
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, yes
from tests.tasks.scripted import DONE, ScriptedModel, says, scripted, task, texts


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
    assert any("The work had stopped" in text for text in texts(model))
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


@pytest.mark.parametrize("tool", ["click_element", "long_press_element"])
@pytest.mark.parametrize("name", [{"element": 4}, {"label": "Send"}, {"element": "Send"}], ids=repr)
async def test_an_action_that_still_waited_for_approval_is_taken_up_again(
    name: dict[str, object], tool: str
) -> None:
    counter = Counter()
    counter.phone.on = lambda what: counter.on(what.replace("long_press", "tap"))
    model = scripted(says(tool, **name))
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


@pytest.mark.parametrize("tool", ["click_element", "press_keys"])
@pytest.mark.parametrize("reason", [CloseReason.EXPIRED, CloseReason.TURN_ENDED])
async def test_an_action_whose_approval_closed_unanswered_is_told_as_not_done(
    reason: CloseReason, tool: str
) -> None:
    counter = Counter()
    call = says(tool, **({"element": 4} if tool == "click_element" else {"elements": [4]}))
    broken = await stopped(counter, scripted(call), answer=never_answered)
    [asked] = broken.questions
    ended = broken.events.pop()
    await broken.emit(QuestionClosed(question_id=asked.question_id, reason=reason), ended.msg)
    context = resumed(broken, scripted(DONE), answer=yes)
    await task().run(context)
    assert counter.count == 0
    told = results(context)[0]
    assert told.startswith("FAILED: ")
    assert ("Nobody answered" if reason is CloseReason.EXPIRED else "Nothing was done") in told
    assert not context.questions


async def test_an_action_that_the_operator_denied_is_told_as_denied_after_a_crash() -> None:
    counter = Counter()
    model = scripted(says("click_element", element=4))
    broken = await stopped(counter, model, is_result, answer=lambda _q: "Deny")
    context = resumed(broken, scripted(DONE), answer=yes)
    await task().run(context)
    assert counter.count == 0
    assert results(context)[0].startswith("FAILED: The operator rejected this")
    assert not context.questions


@pytest.mark.parametrize(
    "told", [what_became_of((), "c").told, f"FAILED: Nothing has been changed. {DO_AGAIN}."]
)
def test_the_operator_reads_a_refusal_without_the_advice_for_the_model(told: str) -> None:
    shown = call_result_words(told)
    assert shown.startswith("Nothing ")
    assert "again" not in shown
