"""What a claim of success comes to: refused with the reason, believed, or the end."""

import json

import pytest

from agent.errors import ModelError
from agent.loop.task_context import TurnEnd
from agent.loop.verification.claim_history import DO_AGAIN
from agent.loop.verification.structure import NOTHING_DONE
from agent.models.model import MessageKind, ModelReply
from agent.models.verifying import Verifying
from agent.protocol import StepCompleted, VerificationRecorded
from agent.records import GoalVerdict, Verification, VerifiedBy
from tests.loop.paper_phone import PaperPhone, button, node
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


# --- structure and the verifier together ----------


async def test_a_lie_as_the_first_call_is_refused_and_a_second_one_fails_the_session() -> None:
    judge = scripted(verdict("not_met", "pressed 0", reason="It was never pressed."))
    end, context = await played(DONE, DONE, judge=judge)
    assert NOTHING_DONE in results(context)[0]
    assert not end.completed
    assert "It was never pressed." in end.message
    assert NOTHING_DONE in end.message
    assert len(judge.requests) == 1, "the first claim is refused free of charge"
    (said,) = recorded(context)
    assert (said.verified_by, said.verdict) == (VerifiedBy.VERIFIER, GoalVerdict.NOT_MET)
    assert [one.quote for one in said.evidence if one.step] == ["pressed 0"]


async def test_a_true_claim_is_verified_at_once_and_says_by_whom() -> None:
    judge = scripted(verdict("met", "pressed 1"))
    end, context = await played(PRESS, DONE, judge=judge)
    assert end.completed
    assert end.verification is not None
    assert end.verification.is_met
    assert end.verification.verified_by is VerifiedBy.VERIFIER
    assert end.verification.evidence[0].step == 2
    assert recorded(context) == [end.verification]


async def test_what_is_denied_with_evidence_gets_one_more_chance_and_may_then_be_met() -> None:
    judge = scripted(
        verdict("not_met", "pressed 1", reason="Twice is asked."), verdict("met", "pressed 2")
    )
    end, context = await played(PRESS, DONE, PRESS, DONE, judge=judge, goal="Press it twice")
    assert "Twice is asked." in results(context)[1]
    assert DO_AGAIN in results(context)[1]
    assert end.completed
    assert [said.verdict for said in recorded(context)] == [GoalVerdict.NOT_MET, GoalVerdict.MET]


async def test_a_reason_that_does_not_count_is_told_as_the_verifiers_and_not_as_a_fact() -> None:
    judge = scripted(verdict("met", "It is lit", reason="The lamp is on."))
    end, _ = await played(DONE, DONE, judge=judge, goal="Turn on the lamp")
    assert not end.completed
    assert 'The verifier says "The lamp is on". What it quotes' in end.message


async def test_what_is_denied_twice_fails_with_the_evidence() -> None:
    judge = scripted(*[verdict("not_met", "pressed 1", reason="Twice is asked.")] * 2)
    end, _ = await played(PRESS, DONE, DONE, judge=judge, goal="Press it twice")
    assert not end.completed
    assert "step 3 shows “pressed 1”" in end.message


async def test_a_refusal_is_given_again_only_after_something_took_effect_and_twice_at_most() -> (
    None
):
    denied = verdict("not_met", "Press", reason="No.")
    judge = scripted(*[denied] * 9)
    turns = [DONE, PRESS, DONE, PRESS, DONE, PRESS, DONE]
    end, context = await played(*turns, judge=judge)
    assert not end.completed
    assert sum(DO_AGAIN in text for text in results(context)) == 2
    refused = next(text for text in results(context) if DO_AGAIN in text)
    assert "already took effect" not in refused, "nothing was changed yet"


@pytest.mark.parametrize(
    "said",
    [
        verdict("met", "The button was pressed once"),
        verdict("met"),
        ModelReply(text="met"),
        ModelReply(),
        says("click_element", element=1),
        ModelError("quota", retryable=False, status=429),
    ],
)
async def test_a_verdict_without_words_that_a_screen_shows_leaves_the_claim_unverified(
    said: Turn,
) -> None:
    end, context = await played(PRESS, DONE, judge=scripted(said))
    assert end.completed
    assert end.verification is not None
    assert not end.verification.is_met
    assert end.verification.verified_by is VerifiedBy.NOBODY
    assert len(recorded(context)) == 1


