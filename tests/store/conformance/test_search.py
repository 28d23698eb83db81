"""Full-text search: what is found, and how queries are read."""

import pytest

from agent.errors import UsageError
from agent.protocol import AgentMessage, UserMessage
from agent.records import SearchHit
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES
from tests.store.conftest import session_draft


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def said(session_id: str, text: str) -> EventDraft:
    return EventDraft(session_id, AgentMessage(step=1, text=text))


async def test_words_are_found_in_any_case_and_without_accents_newest_first(store: Store) -> None:
    await store.append(session_draft("s1", goal="Order a Café crème"))
    await store.append(said("s1", "The CAFE is closed today"))
    hits = await store.search("cafe")
    assert [hit.seq for hit in hits] == [2, 1]
    assert hits[0] == SearchHit(
        session_id="s1",
        seq=2,
        ts_ms=hits[0].ts_ms,
        kind="agent_message",
        snippet="The CAFE is closed today",
        matches=((4, 8),),
    )


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("blue tooth", [1, 0]),
        ('"blue tooth"', [1]),
        ("blu*", [2, 1, 0]),
        ("blue -tooth", []),
        ("bluetooth -on", [2]),
        ("tooth blue -fairy", [1]),
        ("支付", [3]),
        ("付", [3]),
        ("nothing", []),
    ],
)
async def test_a_query_is_words_phrases_beginnings_and_exclusions(
    store: Store, query: str, numbers: list[int]
) -> None:
    texts = ("tooth fairy, blue", "a blue tooth", "bluetooth is off", "点击支付按钮")
    await store.append(session_draft("s1"), *(said("s1", text) for text in texts))
    assert [hit.seq - 2 for hit in await store.search(query)] == numbers


@pytest.mark.parametrize("query", ["", "  ", '"', "-word", "***", '""', "( AND )" * 200, "()^:"])
async def test_a_query_without_a_word_says_how_to_write_one(store: Store, query: str) -> None:
    with pytest.raises(UsageError):
        await store.search(query)


async def test_what_was_deleted_is_not_found(store: Store) -> None:
    await store.append(
        session_draft("s1"), EventDraft("s1", UserMessage(text="secret", message_id="m"))
    )
    await store.append(session_draft("s2", goal="secret too"))
    assert len(await store.search("secret")) == 2
    await store.delete_sessions("s1")
    assert [hit.session_id for hit in await store.search("secret")] == ["s2"]
