"""Apps of sessions, drafts for one app, and what can be done with an approval beside yes and no."""

import pytest

from agent import protocol, records
from console import app as console_app
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import configure, elements, evening, run, step
from widgets.questions.composer import Mode


def notes_apart(core: FakeCore) -> None:
    """Play an app-scoped session whose app works on a display that nobody sees."""
    evening(core)
    configure(core, "h1", "Sort the notes", serial="phone-2", target_package="com.android.notes")
    run(core, "h1")
    core.tell(
        protocol.TargetObserved(
            presentation=records.TargetPresentation.DETACHED_HIDDEN,
            runtime=records.TargetRuntime.DETACHED_HIDDEN,
            display=2,
        ),
        "h1",
    )

    def moved(op: protocol.TargetControl) -> protocol.Reply:
        runtime = records.TargetRuntime.DETACHED_SHOWN
        result = records.TargetResult(status=records.TargetStatus.OK, runtime=runtime, display=2)
        return protocol.Reply(submission_id="x", target=result)

    core.answers[protocol.TargetControl] = moved


async def choose(seat: Seat, session_id: str) -> None:
    seat.deck.select(session_id)
    seat.deck.refresh_all()
    seat.deck.sessions.focus()
    await seat.until(lambda: seat.deck.focused is seat.deck.sessions, "the sessions")


async def test_opening_a_session_that_works_unseen_shows_its_app(console: Open) -> None:
    async with console(play=notes_apart) as seat:
        await choose(seat, "h1")
        await seat.press("enter")
        shown = protocol.TargetControl(session_id="h1", action=records.TargetAction.SHOW)
        await seat.until(lambda: shown in seat.core.ops, "shown")
        await seat.see("com.android.notes is shown on a display of its")
        assert seat.deck.focused is seat.deck.pane.transcript


async def test_keys_hide_and_attach_the_app_of_a_session(console: Open) -> None:
    async with console(play=notes_apart) as seat:
        await choose(seat, "h1")
        assert not seat.deck.can("target.hide")
        await seat.press("T")
        attached = protocol.TargetControl(session_id="h1", action=records.TargetAction.ATTACH)
        await seat.until(lambda: attached in seat.core.ops, "attached")
        await choose(seat, "s1")
        await seat.press("S")
        await seat.see("no app of its own")


async def test_a_draft_for_one_app_is_kept_and_then_begun(console: Open) -> None:
    def created(op: protocol.SessionCreate) -> protocol.Reply:
        draft = records.Session(
            session_id="d1",
            goal=op.goal,
            created_ms=seat.core.now_ms,
            target_package=op.target_package,
        )
        seat.core.tell(protocol.SessionConfigured(session=draft), "d1")
        return protocol.Reply(submission_id="x", session_id="d1")

    async with console() as seat:
        seat.core.answers[protocol.SessionCreate] = created
        await seat.press("n")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.NEW, "a goal")
        await seat.press("ctrl+o")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.DRAFT, "a draft")
        await seat.press(*"org.notes buy milk", "enter")
        await seat.until(lambda: seat.core.ops, "an op")
        [made] = [op for op in seat.core.ops if isinstance(op, protocol.SessionCreate)]
        assert (made.target_package, made.goal) == ("org.notes", "buy milk")
        assert (made.start, made.hold) == (False, True)
        await seat.until(lambda: seat.deck.selected == "d1", "the draft")
        # What is written to a draft begins it.
        await seat.press("i")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.PROMPT, "a prompt")
        await seat.press(*"buy eggs", "enter")
        begun = protocol.SessionStart(session_id="d1", prompt="buy eggs")
        await seat.until(lambda: begun in seat.core.ops, "begun")


def approve(core: FakeCore, *, action: str = "click_element", risk: str = "destructive") -> None:
    """Play a session that asks whether it may."""
    evening(core)
    configure(core, "a1", "Tidy the mail", serial="phone-1")
    run(core, "a1")
    step(core, "a1", 1)
    core.tell(
        protocol.ToolCallRequested(
            step=1, call_id="c9", tool=action, arguments='{"element": 2, "text": "milk"}'
        ),
        "a1",
    )
    core.tell(
        protocol.RequestUserInput(
            question=records.Question(
                question_id="qa",
                session_id="a1",
                text='May I do this? Press "Bluetooth". It cannot be undone.',
                kind=records.QuestionKind.APPROVAL,
                asked_ms=core.now_ms,
                deadline_ms=core.now_ms + 90_000,
                options=(
                    records.QuestionOption(label="Approve"),
                    records.QuestionOption(label="Deny"),
                ),
                call_id="c9",
                subject=records.Subject(action=action, risk=risk, element=elements()[1]),
            )
        ),
        "a1",
    )
    core.tell(protocol.SessionStateChanged(state=records.SessionState.WAITING_FOR_USER), "a1")


