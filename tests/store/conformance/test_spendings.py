"""What sessions used is added up by the day they began on, the same by every store."""

import pytest
from msgspec.structs import replace

from agent import protocol, records
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES
from tests.store.memory import MemoryStore
from tests.store.test_spendings import a_fortnight, at_ms, looks, rows_of, step


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_day_has_what_its_sessions_used_and_a_fork_not_what_it_was_given(
    store: Store,
) -> None:
    await a_fortnight(store)
    spending = await store.spendings.since(0)
    assert rows_of(spending) == [
        ("2026-03-28", 2, 1, 1, 2, 1400, 0.50),
        ("2026-03-29", 1, 1, 0, 1, 9000, 0.25),
        ("2026-03-31", 2, 0, 0, 1, 70, 0.0),
    ]
    dearest = [(one.session.session_id, one.usage.input_tokens) for one in spending.dearest]
    assert dearest == [("a", 1000), ("c", 9000), ("b", 400), ("f", 70)]


async def test_what_judging_for_watchers_took_counts_on_the_day_it_did(store: Store) -> None:
    await a_fortnight(store)
    await looks(store)
    spending = await store.spendings.since(at_ms(-1))
    assert rows_of(spending) == [
        ("2026-03-28", 2, 1, 1, 2, 1407, pytest.approx(0.57)),
        ("2026-03-29", 1, 1, 0, 1, 9000, 0.25),
        ("2026-03-30", 0, 0, 0, 0, 300, 3.0),
        ("2026-03-31", 2, 0, 0, 1, 70, 0.0),
    ]
    assert [day.watchers.input_tokens for day in spending.days] == [7, 0, 300, 0]
    assert {one.session.session_id for one in spending.dearest} == {"a", "b", "c", "f"}


async def test_a_nul_in_a_goal_hides_no_spending(store: Store) -> None:
    goals = {"x\0\0y", "\\u0000", "\\\0\\"}
    for name, goal in enumerate(sorted(goals)):
        session = records.Session(session_id=f"s{name}", goal=goal, created_ms=at_ms(0))
        opened = EventDraft(session.session_id, protocol.SessionConfigured(session=session))
        await store.append(opened, EventDraft(session.session_id, step(100)))
    spending = await store.spendings.since(0)
    assert [day.usage.input_tokens for day in spending.days] == [300]
    assert {one.session.goal for one in spending.dearest} == goals


async def test_only_sessions_that_began_since_are_counted(store: Store) -> None:
    await a_fortnight(store)
    assert [day[0] for day in rows_of(await store.spendings.since(at_ms(1)))] == [
        "2026-03-29",
        "2026-03-31",
    ]
    assert await store.spendings.since(at_ms(4)) == records.Spending()


@pytest.mark.parametrize("since_days", [0, 1, 4])
async def test_every_store_adds_up_the_same(store: Store, since_days: int) -> None:
    memory = MemoryStore()
    for one in (store, memory):
        await a_fortnight(one)
        await looks(one)
    ours, plain = (
        await store.spendings.since(at_ms(since_days)),
        await memory.since(at_ms(since_days)),
    )
    assert ours.days == plain.days
    undated = [
        [(replace(one.session, updated_ms=0), one.usage) for one in spending.dearest]
        for spending in (ours, plain)
    ]
    assert undated[0] == undated[1]
