"""Which words of a goal a model that checks itself has to quote."""

import pytest

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.quote_relevance import NOT_NEW, NOT_OF_GOAL, is_relevant_to, objection
from agent.protocol import (
    ObservationRecorded,
    QuestionAnswered,
    RequestUserInput,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, Evidence, Question, QuestionKind
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
