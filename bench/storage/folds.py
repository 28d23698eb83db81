"""What a committed event costs the core and the console in one process, after it is stored.

`python -m bench folds`. Real commits of a store, a step's events in three of them as the loop
writes them, are given to the core's registry and to the console's picture: once with each folding
the session records by itself, event by event, as two processes have to; once with the records that
the store folded. The ways take turns, so that a busy machine slows all of them down.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.protocol import AgentMessage, StepCompleted, StepStarted
from agent.records import TimeSplit, Usage
from agent.sessions.registry.session_registry import SessionRegistry
from agent.state.commit import Commit
from agent.state.reducer import State, reduce, reduce_commit
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import EventDraft
from bench.storage.store import opening_draft, step_draft

SESSIONS = 50
STEPS = 40
ROUNDS = 7


def main() -> None:
    """Print the table."""
    commits = asyncio.run(_commits())
    events = sum(len(commit.events) for commit in commits)
    ways: dict[str, Callable[[Sequence[Commit]], State]] = {
        "each by itself, event by event": _each_event,
        "each by itself, by commit": _each_commit,
        "the store's records": _shared,
    }
    took_us: dict[str, list[float]] = {name: [] for name in ways}
    pictures = []
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.process_time()
            pictures.append(way(commits))
            took_us[name].append((time.process_time() - began) * 1e6 / events)
    assert all(one == pictures[0] for one in pictures), "the ways disagree"
    print(
        f"{events:,} events in {len(commits):,} commits of {SESSIONS} sessions, {ROUNDS} rounds\n"
    )
    print("| records folded by | CPU, µs an event, median | least | most |\n|---|---|---|---|")
    for name, us in took_us.items():
        print(f"| {name} | {statistics.median(us):.1f} | {min(us):.1f} | {max(us):.1f} |")


async def _commits() -> list[Commit]:
    commits: list[Commit] = []
    names = [f"s{number}" for number in range(SESSIONS)]
    with tempfile.TemporaryDirectory() as folder:
        async with SqliteStore.open(Path(folder)) as store:
            store.subscribe(commits.append)
            for name in names:
                await store.append(opening_draft(name))
            for step in range(1, STEPS + 1):
                for name in names:
                    await store.append(
                        EventDraft(name, StepStarted(step=step)), step_draft(name, step)
                    )
                    await store.append(EventDraft(name, AgentMessage(step=step, text="Look on.")))
                    done = StepCompleted(step=step, time=TimeSplit(), usage=Usage())
                    await store.append(EventDraft(name, done))
    return commits


def _registry() -> SessionRegistry:
    # It reads from its store only when it is asked for a session that it does not know.
    return SessionRegistry(None)  # type: ignore[arg-type]


def _each_event(commits: Sequence[Commit]) -> State:
    registry, state = _registry(), State()
    for commit in commits:
        registry.on_commit(Commit(commit.events))
        for event in commit.events:
            state = reduce(state, event)
    return state


def _each_commit(commits: Sequence[Commit]) -> State:
    registry, state = _registry(), State()
    for commit in commits:
        alone = Commit(commit.events)
        registry.on_commit(alone)
        state = reduce_commit(state, alone)
    return state


def _shared(commits: Sequence[Commit]) -> State:
    registry, state = _registry(), State()
    for commit in commits:
        registry.on_commit(commit)
        state = reduce_commit(state, commit)
    return state
