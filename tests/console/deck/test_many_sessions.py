"""Fifty sessions on the Deck: marked, acted on together, arranged; panes that stay as they were."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import protocol
from agent.config import load_settings
from agent.errors import WrongStateError
from agent.records import DeviceState, Notice, NoticeKind
from console.screens.deck import showing
from tests.console.burst.core import ScriptedCore
from tests.console.conftest import Open, Seat, select
from tests.console.fakes import FakeCore, phone
from tests.console.fifty import play
from widgets.questions.composer import Mode


def nothing(core: FakeCore) -> None:
    """Add nothing: a scripted core has played already."""


def fifty() -> ScriptedCore:
    return ScriptedCore(play)


@pytest.fixture(autouse=True)
def read_by_selecting_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a slow test looks at for long is not read by that."""
    monkeypatch.setattr(showing, "READ_S", float("inf"))
    yield


async def mark(seat: Seat, *ids: str) -> None:
    """Mark sessions by the key, each under the cursor."""
    seat.deck.sessions.focus()
    await seat.until(lambda: seat.deck.focused is seat.deck.sessions, "the focus")
    for one in ids:
        await select(seat, one)
        await seat.press("space")
    await seat.until(lambda: seat.deck.marking.marks.ids == set(ids), "the marks")


async def test_a_stop_of_marked_sessions_is_told_before_and_after_and_undone(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await mark(seat, "s10", "s11", "s45")
        await seat.see("3 marked")
        await seat.see("x stop 2 of 3")
        await seat.press("x")
        stopped = [protocol.Interrupt(session_id="s10"), protocol.Interrupt(session_id="s11")]
        await seat.until(lambda: seat.core.ops == stopped, "the ops in the order of the list")
        await seat.see("Stopped 2 of 3 sessions. Not")
        await seat.press("U")
        resumed = [
            protocol.SessionResume(session_id="s10"),
            protocol.SessionResume(session_id="s11"),
        ]
        await seat.until(lambda: seat.core.ops == stopped + resumed, "what takes it back")
        await seat.see("Undone: resumed 2 sessions.")


async def test_a_hint_to_several_is_taken_back_from_those_that_nobody_looked_at(
    console: Open,
) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await seat.press("*", "i", *"hurry", "enter")
        await seat.see("Sent to")
        await seat.press("U")
        # To what had begun already; drafts were started with it, and six have ended.
        hinted = {op.session_id for op in seat.core.ops if isinstance(op, protocol.UserInput)}
        assert len(hinted) > 30

        def taken_back() -> set[str]:
            return {op.session_id for op in seat.core.ops if isinstance(op, protocol.SteerWithdraw)}

        await seat.until(lambda: taken_back() == hinted, "the hints taken back")


class Refusing(ScriptedCore):
    """Does not stop s10."""

    def _carry_out(self, op: protocol.Op) -> protocol.Reply:
        if op == protocol.Interrupt(session_id="s10"):
            raise WrongStateError("Somebody else was quicker.")
        return super()._carry_out(op)


async def test_what_fails_for_one_is_done_for_the_others_and_told(console: Open) -> None:
    async with console(core=Refusing(play), play=nothing) as seat:
        await mark(seat, "s10", "s11")
        await seat.press("x")
        await seat.see("Stopped 1 of 2 sessions. Not")
        await seat.see("Somebody else was quicker.")
        assert not seat.core.state.sessions["s11"].session.turn_id


async def test_a_range_goes_from_the_last_mark_to_the_cursor_and_esc_unmarks(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        listed = seat.deck.listed_ids()
        seat.deck.sessions.focus()
        await select(seat, listed[3])
        await seat.press("space")
        await select(seat, listed[7])
        await seat.press("V")
        assert seat.deck.marking.marks.ids == set(listed[3:8])
        await seat.press("escape")
        assert seat.deck.marking.marks.ids == frozenset()
        await seat.press("*")
        assert seat.deck.marking.marks.ids == set(listed)


async def test_one_hint_goes_to_all_marked(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await mark(seat, "s30", "s31")
        await seat.press("i")
        await seat.see("to all marked")
        await seat.press(*"hurry", "enter")
        sent = [
            protocol.UserInput(session_id="s31", text="hurry"),
            protocol.UserInput(session_id="s30", text="hurry"),
        ]
        await seat.until(lambda: seat.core.ops == sent, "both hints")
        await seat.see("Sent to 2 sessions.")


async def test_one_answer_goes_to_all_marked_that_ask_the_same_at_the_second_press(
    console: Open,
) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await mark(seat, "s10", "s11", "s12", "s30")
        await select(seat, "s12")
        await seat.press("enter")
        await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card")
        await seat.until(lambda: seat.deck.card.is_ready, "the card to take keys")
        await seat.press("2")
        assert seat.core.ops == []
        await seat.see("again answers “Ben Baker” for 3 sessions")
        await seat.press("2")
        answers = {
            op.question_id: op.answer
            for op in seat.core.ops
            if isinstance(op, protocol.UserInputAnswer)
        }
        assert answers == dict.fromkeys(("q10", "q11", "q12"), "Ben Baker")
        await seat.see("Answered 3 of 4 sessions.")


async def test_the_selected_session_is_renamed_and_gets_its_title_back(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await select(seat, "s12")
        old = seat.deck.console_app.bridge.state.sessions["s12"].session.title
        await seat.press("E", *"Nightly", "enter")
        renamed = protocol.SessionRename(session_id="s12", title="Nightly")
        await seat.until(lambda: seat.core.ops == [renamed], "the title")
        await seat.see("Renamed")
        await seat.press("U")
        back = protocol.SessionRename(session_id="s12", title=old)
        await seat.until(lambda: seat.core.ops == [renamed, back], "the old title")


async def test_tags_are_added_and_taken_from_all_marked_and_group_the_list(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await mark(seat, "s12", "s13")
        await seat.press("l", *"bench -nightly", "enter")
        tagged = [
            protocol.SessionTag(session_id="s12", tags=("bench",)),
            protocol.SessionTag(session_id="s13", tags=("bench",)),
        ]
        await seat.until(lambda: seat.core.ops == tagged, "the tags")
        await seat.press("B", "B", "B")
        await seat.see("by tag")
        await seat.until(
            lambda: (
                [row.key for row in seat.deck.sessions.rows][:3] == ["heading:bench", "s12", "s13"]
            ),
            "the group of the tag",
        )


async def test_a_field_that_was_left_is_for_something_else_at_the_next_key(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await select(seat, "s30")
        before = seat.deck.composer.purpose
        # The clock would set it right within a second: what counts is the key.
        seat.app.redraw.clocks[1].pause()
        await seat.press("l", *"lo")
        assert seat.deck.composer.purpose.mode is Mode.TAG
        await seat.press("escape")
        assert seat.deck.composer.purpose == before
        assert seat.deck.composer.text == ""


async def test_one_goal_begins_on_each_phone_of_what_is_marked(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await mark(seat, "s10", "s11", "s22")
        await seat.press("n", *"beep", "shift+down")
        await seat.see("the 2 phones of marked sessions")
        await seat.press("enter")
        await seat.until(
            lambda: (
                [op.serial for op in seat.core.ops if isinstance(op, protocol.SessionCreate)]
                == ["phone-11", "phone-12"]
            ),
            "one on each",
        )
        await seat.see("Started 2 sessions.")


async def test_clearing_takes_what_is_read_and_leaves_what_is_news_and_can_be_undone(
    console: Open,
) -> None:
    core = fifty()
    notice = Notice(token="n1", session_id="s35", kind=NoticeKind.COMPLETED, title="Done")
    core.tell(protocol.NoticePosted(notice=notice))
    async with console(core=core, play=nothing) as seat:
        seat.app.seen = frozenset()
        seat.deck.sessions.focus()
        await select(seat, "s10")
        await seat.press("D")
        dismissed = {op.session_id for op in core.ops if isinstance(op, protocol.SessionDismiss)}
        assert dismissed == {"s36", "s37", "s38"}
        await seat.until(lambda: "s36" not in seat.deck.listed_ids(), "the list without it")
        assert {"s35", "s39"} <= set(seat.deck.listed_ids())
        await seat.press("U")
        await seat.until(lambda: "s36" in seat.deck.listed_ids(), "the list with it again")


class Slow(ScriptedCore):
    def __init__(self) -> None:
        super().__init__(play)
        self.go = asyncio.Event()

    async def request(self, op: protocol.Op) -> protocol.Reply:
        if isinstance(op, protocol.SessionDismiss) and op.dismissed:
            await self.go.wait()
        return await super().request(op)


async def test_an_undo_that_comes_before_the_dismissal_is_done_takes_it_back(console: Open) -> None:
    core = Slow()
    async with console(core=core, play=nothing) as seat:
        await select(seat, "s10")
        await seat.press("D", "U")
        core.go.set()
        await seat.see("Undone: brought back")

        def sent(dismissed: bool) -> set[str]:
            sent_ones = [op for op in core.ops if isinstance(op, protocol.SessionDismiss)]
            return {op.session_id for op in sent_ones if op.dismissed is dismissed}

        assert sent(True) and sent(False) == sent(True)
        await seat.until(lambda: sent(True) <= set(seat.deck.listed_ids()), "them again")
        await seat.press("U")
        await seat.see("There is nothing to undo.")


async def test_what_another_console_dismissed_is_dismissed_here(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        await seat.until(lambda: {"s38", "s39"} <= set(seat.deck.listed_ids()), "the sessions")
        seat.core.tell(protocol.SessionDismissed(dismissed=True), "s38")
        seat.core.tell(protocol.SessionDismissed(dismissed=True), "s39")
        await seat.until(lambda: not {"s38", "s39"} & set(seat.deck.listed_ids()), "them gone")
        assert "failed:s39:0" not in seat.deck.attention.waiting


async def test_a_devices_note_is_dismissed_by_the_core(console: Open) -> None:
    core = FakeCore()
    core.tell(
        protocol.DeviceChanged(
            device=phone("p1", state=DeviceState.UNAUTHORIZED, note="Allow USB debugging.")
        )
    )
    async with console(core=core, play=nothing) as seat:
        await seat.see("Allow USB debugging.")
        seat.deck.attention.focus()
        await seat.press("d")
        await seat.until(lambda: core.ops == [protocol.DeviceDismiss(serial="p1")], "the op")


async def test_order_and_panes_are_in_the_settings_for_the_next_start(
    console: Open, tmp_path: Path
) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        seat.deck.sessions.focus()
        before = seat.deck.query_one("#left").size.width
        await seat.press("O", "O", "B", ">", ">")
        await seat.see("by state ↓ newest")
        await seat.until(
            lambda: seat.deck.query_one("#left").size.width == before + 8, "a wider pane"
        )
        await seat.press("F")
        await seat.until(lambda: seat.deck.query_one("#left").size.width == 160, "the whole width")
        assert not seat.deck.query_one("#middle").display
        await seat.press("tab", "tab")
        await seat.until(lambda: seat.deck.query_one("#middle").size.width == 160, "the next pane")
    ui = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)}).ui
    assert (ui.sort, ui.group, ui.left_columns, ui.full_pane) == (
        "newest",
        "state",
        before + 8,
        "middle",
    )


async def test_the_cursor_passes_over_headings(console: Open) -> None:
    async with console(core=fifty(), play=nothing) as seat:
        seat.deck.sessions.focus()
        await seat.press("B", "g")
        for _ in range(len(seat.deck.sessions.rows)):
            assert not seat.deck.selected.startswith("heading:")
            await seat.press("j")
        await seat.until(lambda: seat.deck.selected == seat.deck.listed_ids()[-1], "the last row")
