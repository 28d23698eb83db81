"""Questions in several parts, secrets, void approvals, notices and hints, on the Deck's keys."""

from agent import protocol, records
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import configure, evening, run
from widgets.questions.composer import Mode

PARTS = (
    records.QuestionPart(
        part_id="account",
        header="Account",
        text="Which account?",
        options=(records.QuestionOption(label="Work"), records.QuestionOption(label="Home")),
    ),
    records.QuestionPart(part_id="pin", header="PIN", text="What is its PIN?", secret=True),
)


def several(core: FakeCore) -> None:
    configure(core, "s1", "log in", serial="phone-1")
    run(core, "s1")
    core.tell(
        protocol.RequestUserInput(
            question=records.Question(
                question_id="q1",
                session_id="s1",
                text="Which account?\n\nWhat is its PIN?",
                asked_ms=core.now_ms,
                parts=PARTS,
                secret=True,
            )
        ),
        "s1",
    )


async def look_at(seat: Seat, session_id: str) -> None:
    seat.deck.select(session_id)
    seat.deck.refresh_all()
    await seat.pilot.pause()


async def test_parts_are_asked_one_by_one_and_answered_together(console: Open) -> None:
    async with console(play=several) as seat:
        await seat.see("1 of 2 · Account")
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("exclamation_mark")
        await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")
        await seat.press("2")
        await seat.see("2 of 2 · PIN")
        # The next part came by a key, so it takes the next one at once; a digit that it has no
        # option for is not the screen's, which has other things on digits.
        await seat.press("2")
        assert seat.deck.focused is seat.deck.card
        assert seat.core.ops == []
        await seat.press("enter")
        await seat.until(lambda: seat.deck.focused is seat.deck.composer.field, "the field")
        await seat.press(*"4711")
        await seat.see("••••")
        assert "4711" not in seat.text()
        await seat.press("enter")
        await seat.until(lambda: seat.core.ops, "the answer")
        [op] = seat.core.ops
        assert isinstance(op, protocol.UserInputAnswer)
        assert op.answers == {"account": ("Home",), "pin": ("4711",)}


def approve(question_id: str) -> protocol.RequestUserInput:
    return protocol.RequestUserInput(
        question=records.Question(
            question_id=question_id,
            session_id="s1",
            text=f"May I do this? Press “Pay” ({question_id})",
            asked_ms=0,
            kind=records.QuestionKind.APPROVAL,
            options=(records.QuestionOption(label="Approve"), records.QuestionOption(label="Deny")),
        )
    )


async def test_an_approval_whose_screen_moved_is_not_given_to_the_next(console: Open) -> None:
    async with console() as seat:
        seat.core.tell(approve("q8"), "s1")
        await look_at(seat, "s1")
        await seat.see("(q8)")
        await seat.press("a")
        await seat.see("Press a again to approve")
        seat.core.tell(
            protocol.QuestionClosed(question_id="q8", reason="void: the screen changed"), "s1"
        )
        seat.core.tell(approve("q9"), "s1")
        await seat.until(
            lambda: seat.deck.card.question and seat.deck.card.question.question_id == "q9",
            "the new card",
        )
        await seat.press("a")
        assert seat.core.ops == []
        await seat.see("void: the screen changed")


def with_notice(core: FakeCore) -> None:
    evening(core)
    notice = records.Notice(
        token="n1", session_id="s4", kind=records.NoticeKind.COMPLETED, title="Set an alarm"
    )
    core.tell(protocol.NoticePosted(notice=notice))


async def test_a_notice_is_seen_and_done_with_by_a_key(console: Open) -> None:
    async with console(play=with_notice) as seat:
        await seat.see("new unverified")
        await look_at(seat, "s4")
        seat.deck.sessions.focus()
        await seat.press("D")
        await seat.until(lambda: protocol.SessionDismiss(session_id="s4") in seat.core.ops, "done")


async def test_an_ended_session_is_gone_on_from(console: Open) -> None:
    async with console(play=with_notice) as seat:
        await look_at(seat, "s4")
        seat.deck.sessions.focus()
        await seat.press("s")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.NEXT, "the field")
        await seat.press(*"and one for 7", "enter")
        await seat.until(
            lambda: seat.core.ops == [protocol.NoticeSend(session_id="s4", text="and one for 7")],
            "sent",
        )


async def test_a_waiting_hint_is_changed_and_taken_back(console: Open) -> None:
    async with console() as seat:
        seat.core.tell(protocol.UserMessage(text="use dark", message_id="m1", steer=True), "s1")
        await look_at(seat, "s1")
        await seat.see("waits for the next step")
        seat.deck.sessions.focus()
        await seat.press("h")
        await seat.until(lambda: seat.deck.composer.text == "use dark", "the hint")
        await seat.press(*" mode", "enter")
        await seat.until(
            lambda: (
                seat.core.ops
                == [protocol.SteerEdit(session_id="s1", message_id="m1", text="use dark mode")]
            ),
            "changed",
        )
        await seat.press("u")
        await seat.until(
            lambda: seat.core.ops[-1] == protocol.SteerWithdraw(session_id="s1", message_id="m1"),
            "taken back",
        )
