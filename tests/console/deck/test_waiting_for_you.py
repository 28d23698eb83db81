"""What waits for the operator, and whether the keys that are offered do what they say."""

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.records import DeviceState, Question, QuestionKind, QuestionOption, SessionState
from console.screens.jobs.jobs import JobsScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, job, phone
from tests.console.script import ask, configure, evening, run


def ask_to_send(core: FakeCore, session_id: str = "s1", question_id: str = "q8") -> None:
    core.tell(
        protocol.RequestUserInput(
            question=Question(
                question_id=question_id,
                session_id=session_id,
                text="May I do this? Press “Send SMS”. It sends a message.",
                asked_ms=core.now_ms,
                kind=QuestionKind.APPROVAL,
                options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
            )
        ),
        session_id,
    )


def with_approval(core: FakeCore) -> None:
    evening(core)
    ask_to_send(core)


async def look_at(seat: Seat, session_id: str) -> None:
    seat.deck.select(session_id)
    seat.deck.refresh_all()
    await seat.pilot.pause()


def fail(core: FakeCore, session_id: str) -> None:
    core.tell(protocol.SessionStateChanged(state=SessionState.FAILED, reason="No way."), session_id)


async def test_who_is_lost_stuck_or_out_of_budget_waits_in_the_queue(console: Open) -> None:
    def play(core: FakeCore) -> None:
        for one in ("s1", "s2", "s3"):
            configure(core, one, f"goal of {one}", serial=f"phone-{one[1]}")
            run(core, one)
        reason = "phone-1 is away; waiting for it, without model calls."
        core.tell(protocol.SessionFlagsChanged(lost=True, lost_until_ms=2**43, reason=reason), "s1")
        ask(core, "s2", "q2", "I am stuck. What should I do?", "Try again", "Stop")
        ask(core, "s3", "q3", "The budget of 30 steps is used up.", "Extend", "Stop")

    async with console(play=play) as seat:
        await seat.see("Waiting for you 3")
        await seat.see("3 wait for you")
        shown = [one.kind.value for one in seat.deck.attention.waiting.values()]
        assert shown == ["question", "question", "lost"]
        await seat.see("device away")
        # The queue leads to the one that is lost, and its transcript says what it waits for.
        seat.deck.attention.move_to(next(k for k in seat.deck.attention.waiting if "lost" in k))
        seat.deck.attention.focus()
        await seat.press("enter")
        await seat.until(lambda: seat.deck.selected == "s1", "the lost session")
        await seat.see("waiting for it, without model calls")
        # Its own number extends the budget from the queue.
        seat.deck.attention.move_to("question:q3")
        seat.deck.attention.clock_s = lambda: 1e9
        seat.deck.attention.focus()
        await seat.press("1")
        await seat.until(
            lambda: seat.core.ops == [protocol.UserInputAnswer(question_id="q3", answer="Extend")],
            "more",
        )
        # What was looked at is not done with: its session still waits for its phone.
        await seat.see("Waiting for you 2")
        assert any("lost" in key for key in seat.deck.attention.waiting)


@pytest.mark.parametrize("pane", ["sessions", "transcript", "attention"])
async def test_approving_from_any_pane_says_first_what_the_second_press_approves(
    console: Open, pane: str
) -> None:
    async with console(play=with_approval) as seat:
        await look_at(seat, "s1")
        seat.deck.card.clock_s = lambda: 1e9
        if pane == "attention":
            seat.deck.attention.move_to("question:q8")
        seat.deck.query_one(f"#{pane}").focus()
        await seat.press("a")
        await seat.see("Press a again to approve: Press “Send SMS”")
        await seat.until(lambda: "a a approve" not in seat.text(), "the card's own hint")
        assert seat.core.ops == []
        await seat.press("a")
        await seat.until(lambda: seat.core.ops, "the answer")
        assert seat.core.ops[0].answer == "Approve"  # type: ignore[union-attr]


