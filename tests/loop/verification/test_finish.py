"""What a claim of success comes to: refused with the reason, believed, or the end."""

import json

import pytest

from agent.errors import ModelError
from agent.loop.task_context import TurnEnd
from agent.models.model import ModelReply
from agent.models.verifying import Verifying
from agent.protocol import StepCompleted, VerificationRecorded
from agent.records import GoalVerdict, Verification, VerifiedBy
from tests.loop.paper_phone import PaperPhone
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results
from tests.tasks.scripted import DONE, ScriptedModel, Turn, says, scripted, task, texts

PRESS = says("click_element", element=1)
GOAL = "Press the button once"


def verdict(said: str, *quotes: str, reason: str = "So it is.") -> ModelReply:
    return says("give_verdict", verdict=said, evidence=list(quotes), reason=reason)


async def played(
    *turns: Turn,
    goal: str = GOAL,
    judge: ScriptedModel | None = None,
    is_same: bool = False,
    schema: str = "",
    phone: PaperPhone | None = None,
    past: MemoryContext | None = None,
) -> tuple[TurnEnd, MemoryContext]:
    context = MemoryContext(
        scripted(*turns),
        phone or Counter().phone,
        goal=goal,
        verifying=Verifying(model=judge, is_same=is_same),
        output_schema=schema,
        past=() if past is None else tuple(past.events),
    )
    return await task().run(context), context


def recorded(context: MemoryContext) -> list[Verification]:
    found = context.of(VerificationRecorded)
    return [msg.verification for msg in found if isinstance(msg, VerificationRecorded)]


async def test_a_true_claim_is_verified_at_once_and_says_by_whom() -> None:
    judge = scripted(verdict("met", "pressed 1"))
    end, context = await played(PRESS, DONE, judge=judge)
    assert end.completed
    assert end.verification is not None
    assert end.verification.is_met
    assert end.verification.verified_by is VerifiedBy.VERIFIER
    [one] = end.verification.requirements
    assert (one.text, one.evidence[0].step) == (GOAL, 2)
    assert recorded(context) == [end.verification]


async def test_a_verifier_that_fails_for_a_moment_is_asked_again_and_one_that_goes_on_is_left() -> (
    None
):
    busy = ModelError("busy", retryable=True, status=503)
    end, _ = await played(PRESS, DONE, judge=scripted(busy, verdict("met", "pressed 1")))
    assert end.verification is not None
    assert end.verification.is_met
    end, _ = await played(PRESS, DONE, judge=scripted(busy, busy))
    assert end.completed
    assert end.verification is not None
    assert "The verifier failed: busy" in end.verification.reason


class DatedPhone(PaperPhone):
    async def local_time(self, *, timeout_s: float = 5.0) -> str:
        return "2026-11-26 23:50, Europe/Berlin, de-DE"


async def test_the_verifier_knows_the_phones_date_that_tomorrow_is_reckoned_from() -> None:
    judge = scripted(verdict("met", "pressed 1"))
    counter = Counter().phone
    phone = DatedPhone(counter.screen, counter.on)
    await played(PRESS, DONE, DONE, judge=judge, goal="Press it once", phone=phone)
    assert "2026-11-26 23:50, Europe/Berlin, de-DE" in "\n".join(texts(judge))


async def test_what_a_verifier_costs_is_counted_with_its_step() -> None:
    _, context = await played(PRESS, DONE, judge=scripted(verdict("met", "pressed 1")))
    last = context.of(StepCompleted)[-1]
    assert isinstance(last, StepCompleted)
    assert (last.usage.calls, last.usage.input_tokens) == (2, 14)


async def test_a_turn_that_goes_on_after_a_crash_knows_that_it_had_its_chance() -> None:
    denied = verdict("not_met", "pressed 0")
    _, first = await played(DONE, says("wait", seconds=0), DONE, judge=scripted(denied, denied))
    cut = next(
        at
        for at, event in enumerate(first.events)
        if isinstance(event.msg, StepCompleted) and event.msg.step == 2
    )
    first.events = first.events[: cut + 1]
    end, context = await played(DONE, judge=scripted(denied), past=first)
    assert end.completed and end.verification is not None
    assert end.verification.verdict is GoalVerdict.NOT_MET
    assert context.session.requirements == first.session.requirements


