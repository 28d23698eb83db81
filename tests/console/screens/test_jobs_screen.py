"""The Jobs screen: three lists in pages, what can be done on each, and every size."""

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from agent import protocol, records
from console.screens.jobs import jobs_lists
from console.screens.jobs.jobs import JobsScreen
from console.screens.jobs.jobs_form import edit_of, job_of, watcher_of
from console.screens.jobs.jobs_lists import Tab
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, commitment, job, phone, watcher
from tests.console.script import evening
from widgets.lists.job_rows import heading, job_rows


def full(core: FakeCore) -> None:
    """Play an evening with some of everything."""
    evening(core)
    core.tell(protocol.JobChanged(job=job(2, title="Weather", status="paused", updated_at=5)))
    found = {"status": "fired", "unread": True, "last_result": "A parcel has come"}
    core.tell(protocol.WatcherChanged(watcher=watcher(1, title="Parcel", fired_at=3, **found)))
    core.tell(protocol.WatcherChanged(watcher=watcher(2, title="Tickets", type="web_change")))
    core.tell(protocol.CommitmentChanged(commitment=commitment(1, title="Call Ana")))
    core.tell(protocol.CommitmentChanged(commitment=commitment(2, title="Old", status="completed")))
    core.runs[1] = (
        records.RunRecord(
            run_id="r",
            job_id=1,
            due_at=1,
            started_at=1,
            ended_at=40_001,
            outcome=records.RunOutcome.STEP_LIMIT,
            session_id="s3",
            steps=25,
            diagnostics="It went in circles.",
            time=records.TimeSplit(model_ms=30_000),
        ),
    )


async def jobs_of(seat: Seat) -> JobsScreen:
    """Go to the jobs, and wait for the first page."""
    await seat.press("3")
    await seat.until(lambda: isinstance(seat.app.screen, JobsScreen), "the jobs")
    screen = seat.app.screen
    assert isinstance(screen, JobsScreen)
    await seat.until(
        lambda: screen.lists.pager(Tab.JOBS).is_read and screen.browsing.record, "a page"
    )
    return screen


async def pick(seat: Seat, screen: JobsScreen, key: str) -> None:
    """Put the cursor on a row."""
    await seat.until(lambda: any(row.key == key for row in screen.table.rows), f"row {key}")
    screen.table.move_to(key)
    screen.refresh_all()
    await seat.until(
        lambda: str(getattr(screen.browsing.record, "id", "")) == key, f"the cursor on {key}"
    )


def fill(screen: JobsScreen, **lines: str) -> None:
    for name, text in lines.items():
        screen.query_one(f"#job-{name}", Input).value = text


async def test_the_detail_tells_the_runs_of_a_job_with_why_and_where_the_time_went(
    console: Open,
) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await pick(seat, screen, "1")
        for words in ("× stopped at the step limit", "40 s, 25 steps", "model 30 s", "in circles"):
            await seat.see(words)
        await seat.press("R")
        await seat.until(lambda: seat.app.screen is not screen, "the replay")