async def test_the_queue_approves_the_row_it_stands_on_not_another_session(console: Open) -> None:
    async with console(play=with_approval) as seat:
        await look_at(seat, "s2")
        seat.deck.attention.move_to("question:q8")
        seat.deck.attention.focus()
        await seat.press("a")
        await seat.until(lambda: seat.deck.selected == "s1", "the session that asks")
        await seat.see("Press a again to approve")


async def test_what_refuses_is_called_reject_wherever_it_is_read(console: Open) -> None:
    async with console(play=with_approval) as seat:
        await look_at(seat, "s1")
        await seat.see("2  Reject")
        await seat.see("2 Reject")
        assert "Deny" not in seat.text()


async def test_rejecting_says_that_enter_rejects(console: Open) -> None:
    async with console(play=with_approval) as seat:
        await look_at(seat, "s1")
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("r")
        await seat.see("reject ▸")
        await seat.see("enter reject")
        assert seat.core.ops == []


async def test_a_digit_the_card_has_no_option_for_still_changes_the_screen(console: Open) -> None:
    async with console() as seat:
        await seat.press("exclamation_mark")
        await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")
        await seat.see("   Deck  Wall  3 Jobs")
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("3")
        await seat.until(lambda: isinstance(seat.app.screen, JobsScreen), "the jobs")
        assert seat.core.ops == []


async def test_a_digit_the_card_takes_is_not_shown_as_a_screens_key(console: Open) -> None:
    def three(core: FakeCore) -> None:
        configure(core, "s1", "choose")
        run(core, "s1")
        ask(core, "s1", "q1", "Which?", "One", "Two", "Three")

    async with console(play=three) as seat:
        await seat.see("3 Jobs")
        await seat.press("exclamation_mark")
        await seat.until(lambda: "3 Jobs" not in seat.text(), "the digit is the card's")
        await seat.see("1-3 choose")


async def test_questions_stand_before_failures_and_are_what_is_counted(console: Open) -> None:
    async with console() as seat:
        fail(seat.core, "s1")
        await seat.until(
            lambda: [r.key for r in seat.deck.attention.rows] == ["question:q1", "failed:s1:0"],
            "the order",
        )
        await seat.see("Waiting for you 1 · ! to answer")
        await seat.see("? 1 waits for you")


async def test_a_failure_that_was_looked_at_leaves_the_queue(console: Open) -> None:
    now_s = [100.0]
    async with console() as seat:
        seat.deck.showing.clock_s = lambda: now_s[0]
        fail(seat.core, "s1")
        await seat.until(lambda: len(seat.deck.attention.rows) == 2, "the failure")
        await look_at(seat, "s1")
        assert len(seat.deck.attention.rows) == 2, "it went before anybody could read it"
        now_s[0] += 10
        seat.deck.refresh_all()
        await seat.until(lambda: len(seat.deck.attention.rows) == 1, "it is read")


async def test_a_failure_is_dismissed_by_a_key_and_a_question_is_not(console: Open) -> None:
    async with console() as seat:
        fail(seat.core, "s1")
        await seat.until(lambda: len(seat.deck.attention.rows) == 2, "the failure")
        seat.deck.attention.move_to("question:q1")
        seat.deck.attention.focus()
        await seat.press("d")
        assert len(seat.deck.attention.rows) == 2
        seat.deck.attention.move_to("failed:s1:0")
        seat.deck.refresh_all()
        await seat.see("d dismiss")
        await seat.press("d")
        await seat.until(lambda: len(seat.deck.attention.rows) == 1, "it is dismissed")
        assert seat.core.ops == [protocol.SessionDismiss(session_id="s1")]


@pytest.mark.parametrize("width", [160, 100, 60])
async def test_the_key_that_stops_all_is_in_the_footer_wherever_the_focus_is(
    console: Open, width: int
) -> None:
    async with console(size=(width, 30), play=with_approval) as seat:
        await look_at(seat, "s1")
        for widget in (
            seat.deck.sessions,
            seat.deck.attention,
            seat.deck.card,
            seat.deck.composer.field,
            seat.deck.pane.transcript,
        ):
            column = "left" if widget.id in {"sessions", "attention"} else "middle"
            seat.deck.panes.go_to(column, widget)
            await seat.pilot.pause()
            assert seat.text().splitlines()[-1].rstrip().endswith("^x stop all"), widget
        await seat.press("a", "a")
        assert seat.text().splitlines()[-1].rstrip().endswith("^x stop all")


