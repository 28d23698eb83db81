"""What a claim of success comes to: refused with reasons and remedies, verified, or not."""

import asyncio

import pytest

from agent.errors import ModelError
from agent.loop.verification.claim_history import DO_AGAIN
from agent.loop.verification.claims import BLOCKED, Accepted, Claim, Claims, Refused
from agent.loop.verification.coverage import Wished
from agent.protocol import ToolCallFinished, ToolCallRequested
from agent.records import (
    ActionOutcome,
    GoalVerdict,
    Requirement,
    RequirementKind,
    UiNode,
    VerifiedBy,
)
from tests.loop.paper_phone import button, field, node
from tests.loop.verification.judged import (
    ADDED,
    REMOVED,
    SENT,
    STATE,
    TODAY,
    Witness,
    Work,
    accomplice,
    claims,
    decide,
    effect,
    is_met,
    listed,
    says,
    typed,
)

PAGE = node("Page", (0.1, 0.02, 0.9, 0.06))
ON = effect(STATE, "Bluetooth", "on", "off")
BLUETOOTH = listed("Turn on Bluetooth", Wished("Turn on Bluetooth", object="Bluetooth", value="on"))


def switch(*, on: bool) -> UiNode:
    return button("Bluetooth", 0.3, checkable=True, checked=on)


def done(
    *effects: object, last: tuple[UiNode, ...] = (PAGE,), goal: str = "Turn on Bluetooth"
) -> Work:
    return Work(goal).see(PAGE).act().see(*last, effects=effects)  # type: ignore[arg-type]


def _finish(call: str) -> ToolCallRequested:
    return ToolCallRequested(step=9, call_id=call, tool="finish", arguments="{}", kind="control")


def refuse(work: Work, refused: Refused) -> None:
    """Store a refusal, as a turn does."""
    call = f"f{work.past.refusals}"
    work.past.fold(_finish(call))
    outcome = ActionOutcome.FAILED
    work.past.fold(ToolCallFinished(step=9, call_id=call, outcome=outcome, text=refused.reason))


def twice(work: Work, judged: Claims, requirements: tuple[Requirement, ...]) -> list[object]:
    """Claim, and claim again while nothing was done in between."""

    async def run() -> list[object]:
        claim = Claim(requirements, answer="Done.", today=TODAY)
        first = await judged.decide(claim)
        if isinstance(first, Refused):
            refuse(work, first)
        return [first, await judged.decide(claim)]

    return asyncio.run(run())


def test_what_effects_show_needs_no_verifier_and_says_by_whom() -> None:
    judge = says("not_met", "E1")
    decided = decide(done(ON), BLUETOOTH, judge)
    assert isinstance(decided, Accepted) and is_met(decided)
    [one] = decided.verification.requirements
    assert (one.verified_by, one.evidence[0].effect) == (VerifiedBy.EFFECTS, 1)
    assert not judge.requests


def test_a_refusal_names_the_requirement_the_reason_and_both_ways_out() -> None:
    decided = decide(done(last=(PAGE, switch(on=False))), BLUETOOTH, accomplice())
    assert isinstance(decided, Refused)
    assert decided.reason.startswith(BLOCKED)
    assert '1. "Turn on Bluetooth": “Bluetooth” is off on the screen of step 2' in decided.reason
    assert "finish again" in decided.reason and "success=false" in decided.reason


def test_nobody_is_asked_twice_while_nothing_was_done_or_seen() -> None:
    judge = says("cannot_tell")
    work = done(effect(STATE, "Licht", "on", "off"), goal="Mach Licht")
    first, second = twice(work, claims(work, judge), listed("Mach Licht"))
    assert isinstance(first, Refused) and isinstance(second, Accepted)
    assert len(judge.requests) == 1 and not is_met(second)