async def at_the_card(seat: Seat) -> None:
    await choose(seat, "a1")
    seat.deck.card.focus()
    await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")
    await seat.until(lambda: seat.deck.card.is_ready, "the grace of the card")


def answers(seat: Seat) -> list[str]:
    return [op.answer for op in seat.core.ops if isinstance(op, protocol.UserInputAnswer)]


async def test_for_this_session_takes_two_presses(console: Open) -> None:
    async with console(play=approve) as seat:
        await at_the_card(seat)
        await seat.press("A")
        await seat.see("A again approves “Bluetooth” for the rest of this session")
        assert answers(seat) == []
        await seat.press("A")
        await seat.until(lambda: answers(seat) == ["Approve for this session"], "the answer")


async def test_what_a_session_did_is_taken_back_as_it_was_named(console: Open) -> None:
    offer = records.UndoOffer(
        step=4,
        effect=1,
        how=records.UndoHow.PRESS,
        element=elements()[1],
        what='"Bluetooth": off → on',
        says='Press "Bluetooth", which turns it off again.',
    )
    async with console() as seat:
        await seat.press("b")
        await seat.see("Nothing that it did can be taken back")
        seat.core.looks[protocol.ListUndoOffers] = (offer,)
        await seat.press("b")
        await seat.see("b again: take back step 4")
        assert seat.core.ops == []
        await seat.press("b")
        selected = seat.deck.selected
        await seat.until(
            lambda: seat.core.ops == [protocol.UndoEffect(session_id=selected, step=4)], "the op"
        )


async def test_the_picture_is_zoomed_around_what_the_card_asks_about(console: Open) -> None:
    async with console(play=approve) as seat:
        await at_the_card(seat)
        element = elements()[1]
        assert seat.deck.shown_phone.asked_place() == element.bounds.center
        await seat.press("z")
        await seat.until(lambda: seat.deck.shown_phone.pane.zoom.factor == 2, "a zoom")
        center, at = seat.deck.shown_phone.pane.zoom.center, element.bounds.center
        # What is asked about keeps its place in the view.
        assert (center.x, center.y) == ((0.5 + at.x) / 2, (0.5 + at.y) / 2)


async def test_money_is_approved_once_only(console: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    # The notice is not to be gone before it was looked for.
    monkeypatch.setattr(console_app, "NOTICE_S", 600.0)
    async with console(play=lambda core: approve(core, risk="financial")) as seat:
        await at_the_card(seat)
        assert not seat.deck.can("question.session")
        await seat.press("A", "A")
        await seat.see("approved once only")
        assert answers(seat) == []


async def test_something_else_is_done_instead(console: Open) -> None:
    async with console(play=approve) as seat:
        await at_the_card(seat)
        await seat.press("m")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.MODIFY, "an instead")
        await seat.press(*"archive it", "enter")
        await seat.until(lambda: answers(seat) == ["Deny: instead, archive it"], "the answer")


async def test_a_text_to_be_typed_is_changed_before_it_is_typed(console: Open) -> None:
    async with console(play=lambda core: approve(core, action="type_text")) as seat:
        await at_the_card(seat)
        await seat.press("m")
        await seat.until(lambda: seat.deck.composer.text == "milk", "the text to be typed")
        await seat.press("s", "enter")
        await seat.until(lambda: answers(seat) == ["Approve with: milks"], "the answer")


async def test_the_wheel_is_taken_from_the_card(console: Open) -> None:
    async with console(play=approve) as seat:
        await at_the_card(seat)
        await seat.press("t")
        await seat.until(lambda: protocol.WheelTake(serial="phone-1") in seat.core.ops, "the wheel")


async def test_what_ends_by_itself_counts_down_in_the_queue(console: Open) -> None:
    async with console(play=approve) as seat:
        seat.app.now_ms = lambda: seat.core.now_ms  # type: ignore[method-assign]
        seat.deck.refresh_all()
        await seat.see("1:29 left")


async def test_with_nothing_to_undo_that_is_said(console: Open) -> None:
    async with console() as seat:
        await seat.press("U")
        await seat.see("There is nothing to undo.")
