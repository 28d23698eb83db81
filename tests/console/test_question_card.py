"""The card of a question: what an approval is about."""

from __future__ import annotations

from agent.records import Bounds, Element, Question, QuestionKind, Subject
from widgets.question_card import about_subject


def approval(subject: Subject | None) -> Question:
    return Question(
        question_id="q",
        session_id="s",
        text="May I?",
        asked_ms=1,
        kind=QuestionKind.APPROVAL,
        subject=subject,
    )


def test_an_approval_names_its_element_its_app_and_what_it_takes() -> None:
    element = Element(
        number=4,
        key="k",
        kind="btn",
        label="Pay now",
        package="com.shop",
        bounds=Bounds(left=0, top=0, right=1, bottom=1),
    )
    subject = Subject(
        action="click_element", capability="payments.make", risk="financial", element=element
    )
    assert about_subject(approval(subject)) == "[4] btn in com.shop · payments.make · financial"
    assert about_subject(approval(None)) == ""
    assert about_subject(approval(Subject(action="press_button"))) == ""
