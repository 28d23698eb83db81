"""What a verifier is shown of the work."""

import json

from msgspec.structs import replace

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.request import (
    MAX_FULL_CHARS,
    MAX_OTHER_CHARS,
    screen_part,
    shown_steps,
    verdict_request,
)
from agent.protocol import (
    EventMsg,
    FactsUpdate,
    ObservationRecorded,
    QuestionAnswered,
    RequestUserInput,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, Question, QuestionKind, UiNode
from tests.loop.paper_phone import APP, field, node
from tests.loop.verification.screens import observation

LONG = "Wi-Fi: on, Bluetooth: off, Airplane mode: off, Location: on, NFC: on, and the tenth: off"


def case(*msgs: EventMsg) -> str:
    past = ClaimHistory("Write the list")
    for msg in msgs:
        past.fold(msg)
    return verdict_request(past).messages[1].text


def called(tool: str, arguments: str, result: str) -> tuple[EventMsg, EventMsg]:
    return (
        ToolCallRequested(step=1, call_id="c", tool=tool, kind="action", arguments=arguments),
        ToolCallFinished(step=1, call_id="c", outcome=ActionOutcome.DONE, text=result),
    )


def asked(answer: str, *, kind: QuestionKind = QuestionKind.QUESTION, secret: bool = False) -> str:
    question = Question(
        question_id="q", session_id="s", text="To whom?", asked_ms=1, kind=kind, secret=secret
    )
    return case(
        RequestUserInput(question=question), QuestionAnswered(question_id="q", answer=answer)
    )


def test_a_typed_text_is_shown_in_full_where_its_result_cuts_it() -> None:
    said = case(*called("type_text", f'{{"text": "{LONG}"}}', 'OK: Typed "Wi-Fi: on, Blue".'))
    assert LONG in said


def test_a_long_note_is_shown_to_its_end_as_typed_and_as_its_field_holds_it() -> None:
    note = " ".join(f"Line {at} of the note says {at * 7}." for at in range(60)) + " The end."
    arguments = json.dumps({"text": note})
    assert len(note) > 1500
    said = case(*called("type_text", arguments, 'OK: Typed "Line 0".'))
    assert "The end." in said
    seen = observation(field("Note", 0.3, note))
    assert "The end." not in seen.screen_text
    assert "…" in seen.screen_text
    assert "The end." in screen_part(seen)
    assert "in full" not in screen_part(observation(field("Note", 0.3, "Milk")))


def test_long_texts_are_bounded_and_the_newest_comes_whole() -> None:
    past = ClaimHistory("Write the list")
    for step in range(1, 12):
        text = f"Note {step}. " + "word " * 900 + f"End {step}."
        requested, finished = called("type_text", json.dumps({"text": text}), "OK: Typed.")
        past.fold(requested)
        past.fold(finished)
    said = verdict_request(past).messages[1].text
    assert "End 11." in said and "End 1." not in said
    assert len(said) < 2 * MAX_FULL_CHARS + 12 * 1500


def test_what_a_service_was_asked_for_is_shown_beside_its_reply() -> None:
    arguments = '{"cron": "0 8 * * 1-5", "prompt": "Check the mail"}'
    said = case(*called("background_job_create", arguments, '{"status": "created"}'))
    assert "0 8 * * 1-5" in said and "Check the mail" in said


def test_the_operators_answers_are_shown_and_approvals_and_secrets_are_not() -> None:
    assert 'asked "To whom?" and answered "Mum"' in asked("Mum")
    assert "Mum" not in asked("Mum", secret=True)
    assert "answered" not in asked("Approve", kind=QuestionKind.APPROVAL)


def test_what_arrived_during_a_wait_is_listed_between_the_deeds() -> None:
    arrived = replace(
        observation(field("Note", 0.3)), change='CONTENT_UPDATED: New elements: "Parcel is here".'
    )
    clicked = called("click_element", "{}", 'OK: Clicked [1] "Refresh".')
    waited = ToolCallRequested(step=2, call_id="w", tool="wait", kind="control", arguments="{}")
    over = ToolCallFinished(step=2, call_id="w", outcome=ActionOutcome.DONE, text="Waited 20 s.")
    said = case(*clicked, waited, over, ObservationRecorded(step=3, observation=arrived))
    lines = [line for line in said.splitlines() if line.startswith("- step")]
    assert lines == [
        '- step 1: OK: Clicked [1] "Refresh".',
        '- step 2: Waited 20 s. CONTENT_UPDATED: New elements: "Parcel is here".',
    ]


def test_a_wait_is_no_work_and_clears_no_failure() -> None:
    past = ClaimHistory("Turn it on")
    waited = ToolCallRequested(step=1, call_id="w", tool="wait", kind="control", arguments="{}")
    over = ToolCallFinished(step=1, call_id="w", outcome=ActionOutcome.DONE, text="Waited 5 s.")
    for msg in (waited, over):
        past.fold(msg)
    assert past.effects == 0
    assert past.actions == []


def test_typed_spaces_are_shown_as_they_were_typed() -> None:
    arguments = json.dumps({"text": "one\n  indented third"})
    said = case(*called("type_text", arguments, r'OK: Typed "one\n  indented third".'))
    assert said.count(r"one\n  indented third") == 2


def test_of_a_long_session_what_was_written_early_is_shown_and_the_way_there_is_not() -> None:
    early = (
        called("click_element", "{}", 'OK: Clicked [3] "New". NEW SCREEN: Edit (was: List).'),
        called("type_text", '{"text": "Ada Moss"}', 'OK: Typed "Ada Moss" into "Name".'),
        called("click_element", "{}", 'OK: Clicked [4] "Save". A toast said "Contact saved".'),
    )
    later = [called("click_element", "{}", f"OK: Clicked [{at}]. Later.") for at in range(40)]
    said = case(*(msg for pair in (*early, *later) for msg in pair))
    assert "(1 earlier actions are left out)" in said
    assert 'Typed "Ada Moss" into "Name".' in said
    assert 'A toast said "Contact saved"' in said
    assert "NEW SCREEN: Edit" not in said
    assert said.count("Later.") == 40


def test_what_was_approved_is_shown_with_its_recipient_and_what_was_denied_is_not() -> None:
    def sent(answer: str) -> str:
        question = Question(
            question_id="q",
            session_id="s",
            text='Send to Ana: "Hi"?\nWhere: app Messages',
            asked_ms=1,
            kind=QuestionKind.APPROVAL,
            call_id="c",
        )
        requested, finished = called("click_element", "{}", "OK: Clicked.")
        reply = QuestionAnswered(question_id="q", answer=answer)
        return case(requested, RequestUserInput(question=question), reply, finished)

    assert 'OK: Clicked. (approved: Send to Ana: "Hi"? Where: app Messages)' in sent("Approve")
    assert "Ana" not in sent("Deny")


def walked(
    *steps: tuple[str, tuple[UiNode, ...]], goal: str = "Reply to the newest"
) -> ClaimHistory:
    """A session that saw a screen before each act, the last one with nothing done after it."""
    past = ClaimHistory(goal)
    for step, (tool, nodes) in enumerate(steps, start=1):
        past.fold(ObservationRecorded(step=step, observation=observation(*nodes)))
        if tool:
            call, over = called(tool, "{}", "OK: Done.")
            past.fold(replace(call, step=step))
            past.fold(replace(over, step=step))
    return past


def rows(*names: str) -> tuple[UiNode, ...]:
    return tuple(node(n, (0.1, 0.1 + at / 20, 0.9, 0.14 + at / 20)) for at, n in enumerate(names))


def test_the_screen_where_something_was_chosen_is_shown_and_the_way_there_is_listed() -> None:
    past = walked(
        ("launch_app", rows("Clock", "Messages")),
        ("click_element", rows("Ana, 22:20", "Ben, 21:05")),
        ("type_text", rows("Ben", "Thanks")),
        ("", rows("Ben", "Thanks", "See you at ten")),
    )
    request = verdict_request(past)
    assert [step for step, _ in shown_steps(past)] == [2, 4]
    assert "Ana, 22:20" in request.messages[2].text
    said = request.messages[1].text
    assert '- step 1, com.example.app: "Clock", "Messages"' in said.replace(APP, "com.example.app")
    assert "step 3" not in said.split("## What other screens showed")[1]


def test_of_a_list_that_was_scrolled_each_row_is_shown_once() -> None:
    past = walked(
        ("launch_app", rows("Contacts")),
        ("scroll", rows("Ana", "Ben", "Cleo")),
        ("scroll", rows("Cleo", "Dan", "Eve")),
        ("", rows("Eve", "Finn")),
        goal="How many contacts are there?",
    )
    request = verdict_request(past, answer="Six")
    assert [step for step, _ in shown_steps(past)] == [4]
    text = "\n".join(message.text for message in request.messages[1:])
    for name in ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn"):
        assert text.count(f'"{name}"') == 1, name


def test_other_screens_are_bounded_and_what_is_left_out_is_said() -> None:
    screens = [
        ("scroll", rows(*(f"Row {step} {at} " + "x" * 60 for at in range(15))))
        for step in range(12)
    ]
    said = verdict_request(walked(*screens, ("", rows("The end")))).messages[1].text
    listed = said.split("## What other screens showed")[1]
    assert "Row 11 0" in listed and "Row 0 0" not in listed
    assert "earlier screens are left out)" in listed
    assert len(listed) < MAX_OTHER_CHARS + 200


def test_of_a_screen_that_is_too_long_to_be_listed_the_beginning_is() -> None:
    long = rows(*(f"Row {at} " + "x" * 100 for at in range(80)))
    said = verdict_request(walked(("scroll", long), ("", rows("The end")))).messages[1].text
    listed = said.split("## What other screens showed")[1]
    assert '"Row 0 ' in listed and "Row 79 " not in listed
    assert "left out" not in listed
    assert len(listed) < MAX_OTHER_CHARS + 200


def test_a_number_that_was_noted_and_stands_on_no_screen_is_marked() -> None:
    seen = ObservationRecorded(step=1, observation=observation(node("Balance: $1,284.50")))
    noted = FactsUpdate(facts=("The balance is $1,284.50", "The rent is 900 of 1,284.50"))
    said = case(seen, noted)
    assert "## Facts that the agent noted: to be checked, no evidence" in said
    assert "- The balance is $1,284.50\n" in said + "\n"
    assert "- The rent is 900 of 1,284.50 (on no stored screen: 900)" in said
