"""The Deck's stories: look, steer, stop, begin; what a key does and what it never does."""

import asyncio

from textual.events import Key, Paste

from agent.errors import RuntimeDiedError, WrongStateError
from agent.protocol import (
    Interrupt,
    Op,
    Reply,
    SessionCancel,
    SessionConfigured,
    SessionCreate,
    SessionPause,
    SessionResume,
    SessionStateChanged,
    StepStarted,
    TaskComplete,
)
from agent.records import Session, SessionState
from tests.console.conftest import Open, select
from tests.console.fakes import FakeCore
from tests.console.script import configure, run, step


def nothing(core: FakeCore) -> None:
    """Play nothing: a first start."""


async def test_a_first_start_says_what_to_do(console: Open) -> None:
    async with console(play=nothing) as seat:
        await seat.see("No sessions yet. Press n to start one.")
        await seat.see("No devices.")
        await seat.see("Nothing is waiting for you.")


async def test_the_one_who_asks_is_looked_at_first(console: Open) -> None:
    async with console() as seat:
        await seat.until(lambda: seat.deck.selected == "s2", "the asking session")
        await seat.see("There are two notebooks")
        await seat.see("asks you")


async def test_moving_the_cursor_shows_the_session_with_plan_steps_and_frame(console: Open) -> None:
    async with console() as seat:
        await seat.until(lambda: seat.deck.selected == "s2", "a selection")
        await seat.press("j")
        await seat.until(lambda: seat.deck.selected == "s1", "the next session")
        await seat.see("Turn on Bluetooth")
        await seat.see("Settings is on the launcher.")
        await seat.until(
            lambda: seat.core.frames_asked and seat.core.frames_asked[-1][0] == "phone-1",
            "frames of its phone",
        )
        await seat.see("live")


async def test_only_one_device_is_followed_at_a_time(console: Open) -> None:
    async with console() as seat:
        await seat.press("j", "k", "j")
        await seat.until(lambda: seat.core.frames_open == 1, "one subscription")
        await seat.press("3")
        await seat.until(lambda: seat.core.frames_open == 0, "none while nobody looks")
        await seat.press("1")
        await seat.until(lambda: seat.core.frames_open == 1, "one again")


