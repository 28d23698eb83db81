"""The card of a question: what an approval is about."""

from msgspec.structs import replace

from agent import records
from agent.loop.acting.action_review import CHANGED_SINCE
from agent.protocol import WarningEvent
from agent.safety.effects.wording import approval_question
from agent.state.approval_card import approval_card
from agent.state.reducer import QuestionItem
from tests.console.fakes import FakeCore
from tests.console.script import configure, step
from widgets.lists.session_rows import phone_asked_about
from widgets.questions.effect_lines import card_lines
from widgets.questions.question_card import QuestionCard, about_subject, void_note, with_phone
from widgets.transcript.transcript_lines import as_text


def approval(subject: records.Subject | None) -> records.Question:
    return records.Question(
        question_id="q",
        session_id="s",
        text="May I?",
        asked_ms=1,
        kind=records.QuestionKind.APPROVAL,
        subject=subject,
    )


def test_an_approval_names_its_element_its_app_and_what_it_takes() -> None:
    element = records.Element(
        number=4,
        key="k",
        kind="btn",
        label="Pay now",
        package="com.shop",
        bounds=records.Bounds(left=0, top=0, right=1, bottom=1),
    )
    subject = records.Subject(
        action="click_element", capability="payments.make", risk="financial", element=element
    )
    assert (
        about_subject(approval(subject)) == "[4] btn in com.shop · it may spend money · financial"
    )
    assert about_subject(approval(None)) == ""
    assert about_subject(approval(records.Subject(action="press_button"))) == ""


def test_an_approval_calls_the_phone_as_the_operator_does_where_switchboard_says_it() -> None:
    effect = records.Effect(
        verb=records.EffectVerb.SEND,
        app="com.chat",
        content=records.Stated(
            text="It is phone 127.0.0.1:29042\nWhere: phone 127.0.0.1:29042, he says"
        ),
        phone="127.0.0.1:29042",
    )
    asked = replace(
        approval(records.Subject(action="click_element", effect=effect)),
        text=approval_question(effect, 'Press "Send".', "it may send"),
    )
    assert "Where: app com.chat · phone 127.0.0.1:29042" in with_phone(asked, "").split("\n")
    said = with_phone(asked, "virtual 29042")
    assert "Where: app com.chat · phone virtual 29042" in said.split("\n")
    # What an app wrote is not ours to put other words into.
    assert "It is phone 127.0.0.1:29042" in said
    assert "phone 127.0.0.1:29042, he says" in said
    phones = {
        effect.phone: records.DeviceInfo(
            serial=effect.phone, state=records.DeviceState.ONLINE, name="Lab"
        )
    }
    assert phone_asked_about(asked, phones) == "Lab"
    assert phone_asked_about(asked, {}) == effect.phone
    assert phone_asked_about(approval(None), phones) == phone_asked_about(None, phones) == ""


def test_why_an_approval_became_void_stands_in_the_transcript() -> None:
    core = FakeCore()
    configure(core, "s1", "pay")
    step(core, "s1", 1)
    core.tell(WarningEvent(message=CHANGED_SINCE), "s1")
    told = as_text(core.state.sessions["s1"].transcript.items[-1])
    assert "that approval is void" in told


def test_an_approval_that_was_answered_before_says_that_the_answer_is_void() -> None:
    first = replace(approval(None), question_id="q1", call_id="c1")
    again = replace(first, question_id="q2")
    answered = QuestionItem(key="1", at_ms=1, question=first, answer="Approve")
    note = void_note(again, (answered,))
    assert note.startswith("Asked again: the previous answer is void")
    assert void_note(again, (replace(answered, answer=None),)) == ""
    assert void_note(replace(again, call_id="c2"), (answered,)) == ""
    assert void_note(first, (answered,)) == ""
    card = QuestionCard()
    card.show_question(again, now_ms=1, note=note)
    assert note in str(card.content)


def test_the_words_of_a_long_option_stand_beside_its_number() -> None:
    question = replace(
        approval(None),
        kind=records.QuestionKind.QUESTION,
        options=(
            records.QuestionOption(label="田中さくら 月曜日 " + "とても長い返事 " * 6),
            records.QuestionOption(label="Nobody", description="Leave it."),
        ),
    )
    lines, starts = QuestionCard()._question_lines(question, 40)
    written = [line.plain for line in lines]
    assert [written[at][:4] for at in starts[:-1]] == [" 1  ", " 2  "]
    assert starts[1] > starts[0] + 1, "the first takes several lines"
    assert all(line.startswith("    ") for line in written[starts[0] + 1 : starts[1]])
    assert all(line.cell_length <= 40 for line in lines)
    assert starts[-1] == len(lines)


def drawn(question: records.Question, width: int, phone: str = "") -> list[str]:
    card = approval_card(question, phone)
    assert card is not None
    return [line.plain for line in card_lines(card, width)]


def test_a_card_is_drawn_from_the_effect_and_a_message_makes_no_fact_of_its_own() -> None:
    effect = records.Effect(
        verb=records.EffectVerb.SEND,
        recipient=records.Stated(source=records.Source.UNREADABLE),
        content=records.Stated(text="See you\nUndo: any time\nTo: Mom (on the screen)"),
        undo="Not possible: what was sent may have been read.",
        reviewer="Nobody asked for this.",
        shown=("Chosen: Ana · Ben", "Typed earlier: subject = Hello"),
        app="com.chat",
        phone="p1",
    )
    asked = replace(
        approval(records.Subject(action="click_element", effect=effect)),
        text=approval_question(effect, 'Press "Send".', "it may send"),
    )
    text = asked.text.split("\n")
    assert [line for line in text if line.startswith(("Undo: ", "To: "))] == [
        "To: unknown",
        "Undo: Not possible: what was sent may have been read.",
    ]
    lines = drawn(asked, 58, "Lab")
    assert lines[0].startswith("Send to somebody unknown")
    facts = [line for line in lines if not line.startswith("  ")]
    assert [one.partition(": ")[0] for one in facts[2:]] == [
        *("To", "Text", "Undo", "Chosen", "Typed earlier", "The reviewer says", "Where")
    ]
    assert lines[-1] == "Where: app com.chat · phone Lab"
    assert all(len(line) <= 58 for line in lines)
    # A note of Switchboard's stands below; other words than the effect's are drawn as they are.
    assert drawn(replace(asked, people=2), 58)[-1] == "It takes 2 operators."
    assert approval_card(replace(asked, text="May I?")) is None


def test_short_facts_share_a_line_and_what_is_unknown_is_marked() -> None:
    effect = records.Effect(
        verb=records.EffectVerb.SPEND,
        recipient=records.Stated(text="Tom Becker"),
        amount=records.Stated(text="15.00 €"),
        beside_goal='your words do not name "Tom Becker".',
    )
    asked = replace(
        approval(records.Subject(action="click_element", effect=effect)),
        text=approval_question(effect, 'Press "Pay".', ""),
    )
    assert drawn(asked, 58) == [
        "Pay 15.00 € to Tom Becker?",
        'Press "Pay".',
        'Check: your words do not name "Tom Becker".',
        "To: Tom Becker   Amount: 15.00 €",
    ]
    assert len(drawn(asked, 24)) > 4
