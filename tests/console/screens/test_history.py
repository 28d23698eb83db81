"""The history: every stored session by pages, found by what was said in it, replayed from there."""

import pytest

from agent import protocol, records
from agent.errors import StoreError
from console.screens.history import stored_sessions
from console.screens.history.history import HistoryScreen
from console.screens.history.replay import ReplayScreen
from tests.console.conftest import Open, Seat
from tests.console.deck.test_waiting_for_you import with_approval
from tests.console.fakes import FakeCore
from tests.console.script import configure, run
from widgets.lists.history_rows import hit_rows, moment
from widgets.pictures.phone_pane import spread
from widgets.plots.spending_plot import Measure


async def open_history(seat: Seat) -> HistoryScreen:
    await seat.press("4")
    await seat.until(lambda: isinstance(seat.app.screen, HistoryScreen), "the history")
    screen = seat.app.screen
    assert isinstance(screen, HistoryScreen)
    await seat.until(lambda: screen.table.rows, "rows")
    return screen


async def test_what_was_said_is_found_and_replayed_from_there(console: Open) -> None:
    async with console() as seat:
        screen = await open_history(seat)
        await seat.press("slash", *"every weekday")
        await seat.until(lambda: [r.key for r in screen.table.rows] == ["s4/4"], "the one hit")
        await seat.see("Set an alarm for 6:45")
        await seat.see("result      The alarm")
        await seat.see("1 match in 1 session")
        await seat.press("enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        replay = seat.app.screen
        assert isinstance(replay, ReplayScreen)
        await seat.until(lambda: replay.tape.playback is not None, "the tape")
        assert replay.tape.playback is not None
        assert (replay.tape.session_id, replay.tape.playback.position) == ("s4", 4)
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is screen, "the history again")
        await seat.press("escape")
        await seat.until(lambda: len(screen.table.rows) == 4, "all sessions")
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "the Deck")
        assert seat.core.ops == []


async def test_half_a_query_is_said_beside_the_list_and_is_no_error(console: Open) -> None:
    async with console() as seat:
        await open_history(seat)
        await seat.press("slash", "minus")
        await seat.see("A search needs a word that must occur.")


async def test_older_sessions_come_when_the_cursor_reaches_the_last(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_sessions, "PAGE", 5)

    def many(core: FakeCore) -> None:
        for number in range(12):
            configure(core, f"n{number:02}", f"errand {number}")

    async with console(play=many) as seat:
        screen = await open_history(seat)
        assert len(screen.table.rows) == 5
        await seat.see("5 sessions, more below")
        for expected in (10, 12):
            await seat.press("G")
            await seat.until(
                lambda expected=expected: len(screen.table.rows) == expected, "another page"
            )
        await seat.see("12 sessions")
        assert screen.table.rows[-1].key == "n00"


async def test_a_session_that_asks_is_said_to_ask_in_the_history_too(console: Open) -> None:
    async with console(play=with_approval) as seat:
        screen = await open_history(seat)

        def asks() -> bool:
            shown = [part for row in screen.table.rows for line in row.lines for part in line.right]
            return any("asks you" in text for text, _ in shown)

        await seat.until(asks, "the session that asks")


