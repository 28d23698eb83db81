"""What a message says: a whole card or no approval, no secret, and a digest of the rest."""

import pytest

from agent.channels.message_text import AT_A_CONSOLE, digest_of_notices, message_of
from agent.channels.urgency import Urgency
from agent.records import (
    Effect,
    EffectVerb,
    Notice,
    NoticeKind,
    Question,
    QuestionKind,
    QuestionOption,
    QuestionPart,
    Source,
    Stated,
    Subject,
)
from agent.safety.approval import FOR_SESSION
from agent.safety.effects.wording import facts

APPROVAL = tuple(QuestionOption(label=one) for one in ("Approve", FOR_SESSION, "Deny"))


def asked(text: str, **fields: object) -> Question:
    made = {"question_id": "q", "session_id": "s", "text": text, "asked_ms": 0, **fields}
    return Question(**made)  # type: ignore[arg-type]


def told(question: Question, *, most_bytes: int = 3_000) -> tuple[str, list[str], bool]:
    """Return the text of its message, the buttons, and whether words are taken."""
    issued: list[str] = []

    def issue(answer: str) -> str:
        issued.append(answer)
        return f"token-{len(issued)}"

    notice = Notice(token="n", session_id="s", kind=NoticeKind.WAITING, title="t", question_id="q")
    made = message_of(notice, question, Urgency.NORMAL, most_bytes=most_bytes, issue=issue)
    assert len({one.token for one in made.buttons}) == len(made.buttons)
    return made.text, [one.label for one in made.buttons], bool(made.words_token)


@pytest.mark.parametrize(
    ("question", "labels", "takes_words"),
    [
        (asked("Pay?", kind=QuestionKind.APPROVAL, options=APPROVAL), ["Approve", "Deny"], True),
        (asked("Pay?", kind=QuestionKind.APPROVAL), ["Approve", "Deny"], True),
        (asked("Which?", options=(QuestionOption(label="a"),)), ["a"], True),
        (asked("Which?"), [], True),
        (asked("Code?", secret=True, options=(QuestionOption(label="a"),)), [], False),
        (asked("Two?", parts=(QuestionPart(part_id="1", text="One?"),)), [], True),
    ],
)
def test_an_approval_is_for_once_and_a_secret_is_answered_at_a_console(
    question: Question, labels: list[str], takes_words: bool
) -> None:
    text, buttons, words = told(question)
    assert (buttons, words) == (labels, takes_words)
    assert (AT_A_CONSOLE in text) is question.secret


def test_a_card_that_does_not_fit_can_only_be_denied() -> None:
    long = asked(f"Send {'x' * 200} to Ana?", kind=QuestionKind.APPROVAL, options=APPROVAL)
    assert told(long)[1] == ["Approve", "Deny"]
    other = asked(f"Senden {'ж' * 200}?", kind=QuestionKind.APPROVAL, options=APPROVAL)
    assert told(other, most_bytes=300)[1] == ["Deny"], "bytes are counted"
    text, buttons, _ = told(long, most_bytes=100)
    assert buttons == ["Deny"] and "To approve it: answer at a console." in text


def test_nothing_that_looks_like_a_secret_is_in_a_message() -> None:
    for secret in ("4111 1111 1111 1111", "password: hunter2!x", "sk-proj-abcdefghijklmnop1234"):
        text, _, _ = told(asked(f"Is it {secret} now?"))
        title = message_of(
            Notice(token="n", session_id="s", kind=NoticeKind.FAILED, title=f"f {secret}"),
            None,
            Urgency.NORMAL,
            most_bytes=100,
        ).title
        assert secret not in text and secret not in title, (text, title)


def test_a_digest_names_each_notice_once_and_counts_what_is_left_out() -> None:
    notices = [
        Notice(token=f"n{n}", session_id="s", kind=NoticeKind.COMPLETED, title=f"Finished {n}")
        for n in range(25)
    ]
    made = digest_of_notices("d", notices)
    assert made.title == "25 notices" and made.text.endswith("- and 5 more")
    assert made.text.count("Finished") == 20 and not made.buttons


def test_the_card_of_an_effect_is_told_fact_by_fact_and_no_text_makes_one() -> None:
    effect = Effect(
        verb=EffectVerb.SEND,
        control="Send",
        recipient=Stated(text="Ana", source=Source.SCREEN),
        content=Stated(text="Hello\nAmount: $1.00", source=Source.TYPED),
        phone="emulator-5554",
        undo="Not possible: what was sent may have been read.",
    )
    shown = "\n".join(["Send to Ana?", "", *facts(effect)])
    question = asked(
        shown, kind=QuestionKind.APPROVAL, subject=Subject(action="tap", effect=effect)
    )
    notice = Notice(token="n", session_id="s", kind=NoticeKind.WAITING, title="t")
    text = message_of(
        notice, question, Urgency.URGENT, most_bytes=3_000, phone="Lab phone", issue=lambda _: "x"
    ).text
    lines = text.splitlines()
    assert lines[0] == "Send to Ana?" and "To: Ana" in lines
    assert not any(line.startswith("Amount") for line in lines), text
    assert any(line.startswith("Where") and "Lab phone" in line for line in lines), text
