"""Questions that are long, many or in parts: all of each can be read, gone to and put right."""

from textual.events import Key

from agent import protocol
from agent.errors import WrongStateError
from agent.records import Question, QuestionKind, QuestionOption, QuestionPart, SessionState
from agent.state.reducer import QuestionItem
from tests.console.conftest import Open, Seat, select
from tests.console.fakes import FakeCore, phone
from tests.console.script import ask, configure, run
from widgets.lists.device_line import device_parts
from widgets.questions.composer import Mode
from widgets.transcript.transcript_lines import as_text

LONG = "a subject that somebody talkative wrote about the contract, the dinner and the weather " * 2
PARTS = (
    QuestionPart(
        part_id="calendar",
        header="Calendar",
        text="Which calendar?",
        options=(QuestionOption(label="Home"), QuestionOption(label="Work")),
    ),
    QuestionPart(part_id="time", header="Time", text="At what time?"),
)


def two_ask(core: FakeCore) -> None:
    for name, text in (("s1", "Which Ben?"), ("s2", "Which Anna?")):
        configure(core, name, f"tell {name}", serial="phone-1")
        run(core, name)
        ask(core, name, f"q-{name}", text, "The old one", "The young one")


def in_parts(core: FakeCore) -> None:
    configure(core, "s1", "plan a dinner")
    run(core, "s1")
    asked = Question(
        question_id="q1", session_id="s1", text="all", asked_ms=core.now_ms, parts=PARTS
    )
    core.tell(protocol.RequestUserInput(question=asked), "s1")


async def to_the_card(seat: Seat) -> None:
    seat.deck.card.clock_s = lambda: 1e9
    await seat.press("exclamation_mark")
    await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")


async def test_from_the_card_of_a_question_the_key_goes_on_to_the_next_and_round(
    console: Open,
) -> None:
    async with console(play=two_ask) as seat:
        await to_the_card(seat)
        seen = [seat.deck.selected]
        for _ in range(2):
            await seat.press("exclamation_mark")
            await seat.until(lambda: seat.deck.selected != seen[-1], "another session")
            assert seat.deck.focused is seat.deck.card
            seen.append(seat.deck.selected)
        assert seen == ["s1", "s2", "s1"]
        assert seat.core.ops == []


async def test_letters_typed_at_once_after_enter_on_a_card_are_the_answer(console: Open) -> None:
    async with console(play=two_ask) as seat:
        await to_the_card(seat)
        for key, letter in (("enter", "\r"), ("n", "n"), ("x", "x"), ("exclamation_mark", "!")):
            # Not by the pilot, which waits after each.
            seat.app.post_message(Key(key, letter))
        await seat.until(lambda: seat.deck.composer.field.text == "nx!", "all of it in the field")
        assert seat.core.ops == []


async def test_what_a_long_card_has_no_room_for_is_said_and_scrolled_to(console: Open) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "s1", "answer a mail")
        run(core, "s1")
        options = (f"Mail number {number}: {LONG}" for number in range(1, 8))
        ask(core, "s1", "q1", "Which of these mails do you mean? " * 12, *options)

    async with console(play=play, size=(120, 30)) as seat:
        await to_the_card(seat)
        await seat.see("below ↓")
        assert "Mail number 7" not in seat.text()
        assert "a number, or enter" in seat.text(), "the keys are always seen"
        for _ in range(12):
            await seat.press("ctrl+d")
        await seat.until(lambda: "below ↓" not in seat.text(), "the end")
        assert "Mail number 7" in seat.text() and "above ↑" in seat.text()
        await seat.press("k")
        await seat.see("1 more below ↓")
        await seat.press("7")
        await seat.until(lambda: seat.core.ops, "the answer")
        [op] = seat.core.ops
        assert isinstance(op, protocol.UserInputAnswer) and op.answer.startswith("Mail number 7")


