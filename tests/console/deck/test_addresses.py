"""A text goes where it was begun for, or nowhere: others decide while it is being written."""

import pytest

from agent import protocol
from agent.errors import WrongStateError
from agent.records import DeviceState, SessionState
from tests.console.conftest import Open, Seat, has_field, select
from tests.console.deck.test_deck_answers import approval
from tests.console.fakes import phone
from tests.console.script import ask
from widgets.questions.composer import Mode

WORDS = "please do not"


async def asked(seat: Seat) -> None:
    """Show an approval of s1 that has been there for long enough."""
    await select(seat, "s1")
    approval(seat, "s1", "q8")
    await seat.see("May I delete the thread?")
    seat.deck.card.clock_s = lambda: 1e9


async def typed(seat: Seat, text: str) -> None:
    await seat.press(*("space" if one == " " else one for one in text))


def answered(seat: Seat, answer: str = "Approve") -> None:
    """Answer the approval as another console does."""
    told = protocol.QuestionAnswered(
        question_id="q8", answer=answer, answered_by="Ana: console (process 7)"
    )
    seat.core.tell(told, "s1")


async def folded(seat: Seat) -> None:
    newest = len(seat.core.stored)
    await seat.until(lambda: seat.app.bridge.state.event_id == newest, "the events")
    seat.app.refresh_top()
    await seat.pilot.pause()


@pytest.mark.parametrize("after", range(0, len(WORDS) + 1, 4))
@pytest.mark.parametrize("key", ["r", "m"])
async def test_a_reason_begun_before_another_approved_reaches_nobody(
    console: Open, key: str, after: int
) -> None:
    async with console() as seat:
        await asked(seat)
        await seat.press(key)
        await typed(seat, WORDS[:after])
        answered(seat)
        await folded(seat)
        await typed(seat, WORDS[after:])
        assert seat.deck.composer.text == WORDS, "the words stay"
        assert "Answered with “Approve” by Ana at " in seat.text()
        await seat.press("enter")
        assert seat.core.ops == []
        assert seat.deck.composer.purpose.mode is Mode.STEER
        assert seat.deck.composer.text == ""
        await seat.press("i", "up")
        assert seat.deck.composer.text == WORDS, "an arrow brings them back"


async def undelivered(seat: Seat, why: str) -> None:
    """Wait until the field says why its words cannot be sent any more, on however many lines."""
    await seat.until(lambda: why in seat.deck.composer.undeliverable, repr(why))


async def test_an_answer_from_another_console_of_the_same_operator_is_not_called_ones_own(
    console: Open,
) -> None:
    async with console() as seat:
        await asked(seat)
        await seat.press("r", "n", "o")
        told = protocol.QuestionAnswered(
            question_id="q8", answer="Approve", answered_by="console (process 9)"
        )
        seat.core.tell(told, "s1")
        await folded(seat)
        await undelivered(seat, "from a console at")
        await seat.see("enter close")


async def test_esc_closes_what_cannot_be_sent_and_only_that(console: Open) -> None:
    async with console() as seat:
        await asked(seat)
        await seat.press("r", "n", "o")
        answered(seat)
        await folded(seat)
        await seat.press("escape")
        assert seat.deck.composer.undeliverable == ""
        assert seat.core.ops == []
        assert len(seat.app.screen_stack) == 2


async def test_a_hint_does_not_become_the_goal_of_a_session_whose_turn_has_ended(
    console: Open,
) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i")
        await typed(seat, "end ")
        turn = seat.core.state.sessions["s1"].session.turn_id
        seat.core.tell(protocol.TaskComplete(turn_id=turn), "s1")
        await folded(seat)
        await typed(seat, "this")
        await undelivered(seat, "The turn that this hint was for has ended")
        await seat.press("enter")
        assert seat.core.ops == []