def test_no_claim_fails_a_session_whatever_is_said_of_it() -> None:
    for judge in (says("not_met", "E1"), says("not_met"), says("cannot_tell"), says("met")):
        work = done(effect(STATE, "Lamp", "dim", "bright"), goal="Dim it nicely")
        _, second = twice(work, claims(work, judge), listed("Dim it nicely"))
        assert isinstance(second, Accepted) and not is_met(second)


def test_a_structural_no_is_overruled_by_nobody() -> None:
    message = 'Send "Hi" to Ana'
    composer = (PAGE, field("Message", 0.8, "Hi"), button("Send", 0.9))
    work = done(typed("Hi"), last=composer, goal=message)
    first, second = twice(work, claims(work, accomplice()), listed(message))
    assert isinstance(first, Refused) and '"Hi" stands only in the field' in first.reason
    assert isinstance(second, Accepted) and not is_met(second)


def test_a_verifier_that_fails_verifies_nothing_and_refuses_nothing() -> None:
    class Broken(Witness):
        async def complete(self, request: object, on_text: object = None) -> object:  # type: ignore[override]
            raise ModelError("quota", retryable=False, status=429)

    work = done(effect(STATE, "Licht", "on", "off"), goal="Mach Licht")
    decided = decide(work, listed("Mach Licht"), Broken(lambda _t, _n: []))
    assert isinstance(decided, Accepted) and not is_met(decided)
    assert "The verifier failed: quota" in decided.verification.reason


def test_a_pointer_to_nothing_shows_nothing() -> None:
    work = done(effect(STATE, "Licht", "on", "off"), goal="Mach Licht")
    for pointer in ("E99", "S1[77]", "S99[1]", "nothing of the kind", ""):
        assert not is_met(decide(work, listed("Mach Licht"), says("met", pointer)))
    assert is_met(decide(work, listed("Mach Licht"), says("met", "E1")))
    # A model that answers in words means the thing of those words.
    assert is_met(decide(work, listed("Mach Licht"), says("met", "“Licht”: off → on")))


def test_what_a_person_judges_is_asked_and_never_guessed() -> None:
    mine = (*BLUETOOTH, Requirement(number=2, text="It is fine", kind=RequirementKind.PERSON))
    for answers, by, verdict in (
        ({"It is fine": True}, VerifiedBy.OPERATOR, GoalVerdict.MET),
        ({"It is fine": False}, VerifiedBy.OPERATOR, GoalVerdict.NOT_MET),
        ({}, VerifiedBy.NOBODY, GoalVerdict.CANNOT_TELL),
    ):
        work = done(ON)
        judged = claims(work, accomplice(), answers)
        decided = asyncio.run(judged.decide(Claim(mine, today=TODAY)))
        assert decided.verification is not None
        found = decided.verification.requirements[1]
        assert (found.verified_by, found.verdict) == (by, verdict)


def test_what_is_turned_back_because_another_part_asks_for_it_is_no_lie() -> None:
    goal = "Turn on Bluetooth, then turn off Bluetooth"
    both = listed(
        goal,
        Wished("Turn on Bluetooth", object="Bluetooth", value="on"),
        Wished("then turn off Bluetooth", object="Bluetooth", value="off"),
    )
    off = effect(STATE, "Bluetooth", "off", "on")
    work = Work(goal).see(PAGE).act().see(PAGE, effects=[ON]).act().see(PAGE, effects=[off])
    assert is_met(decide(work, both, accomplice()))
    only_on = Work(goal).see(PAGE).act().see(PAGE, effects=[ON])
    assert not is_met(decide(only_on, both, accomplice()))


def test_what_was_so_before_needs_no_change() -> None:
    work = Work("Turn on Bluetooth").see(PAGE, switch(on=True))
    assert is_met(decide(work, BLUETOOTH, accomplice()))


def test_what_must_be_kept_is_kept_where_each_effect_serves_another_requirement() -> None:
    goal = "Turn on Bluetooth and nothing else"
    both = listed(
        goal,
        Wished("Turn on Bluetooth", object="Bluetooth", value="on"),
        Wished("and nothing else", kind="keep"),
    )
    assert is_met(decide(done(ON, goal=goal), both, None))
    more = effect(STATE, "Wi-Fi", "off", "on", page="Network")
    assert not is_met(decide(done(ON, more, goal=goal), both, None))