async def test_giving_up_needs_no_verifier() -> None:
    judge = scripted()
    end, context = await played(says("finish", success=False, summary="No way."), judge=judge)
    assert (end.completed, end.message) == (False, "No way.")
    assert recorded(context) == []


# --- results as data ----------

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["count", "label"],
        "additionalProperties": False,
    }
)


def gives(result: object) -> ModelReply:
    return says("finish", success=True, summary="Read.", result=result)


async def read(*turns: Turn, judge: ScriptedModel | None = None) -> tuple[TurnEnd, MemoryContext]:
    judge = judge or scripted(verdict("met", "pressed 0"))
    return await played(*turns, judge=judge, schema=SCHEMA, goal="How often was it pressed?")


async def test_a_result_takes_the_operators_shape_and_names_where_it_was_read() -> None:
    end, context = await read(gives({"count": 0, "label": "Press"}))
    assert json.loads(end.result) == {"count": 0, "label": "Press"}
    assert [(one.path, one.step) for one in end.sources] == [("$.count", 1), ("$.label", 1)]
    assert end.verification is not None
    assert end.verification.is_met
    assert isinstance(context.model, ScriptedModel)
    finish = next(t for t in context.model.requests[0].tools if t.name == "finish")
    assert finish.parameters["properties"]["result"]["properties"]["count"] == {"type": "integer"}


async def test_a_result_that_does_not_fit_gets_one_repair_with_the_place() -> None:
    end, context = await read(
        gives({"count": "none", "label": "Press"}), gives({"count": 0, "label": "Press"})
    )
    assert "result.count: 'none' is not of type 'integer'" in results(context)[0]
    assert end.completed


@pytest.mark.parametrize("second", [gives({"count": 0}), gives(None), DONE])
async def test_a_second_result_that_does_not_fit_fails_the_session(second: Turn) -> None:
    end, _ = await read(gives({"count": "none", "label": "Press"}), second)
    assert not end.completed
    assert "does not fit the output schema" in end.message


async def test_a_value_that_no_screen_shows_leaves_the_result_unverified() -> None:
    end, _ = await read(gives({"count": 41, "label": "Press"}))
    assert end.completed
    assert end.verification is not None
    assert not end.verification.is_met
    assert end.verification.reason == "Not on any stored screen: $.count."
    assert [one.step for one in end.sources] == [0, 1]


async def test_a_result_as_json_in_a_text_and_nulls_for_what_is_left_out_are_understood() -> None:
    end, _ = await read(gives('{"count": 0, "label": "Press"}'))
    assert json.loads(end.result)["count"] == 0
    end, _ = await read(gives({"count": 0, "label": "Press", "extra": None}))
    assert "extra" not in json.loads(end.result)


async def test_without_a_schema_finish_knows_no_result() -> None:
    _, context = await played(PRESS, DONE)
    assert isinstance(context.model, ScriptedModel)
    finish = next(t for t in context.model.requests[0].tools if t.name == "finish")
    assert "result" not in finish.parameters["properties"]


async def test_one_call_is_judged_by_what_it_came_to_and_never_sent_back() -> None:
    for lines, is_met in (((DONE,), True), ((PRESS, DONE), True)):
        context = MemoryContext(
            scripted(*lines), Counter().phone, goal=GOAL, verifying=Verifying(decided=True)
        )
        end = await task().run(context)
        assert end.completed and end.verification is not None
        assert end.verification.is_met is is_met
    nowhere = says("click_element", element=99)
    context = MemoryContext(
        scripted(nowhere, DONE), Counter().phone, goal=GOAL, verifying=Verifying(decided=True)
    )
    end = await task().run(context)
    assert end.verification is not None and not end.verification.is_met
