"""Which words of a goal a model that checks itself has to quote."""

import pytest

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.quote_relevance import (
    DIALOG_OPEN,
    NOT_NEW,
    NOT_OF_GOAL,
    REFUSED,
    is_relevant_to,
    objection,
)
from agent.protocol import (
    ObservationRecorded,
    QuestionAnswered,
    RequestUserInput,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, Evidence, Question, QuestionKind, UiNode
from agent.safety.capabilities import Capability
from tests.loop.paper_phone import button, node
from tests.loop.verification.screens import observation


@pytest.mark.parametrize(
    ("goal", "quote", "tells"),
    [
        ("Turn on Wi-Fi", "Wi‑Fi", True),
        ("Turn on Wi‑Fi", "Wi-Fi", True),
        ("Turn on Wi-Fi", "Network preferences", False),
        ("Turn on NFC", "NFC", True),
        ("Turn on the all-new app", "Settings", False),
    ],
)
def test_a_hyphenated_name_is_told_by_its_parts(goal: str, quote: str, tells: bool) -> None:
    assert is_relevant_to(Evidence(quote=quote), ClaimHistory(goal)) is tells


def past(goal: str, *, acted: bool = True) -> ClaimHistory:
    """A session that opened Notes from the launcher, wrote a note there and saw it saved."""
    done = ClaimHistory(goal)
    launcher = (node("Settings"), node("Notes", (0.1, 0.5, 0.9, 0.55)))
    listed = (node("Notes"), node("Gift ideas | Mum", (0.1, 0.5, 0.9, 0.55)))
    written = (
        node("Notes"),
        node("Gift ideas | Mum", (0.1, 0.5, 0.9, 0.55)),
        node("Milk and eggs", (0.1, 0.6, 0.9, 0.65)),
        button("Wi-Fi", 0.7, checkable=True, checked=True, class_name="android.widget.Switch"),
    )
    screens = (launcher, listed, written)
    tools = ("launch_app", "type_text", "finish")
    for step, (nodes, tool) in enumerate(zip(screens, tools, strict=True), start=1):
        done.fold(ObservationRecorded(step=step, observation=observation(*nodes, package=PACKAGE)))
        call = ToolCallRequested(
            step=step, call_id=f"c{step}", tool=tool, arguments="{}", kind="action"
        )
        result = ToolCallFinished(
            step=step, call_id=f"c{step}", outcome=ActionOutcome.DONE, text="OK: Done."
        )
        if tool == "launch_app" or (acted and tool == "type_text"):
            done.fold(call)
            done.fold(result)
    return done


PACKAGE = "com.android.notes"
APPROVAL = Question(
    question_id="q1",
    session_id="s1",
    text="Delete “Milk and eggs”?",
    asked_ms=1,
    kind=QuestionKind.APPROVAL,
    call_id="c1",
)
WRITE = "Write a note in Notes that says milk and eggs"


def shown(*quotes: str) -> list[Evidence]:
    return [Evidence(quote=quote, step=3) for quote in quotes]


@pytest.mark.parametrize("is_same", [True, False])
@pytest.mark.parametrize("quote", ["Notes", "notes", "Settings", "com.android.notes", "Android"])
def test_a_title_an_app_or_a_tab_is_no_evidence_of_a_change(quote: str, is_same: bool) -> None:
    assert objection(shown(quote), past(WRITE), is_same=is_same) in (NOT_NEW, NOT_OF_GOAL)


@pytest.mark.parametrize("is_same", [True, False])
@pytest.mark.parametrize("quote", ["Milk and eggs", "eggs", "Wi-Fi [CHECKED]"])
def test_what_came_with_the_work_and_a_state_are_evidence(quote: str, is_same: bool) -> None:
    assert objection(shown(quote), past(WRITE), is_same=is_same) == ""
    assert objection(shown("Notes", quote), past(WRITE), is_same=is_same) == ""


def test_a_model_that_checks_itself_cannot_quote_what_was_there_before() -> None:
    asked = "Write to the list of gift ideas that Mum wants gloves"
    assert objection(shown("Gift ideas | Mum"), past(asked), is_same=True) == NOT_NEW
    assert objection(shown("Gift ideas | Mum"), past(asked), is_same=False) == ""
    # What is left when something was removed was there before.
    removal = "Delete the note under gift ideas"
    assert objection(shown("Gift ideas | Mum"), past(removal), is_same=True) == ""


def test_a_model_that_checks_itself_has_to_show_a_state_where_it_did_nothing() -> None:
    idle = past("Turn on Wi-Fi", acted=False)
    assert objection(shown("Milk and eggs"), idle, is_same=True) == NOT_OF_GOAL
    assert objection(shown("Wi-Fi"), idle, is_same=True) == ""


def with_job(goal: str) -> ClaimHistory:
    """A session whose only act was to create a job."""
    done = ClaimHistory(goal)
    launcher = (node("Settings"), node("Notes", (0.1, 0.5, 0.9, 0.55)))
    done.fold(ObservationRecorded(step=1, observation=observation(*launcher, package=PACKAGE)))
    call = ToolCallRequested(
        step=1, call_id="c1", tool="background_job_create", arguments="{}", kind="action"
    )
    reply = '{"status":"background_job.created","title":"Look at the mail on Monday"}'
    done.fold(call)
    done.fold(ToolCallFinished(step=1, call_id="c1", outcome=ActionOutcome.DONE, text=reply))
    return done


@pytest.mark.parametrize(
    "quote", ['"title":"Look at the mail on Monday"', '"status":"background_job.created"']
)
@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("Look at the mail every Monday at nine", ""),
        ("Every weekday, read me the mail", ""),
        # The model has named the job as the goal is named, and done nothing of it.
        ("Look at the mail on Monday", NOT_OF_GOAL),
        ("Every weekday, water the plants", NOT_OF_GOAL),
    ],
)
def test_a_reply_of_a_service_is_evidence_where_the_goal_asks_for_something_later(
    goal: str, why: str, quote: str
) -> None:
    evidence = [Evidence(quote=quote, step=1)]
    assert objection(evidence, with_job(goal), is_same=True) == why