async def test_what_the_verifier_would_have_to_see_is_told_once_and_may_then_be_shown() -> None:
    unsure = verdict("cannot_tell", reason="The list of presses was not opened.")
    judge = scripted(unsure, verdict("met", "pressed 1"))
    end, context = await played(PRESS, DONE, DONE, judge=judge)
    assert "FAILED: What the verifier was shown does not tell" in results(context)[1]
    assert "The list of presses was not opened." in results(context)[1]
    assert end.verification is not None and end.verification.is_met
    end, context = await played(PRESS, DONE, DONE, judge=scripted(unsure, unsure))
    assert end.completed and end.verification is not None
    assert end.verification.verified_by is VerifiedBy.NOBODY


async def test_a_denial_without_words_that_a_screen_shows_is_told_once_and_proves_nothing() -> None:
    judge = scripted(*[verdict("not_met", "It is off", reason="No.")] * 2)
    end, context = await played(PRESS, DONE, DONE, judge=judge)
    assert DO_AGAIN in results(context)[1]
    assert end.completed
    assert end.verification is not None
    assert end.verification.verified_by is VerifiedBy.NOBODY


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


async def test_without_a_verifier_a_lie_is_refused_once_and_then_unverified() -> None:
    end, context = await played(DONE, DONE)
    assert len(results(context)) == 2
    assert end.completed
    assert end.verification is not None
    assert not end.verification.is_met
    assert NOTHING_DONE in end.verification.reason


async def test_the_same_model_cannot_confirm_a_change_that_nothing_brought_about() -> None:
    liar = scripted(DONE, DONE, verdict("met", "Press"))
    context = MemoryContext(
        liar, Counter().phone, goal=GOAL, verifying=Verifying(model=liar, is_same=True)
    )
    end = await task().run(context)
    assert not end.completed
    assert NOTHING_DONE in end.message


@pytest.mark.parametrize(
    ("quote", "believed"), [("Send", False), ("pressed 1", True), ("Message", False)]
)
async def test_the_same_model_has_to_quote_what_the_goal_is_about(
    quote: str, believed: bool
) -> None:
    model = scripted(PRESS, DONE, verdict("met", quote))
    context = MemoryContext(
        model,
        Counter().phone,
        goal="Have it pressed once",
        verifying=Verifying(model=model, is_same=True),
    )
    end = await task().run(context)
    assert end.completed
    assert end.verification is not None
    assert end.verification.is_met is believed


async def test_the_same_model_may_confirm_what_was_so_from_the_beginning() -> None:
    lamp = button("Lamp", 0.3, checkable=True, checked=True, class_name="android.widget.Switch")
    model = scripted(DONE, DONE, verdict("met", "Lamp [CHECKED]"))
    context = MemoryContext(
        model,
        PaperPhone(lambda: [lamp]),
        goal="Turn on the lamp",
        verifying=Verifying(model=model, is_same=True),
    )
    end = await task().run(context)
    assert end.verification is not None
    assert end.verification.is_met


async def test_a_question_is_answered_with_no_extra_call_and_its_answer_is_what_is_checked() -> (
    None
):
    judge = scripted(verdict("met", "pressed 0"))
    answer = says("finish", success=True, summary="It was pressed 0 times.")
    end, context = await played(answer, judge=judge, goal="How often was it pressed?")
    assert end.completed
    assert len(results(context)) == 1
    assert end.verification is not None
    assert end.verification.is_met
    assert "It was pressed 0 times." in texts(judge)[1]


async def test_an_answer_whose_numbers_no_screen_shows_is_unverified_whatever_is_quoted() -> None:
    judge = scripted(verdict("met", "pressed 0"))
    answer = says("finish", success=True, summary="It was pressed 15 times.")
    end, _ = await played(answer, judge=judge, goal="How often was it pressed?")
    assert end.completed
    assert end.verification is not None
    assert not end.verification.is_met
    assert "15: on no stored screen." in end.verification.reason


@pytest.mark.parametrize(("quoted", "met"), [(12, True), (11, False)])
async def test_a_count_that_no_screen_shows_is_shown_by_as_many_quoted_things(
    quoted: int, met: bool
) -> None:
    names = [f"Name {letter}" for letter in "ABCDEFGHIJKL"]
    rows = [node(name, (0.1, at / 20, 0.9, (at + 1) / 20)) for at, name in enumerate(names)]
    judge = scripted(verdict("met", *names[:quoted]))
    answer = says("finish", success=True, summary="There are 12 names.")
    phone = PaperPhone(lambda: rows)
    end, _ = await played(answer, judge=judge, goal="How many names are there?", phone=phone)
    assert end.verification is not None
    assert end.verification.is_met is met