def two_days(core: FakeCore) -> None:
    """Play three sessions that used tokens, one of them without a price."""
    for name, tokens, cost_usd in (("s1", 4_000, 0.0), ("s2", 96_000, 1.25), ("s3", 0, 0.0)):
        configure(core, name, f"errand {name}")
        if tokens:
            usage = records.Usage(input_tokens=tokens, cost_usd=cost_usd, calls=1)
            core.tell(protocol.StepCompleted(step=1, time=records.TimeSplit(), usage=usage), name)


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 24), (40, 14)])
async def test_what_was_spent_is_shown_on_a_key_and_left_again(
    console: Open, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with console(play=two_days, size=size) as seat:
        monkeypatch.setattr(seat.app, "now_ms", lambda: seat.core.now_ms)
        screen = await open_history(seat)
        await seat.press("s")
        await seat.see("100.0k")
        await seat.see("$1.25")
        assert "3 sessions" in "".join(text for text, _ in screen.spending.sums.parts)
        assert screen.spending.sums.measure is Measure.TOKENS
        await seat.press("m")
        assert screen.spending.sums.measure is Measure.MONEY
        is_beside = size[0] >= 120
        assert screen.focused is (screen.table if is_beside else screen.spending.sums)
        await seat.press("escape")
        assert not screen.spending.is_shown
        assert screen.focused is screen.table
        assert seat.core.ops == []


async def test_a_window_made_small_leaves_the_focus_where_it_is_seen(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(play=two_days) as seat:
        monkeypatch.setattr(seat.app, "now_ms", lambda: seat.core.now_ms)
        screen = await open_history(seat)
        await seat.press("s")
        await seat.see("100.0k")
        assert screen.focused is screen.table
        await seat.pilot.resize_terminal(60, 24)
        await seat.until(
            lambda: screen.focused is screen.spending.sums, "the focus on what is seen"
        )
        await seat.pilot.resize_terminal(160, 50)
        await seat.until(lambda: screen.focused is screen.table, "the focus on the list again")


async def test_sums_that_cannot_be_had_are_said_once_and_the_list_stays(console: Open) -> None:
    async def refused(query: protocol.LookUp[records.Spending]) -> records.Spending:
        asked.append(query)
        raise StoreError("The disk is gone.")

    asked: list[protocol.LookUp[records.Spending]] = []
    async with console(play=two_days) as seat:
        screen = await open_history(seat)
        seat.core.look_up = refused  # type: ignore[method-assign]
        await seat.press("s")
        await seat.see("The disk is gone.")
        for _ in range(5):
            screen.refresh_all()
            await seat.pilot.pause()
        assert len(asked) == 1
        assert len(screen.table.rows) == 3


async def test_a_session_has_its_date_phone_model_cost_outcome_and_who_says_so(
    console: Open,
) -> None:
    def one(core: FakeCore) -> None:
        configure(core, "s1", "Pay the rent", serial="phone-1", model="openai/gpt-5")
        run(core, "s1")
        usage = records.Usage(input_tokens=90_000, output_tokens=10_000, cost_usd=1.25)
        core.tell(protocol.StepCompleted(step=7, time=records.TimeSplit(), usage=usage), "s1")
        core.tell(protocol.SessionStateChanged(state=records.SessionState.COMPLETED), "s1")
        core.tell(
            protocol.VerificationRecorded(
                verification=records.Verification(
                    verdict=records.GoalVerdict.MET, verified_by=records.VerifiedBy.OPERATOR
                )
            ),
            "s1",
        )
        core.tell(protocol.SessionKept(kept=True), "s1")

    facts = ("gpt-5", "100.0k tok", "$1.25", "done · kept · verified by you")
    for size in ((190, 50), (60, 20)):
        async with console(size=size, play=one) as seat:
            seat.app.now_ms = lambda: 1_760_000_200_000  # type: ignore[method-assign]
            await open_history(seat)
            seen = facts if size[0] > 100 else facts[3:]
            for fact in seen:
                await seat.see(fact)
            await seat.see(moment(1_760_000_000_100, 1_760_000_200_000))


def test_moments_are_as_long_ago_as_needs_saying() -> None:
    now_ms = 1_760_000_000_000
    assert len(moment(now_ms, now_ms)) == len("14:05")
    assert moment(now_ms - 40 * 86_400_000, now_ms).startswith("Aug ")
    assert moment(now_ms - 400 * 86_400_000, now_ms).startswith("2024-")


async def test_what_was_found_stands_by_session_in_plain_words(console: Open) -> None:
    def many(core: FakeCore) -> None:
        for number in (1, 2):
            configure(core, f"s{number}", f"Errand {number}")
            for text in ("milk first", "then milk again", "milk at last"):
                core.tell(
                    protocol.UserMessage(text=text, message_id=f"{number}{text}"), f"s{number}"
                )

    async with console(play=many) as seat:
        screen = await open_history(seat)
        await seat.press("slash", *"milk")
        await seat.see("6 matches in 2 sessions")
        assert seat.text().count("Errand 1") == 1, "a session is named once"
        assert seat.text().count("you wrote  ") == 4, "with its two best lines"
        assert [row.key.partition("/")[0] for row in screen.table.rows] == ["s2", "s1"]


@pytest.mark.parametrize(
    ("kind", "stored", "shown"),
    [
        ("tool_call_finished", "OK: Typed milk.", "Typed milk."),
        (
            "tool_call_requested",
            "update plan Get milk in_progress",
            "update plan Get milk in progress",
        ),
        ("session_configured", "buy milk buy milk", "buy milk"),
        ("session_configured", "buy milk then buy milk", "buy milk then buy milk"),
        ("session_configured", "milk milky", "milk milky"),
    ],
)
def test_a_place_that_was_found_has_no_codes_and_says_its_goal_once(
    kind: str, stored: str, shown: str
) -> None:
    at = stored.index("milk")
    hit = records.SearchHit(
        session_id="s1", seq=1, ts_ms=1, kind=kind, snippet=stored, matches=((at, at + 4),)
    )
    (row,) = hit_rows([hit], lambda _: None, now_ms=2)
    place = row.lines[-1].left
    assert "".join(text for text, _ in place[1:]).strip() == shown
    assert [text for text, style in place if style == "bold $ask"] == ["milk"]


def test_a_session_that_was_found_is_one_row_with_its_two_best_lines_until_it_is_unfolded() -> None:
    kinds = ("tool_call_finished", "agent_message", "result_published", "tool_call_requested")
    hits = [
        records.SearchHit(
            session_id=one, seq=9 - at, ts_ms=1, kind=kind, snippet="milk", matches=((0, 4),)
        )
        for at, kind in enumerate(kinds)
        for one in ("s1", "s2")
    ]
    shown = hit_rows(hits, lambda _: None, now_ms=2)
    assert [row.key for row in shown] == ["s1/7", "s2/7"], "a row each, keyed by what says most"
    lines = ["".join(text for text, _ in line.left) for line in shown[0].lines]
    assert [line.split()[0] for line in lines[1:]] == ["result", "model"] and "▸" in lines[0]
    unfolded = hit_rows(hits, lambda _: None, now_ms=2, unfolded=frozenset({"s1"}))
    assert [row.key for row in unfolded] == ["s1/7", "s1/9", "s1/8", "s1/6", "s2/7"]
    assert len({row.key for row in unfolded if row.key.startswith("s1/")}) == len(kinds)


async def test_what_was_found_is_unfolded_and_folded_with_the_arrows(console: Open) -> None:
    def talk(core: FakeCore) -> None:
        configure(core, "s1", "errand")
        for number in range(4):
            core.tell(protocol.AgentMessage(step=number, text=f"milk {number}"), "s1")

    async with console(play=talk) as seat:
        screen = await open_history(seat)
        await seat.press("slash", *"milk", "enter")
        await seat.until(lambda: len(screen.table.rows) == 1, "one row")
        await seat.press("right")
        await seat.until(lambda: len(screen.table.rows) == 4, "all places")
        await seat.press("down", "left")
        await seat.until(lambda: len(screen.table.rows) == 1, "one row again")
        assert screen.table.cursor_key == screen.table.rows[0].key


async def test_a_search_that_finds_nothing_does_not_say_that_nothing_is_stored(
    console: Open,
) -> None:
    async with console() as seat:
        await open_history(seat)
        await seat.press("slash", *"zebra", "enter")
        await seat.see("Nothing matches what is written above.")
        assert "Nothing is stored" not in seat.text()


def test_how_much_the_pictures_take_is_whole_where_there_is_room() -> None:
    words = "pictures: < 0.1 of 10 GB, kept 14 days"
    line = "".join(text for text, _ in spread(((" 64 sessions", ""),), ((words, ""),), 70))
    assert line.endswith(words)
    assert len(line) == 70


async def test_pictures_are_kept_for_ever_and_let_go_by_one_key(console: Open) -> None:
    async with console() as seat:
        await open_history(seat)
        await seat.see("pictures: < 0.1 of 10 GB, kept 14 days")
        await seat.press("g", "P")
        await seat.until(lambda: seat.core.ops, "the op")
        [op] = seat.core.ops
        assert isinstance(op, protocol.SessionKeep)
        assert op.kept
        seat.core.tell(protocol.SessionKept(kept=True), op.session_id)
        await seat.see("kept")
        await seat.press("P")
        await seat.until(lambda: len(seat.core.ops) == 2, "the op")
        assert seat.core.ops[1] == protocol.SessionKeep(session_id=op.session_id, kept=False)


async def test_an_export_says_what_is_missing_before_it_begins(console: Open) -> None:
    def old(core: FakeCore) -> None:
        configure(core, "s1", "Errand")
        run(core, "s1")
        frame = records.Frame(digest="gone", width_px=9, height_px=20, captured_ms=0)
        seen = records.Observation(
            started_ms=0, ended_ms=0, foreground=records.Foreground(package="app"), frame=frame
        )
        core.tell(protocol.StepStarted(step=1), "s1")
        core.tell(protocol.ObservationRecorded(step=1, observation=seen), "s1")
        core.tell(
            protocol.StepCompleted(step=1, time=records.TimeSplit(), usage=records.Usage()), "s1"
        )
        core.tell(protocol.SessionStateChanged(state=records.SessionState.COMPLETED), "s1")
        core.tell(protocol.SessionPruned(reason="Its frames were dropped after 14 days."), "s1")

    async with console(play=old) as seat:
        await open_history(seat)
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        replay = seat.app.screen
        assert isinstance(replay, ReplayScreen)
        await seat.until(lambda: replay.tape.playback is not None, "the tape")
        await seat.press("E")
        await seat.see("1 of 1 frame is gone. Its frames were")