async def test_words_for_a_session_that_ended_are_no_keys(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i")
        await typed(seat, "send this ")
        seat.core.tell(protocol.SessionStateChanged(state=SessionState.CANCELLED), "s1")
        await folded(seat)
        await typed(seat, "xsn")
        assert seat.deck.composer.text == "send this xsn"
        await undelivered(seat, "The session was cancelled")
        await seat.press("enter")
        assert seat.core.ops == []


async def test_what_only_the_core_knew_comes_back_with_its_words(console: Open) -> None:
    async with console() as seat:
        await asked(seat)
        await seat.press("r")
        await typed(seat, WORDS)
        seat.core.fails_with = WrongStateError("Another was faster.")
        await seat.press("enter")
        await seat.see("not sent: Another was faster.")
        assert seat.deck.composer.text == WORDS
        seat.core.fails_with = None
        await seat.press("escape")
        assert seat.deck.composer.text == ""


async def test_a_changed_hint_that_a_step_has_taken_is_no_second_hint(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        hint = protocol.UserMessage(text="slower", message_id="m1", steer=True)
        seat.core.tell(hint, "s1")
        await folded(seat)
        await seat.press("h")
        await typed(seat, "!")
        seat.core.tell(protocol.SteerApplied(message_id="m1", step=5), "s1")
        await folded(seat)
        await undelivered(seat, "The hint was applied at step 5.")
        await seat.press("enter")
        assert seat.core.ops == []


async def test_a_question_that_comes_under_typing_hands_gets_no_answer(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i")
        ask(seat.core, "s1", "q9", "Delete everything?", "Yes", "No")
        await folded(seat)
        seat.deck.card.clock_s = lambda: 1e9
        await folded(seat)
        await typed(seat, "yes")
        await seat.press("enter")
        await seat.until(lambda: seat.core.ops, "the hint")
        assert seat.core.ops == [protocol.UserInput(session_id="s1", text="yes", steers=True)]


async def test_a_chosen_phone_stays_chosen_when_it_goes(console: Open) -> None:
    async with console() as seat:
        await seat.press("n")
        await typed(seat, "milk")
        await seat.press("shift+down")
        chosen = seat.deck.composer.choice
        assert chosen
        seat.core.tell(protocol.DeviceChanged(device=phone(chosen, state=DeviceState.GONE)))
        await folded(seat)
        await seat.see("(offline)")
        await seat.press("enter")
        await seat.until(lambda: seat.core.ops, "the goal")
        created = seat.core.ops[0]
        assert isinstance(created, protocol.SessionCreate)
        assert created.serial == chosen


@pytest.mark.parametrize("key", ["r", "m", "h", "s"])
async def test_the_words_behind_a_key_that_opened_no_field_are_no_keys(
    console: Open, key: str
) -> None:
    async with console() as seat:
        await select(seat, "s1")
        before = seat.deck.focused
        await seat.press(key)
        assert not has_field(seat)
        await typed(seat, "xpc c please do not send this")
        assert seat.core.ops == []
        assert seat.deck.focused is before
        await seat.see("it is not taken")
        await seat.press("enter")
        await seat.press("x")
        await seat.until(lambda: seat.core.ops, "keys count again")
        assert seat.core.ops == [protocol.Interrupt(session_id="s1")]


async def test_after_esc_the_keys_count_again(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("r", "x", "escape", "x")
        await seat.until(lambda: seat.core.ops, "the stop")
        assert seat.core.ops == [protocol.Interrupt(session_id="s1")]


async def test_stop_all_is_heard_among_words_that_nothing_takes(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("r", "n", "o", "ctrl+x")
        await seat.until(lambda: seat.core.ops, "the stop")
        assert seat.core.ops == [protocol.Interrupt(session_id="")]


async def test_what_is_typed_at_a_wheel_that_was_lost_is_no_keys(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("w")
        await seat.until(lambda: seat.deck.wheel.serial, "the wheel")
        await seat.press("h", "e")
        seat.deck.wheel._let_go()
        await seat.pilot.pause()
        asked_for = len(seat.core.ops)
        await typed(seat, "xpllo")
        assert len(seat.core.ops) == asked_for
