"""Answers from the Deck: by number, word and approval; what a key elsewhere never answers."""

from agent.protocol import QuestionClosed, RequestUserInput, UserInput, UserInputAnswer
from agent.records import Question, QuestionKind, QuestionOption
from tests.console.burst.core import ScriptedCore
from tests.console.conftest import Open, Seat, has_field, select
from tests.console.script import ask


async def test_a_number_answers_from_the_card_only_after_the_grace_period(console: Open) -> None:
    now_s = [100.0]
    async with console() as seat:
        seat.deck.card.clock_s = lambda: now_s[0]
        seat.core.tell(QuestionClosed(question_id="q1", reason="test"), "s2")
        await seat.until(lambda: seat.deck.card.question is None, "no card")
        ask(seat.core, "s2", "q2", "Home or work?", "Home", "Work")
        await seat.until(lambda: seat.deck.card.question is not None, "a card")
        assert seat.deck.sessions.has_focus, "focus was stolen"
        await seat.press("exclamation_mark")
        await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")
        await seat.press("2")
        assert seat.core.ops == []
        now_s[0] += 0.6
        await seat.press("2")
        await seat.until(
            lambda: seat.core.ops == [UserInputAnswer(question_id="q2", answer="Work")], "answer"
        )
        await seat.until(lambda: seat.deck.card.question is None, "the card is gone")
        assert seat.deck.focused is not seat.deck.card


async def test_a_number_without_an_option_does_nothing(console: Open) -> None:
    async with console() as seat:
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("exclamation_mark", "7", "1")
        await seat.until(lambda: len(seat.core.ops) == 1, "one answer")
        assert seat.core.ops == [UserInputAnswer(question_id="q1", answer="Home")]


async def test_the_queue_answers_what_the_cursor_is_on(console: Open) -> None:
    async with console() as seat:
        seat.deck.attention.clock_s = lambda: 1e9
        await seat.press("tab")
        await seat.until(lambda: seat.deck.focused is seat.deck.attention, "the queue")
        await seat.press("2")
        await seat.until(
            lambda: seat.core.ops == [UserInputAnswer(question_id="q1", answer="Work")], "answer"
        )


async def test_what_an_answer_brought_is_answered_as_soon_as_it_was_gone_to(console: Open) -> None:
    async with console(core=ScriptedCore(), play=lambda _: None) as seat:
        # The clock stands: how fast the keys come decides nothing.
        seat.deck.attention.clock_s = lambda: 1e9
        await seat.press("tab", "1", "1")
        first = seat.deck.attention.under_cursor
        assert len(seat.core.ops) == 1, "the second number was meant for the first question"
        await seat.press("shift+tab", "tab", "1")
        await seat.until(lambda: len(seat.core.ops) == 2, "the second answer")
        assert first is not None
        assert first.question is not None
        second = seat.core.ops[1]
        assert isinstance(second, UserInputAnswer)
        assert second.question_id == first.question.question_id


async def test_words_answer_too(console: Open) -> None:
    async with console() as seat:
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("exclamation_mark", "enter")
        await seat.until(lambda: seat.deck.composer.field.has_focus, "the composer")
        await seat.see("answer ▸")
        await seat.press(*"both", "enter")
        await seat.until(
            lambda: seat.core.ops == [UserInputAnswer(question_id="q1", answer="both")], "answer"
        )


async def test_a_secret_answer_is_typed_unseen(console: Open) -> None:
    async with console() as seat:
        seat.core.tell(QuestionClosed(question_id="q1", reason="test"), "s2")
        await seat.until(lambda: seat.deck.card.question is None, "no card")
        question = Question(
            question_id="q7", session_id="s2", text="The PIN?", asked_ms=1, secret=True
        )
        seat.core.tell(RequestUserInput(question=question), "s2")
        await seat.until(lambda: seat.deck.card.question is not None, "a card")
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("exclamation_mark", "enter")
        await seat.until(lambda: seat.deck.composer.field.has_focus, "the composer")
        await seat.press(*"4711")
        await seat.see("••••")
        assert "4711" not in seat.text()
        await seat.press("enter")
        await seat.until(
            lambda: seat.core.ops == [UserInputAnswer(question_id="q7", answer="4711")], "answer"
        )


async def test_a_hint_being_typed_never_becomes_an_answer(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i", *"left")
        ask(seat.core, "s1", "q9", "Delete everything?", "Yes", "No")
        await seat.see("a question waits above")
        await seat.press("enter")
        await seat.until(lambda: seat.core.ops, "the hint")
        assert seat.core.ops == [UserInput(session_id="s1", text="left", steers=True)]


async def test_enter_on_a_fresh_card_approves_nothing(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i")
        approval(seat, "s1", "q9")
        await seat.until(lambda: seat.deck.card.question is not None, "the card")
        await seat.press("enter", "enter")
        assert seat.core.ops == []


def approval(seat: Seat, session_id: str, question_id: str) -> None:
    seat.core.tell(
        RequestUserInput(
            question=Question(
                question_id=question_id,
                session_id=session_id,
                text="May I delete the thread?",
                asked_ms=seat.core.now_ms,
                kind=QuestionKind.APPROVAL,
                options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
            )
        ),
        session_id,
    )


async def test_approving_looks_first_and_rejecting_gives_a_reason(console: Open) -> None:
    async with console() as seat:
        seat.deck.card.clock_s = lambda: 1e9
        await select(seat, "s1")
        approval(seat, "s1", "q8")
        await seat.see("May I delete the thread?")
        seat.deck.card._came_s = 0.0
        await seat.press("a")
        await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card first")
        assert seat.core.ops == []
        await seat.press("a")
        await seat.until(
            lambda: seat.core.ops == [UserInputAnswer(question_id="q8", answer="Approve")],
            "approved",
        )
        approval(seat, "s1", "q9")
        await seat.until(
            lambda: (shown := seat.deck.card.question) and shown.question_id == "q9",
            "the second approval",
        )
        await seat.press("r", "n", "o", "enter")
        assert not has_field(seat), "nobody has read it yet"
        assert len(seat.core.ops) == 1
        seat.deck.card._came_s = 0.0
        await seat.press("r")
        await seat.until(lambda: seat.deck.composer.field.has_focus, "the composer")
        await seat.press(*"not that", "enter")
        await seat.until(
            lambda: seat.core.ops[-1] == UserInputAnswer(question_id="q9", answer="Deny: not that"),
            "rejected",
        )