@pytest.mark.parametrize(
    ("goal", "works", "said"),
    [
        ('Delete "Old"', lambda: done(last=(PAGE, button("Old", 0.4))), "still on the screen"),
        ("Call on Monday, 4 December", lambda: done(ON), "on another weekday"),
        ('Write "Hello"', lambda: done(ON), '"Hello" stood on no screen'),
        (
            "Note the price",
            lambda: Work("g").see(PAGE).act().see(PAGE, effects=[typed("It is 1739")]),
            "no screen showed it before",
        ),
        (
            "Order it",
            lambda: done(
                ON,
                last=(node("No connection"), button("OK", 0.6, resource_id="android:id/button1")),
            ),
            "A message is in front",
        ),
        (
            "Order it",
            lambda: done(ON, last=(node("Order?"), button("Order", 0.5), button("Cancel", 0.6))),
            "A dialog is still open",
        ),
    ],
)
def test_structure_refuses_with_the_remedy(goal: str, works: object, said: str) -> None:
    gone = Wished(goal, object="Old", value="gone") if "Delete" in goal else Wished(goal)
    decided = decide(works(), listed(goal, gone), accomplice())  # type: ignore[operator]
    assert isinstance(decided, Refused)
    assert said in decided.reason and DO_AGAIN in decided.reason


@pytest.mark.parametrize(
    ("answer", "met"), [("The battery is at 87 %.", True), ("It is at 78 %.", False)]
)
def test_an_answer_is_compared_with_what_was_read(answer: str, met: bool) -> None:
    goal = "Tell me how full the battery is"
    work = Work(goal).see(PAGE, button("Battery | 87%", 0.4), button("Storage | 41%", 0.5))
    told = listed(goal, Wished(goal, kind="tell", object="battery"))
    assert is_met(decide(work, told, accomplice(), answer=answer)) is met


def test_a_text_that_went_to_somebody_else_is_not_sent() -> None:
    goal = "Say hello to Ana"
    people = (button("Ana", 0.3, description="Hi"), button("Ben", 0.4, description="Hi"))
    for thread, met in (("Ana", True), ("Ben", False)):
        work = Work(goal).see(PAGE, *people).act()
        work.see(PAGE, effects=[effect(SENT, thread, "hello")])
        assert is_met(decide(work, listed(goal), accomplice())) is met


def test_one_effect_serves_one_requirement() -> None:
    goal = "Make tea and make coffee"
    both = listed(goal, Wished("Make tea"), Wished("and make coffee"))
    kettle = effect(ADDED, "Brewed")
    assert not is_met(decide(done(kettle, goal=goal), both, accomplice()))
    pot = effect(REMOVED, "Beans")
    assert is_met(
        decide(
            done(kettle, pot, goal=goal),
            both,
            Witness(
                lambda _t, numbers: [
                    {"requirement": n, "verdict": "met", "evidence": [f"E{n}"]} for n in numbers
                ]
            ),
        )
    )


@pytest.mark.parametrize(
    "goal",
    ["Turn on Bluetooth everywhere", "Turn on Bluetooth, both", "Turn on Bluetooth on every phone"],
)
def test_with_other_phones_the_verifier_hears_of_them_and_structure_alone_says_less(
    goal: str,
) -> None:
    wished = listed(goal, Wished(goal, object="Bluetooth", value="on"))
    judge = says("not_met", "E1")
    work = done(ON, goal=goal)
    work.past.other_phones = ("Beta",)
    assert not is_met(decide(work, wished, judge))
    [request] = judge.requests
    assert "Online too, and not used: Beta" in request.messages[1].text
    plain = done(ON)
    plain.past.other_phones = ("Beta",)
    assert is_met(decide(plain, BLUETOOTH, None))