def test_a_screen_of_the_same_step_is_no_reply() -> None:
    evidence = [Evidence(quote="Notes", step=1, digest="ab" * 32)]
    assert objection(evidence, with_job("Open Notes every Monday"), is_same=True) != NOT_OF_GOAL
    evidence = [Evidence(quote="Settings", step=1, digest="ab" * 32)]
    assert (
        objection(evidence, with_job("Look at the mail every Monday"), is_same=True) == NOT_OF_GOAL
    )


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("goal", ["Delete all but shopping", "Write down all but shopping"])
def test_what_the_operator_approved_to_be_removed_is_of_a_goal_that_removes(
    goal: str, approved: bool
) -> None:
    done = ClaimHistory(goal)
    asked = (node("“Milk and eggs” goes for good"), button("Delete", 0.7))
    done.fold(ObservationRecorded(step=1, observation=observation(*asked, package=PACKAGE)))
    done.fold(
        ToolCallRequested(step=1, call_id="c1", tool="click_element", arguments="{}", kind="action")
    )
    if approved:
        done.fold(RequestUserInput(question=APPROVAL))
        done.fold(QuestionAnswered(question_id="q1", answer="Approve"))
    done.fold(
        ToolCallFinished(
            step=1, call_id="c1", outcome=ActionOutcome.DONE, text="OK: Clicked Delete."
        )
    )
    evidence = [Evidence(quote="“Milk and eggs” goes for good", step=1)]
    counts = approved and goal.startswith("Delete")
    assert objection(evidence, done, is_same=True) == ("" if counts else NOT_OF_GOAL)


SHOP = (node("Shop"), node("Enamel mug", (0.1, 0.5, 0.9, 0.55)))
CART = (node("Cart"), *SHOP[1:], button("Check out", 0.7))
SURE = (node("Place this order?"), button("Cancel", 0.6), button("Place order", 0.7))
ORDER = (node("Order 1043"), *SHOP[1:], node("Thank you!", (0.1, 0.6, 0.9, 0.65)))


def bought(*acts: tuple[str, str, tuple[UiNode, ...]]) -> ClaimHistory:
    """A session in a shop: what each act came to, the capability it took, and the screen then."""
    done = ClaimHistory("Buy one Enamel mug")
    done.fold(ObservationRecorded(step=1, observation=observation(*SHOP)))
    for step, (result, capability, screen) in enumerate(acts, start=1):
        done.fold(
            ToolCallRequested(
                step=step, call_id="c1", tool="click_element", arguments="{}", capability=capability
            )
        )
        if capability == Capability.PAY:
            done.fold(RequestUserInput(question=APPROVAL))
            done.fold(QuestionAnswered(question_id="q1", answer="Approve"))
        done.fold(
            ToolCallFinished(step=step, call_id="c1", outcome=ActionOutcome.DONE, text=result)
        )
        done.fold(ObservationRecorded(step=step + 1, observation=observation(*screen)))
    return done


TO_CART = ("OK: Clicked.", Capability.PERFORM, CART)
PAID = ("OK: Clicked.", Capability.PAY, ORDER)
ASKED = ("OK: Clicked.", Capability.PAY, SURE)
CONFIRM = ("OK: Clicked.", Capability.PAY, CART)
PIN = ("OK: Pressed.", Capability.PERFORM, ORDER)
WRONG_PIN = ('WARNING: Pressed, and the app answered: "Wrong PIN"', Capability.PERFORM, CART)


@pytest.mark.parametrize(
    ("acts", "quotes", "why"),
    [
        ((TO_CART, PAID), ("Thank you!", "Enamel mug"), ""),
        ((TO_CART, PAID), ("Thank you!",), NOT_OF_GOAL),
        ((TO_CART,), ("Check out", "Enamel mug"), NOT_NEW),
        ((TO_CART, ASKED), ("Place this order?", "Enamel mug"), DIALOG_OPEN),
        ((TO_CART, CONFIRM, WRONG_PIN), ("Check out", "Enamel mug"), REFUSED),
        ((TO_CART, CONFIRM, WRONG_PIN, PIN), ("Thank you!", "Enamel mug"), ""),
    ],
)
def test_a_model_that_checks_itself_shows_a_purchase_by_what_came_of_the_payment(
    acts: tuple[tuple[str, str, tuple[UiNode, ...]], ...], quotes: tuple[str, ...], why: str
) -> None:
    evidence = [Evidence(quote=quote, step=len(acts) + 1) for quote in quotes]
    assert objection(evidence, bought(*acts), is_same=True) == why


def test_going_back_from_a_refusal_does_not_undo_it() -> None:
    done = bought(TO_CART, CONFIRM, WRONG_PIN)
    for msg in (
        ToolCallRequested(
            step=4, call_id="c1", tool="press_button", arguments='{"button": "BACK"}', kind="action"
        ),
        ToolCallFinished(
            step=4, call_id="c1", outcome=ActionOutcome.DONE, text="OK: Pressed BACK."
        ),
    ):
        done.fold(msg)
    assert objection([Evidence(quote="Enamel mug", step=4)], done, is_same=True) == REFUSED