async def test_the_part_before_can_be_answered_again_before_all_is_sent(console: Open) -> None:
    async with console(play=in_parts) as seat:
        await to_the_card(seat)
        await seat.see("1 of 2 · Calendar")
        await seat.press("backspace", "1")
        await seat.see("2 of 2 · Time")
        await seat.see("Calendar: Home")
        seat.deck.card.clock_s = lambda: 2e9
        await seat.press("backspace")
        await seat.see("1 of 2 · Calendar")
        assert "Calendar: Home" not in seat.text()
        seat.deck.card.clock_s = lambda: 3e9
        await seat.press("2")
        await seat.see("Calendar: Work")
        seat.deck.card.clock_s = lambda: 4e9
        await seat.press("enter", *"noon", "enter")
        await seat.until(lambda: seat.core.ops, "the answer")
        [op] = seat.core.ops
        assert isinstance(op, protocol.UserInputAnswer)
        assert op.answers == {"calendar": ("Work",), "time": ("noon",)}


async def test_a_number_written_as_an_answer_names_the_option_unless_options_are_numbers(
    console: Open,
) -> None:
    async with console(play=two_ask) as seat:
        await to_the_card(seat)
        await seat.press("enter", "2", "enter")
        await seat.until(lambda: len(seat.core.ops) == 1, "the first answer")
        seat.core.tell(protocol.QuestionClosed(question_id="q-s2", reason="test"), "s2")
        ask(seat.core, "s2", "q3", "For how many?", "2", "4")
        await seat.until(lambda: "q3" in seat.app.bridge.state.questions, "the next question")
        await select(seat, "s2")
        await seat.until(
            lambda: seat.deck.card.question and seat.deck.card.question.question_id == "q3",
            "its card",
        )
        seat.deck.card.clock_s = lambda: 2e9
        seat.deck.panes.go_to("middle", seat.deck.card)
        await seat.press("enter", "1", "enter")
        await seat.until(lambda: len(seat.core.ops) == 2, "the second answer")
        first, second = seat.core.ops
        assert isinstance(first, protocol.UserInputAnswer) and first.answer == "The young one"
        assert isinstance(second, protocol.UserInputAnswer) and second.answer == "1"


def test_several_questions_stand_in_the_transcript_each_on_its_own_line() -> None:
    question = Question(question_id="q", session_id="s", text="all", asked_ms=1, parts=PARTS)
    told = as_text(QuestionItem(key="1", at_ms=1, question=question, answer="Work\n\nnoon"))
    lines = [line.strip() for line in told.splitlines()]
    assert "1 Calendar: Which calendar?  Home · Work" in lines
    assert "2 Time: At what time?" in lines
    brief = as_text(QuestionItem(key="1", at_ms=1, question=question))
    assert "asks 2 things" in brief


async def test_what_the_model_says_ends_with_its_reply_whichever_comes_first(console: Open) -> None:
    async with console(play=two_ask) as seat:
        bridge = seat.app.bridge
        seat.core.tell(protocol.StepStarted(step=1), "s1")
        seat.core.say("s1", "I open")
        await seat.until(lambda: bridge.said_now("s1") == "I open", "what it says")
        seat.core.tell(protocol.AgentMessage(step=1, text="I open the door."), "s1")
        await seat.until(lambda: bridge.said_now("s1") == "", "nothing more")
        # The other way round: the words come after the event of the whole reply.
        seat.core.say("s1", "I open the door.")
        await seat.until(lambda: "s1" in bridge.saying, "the late words")
        assert bridge.said_now("s1") == ""
        seat.core.tell(protocol.StepStarted(step=2), "s1")
        await seat.until(lambda: bridge.state.event_id == len(seat.core.stored), "the next step")
        seat.core.say("s1", "Now")
        await seat.until(lambda: bridge.said_now("s1") == "Now", "what it says now")


def test_a_tall_screen_names_more_phones() -> None:
    core = FakeCore()
    for number in range(9):
        core.tell(protocol.DeviceChanged(device=phone(f"phone-{number}")))
    said = "".join(text for text, _ in device_parts(core.state, 40, "none", height=50)[0])
    assert "Pixel 8" in said and "more" not in said
    short = "".join(text for text, _ in device_parts(core.state, 40, "none", height=24)[0])
    assert "Pixel 5" in short and "and 3 more" in short