@pytest.mark.parametrize(
    "quotes",
    [
        # A title, a tab and a button are no rows of the list.
        ("Names", "All", "Save", *[f"Name {letter}" for letter in "ABCDEFGHI"]),
        # Two words of one row are one thing.
        ("Name A", "Berlin A", *[f"Name {letter}" for letter in "BCDEFGHIJK"]),
    ],
)
async def test_a_count_is_not_shown_by_whatever_else_was_quoted(quotes: tuple[str, ...]) -> None:
    letters = "ABCDEFGHIJK"
    rows = [
        button(f"Name {one}, Berlin {one}", 0.2 + at / 20, class_name="android.view.ViewGroup")
        for at, one in enumerate(letters)
    ]
    more = [node("Names", (0.1, 0.02, 0.9, 0.06)), button("All", 0.08), button("Save", 0.9)]
    judge = scripted(verdict("met", *quotes))
    answer = says("finish", success=True, summary="There are 12 names.")
    phone = PaperPhone(lambda: [*more, *rows])
    end, _ = await played(answer, judge=judge, goal="How many names are there?", phone=phone)
    assert end.verification is not None
    assert not end.verification.is_met
    assert "12: on no stored screen." in end.verification.reason


class DatedPhone(PaperPhone):
    async def local_time(self, *, timeout_s: float = 5.0) -> str:
        return "2026-11-26 23:50, Europe/Berlin, de-DE"


async def test_the_verifier_knows_the_phones_date_that_tomorrow_is_reckoned_from() -> None:
    judge = scripted(verdict("met", "pressed 1"))
    counter = Counter().phone
    phone = DatedPhone(counter.screen, counter.on)
    await played(PRESS, DONE, judge=judge, goal="Press it by tomorrow", phone=phone)
    assert "2026-11-26 23:50, Europe/Berlin, de-DE" in "\n".join(texts(judge))


async def test_what_an_agent_claims_of_a_change_is_not_shown_to_the_verifier() -> None:
    judge = scripted(verdict("met", "pressed 1"))
    claim = says("finish", success=True, summary="I swear that it is pressed.")
    await played(PRESS, claim, judge=judge)
    shown = "\n".join(texts(judge))
    assert "I swear" not in shown
    assert GOAL in shown
    assert 'Clicked [1] "Press"' in shown
    kinds = [message.kind for message in judge.requests[0].messages]
    assert kinds.count(MessageKind.OBSERVATION) == 2
    assert [tool.name for tool in judge.requests[0].tools] == ["give_verdict"]
    assert not any(m.tool_calls for m in judge.requests[0].messages)


async def test_what_a_verifier_costs_is_counted_with_its_step() -> None:
    _, context = await played(PRESS, DONE, judge=scripted(verdict("met", "pressed 1")))
    last = context.of(StepCompleted)[-1]
    assert isinstance(last, StepCompleted)
    assert (last.usage.calls, last.usage.input_tokens) == (2, 14)


async def test_a_turn_that_goes_on_after_a_crash_knows_that_it_had_its_chance() -> None:
    _, first = await played(DONE, says("wait", seconds=0), DONE)
    cut = next(
        at
        for at, event in enumerate(first.events)
        if isinstance(event.msg, StepCompleted) and event.msg.step == 2
    )
    first.events = first.events[: cut + 1]
    judge = scripted(verdict("not_met", "pressed 0"))
    end, _ = await played(DONE, judge=judge, past=first)
    assert not end.completed


async def test_giving_up_needs_no_verifier() -> None:
    judge = scripted()
    end, context = await played(says("finish", success=False, summary="No way."), judge=judge)
    assert (end.completed, end.message) == (False, "No way.")
    assert recorded(context) == []


async def test_open_items_of_the_plan_and_other_objections_are_told_together() -> None:
    plan = says("update_plan", plan=[{"step": "Press it", "status": "pending"}])
    _, context = await played(plan, DONE, DONE)
    refusal = results(context)[1]
    assert NOTHING_DONE in refusal
    assert '"Press it"' in refusal


async def test_a_dialog_that_still_asks_is_named_and_a_lie_about_it_fails() -> None:
    asks = [node("Place this order?", (0.1, 0.2, 0.9, 0.25)), button("Place order", 0.5)]
    asks.append(button("Cancel", 0.6))
    shown = [button("Lamps", 0.3)]

    def buy(what: str) -> None:
        if what == "tap Lamps":
            shown[:] = asks

    phone = PaperPhone(lambda: shown, buy)
    denied = verdict("not_met", "Place this order?", reason="It still asks.")
    end, context = await played(
        PRESS, DONE, DONE, goal="Get me a lamp", phone=phone, judge=scripted(denied)
    )
    assert 'A dialog is still open: [2] "Place order"' in "\n".join(results(context))
    assert not end.completed


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
