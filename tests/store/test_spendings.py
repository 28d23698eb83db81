"""What sessions used is added up by the day they began on, and named by what cost most."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from agent import protocol, records
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from agent.store.store import Store, wall_clock_ms
from tests.console.commands.test_cli import call

_NOON = datetime(2026, 3, 28, 12, 0)  # noqa: DTZ001 -- noon where the test runs
DONE, FAILED = records.SessionState.COMPLETED, records.SessionState.FAILED


def at_ms(days: int) -> int:
    """Return the noon so many days on; the clocks of Europe change in between."""
    return int((_NOON + timedelta(days=days)).timestamp() * 1000)


def step(tokens: int, cost_usd: float = 0.0) -> protocol.StepCompleted:
    usage = records.Usage(
        input_tokens=tokens, output_tokens=tokens // 10, cost_usd=cost_usd, calls=1
    )
    return protocol.StepCompleted(step=1, time=records.TimeSplit(), usage=usage)


def watcher(number: int, usage: records.Usage) -> records.Watcher:
    return records.Watcher(
        id=number,
        type=records.WatcherType.TIME,
        title="",
        condition_json={},
        schedule_json={},
        session_target="",
        delivery_json={},
        status=records.WatcherStatus.ACTIVE,
        last_result_hash="",
        failure_count=0,
        failure_alert_at=0,
        created_at=0,
        updated_at=0,
        next_run_at=0,
        last_run_at=0,
        usage=usage,
    )


async def looks(store: Store) -> None:
    """Store that watchers looked on two days, and what judging took of a model."""
    all_of_it = records.Usage()
    for days, tokens in ((-20, 5), (0, 7), (2, 300), (2, 0)):
        used = records.Usage(input_tokens=tokens, cost_usd=tokens / 100, calls=int(tokens > 0))
        all_of_it = all_of_it.plus(used)
        msg = protocol.WatcherChanged(watcher=watcher(1, all_of_it), reason="looked", usage=used)
        await store.append(EventDraft("", msg, dated_ms=at_ms(days)))
    quiet = protocol.WatcherChanged(watcher=watcher(2, records.Usage()), reason="looked")
    await store.append(EventDraft("", quiet, dated_ms=at_ms(9)))


async def a_fortnight(store: Store) -> None:
    """Store sessions of three days, one of them a fork of another."""
    for name, days, state, tokens, cost in (
        ("a", 0, DONE, 1000, 0.50),
        ("b", 0, FAILED, 400, 0.0),
        ("c", 1, DONE, 9000, 0.25),
        ("d", 3, None, 0, 0.0),
    ):
        session = records.Session(session_id=name, goal=name, created_ms=at_ms(days))
        drafts = [EventDraft(name, protocol.SessionConfigured(session=session))]
        if tokens:
            drafts.append(EventDraft(name, protocol.StepStarted(step=1)))
            drafts.append(EventDraft(name, step(tokens, cost), dated_ms=at_ms(days) + 60_000))
        if state is not None:
            drafts.append(EventDraft(name, protocol.SessionStateChanged(state=state)))
        await store.append(*drafts)
    fork = records.Session(session_id="f", goal="f", created_ms=at_ms(3), forked_from="a")
    await store.append(
        EventDraft("f", protocol.SessionConfigured(session=fork), dated_ms=at_ms(0)),
        EventDraft("f", protocol.StepStarted(step=1), dated_ms=at_ms(0)),
        EventDraft("f", step(1000, 0.50), dated_ms=at_ms(0) + 60_000),
        EventDraft("f", protocol.StepStarted(step=2), dated_ms=at_ms(3) + 1),
        EventDraft("f", step(70), dated_ms=at_ms(3) + 1),
    )


def rows_of(spending: records.Spending) -> list[tuple[str, int, int, int, int, int, float]]:
    return [
        (
            day.day,
            day.sessions,
            day.completed,
            day.failed,
            day.steps,
            day.usage.input_tokens,
            day.usage.cost_usd,
        )
        for day in spending.days
    ]


async def test_the_command_tells_people_and_scripts_the_same(tmp_path: Path) -> None:
    data = tmp_path / "data"
    now_ms = wall_clock_ms()
    async with SqliteStore.open(data) as store:
        session = records.Session(session_id="s1", goal="water the plants", created_ms=now_ms)
        await store.append(
            EventDraft("s1", protocol.SessionConfigured(session=session)),
            EventDraft("s1", step(10_000, 1.25)),
        )
    printed = call("--data-dir", str(data), "sessions", "spending")
    assert printed.returncode == 0, printed.stderr
    day, dearest = printed.stdout.strip().split("\n\n")
    assert day.split()[-4:] == ["0", "0", "11.0k", "$1.25"]
    assert dearest.split()[-6:] == ["s1", "11.0k", "$1.25", "water", "the", "plants"]
    said = json.loads(call("--data-dir", str(data), "sessions", "spending", "--json").stdout)
    [today] = said["days"]
    assert (today["sessions"], today["inputTokens"], today["costUsd"]) == (1, 10_000, 1.25)
    assert [one["sessionId"] for one in said["dearest"]] == ["s1"]