async def test_the_key_goes_to_the_question_from_every_screen_and_the_header_names_it(
    console: Open,
) -> None:
    async with console(play=two_ask) as seat:
        for key in ("2", "3", "4", "comma"):
            await seat.press(key)
            await seat.until(lambda: seat.app.screen is not seat.deck, "another screen")
            await seat.see("2 wait for you · !")
            await seat.press("exclamation_mark")
            await seat.until(lambda: seat.app.screen is seat.deck, "the Deck")
            assert seat.deck.focused is seat.deck.card
            await seat.press("escape", "escape")
        assert seat.core.ops == []


async def test_where_nobody_asks_the_key_stays_and_says_so(console: Open) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "s1", "work")
        run(core, "s1")

    async with console(play=play) as seat:
        await seat.press("2")
        await seat.until(lambda: seat.app.screen is not seat.deck, "the Wall")
        assert "next question" not in seat.text()
        assert "2 wall" not in seat.text(), "the footer leads elsewhere"
        await seat.press("exclamation_mark")
        await seat.see("No open questions.")
        assert seat.app.screen is not seat.deck


async def test_a_hint_that_a_step_took_first_stays_in_the_field(console: Open) -> None:
    async with console() as seat:
        seat.core.tell(protocol.UserMessage(text="use dark", message_id="m1", steer=True), "s1")
        await select(seat, "s1")
        await seat.see("waits for the next step")
        seat.deck.sessions.focus()
        await seat.press("h")
        await seat.until(lambda: seat.deck.composer.text == "use dark", "the hint")
        seat.core.fails_with = WrongStateError("Step 3 has taken it in.", "Write another.")
        await seat.press(*" mode", "enter")
        await seat.see("Step 3 has taken it in.")
        composer = seat.deck.composer
        await seat.until(lambda: composer.text == "use dark mode", "what was written")
        assert composer.purpose.mode is Mode.EDIT, "it becomes no hint of its own"
        assert composer.undeliverable


async def test_the_footer_says_what_the_key_of_pausing_would_do(console: Open) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "s1", "work")
        run(core, "s1")

    async with console(play=play) as seat:
        await seat.see("p pause")
        seat.core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), "s1")
        await seat.see("p resume")


async def test_the_queue_says_what_is_to_be_approved_and_whose_it_is(console: Open) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "s1", "write to Ana")
        run(core, "s1")
        asked = Question(
            question_id="q1",
            session_id="s1",
            text="May I do this? Press “Send SMS”.",
            asked_ms=core.now_ms,
            kind=QuestionKind.APPROVAL,
            options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
        )
        core.tell(protocol.RequestUserInput(question=asked), "s1")

    async with console(play=play) as seat:
        await seat.see("◆ Press “Send SMS”.")
        await seat.see("2 Reject · write to Ana")


async def test_arrows_scroll_the_phone_that_is_driven(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("w")
        await seat.until(lambda: seat.deck.focused is seat.deck.phone, "the wheel")

        def swipes() -> list[protocol.WheelSwipe]:
            acts = [op.gesture for op in seat.core.ops if isinstance(op, protocol.WheelAct)]
            return [one for one in acts if isinstance(one, protocol.WheelSwipe)]

        await seat.press("down", "up")
        await seat.until(lambda: len(swipes()) == 2, "two swipes")
        down, up = swipes()
        assert down.start.y > down.end.y and up.start.y < up.end.y


async def test_a_tall_screen_shows_an_approval_whole_with_its_options(console: Open) -> None:
    lines = ("Send to Ben Carter: “hello”?", *(f"Line {number} of ten." for number in range(1, 11)))

    def play(core: FakeCore) -> None:
        configure(core, "s1", "tell Ben")
        run(core, "s1")
        asked = Question(
            question_id="q1",
            session_id="s1",
            kind=QuestionKind.APPROVAL,
            text="\n".join(lines),
            asked_ms=core.now_ms,
            options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
        )
        core.tell(protocol.RequestUserInput(question=asked), "s1")

    async with console(play=play, size=(140, 44)) as seat:
        await seat.see("Line 10 of ten.")
        await seat.see("2  Reject")
        assert "below ↓" not in seat.text()
