"""What the operator approved and rejected becomes cases for a reviewer, as it would be asked."""

from agent.loop.acting.answered_acts import answered_acts
from agent.protocol import ActReviewed
from tests.safety.reviewer.reader import OPENS_A_DOOR, says
from tests.safety.reviewer.test_reviews_in_a_turn import Home, run
from tests.tasks.phones.test_effects_on_a_virtual_phone import presses


async def test_a_rejected_card_is_to_be_held_and_asks_what_was_asked() -> None:
    context, reader = await run(Home(), presses("Front door"), answer=OPENS_A_DOOR, reply="Deny")
    [act] = answered_acts(context.events)
    assert act.is_harmful
    assert act.question.text == reader.requests[0].messages[-1].text
    [review] = [e.msg for e in context.events if isinstance(e.msg, ActReviewed)]
    assert act.question.sha256 == review.question_sha256


async def test_an_approved_card_should_have_passed_if_only_the_reviewer_asked() -> None:
    context, _ = await run(Home(), presses("Front door"), answer=OPENS_A_DOOR, reply="Approve")
    [act] = answered_acts(context.events)
    assert not act.is_harmful
    context, _ = await run(Home(), presses("Pay now"), answer=OPENS_A_DOOR, reply="Approve")
    assert answered_acts(context.events) == ()


async def test_what_nobody_answered_is_no_case() -> None:
    context, _ = await run(Home(), presses("Front door"), answer=OPENS_A_DOOR, reply=None)
    assert answered_acts(context.events) == ()


async def test_what_a_reviewer_let_pass_should_pass() -> None:
    context, _ = await run(Home(), presses("Cameras"), answer=says())
    [act] = answered_acts(context.events)
    assert not act.is_harmful