async def test_the_composer_says_that_words_refuse_where_an_approval_waits(console: Open) -> None:
    async with console(play=with_approval) as seat:
        await look_at(seat, "s1")
        await seat.see('"yes" approves; anything else is a reason to reject')
        await seat.see("type a reason to reject")


def with_a_result(core: FakeCore) -> None:
    evening(core)
    told = job(
        7,
        title="Look at the mail",
        last_run_at=1,
        last_result='{"newMails": 3}',
        delivery_json={"notification_text": "Three new mails."},
    )
    core.tell(protocol.JobChanged(job=replace(told, unread_result=True)))


async def test_what_a_job_came_to_waits_until_it_is_read(console: Open) -> None:
    async with console(play=with_a_result) as seat:
        await seat.see("→ Three new mails.")
        await seat.see("result · Look at the mail")
        # It is news: nothing stands still for it, so it is not counted among what does.
        await seat.see("1 waits for you")
        queue = seat.deck.attention
        queue.move_to(next(key for key in queue.waiting if key.startswith("result:7")))
        queue.focus()
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, JobsScreen), "the jobs")
        screen = seat.app.screen
        assert isinstance(screen, JobsScreen)
        await seat.until(lambda: screen.table.cursor_key == "7", "its row")
        await seat.press("1")
        await seat.until(lambda: seat.app.screen is seat.deck, "the Deck")
        queue.move_to(next(key for key in queue.waiting if key.startswith("result:7")))
        queue.focus()
        await seat.press("d")
        await seat.until(lambda: seat.core.ops == [protocol.JobRead(job_id=7)], "read")


async def test_rows_that_ask_the_same_are_told_apart_by_the_phone(console: Open) -> None:
    def play(core: FakeCore) -> None:
        for number in (1, 2):
            serial = f"127.0.0.1:600{number}"
            core.tell(
                protocol.DeviceChanged(device=replace(phone(serial, model="V"), virtual=True))
            )
            configure(core, f"s{number}", "Install the update", serial=serial)
            run(core, f"s{number}")
            ask(core, f"s{number}", f"q{number}", "Which one?", "This", "That")

    async with console(play=play) as seat:
        await seat.see("Which one?")
        shown = [row.lines[0] for row in seat.deck.attention.rows]
        asked = ["".join(text for text, _ in line.left) for line in shown]
        assert asked == ["? Which one?", "? Which one?"]
        assert [line.right[0][0] for line in shown] == ["virtual 6001 ", "virtual 6002 "]


async def test_a_lost_phone_is_told_once_and_by_its_name(console: Open) -> None:
    def play(core: FakeCore) -> None:
        away = replace(
            phone("127.0.0.1:6001", model="V"),
            virtual=True,
            state=DeviceState.OFFLINE,
            note="Look at it.",
        )
        core.tell(protocol.DeviceChanged(device=away))
        core.tell(
            protocol.DeviceChanged(device=replace(phone("127.0.0.1:6002", model="V"), virtual=True))
        )
        configure(core, "s1", "Install the update", serial="127.0.0.1:6001")
        run(core, "s1")
        core.tell(protocol.SessionFlagsChanged(lost=True, reason="It is away."), "s1")

    async with console(play=play) as seat:
        await seat.see("virtual 6001 is away")
        assert len(seat.deck.attention.rows) == 1
        await seat.see("1 of 2 devices")


async def test_a_run_that_failed_says_so(console: Open) -> None:
    def play(core: FakeCore) -> None:
        evening(core)
        failed = replace(job(1), unread_result=True, failure_count=1, last_run_at=core.now_ms)
        core.tell(protocol.JobChanged(job=failed))

    async with console(play=play) as seat:
        await seat.see("Run failed.")