async def test_a_job_is_run_paused_and_resumed_at_once(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await pick(seat, screen, "1")
        await seat.press("r", "p")
        await pick(seat, screen, "2")
        await seat.press("p")
        wanted = [
            protocol.JobRun(job_id=1),
            protocol.JobPause(job_id=1),
            protocol.JobResume(job_id=2),
        ]
        await seat.until(lambda: seat.core.ops == wanted, "the ops")


async def test_a_job_is_changed_in_the_form_it_was_written_in(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await pick(seat, screen, "1")
        await seat.press("e")
        await seat.until(lambda: getattr(seat.app.focused, "id", "") == "job-prompt", "a field")
        await seat.see("check the messages")
        fill(screen, prompt="check the messages now", every="2h")
        await seat.press("enter", "enter", "enter")
        await seat.until(lambda: seat.core.ops, "an op")
        [op] = seat.core.ops
        assert isinstance(op, protocol.JobEdit)
        assert (op.job_id, op.prompt, op.interval_ms) == (1, "check the messages now", 7_200_000)
        assert (op.title, op.next_run_at, op.cron) == (None, None, None)


async def test_tab_goes_to_the_watchers_and_to_the_commitments_and_back(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await pick(seat, screen, "2")
        await seat.press("tab")
        await seat.see("A parcel has come")
        await seat.press("tab")
        await seat.see("Call Ana")
        await seat.press("tab")
        await seat.until(lambda: screen.table.cursor_key == "2", "the row it was on")
        await seat.press("shift+tab")
        await seat.see("Call Ana")


async def test_a_watcher_is_seen_at_once_and_stopped_by_two_acts(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await seat.press("tab")
        await pick(seat, screen, "1")
        await seat.press("d")
        await pick(seat, screen, "2")
        await seat.press("x")
        await seat.see("x again stops watcher 2")
        assert seat.core.ops == [protocol.WatcherRead(watcher_id=1)]
        await seat.press("x")
        await seat.until(
            lambda: seat.core.ops[1:] == [protocol.WatcherStop(watcher_id=2)], "stopped"
        )


async def test_a_watcher_is_written_in_three_lines(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await seat.press("tab", "n")
        await seat.until(lambda: getattr(seat.app.focused, "id", "") == "job-look", "a field")
        fill(screen, look="messages from Ana", words="parcel", react="say what she wants")
        await seat.press("enter", "enter", "enter")
        await seat.until(lambda: seat.core.ops, "an op")
        [op] = seat.core.ops
        assert isinstance(op, protocol.WatcherCreate)
        assert (op.watcher_type, op.sender) == (records.WatcherType.MESSAGE_REPLY, "Ana")
        assert (op.texts, op.prompt) == (("parcel",), "say what she wants")


NOW = datetime(2026, 1, 31, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("look", "words", "wanted"),
    [
        ("notifications of com.shop", "parcel, today", ("notification", "com.shop")),
        ("notifications", "", ("notification", "")),
        ("a message from Ana Maria", "", ("message_reply", "Ana Maria")),
        ("calls from 030 1234567", "", ("call_back", "030 1234567")),
        ("calls", "", ("call_back", "")),
        ("screen", "Delivered", ("screen_text", "")),
        ("https://example.com/x", "in stock", ("web_change", "https://example.com/x")),
        ("10m", "Tea", ("time", "")),
    ],
)
def test_what_is_looked_at_is_read_from_a_line(
    look: str, words: str, wanted: tuple[str, str]
) -> None:
    op = watcher_of(look, words, "", NOW)
    assert (op.watcher_type.value, op.package or op.sender or op.url) == wanted
    assert op.texts == tuple(part.strip() for part in words.split(",") if part) or look == "10m"


def test_a_page_is_watched_for_its_words_when_there_are_some_and_else_for_any_change() -> None:
    said = watcher_of("https://example.com", "in stock", "", NOW)
    assert said.evaluator is records.Evaluator.TEXT_CONTAINS
    assert watcher_of("https://example.com", "", "", NOW).evaluator is records.Evaluator.HASH_CHANGE


def test_a_cron_expression_is_taken_for_one() -> None:
    made = job_of("tea", "", "30 7 * * 1-5", NOW)
    assert (made.cron, made.interval_ms) == ("30 7 * * 1-5", 0)
    changed = edit_of(job(1, schedule_json={"interval_ms": 60_000}), "tea", "", "0 9 * * *", NOW)
    assert (changed.cron, changed.interval_ms) == ("0 9 * * *", 0)


async def test_what_cannot_be_looked_at_is_said_and_nothing_typed_is_lost(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await seat.press("tab", "n")
        await seat.until(lambda: getattr(seat.app.focused, "id", "") == "job-look", "a field")
        fill(screen, look="the moon")
        await seat.press("enter", "enter", "enter")
        await seat.see("is not something to watch")
        await seat.see("the moon")
        assert seat.core.ops == []


async def test_a_commitment_is_written_in_two_lines(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await seat.press("tab", "tab", "n")
        await seat.until(lambda: getattr(seat.app.focused, "id", "") == "job-promise", "a field")
        fill(screen, promise="call Ana", due="1h")
        await seat.press("enter", "enter")
        await seat.until(lambda: seat.core.ops, "an op")
        [op] = seat.core.ops
        assert isinstance(op, protocol.CommitmentCreate)
        assert op.title == "call Ana"
        assert abs(op.due_at - seat.app.now_ms() - 3_600_000) < 60_000


async def test_what_is_due_or_found_waits_on_the_deck_and_leads_to_its_list(console: Open) -> None:
    async with console(play=full) as seat:
        await seat.see("Call Ana")
        await seat.see("A parcel has come")
        key = next(row.key for row in seat.deck.attention.rows if row.key.startswith("watcher:"))
        seat.deck.set_focus(seat.deck.attention)
        seat.deck.attention.move_to(key)
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, JobsScreen), "the jobs")
        screen = seat.app.screen
        assert isinstance(screen, JobsScreen)
        await seat.until(
            lambda: getattr(screen.browsing.record, "title", "") == "Parcel", "the watcher"
        )
        await seat.press("1")
        await seat.until(lambda: seat.app.screen is seat.deck, "home")
        seat.deck.set_focus(seat.deck.attention)
        seat.deck.attention.move_to(key)
        await seat.press("d")
        await seat.until(lambda: seat.core.ops == [protocol.WatcherRead(watcher_id=1)], "seen")


async def test_hostile_words_of_a_watcher_and_a_commitment_are_only_shown(console: Open) -> None:
    evil = "\x1b]52;c;ZXZpbA==\x07[@click=app.quit]x[/] [/"

    def hostile(core: FakeCore) -> None:
        evening(core)
        wanted = {"texts": [evil], "url": evil}
        core.tell(
            protocol.WatcherChanged(
                watcher=watcher(1, title=evil, last_result=evil, condition_json=wanted)
            )
        )
        said = {"title": evil, "description": evil, "evidence_json": {"said": evil}}
        core.tell(protocol.CommitmentChanged(commitment=commitment(1, **said)))

    async with console(play=hostile) as seat:
        await jobs_of(seat)
        for _ in range(2):
            await seat.press("tab")
            await seat.see("[@click=app.quit]x[/]")
            assert "\x1b" not in seat.text()


async def test_a_filter_is_asked_of_the_core_and_the_newest_wish_wins(console: Open) -> None:
    async with console(play=full) as seat:
        screen = await jobs_of(seat)
        await seat.press("slash", *"weath")
        await seat.until(lambda: [row.key for row in screen.table.rows] == ["2"], "one row")
        await seat.press("enter", "escape")
        await seat.until(lambda: len(screen.table.rows) == 2, "all rows")
        assert screen.browsing.wanted == ""


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 20), (40, 12)])
async def test_every_size_shows_the_list_and_leads_to_the_detail(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size, play=full) as seat:
        screen = await jobs_of(seat)
        await pick(seat, screen, "1")
        await seat.see("Morning")
        if size[0] < 120:
            assert "number" not in seat.text()
            await seat.press("enter")
        await seat.see("number")
        if size[0] < 120:
            await seat.press("escape")
            await seat.until(lambda: "number" not in seat.text(), "the list again")
        assert isinstance(seat.app.screen, JobsScreen)


@pytest.mark.parametrize("width", [90, 100, 105, 120, 160])
def test_what_a_job_came_to_never_takes_the_place_of_its_title(width: int) -> None:
    said = {"notification_text": "watered " * 20}
    told = job(1, title="Water the plants 🌱", last_run_at=1, delivery_json=said)
    [row] = job_rows([told], now_ms=0, width=width)
    [line] = row.lines
    assert line.left[-1][0] == "Water the plants 🌱"
    taken = sum(cell_len(text) for text, _ in (*line.left, *line.right))
    assert taken <= width - 4
    assert bool(line.right) == (width >= 100)


@pytest.mark.parametrize(
    ("last_run_at", "said"),
    [(0, "never"), (10_000_000, "just now"), (9_700_000, "5m ago"), (1, "2h ago")],
)
def test_the_list_says_when_a_job_last_ran_where_it_is_wide_enough(
    last_run_at: int, said: str
) -> None:
    ran = job(1, title="Water the plants", last_run_at=last_run_at)
    for width, shown in ((71, False), (72, True)):
        [(titles, _)] = heading(width)
        [row] = job_rows([ran], now_ms=10_000_000, width=width)
        texts = [text.strip() for text, _ in row.lines[0].left]
        assert ("last run" in titles, said in texts) == (shown, shown)


@pytest.mark.parametrize("columns", [80, 120, 130, 149])
async def test_the_list_says_when_a_job_last_ran_beside_the_detail_too(
    console: Open, columns: int
) -> None:
    def ran(core: FakeCore) -> None:
        for number in range(1, 61):
            one = job(number, title=f"Water the plants {number}", last_run_at=1)
            core.tell(protocol.JobChanged(job=one))

    async with console(size=(columns, 40), play=ran) as seat:
        screen = await jobs_of(seat)
        await seat.see("last run")
        await seat.until(lambda: screen.table.show_vertical_scrollbar, "a list that scrolls")
        assert "Water the plants 2" in seat.text()


def at_hosts(core: FakeCore) -> None:
    """Play jobs, watchers and commitments of two hosts."""
    for number in range(1, 41):
        host = f"rack-{number % 2 + 1}"
        serial = f"{host}/emulator-{5554 + 2 * number}"
        name = "desk" if number == 7 else ""
        core.tell(protocol.DeviceChanged(device=phone(serial, name=name, tags=("wall",))))
        state = "completed" if number % 10 == 0 else "active"
        payload = {"serial": serial} if number < 30 else {"tags": ["Shelf"]}
        one = job(number, title=f"Errand {number}", host=host, payload_json=payload, status=state)
        core.tell(protocol.JobChanged(job=one))
    for number in (1, 2):
        host = f"rack-{number}"
        core.tell(protocol.WatcherChanged(watcher=watcher(number, host=host)))
        core.tell(protocol.CommitmentChanged(commitment=commitment(number, host=host)))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("@rack-2/ errand 3", ["3", "13", "23", "31", "33", "35", "37", "39"]),
        ("errand @desk", ["7"]),
        ("#shelf done @rack-1/", ["30", "40"]),
        ("#wall 29", ["29"]),
        ("29 errand", ["29"]),
        ("@rack-2", [str(number) for number in range(1, 40, 2)]),
        ("@rack-3/", []),
    ],
)
async def test_jobs_are_filtered_by_host_phone_tag_and_state_as_on_the_deck(
    console: Open, monkeypatch: pytest.MonkeyPatch, text: str, numbers: list[str]
) -> None:
    monkeypatch.setattr(jobs_lists, "PAGE", 30)
    async with console(play=at_hosts) as seat:
        screen = await jobs_of(seat)
        await seat.press("slash", *text)
        await seat.until(
            lambda: sorted((row.key for row in screen.table.rows), key=int) == numbers, "those"
        )


async def test_watchers_and_commitments_are_filtered_by_host(console: Open) -> None:
    async with console(play=at_hosts) as seat:
        screen = await jobs_of(seat)
        await seat.press("slash", *"@rack-2/", "enter")
        for _ in range(2):
            await seat.press("tab")
            await seat.until(lambda: [row.key for row in screen.table.rows] == ["2"], "one")
