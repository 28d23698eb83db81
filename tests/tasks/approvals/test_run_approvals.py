"""What a job's operator approved: for one run, for one effect, and once unless said otherwise."""

import pytest

from agent import protocol
from agent.loop.acting.run_approvals import RunApprovals, is_same_effect
from agent.records import (
    ActionOutcome,
    Effect,
    EffectVerb,
    Question,
    ReviewTicket,
    Source,
    Stated,
    Subject,
)
from agent.safety.granting import Grants

FOR_RUN, ONCE = "Approve for this run", "Approve"
TICKET = ReviewTicket(
    confirmation_id="c", job_id=7, tool="click_element", params_digest="", screen_digest=""
)


def sends(name: str = "Ana", text: str = "Good morning", **more: object) -> Subject:
    """Return a press that sends a text to somebody."""
    effect = Effect(
        verb=EffectVerb.SEND,
        control="Send",
        recipient=Stated(text=name, source=Source.SCREEN if name else Source.UNREADABLE),
        content=Stated(text=text, source=Source.TYPED),
        app="com.chat",
        digest=f"{name}\0{text}",
        **more,  # type: ignore[arg-type]
    )
    return Subject(action="click_element", effect=effect)


def history(*msgs: protocol.EventMsg) -> list[protocol.Event]:
    return [
        protocol.Event(event_id=at, session_id="s", seq=at, ts_ms=at, msg=msg)
        for at, msg in enumerate(msgs, 1)
    ]


def run(number: int = 7) -> protocol.UserMessage:
    """Return the prompt that a run of a job begins with."""
    return protocol.UserMessage(text="greet", message_id="m", job_id=number)


def approved(
    subject: Subject, answer: str, call_id: str = "c1", *, of_job: bool = True
) -> list[protocol.EventMsg]:
    question = Question(
        question_id=f"q-{call_id}",
        session_id="s",
        text="May I?",
        asked_ms=1,
        call_id=call_id,
        subject=subject,
        review=TICKET if of_job else None,
    )
    return [
        called(call_id),
        protocol.RequestUserInput(question=question),
        protocol.QuestionAnswered(question_id=question.question_id, answer=answer),
    ]


def called(call_id: str) -> protocol.ToolCallRequested:
    return protocol.ToolCallRequested(
        step=1, call_id=call_id, tool="click_element", arguments="{}", decision="ask"
    )


def came_to(outcome: ActionOutcome, call_id: str = "c1") -> protocol.ToolCallFinished:
    return protocol.ToolCallFinished(step=1, call_id=call_id, outcome=outcome, text="")


def test_an_approval_for_a_run_ends_with_it() -> None:
    past = [run(), *approved(sends(), FOR_RUN), came_to(ActionOutcome.DONE)]
    assert RunApprovals.of(history(*past)).lets(sends(text="And a good day"))
    assert not RunApprovals.of(history(*past)).lets(sends("Ben"))
    assert not RunApprovals.of(history(*past, run())).lets(sends())


def test_what_a_person_approved_for_a_session_is_not_a_jobs_nor_the_other_way_round() -> None:
    by_person = history(*approved(sends(), "Approve for this session", of_job=False))
    assert Grants.of(by_person).covers(sends())
    assert not RunApprovals.of(by_person).lets(sends())
    of_job = history(run(), *approved(sends(), FOR_RUN))
    assert not Grants.of(of_job).covers(sends())


@pytest.mark.parametrize("answer", [ONCE, "Deny"])
@pytest.mark.parametrize("outcome", list(ActionOutcome))
def test_an_approval_that_was_not_used_counts_once_for_the_very_same_effect(
    outcome: ActionOutcome, answer: str
) -> None:
    found = RunApprovals.of(history(run(), *approved(sends(), answer), came_to(outcome)))
    is_left = outcome is ActionOutcome.FAILED and answer == ONCE
    assert found.lets(sends()) is is_left
    assert not found.lets(sends(text="I quit")) and not found.lets(sends("Ben"))
    found.used(sends())
    assert not found.lets(sends())


def test_a_call_that_was_let_pass_uses_up_what_was_approved_also_after_a_restart() -> None:
    past = [run(), *approved(sends(), ONCE), came_to(ActionOutcome.FAILED)]
    again: list[protocol.EventMsg] = [called("c2"), came_to(ActionOutcome.UNKNOWN, "c2")]
    assert not RunApprovals.of(history(*past, *again)).lets(sends())


def test_what_cannot_be_read_is_never_known_to_be_the_same() -> None:
    nobody = sends("").effect
    assert nobody is not None and not is_same_effect(nobody, nobody)
    switch = Effect(verb=EffectVerb.SWITCH, control="Bluetooth", digest="x")
    assert not is_same_effect(switch, switch)
    ana = sends().effect
    assert ana is not None and is_same_effect(ana, ana)