async def test_stopping_and_pausing_act_at_once(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("x", "p")
        await seat.until(lambda: len(seat.core.ops) == 2, "two ops")
        assert seat.core.ops == [Interrupt(session_id="s1"), SessionPause(session_id="s1")]


async def test_a_key_pressed_before_a_new_session_is_there_is_not_for_the_one_before(
    console: Open,
) -> None:
    async with console() as seat:
        await select(seat, "s1")
        answered, request = asyncio.Event(), seat.core.request

        async def slow(op: Op) -> Reply:
            if isinstance(op, SessionCreate):
                await answered.wait()
            return await request(op)

        seat.core.request = slow  # type: ignore[method-assign]
        await seat.press("n", *"hi", "enter", "x", "p", "i")
        await seat.see("still being created")
        assert seat.core.ops == []
        assert seat.deck.focused is not seat.deck.composer.field

        await select(seat, "s2")
        # The field to write in did not open: up to esc, what is typed is for it.
        await seat.press("x", "escape", "x")
        await seat.until(lambda: seat.core.ops == [Interrupt(session_id="s2")], "what is meant now")

        answered.set()
        await seat.until(lambda: len(seat.core.ops) == 3, "the stop that was meant for the new one")
        created, stopped = seat.core.ops[1:]
        assert isinstance(created, SessionCreate)
        assert stopped == Interrupt(session_id=f"s{len(seat.core.state.sessions)}")
        assert seat.deck.selected == "s2", "the operator went on to another session"


async def test_keys_after_a_goal_are_for_the_session_that_it_begins(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        for key in ("n", *"hi", "enter", "x"):
            seat.app.post_message(Key(key, key if len(key) == 1 else None))
        await seat.until(lambda: len(seat.core.ops) == 1, "the session")
        await seat.until(lambda: seat.deck.view() is not None, "what is told of it")
        assert seat.deck.selected not in {"s1", "s2"}
        await seat.press("i")
        field = seat.deck.composer.field
        await seat.until(lambda: seat.deck.focused is field, "the field to write to it")


async def test_pausing_twice_is_going_on_while_the_core_answers_nothing(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        answered, request = asyncio.Event(), seat.core.request

        async def slow(op: Op) -> Reply:
            seat.core.ops.append(op)
            await answered.wait()
            return await request(op)

        seat.core.request = slow  # type: ignore[method-assign]
        await seat.press("p", "p")
        await seat.until(lambda: len(seat.core.ops) == 2, "both")
        assert seat.core.ops == [SessionPause(session_id="s1"), SessionResume(session_id="s1")]
        answered.set()


async def test_the_same_goal_sent_again_after_a_refusal_is_the_same_request(console: Open) -> None:
    async with console() as seat:
        request, ids = seat.core.request, []

        async def lost(op: Op) -> Reply:
            if isinstance(op, SessionCreate):
                ids.append(op.request_id)
                if len(ids) == 1:
                    raise RuntimeDiedError("The core did not answer.")
            return await request(op)

        seat.core.request = lost  # type: ignore[method-assign]
        await seat.press("n", *"hi", "enter")
        await seat.until(lambda: seat.deck.composer.text == "hi", "the goal is given back")
        await seat.press("n", "enter")
        await seat.until(lambda: len(ids) == 2, "sent again")
        assert ids[0] == ids[1] != ""


async def test_a_session_that_waits_for_its_turn_is_stopped_and_paused_too(console: Open) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "s1", "wait for a phone")
        core.tell(SessionStateChanged(state=SessionState.QUEUED), "s1")

    async with console(play=play) as seat:
        await select(seat, "s1")
        await seat.press("x", "p")
        await seat.until(lambda: len(seat.core.ops) == 2, "two ops")
        assert seat.core.ops == [Interrupt(session_id="s1"), SessionPause(session_id="s1")]


async def test_a_parent_is_stopped_and_paused_with_the_parts_that_are_at_work(
    console: Open,
) -> None:
    def play(core: FakeCore) -> None:
        configure(core, "p", "parent")
        core.tell(SessionStateChanged(state=SessionState.RUNNING), "p")
        for child in ("c1", "c2"):
            configure(core, child, child, parent_id="p")
            run(core, child)
        # A child asks, so the parent waits, and has no turn of its own.
        core.tell(SessionStateChanged(state=SessionState.WAITING_FOR_USER), "c1")
        core.tell(SessionStateChanged(state=SessionState.WAITING_FOR_USER), "p")

    async with console(play=play) as seat:
        await select(seat, "p")
        await seat.press("x", "p")
        await seat.until(lambda: len(seat.core.ops) == 2, "two ops")
        assert seat.core.ops == [Interrupt(session_id="p"), SessionPause(session_id="p")]


async def test_cancelling_takes_two_acts(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("c")
        await seat.see("c again ends")
        assert seat.core.ops == []
        await seat.press("j", "k")
        await select(seat, "s1")
        await seat.press("c")
        await seat.until(lambda: seat.core.ops == [SessionCancel(session_id="s1")], "cancelled")


async def test_a_first_act_on_one_session_is_no_act_on_another(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("c")
        await select(seat, "s2")
        await seat.press("c")
        await seat.see("c again ends")
        assert seat.core.ops == []


async def test_resuming_what_has_failed_takes_two_acts(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s3")
        await seat.press("p")
        await seat.see("p again resumes")
        assert seat.core.ops == []
        await seat.press("p")
        await seat.until(lambda: seat.core.ops == [SessionResume(session_id="s3")], "resumed")


async def test_stop_all_works_while_typing_and_over_a_dialog(console: Open) -> None:
    async with console() as seat:
        await seat.press("n", "h", "e", "y", "ctrl+x")
        await seat.until(lambda: seat.core.ops == [Interrupt()], "stopped while typing")
        assert seat.deck.composer.text == "hey"
        await seat.press("f1", "ctrl+x")
        await seat.until(lambda: seat.core.ops == [Interrupt()] * 2, "stopped over help")
        await seat.press("escape", "ctrl+p", "ctrl+x")
        await seat.until(lambda: seat.core.ops == [Interrupt()] * 3, "stopped over the palette")


async def test_letters_do_nothing_to_sessions_while_typing(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i", "x", "p", "c", "c", "1", "3", "R")
        assert seat.deck.composer.text == "xpcc13R"
        assert seat.core.ops == []


async def test_a_new_session_gets_its_goal_and_its_device(console: Open) -> None:
    async with console() as seat:
        await seat.press("n", *"buy milk", "shift+down", "enter")
        await seat.until(
            lambda: seat.core.ops == [SessionCreate(goal="buy milk", serial="phone-2")], "created"
        )
        await seat.until(lambda: seat.deck.selected == "s5", "it is selected")


async def test_letters_typed_faster_than_the_console_draws_are_the_goal(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        seat.deck.sessions.focus()
        await seat.pilot.pause()
        # As a terminal sends them: all keys are there before the first one has been handled.
        for letter in "nopen xpc":
            seat.app.post_message(Key({" ": "space"}.get(letter, letter), letter))
        await seat.until(lambda: seat.deck.composer.text == "open xpc", "the goal")
        assert seat.core.ops == []


async def test_a_paste_where_nothing_is_written_says_where_to_paste(console: Open) -> None:
    async with console() as seat:
        seat.app.post_message(Paste("pause x p c"))
        await seat.see("press n first for a new session")
        assert seat.core.ops == []


async def test_writing_to_what_has_ended_says_how_to_go_on(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s4")
        await seat.press("i")
        await seat.until(
            lambda: any("Press p twice to resume it" in n.message for n in seat.app._notifications),
            "a notice",
        )
        assert seat.core.ops == []


async def test_one_number_of_steps_is_shown_and_the_budget_is_called_by_its_name(
    console: Open,
) -> None:
    async with console() as seat:
        await select(seat, "s1")
        seat.core.tell(StepStarted(step=6), "s1")
        await seat.see("step 6 · 5 of")
        await seat.see("running step 6")
        assert "5/" not in seat.text()


async def test_a_parent_says_what_its_parts_do(console: Open) -> None:
    def family(core: FakeCore) -> None:
        parent = Session(session_id="p", goal="parent", created_ms=core.now_ms)
        core.tell(SessionConfigured(session=parent), "p")
        configure(core, "c1", "child one", parent_id="p")
        configure(core, "c2", "child two", parent_id="p")
        run(core, "c2")

    async with console(play=family) as seat:
        await select(seat, "p")
        await seat.see("Its subtasks do the work (1 draft, 1 running).")
        assert "No sessions yet" not in seat.text()


async def test_a_goal_that_was_refused_is_not_lost(console: Open) -> None:
    async with console() as seat:
        seat.core.fails_with = WrongStateError("The core is full.", "Stop something.")
        await seat.press("n", *"buy milk", "enter")
        await seat.see("The core is full.")
        await seat.until(lambda: seat.deck.composer.text == "buy milk", "the goal is there")


async def test_half_written_texts_stay_with_their_session(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i", *"for one", "escape")
        await select(seat, "s2")
        assert seat.deck.composer.text == ""
        await select(seat, "s1")
        assert seat.deck.composer.text == "for one"


async def test_resizing_keeps_a_half_typed_text_and_the_focus(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i", *"half")
        for size in ((100, 30), (60, 20), (38, 10), (160, 50)):
            await seat.pilot.resize_terminal(*size)
            await seat.pilot.pause()
        await seat.press("!")
        assert seat.deck.composer.text == "half!"


async def test_escape_goes_back_by_layers_and_touches_no_session(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        await seat.press("i", "escape")
        await seat.until(lambda: seat.deck.focused is seat.deck.pane.transcript, "transcript")
        await seat.press("escape")
        await seat.until(lambda: seat.deck.focused is seat.deck.sessions, "sessions")
        await seat.press("escape", "escape", "3", "escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "home")
        assert seat.core.ops == []


async def test_the_filter_narrows_the_tree_and_escape_clears_it(console: Open) -> None:
    async with console() as seat:
        await seat.press("slash", *"alarm")
        await seat.until(lambda: len(seat.deck.sessions.rows) == 1, "one row")
        await seat.press("enter", "escape")
        await seat.until(lambda: len(seat.deck.sessions.rows) == 4, "all rows")


async def test_keys_after_a_filter_are_for_the_session_under_the_cursor(console: Open) -> None:
    def errands(core: FakeCore) -> None:
        for session_id, goal in (("a", "tidy"), ("b", "alarm one"), ("c", "alarm two")):
            configure(core, session_id, goal)
            run(core, session_id)

    async with console(play=errands) as seat:
        await select(seat, "a")
        await seat.press("slash", *"alarm", "enter", "x")
        await seat.until(lambda: bool(seat.core.ops), "the stop")
        assert [getattr(op, "session_id", "") for op in seat.core.ops] == [seat.deck.selected]
        assert seat.deck.selected == seat.deck.sessions.cursor_key != "a"
        # What is not listed is not taken for it when nothing fits.
        await seat.press("slash", *"zzz", "enter")
        await seat.until(lambda: not seat.deck.sessions.rows, "nothing listed")
        await seat.press("escape", "escape")
        await seat.until(lambda: len(seat.deck.sessions.rows) == 3, "all rows")
        assert seat.deck.selected == seat.deck.sessions.cursor_key


async def test_children_fold_under_their_parent(console: Open) -> None:
    def family(core: FakeCore) -> None:
        configure(core, "p", "parent")
        configure(core, "c1", "child one", parent_id="p")
        configure(core, "c2", "child two", parent_id="p")

    async with console(play=family) as seat:
        await seat.until(lambda: len(seat.deck.sessions.rows) == 3, "three rows")
        await select(seat, "p")
        await seat.press("left")
        await seat.until(lambda: len(seat.deck.sessions.rows) == 1, "folded")
        await seat.see("▸")
        await seat.press("right")
        await seat.until(lambda: len(seat.deck.sessions.rows) == 3, "unfolded")


async def test_the_selection_follows_its_session_when_rows_move(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        seat.core.tell(TaskComplete(turn_id="turn-s1"), "s1")
        seat.core.tell(SessionStateChanged(state=SessionState.COMPLETED), "s1")
        configure(seat.core, "s9", "a newer one")
        await seat.until(lambda: "s9" in {r.key for r in seat.deck.sessions.rows}, "the newer one")
        assert seat.deck.selected == "s1"
        assert seat.deck.sessions.cursor_key == "s1"


async def test_leaving_says_what_keeps_running_and_takes_a_second_act(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+q")
        await seat.see("Open Settings and turn on Bluetooth")
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "still here")
        await seat.press("ctrl+q", "ctrl+q")
        await seat.until(lambda: seat.app.return_code == 0, "left")


async def test_ten_thousand_events_arrive_in_few_messages(console: Open) -> None:
    async with console() as seat:
        ticks = 0
        original = seat.app.bridge._post

        def count(message: object) -> bool:
            nonlocal ticks
            ticks += 1
            return original(message)  # type: ignore[arg-type]

        seat.app.bridge._post = count
        configure(seat.core, "big", "a long one")
        run(seat.core, "big")
        for number in range(1, 1_600):
            step(seat.core, "big", number)
        await seat.until(
            lambda: seat.app.bridge.state.event_id == len(seat.core.stored), "every event"
        )
        assert ticks < 200
        view = seat.app.bridge.state.sessions["big"]
        assert view.transcript.seq == view.seq


async def test_the_model_is_heard_while_it_speaks(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")
        seat.core.say("s1", "The switch should be")
        await seat.see("The switch should be")


async def test_an_error_of_a_widget_is_said_and_the_console_goes_on(console: Open) -> None:
    async with console() as seat:
        await select(seat, "s1")

        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a bug in drawing")

        seat.deck.pane.show_view = broken  # type: ignore[method-assign]
        seat.core.say("s1", "x")
        await seat.see("a bug in drawing")
        seat.app.errors.recent_s.clear()
        del seat.deck.pane.show_view
        await seat.press("x")
        await seat.until(lambda: seat.core.ops == [Interrupt(session_id="s1")], "keys work")
