"""Full-text search over a real store: what is found, how queries are read, and what crashes do."""

import sqlite3
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.protocol import AgentMessage, Event, EventMsg, ToolCallRequested
from agent.store.database.identity import SEARCH_NAME
from agent.store.embedded.search_index import Log, SearchIndex
from agent.store.embedded.search_query import compiled
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from agent.store.queries.search_words import WORDED, snippet_of, text_of
from tests.runtime.test_protocol import values_of
from tests.store.conftest import session_draft, step_draft


def said(session_id: str, text: str) -> EventDraft:
    return EventDraft(session_id, AgentMessage(step=1, text=text))


async def found(store: SqliteStore, query: str) -> list[str]:
    return [hit.snippet for hit in await store.search(query)]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_whatever_is_typed_becomes_an_expression_of_quoted_words(query: str) -> None:

    try:
        expression = compiled(query)
    except UsageError:
        return
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        database.execute(
            "SELECT * FROM words WHERE words MATCH ?", (expression.encode(errors="replace"),)
        )
    database.close()


def test_a_snippet_is_one_line_with_its_matches_apart() -> None:
    assert snippet_of("a\n\ue000b c\ue001  d") == ("a b c d", ((2, 5),))


async def test_the_index_follows_the_log_by_its_own_mark_across_starts(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"), said("s1", "first"))
        assert await found(store, "first")
    # As after a crash between the commit of an event and its indexing.
    async with SqliteStore.open(tmp_path) as store:
        assert store.searching.index is not None
        store.searching.index.stop()
        await store.append(said("s1", "second"))
    async with SqliteStore.open(tmp_path) as store:
        assert await found(store, "second")


class BusyLog:
    """A log to which something is added whenever it is read, up to an end."""

    def __init__(self) -> None:
        self.last = 1
        self.readings: list[int] = []

    async def last_event_id(self) -> int:
        return self.last

    async def new_events(self, *, after: int, upto: int) -> tuple[Event, ...]:
        self.readings.append(upto)
        self.last = min(self.last + 1, 50)
        return ()


async def test_what_is_stored_while_the_index_reads_gathers_until_it_is_looked_for(
    tmp_path: Path,
) -> None:
    log = BusyLog()
    index = await SearchIndex.open(tmp_path / SEARCH_NAME, log)
    try:
        await index._follow()
        assert log.readings == [1]
        index._wanted.set()
        await index._follow()
        assert log.readings == list(range(1, 51))
    finally:
        await index.close()


async def test_a_backlog_is_taken_in_whole_where_words_are_dense_and_where_they_are_rare(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        assert store.searching.index is not None
        store.searching.index.stop()
        await store.append(*(said("s1", f"dense word{n}") for n in range(1200)))
        await store.append(*(step_draft("s1", n) for n in range(9000)), said("s1", "rare"))
        stored = await store.last_event_id()
    async with SqliteStore.open(tmp_path) as store:
        assert store.searching.index is not None
        log = Counting(store.searching.index._log)
        index = await SearchIndex.open(tmp_path / "other.db", log)
        try:
            index._wanted.set()
            await index._follow()
            assert index.indexed_id == stored
            assert len(await index.find("dense", 5000)) == 500
            for query in ("word0", "word499", "word500", "word999", "word1000", "word1199", "rare"):
                assert len(await index.find(query, 10)) == 1, query
        finally:
            await index.close()
    assert len(log.readings) < 10


class Counting:
    def __init__(self, log: Log) -> None:
        self._log = log
        self.readings: list[int] = []

    async def last_event_id(self) -> int:
        return await self._log.last_event_id()

    async def new_events(self, *, after: int, upto: int) -> tuple[Event, ...]:
        self.readings.append(upto)
        return await self._log.new_events(after=after, upto=upto)


async def test_a_damaged_or_deleted_index_is_built_anew(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"), said("s1", "needle"))
        assert await found(store, "needle")
    (tmp_path / SEARCH_NAME).write_bytes(b"no database" * 1000)
    async with SqliteStore.open(tmp_path) as store:
        assert await found(store, "needle")
    (tmp_path / SEARCH_NAME).unlink()
    async with SqliteStore.open(tmp_path) as store:
        assert await found(store, "needle")


async def test_an_index_that_is_ahead_of_its_store_is_another_stores(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path / "old") as store:
        await store.append(session_draft("s1"), *(said("s1", f"old {n}") for n in range(9)))
        assert await found(store, "old")
    async with SqliteStore.open(tmp_path / "new") as store:
        await store.append(session_draft("s2"), said("s2", "new"))
        assert store.searching.index is not None
        index = await SearchIndex.open(tmp_path / "old" / SEARCH_NAME, store.searching.index._log)
        assert index.indexed_id == 0
        await index.close()


@pytest.mark.parametrize("kind", get_args(EventMsg), ids=lambda kind: kind.__name__)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_what_has_words_is_read_by_the_index(kind: type[EventMsg], data: st.DataObject) -> None:
    if text_of(data.draw(values_of(kind))):
        assert kind.__struct_config__.tag in WORDED


def test_a_call_is_found_by_what_it_says_and_not_by_its_json() -> None:
    def words(arguments: str) -> str:
        return text_of(
            ToolCallRequested(call_id="c", step=1, tool="type_text", arguments=arguments)
        )

    told = words('{"text": "milk {and} eggs", "items": [{"n": 3}, "two"], "sure": true}')
    assert told == "type text\nmilk {and} eggs 3 two"
    assert words('{"text": "cut') == 'type text\n{"text": "cut'
    assert words("[" * 100_000).startswith("type text\n[")
