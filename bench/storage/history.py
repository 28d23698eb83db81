"""The store when it is large: a million events, ten thousand sessions; what opening, listing,
replaying and searching then cost.

`python -m bench history`. It writes about 1.5 GB to a temporary directory, which takes a minute or
two; set SWITCHBOARD_BENCH_EVENTS to a smaller number for a quick look.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from agent.protocol import (
    AgentMessage,
    SessionConfigured,
    SessionStateChanged,
    StepCompleted,
    StepStarted,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import ActionOutcome, Session, SessionState, TimeSplit, Usage
from agent.state.reducer import from_overview, tree
from agent.store.embedded.sqlite_store import DATABASE_NAME, EventDraft, SqliteStore
from bench.storage.store import step_draft
from console.core.stored_core import StoredRecords
from console.screens.history.tape import PAGE_EVENTS
from console.steps.playback import Playback

EVENTS = int(os.environ.get("SWITCHBOARD_BENCH_EVENTS", "1000000"))
SESSIONS = 10_000
LONG_EVENTS = 5_000
WORDS = ("settings", "bluetooth", "invoice", "message", "camera", "calendar", "payment", "search")


def main() -> None:
    """Print the table."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        started = time.perf_counter()
        async with SqliteStore.open(directory) as store:
            await _fill(store)
            written_s = time.perf_counter() - started
            total = await store.last_event_id()
            caught_up_s = await _catch_up(store, total)
        size_gb = (directory / DATABASE_NAME).stat().st_size / 1e9
        print(f"{total:,} events of {SESSIONS:,} sessions, {size_gb:.2f} GB, warm\n")
        print("| what | ms | target |\n|---|---|---|")
        await _opening(directory)
        async with SqliteStore.open(directory) as store:
            await _looking(store)
        print(f"\nWritten in {written_s:.0f} s; the index was done {caught_up_s:.0f} s later.")


async def _fill(store: SqliteStore) -> None:
    await store.append(*opening_of("long"))
    for first in range(0, LONG_EVENTS, 500):
        steps = range(first // 5 + 1, first // 5 + 101)
        await store.append(*(draft for step in steps for draft in _step("long", step)))
    each = max(1, (EVENTS - LONG_EVENTS) // SESSIONS // 5)
    pending: list[EventDraft] = []
    for number in range(SESSIONS):
        session_id = f"s{number:05}"
        pending += opening_of(session_id, parent=f"s{number - 1:05}" if number % 4 == 3 else "")
        for step in range(1, each + 1):
            pending += _step(session_id, step)
        pending.append(EventDraft(session_id, SessionStateChanged(state=SessionState.COMPLETED)))
        if len(pending) > 2_000:
            await store.append(*pending)
            pending = []
    await store.append(*pending)


async def _catch_up(store: SqliteStore, total: int) -> float:
    started = time.perf_counter()
    while store.searching.indexed_id < total:
        # Each search waits a little for the index.
        await store.search("bluetooth", limit=1)
    return time.perf_counter() - started


async def _opening(directory: Path) -> None:
    """Do what the console does until its list can be drawn."""
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        async with SqliteStore.open(directory) as store:
            picture = from_overview(await StoredRecords(store).overview())
            tree(picture)
            times.append(time.perf_counter() - started)
    _row("open the store and list the newest trees", times, "500")


async def _looking(store: SqliteStore) -> None:
    middle = LONG_EVENTS // 2

    async def ready() -> Playback:
        # As the replay screen does: what leads there and a page more, before it is shown.
        events = await store.session_events("long", limit=middle + PAGE_EVENTS)
        tape = Playback(events, is_whole=False)
        tape.go_to(middle)
        tape.state()
        return tape

    async def read_all() -> None:
        tape = await ready()
        while not tape.is_whole:
            last = tape.events[-1].seq
            more = await store.session_events("long", after_seq=last, limit=PAGE_EVENTS)
            tape.add(more, is_whole=len(more) < PAGE_EVENTS)

    await _time(
        f"a session of {LONG_EVENTS:,} events ready to replay from its middle", ready, "100"
    )
    await _time("the same, and the whole tape read", read_all, "")
    await _time(
        "100 events before its middle",
        lambda: store.session_events("long", before_seq=middle, limit=100),
        "",
    )
    await _time(
        "a page of 200 sessions from the middle of the list",
        lambda: store.sessions(limit=200, before="s05000"),
        "",
    )
    for what, query in (
        ("a frequent word", "bluetooth"),
        ("a rare word", "needle777"),
        ("two words", "bluetooth invoice"),
        ("a phrase", '"open the bluetooth"'),
        ("a word that is nowhere", "zebra"),
    ):
        await _time(f"search for {what}", partial(store.search, query), "20")


async def _time(what: str, work: Callable[[], Awaitable[object]], target: str) -> None:
    await work()
    times: list[float] = []
    for _ in range(15):
        started = time.perf_counter()
        await work()
        times.append(time.perf_counter() - started)
    _row(what, times, target)


def _row(what: str, times: list[float], target: str) -> None:
    bound = f"< {target}" if target else ""
    print(f"| {what} | {statistics.median(times) * 1000:.1f} | {bound} |", flush=True)


def opening_of(session_id: str, *, parent: str = "") -> list[EventDraft]:
    session = Session(
        session_id=session_id, goal="Turn on Bluetooth", created_ms=1, parent_id=parent
    )
    return [EventDraft(session_id, SessionConfigured(session=session))]


def _step(session_id: str, step: int) -> list[EventDraft]:
    """Make the events of one step: one observation, and what comes with it."""
    word = WORDS[(step * 7 + len(session_id) + sum(session_id.encode())) % len(WORDS)]
    needle = " needle777" if session_id == "s07777" and step == 1 else ""
    call = f"{session_id}-{step}"
    msgs = (
        StepStarted(step=step),
        AgentMessage(step=step, text=f"I open the {word} and look for the invoice{needle}."),
        ToolCallRequested(step=step, call_id=call, tool="tap", arguments='{"element": 4}'),
        ToolCallFinished(step=step, call_id=call, outcome=ActionOutcome.DONE, text="Tapped 4."),
        StepCompleted(step=step, time=TimeSplit(), usage=Usage()),
    )
    drafts = [EventDraft(session_id, msg) for msg in msgs]
    # A whole screen: most of what a store holds.
    drafts[0] = step_draft(session_id, step, elements=32)
    return drafts
