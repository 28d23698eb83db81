"""Filters of the History: facts and words, offered, saved and kept."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.errors import StoreError, UsageError
from agent.protocol import AgentMessage, DeviceChanged, ListSessions, SessionStateChanged
from agent.records import Session, SessionState
from console.cli_support.days import begin_ms, day_named
from console.screens.history import stored_sessions
from console.screens.history.filters import BUILT_IN, Filter, parse_filter, whole_words
from console.screens.history.saved_filters import FILE_NAME, SavedFilters
from tests.console.conftest import Open
from tests.console.fakes import FakeCore
from tests.console.screens.test_history import open_history
from tests.console.script import configure, phone, run

DAY_MS = 86_400_000


def session(**fields: object) -> Session:
    known: dict[str, object] = {"session_id": "s", "goal": "g", "created_ms": 10 * DAY_MS, **fields}
    return Session(**known)  # type: ignore[arg-type]


def test_facts_and_words_are_told_apart() -> None:
    found = parse_filter('rent is:failed http://x "two words" Phone:Pixel')
    assert found.words == 'rent http://x "two words"'
    assert found.facts == (("is", "failed"), ("phone", "pixel"))


@pytest.mark.parametrize(
    "text", ["is:", "is:sad", "since:soon", "phone:", "on:someday", "on:2026-13-01"]
)
def test_a_fact_that_cannot_be_says_what_could(text: str) -> None:
    with pytest.raises(UsageError):
        parse_filter(text)


@pytest.mark.parametrize(
    ("typed", "counts"),
    [
        ("rent", "rent"),
        ("rent is:fai", "rent"),
        ("is:failed", "is:failed"),
        ("is:failed since:7", "is:failed"),
        ("is:failed since:7d", "is:failed since:7d"),
        ("rent phone:pix", "rent"),
        ("rent @pix", "rent"),
        ("@pix rent", "@pix rent"),
        ("rent @rack-3/", "rent @rack-3/"),
        ("http://x", "http://x"),
    ],
)
def test_a_fact_that_is_being_typed_counts_once_it_is_whole(typed: str, counts: str) -> None:
    assert whole_words(typed) == counts


@given(some.text(max_size=40))
def test_whatever_is_typed_is_a_filter_or_an_error_in_words(text: str) -> None:
    try:
        found = parse_filter(text)
    except UsageError as error:
        assert error.message
        return
    assert isinstance(found.holds(session(), "Pixel 8", 10 * DAY_MS), bool)


@pytest.mark.parametrize(
    ("named", "day"),
    [
        ("today", date(2026, 7, 15)),
        ("Yesterday", date(2026, 7, 14)),
        ("wed", date(2026, 7, 15)),
        ("thursday", date(2026, 7, 9)),
        ("2026-01-31", date(2026, 1, 31)),
    ],
)
def test_a_day_is_named_as_people_name_it(named: str, day: date) -> None:
    assert day_named(named, date(2026, 7, 15)) == day


def test_a_day_holds_from_its_midnight_to_the_next() -> None:
    day = begin_ms(date(2026, 7, 14))
    now_ms = day + 30 * 3_600_000

    def holds(created_ms: int) -> bool:
        wanted = parse_filter("on:yesterday tag:#nightly")
        return wanted.holds(session(created_ms=created_ms, tags=("nightly",)), "", now_ms)

    assert not holds(day - 1)
    assert holds(day)
    assert holds(day + 23 * 3_600_000)
    assert not holds(begin_ms(date(2026, 7, 15)))


def test_every_fact_has_to_hold() -> None:
    now_ms = 10 * DAY_MS

    def holds(text: str, **fields: object) -> bool:
        return parse_filter(text).holds(session(**fields), "Pixel 8", now_ms)

    assert holds("is:failed", state=SessionState.FAILED)
    assert not holds("is:failed since:7d", state=SessionState.FAILED, created_ms=2 * DAY_MS)
    assert holds("is:kept phone:pixel", kept=True)
    assert holds("model:gpt", model="openai/gpt-5")
    assert not holds("is:unverified")
    assert holds("is:unverified", state=SessionState.COMPLETED)
    assert Filter("").holds(session(), "", now_ms)
    for text in BUILT_IN:
        assert parse_filter(text).facts


def test_filters_are_saved_forgotten_and_read_again(tmp_path: Path) -> None:
    saved = SavedFilters(tmp_path)
    assert saved.toggle("is:failed rent")
    assert saved.toggle("is:kept")
    assert SavedFilters(tmp_path).texts == ("is:kept", "is:failed rent")
    assert not saved.toggle("is:kept")
    assert SavedFilters(tmp_path).texts == ("is:failed rent",)
    (tmp_path / FILE_NAME).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        _ = SavedFilters(tmp_path).texts


async def test_a_filter_is_typed_saved_and_offered_again(console: Open) -> None:
    def some_failed(core: FakeCore) -> None:
        for number in range(4):
            configure(core, f"s{number}", f"Errand {number}")
            run(core, f"s{number}")
            state = SessionState.FAILED if number % 2 else SessionState.COMPLETED
            core.tell(SessionStateChanged(state=state), f"s{number}")

    async with console(play=some_failed) as seat:
        screen = await open_history(seat)
        await seat.press("slash", *"is:failed", "enter")
        await seat.until(lambda: [r.key for r in screen.table.rows] == ["s3", "s1"], "the failed")
        await seat.press("S")
        await seat.see("Saved: F offers")
        await seat.press("escape")
        await seat.until(lambda: len(screen.table.rows) == 4, "all")
        await seat.press("F")
        await seat.see("saved")
        await seat.press("enter")
        await seat.until(lambda: len(screen.table.rows) == 2, "the failed again")
        assert seat.app.data_dir is not None
        assert (seat.app.data_dir / FILE_NAME).exists()


async def test_facts_are_looked_for_in_all_that_is_stored(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_sessions, "PAGE", 5)

    def many(core: FakeCore) -> None:
        for number in range(60):
            configure(core, f"s{number:02}", f"Errand {number}")
            core.tell(AgentMessage(step=1, text="an errand"), f"s{number:02}")
            if number in (2, 3):
                core.tell(SessionStateChanged(state=SessionState.FAILED), f"s{number:02}")

    async with console(play=many) as seat:
        screen = await open_history(seat)
        assert len(screen.stored.listed) == 5
        await seat.press("slash", *"is:failed")
        await seat.until(lambda: [r.key for r in screen.table.rows] == ["s03", "s02"], "them")
        await seat.see("2 sessions")
        # The store left out the others.
        assert len(screen.stored.listed) == 2
        await seat.press(*" errand")
        await seat.see("2 matches in 2 sessions")
        await seat.press("escape")
        await seat.see("5 sessions, more below")


async def test_names_of_phones_that_the_store_does_not_know_are_read_on_for(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_sessions, "PAGE", 5)

    def many(core: FakeCore) -> None:
        for number in range(30):
            serial = f"rack-{number % 2}/{number}"
            device = phone(serial, name=f"desk {number}")
            core.tell(DeviceChanged(device=device))
            configure(core, f"s{number:02}", f"Errand {number}", serial=serial)

    async with console(play=many) as seat:
        screen = await open_history(seat)
        # Of two facts of a phone the store is told one.
        await seat.press("slash", *"@rack-0/ @desk @8", "enter")
        expected = ["s28", "s18", "s08"]
        await seat.until(lambda: [r.key for r in screen.table.rows] == expected, "three phones")
        await seat.see("3 sessions")


@given(
    some.lists(
        some.sampled_from(
            (
                "is:failed",
                "is:kept",
                "since:1d",
                "on:today",
                "@rack-1/",
                "@desk",
                "@5",
                "model:g",
                "tag:x",
                "tag:#y",
            )
        ),
        max_size=3,
    ),
    some.sampled_from(("rack-1/5", "rack-2/7", "")),
    some.sampled_from(("desk 5", "shelf")),
    some.integers(8, 10),
    some.sampled_from(SessionState),
    some.booleans(),
)
def test_the_store_is_asked_for_no_fewer_sessions_than_fit(
    facts: list[str], serial: str, name: str, day: int, state: SessionState, kept: bool
) -> None:
    one = session(
        serial=serial, created_ms=day * DAY_MS, state=state, kept=kept, tags=("x",), model="GPT"
    )
    wanted, now_ms = parse_filter(" ".join(facts)), 10 * DAY_MS
    asked = ListSessions(**wanted.query({serial: name} if serial else {}, now_ms)).wanted
    if wanted.holds(one, name if serial else "", now_ms):
        assert asked.holds(one)
