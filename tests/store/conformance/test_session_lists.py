"""Sessions are listed by their facts: by the store, in pages, and the same as record by record."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from msgspec.structs import replace

from agent import protocol
from agent.protocol.session_filter import STATES, SessionFilter, facts_of
from agent.records import GoalVerdict, Session, SessionState, VerifiedBy
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import Opener
from tests.store.conftest import session_draft

TAGS = ("wall", "WALL-2", "Büro", "ÄRGER")
PLACES = ("rack-3/emulator-5554", "rack-30/Pixel", "127.0.0.1:5555", "Straße", "")
SESSIONS = some.builds(
    Session,
    session_id=some.just(""),
    goal=some.just("g"),
    created_ms=some.integers(1, 9),
    state=some.sampled_from(SessionState),
    serial=some.sampled_from(PLACES),
    host=some.sampled_from(("", "rack-3", "Rack-4")),
    model=some.sampled_from(("", "openai/GPT-5", "claude\0")),
    kept=some.booleans(),
    tags=some.lists(some.sampled_from(TAGS), unique=True).map(tuple),
    verdict=some.sampled_from(GoalVerdict),
    verified_by=some.sampled_from(VerifiedBy),
)
FILTERS = some.builds(
    SessionFilter,
    states=some.lists(some.sampled_from(STATES), max_size=2).map(tuple),
    tags=some.lists(some.sampled_from(("wall", "#büro", "ärger", "w")), max_size=1).map(tuple),
    phones=some.lists(
        some.sampled_from(("rack-3/", "RACK", "pixel", "strasse", "5555", "/", "")), max_size=2
    ).map(tuple),
    model=some.sampled_from(("", "gpt", "claude\0", "x")),
    since_ms=some.integers(0, 9),
    until_ms=some.integers(0, 9),
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(some.lists(SESSIONS, max_size=12), some.lists(FILTERS, min_size=1, max_size=6))
async def test_a_filter_finds_in_pages_what_it_finds_record_by_record(
    fresh: Callable[[], Opener], found: list[Session], filters: list[SessionFilter]
) -> None:
    stored = [replace(one, session_id=f"s{number}") for number, one in enumerate(found)]
    async with fresh()() as store:
        for one in stored:
            msg = protocol.SessionConfigured(session=one)
            await store.append(EventDraft(one.session_id, msg))
        everything = await store.sessions()
        for wanted in filters:
            held = [one.session_id for one in everything if wanted.holds(one)]
            assert await _paged(store, wanted) == held


async def test_a_session_is_found_by_what_it_has_become(store: Store) -> None:
    await store.append(session_draft("s1"), session_draft("s2"))

    async def found(**wanted: Any) -> list[str]:
        return [one.session_id for one in await store.sessions(wanted=SessionFilter(**wanted))]

    assert await found(states=("open",)) == ["s2", "s1"]
    failed = protocol.SessionStateChanged(state=SessionState.FAILED)
    assigned = protocol.SessionAssigned(serial="rack-3/a")
    await store.append(
        *(EventDraft("s1", one) for one in (assigned, failed)),
        EventDraft("s1", protocol.SessionTagged(tags=("x",))),
        EventDraft("s1", protocol.SessionKept(kept=True)),
    )
    for wanted in (
        {"states": ("failed",)},
        {"states": ("kept", "failed"), "tags": ("x",)},
        {"phones": ("rack-3/",)},
    ):
        assert await found(**wanted) == ["s1"]
    assert await found(states=("open",)) == ["s2"]
    assert facts_of(await store.session("s1")).labels == "\nfailed\nkept\n#x\n"


async def _paged(store: Store, wanted: SessionFilter) -> list[str]:
    found: list[str] = []
    while page := await store.sessions(limit=2, before=found[-1] if found else "", wanted=wanted):
        found += [one.session_id for one in page]
    return found


async def test_words_are_searched_in_the_sessions_that_a_filter_finds(store: Store) -> None:
    for number in range(4):
        session_id = f"s{number}"
        said = protocol.AgentMessage(step=1, text="a needle")
        state = SessionState.FAILED if number % 2 else SessionState.COMPLETED
        ended = protocol.SessionStateChanged(state=state)
        drafts = (EventDraft(session_id, msg) for msg in (said, ended))
        await store.append(session_draft(session_id), *drafts)
    failed = SessionFilter(states=("failed",))
    hits = await store.search("needle", wanted=failed, limit=1)
    assert [hit.session_id for hit in hits] == ["s3"]
    hits = await store.search("needle", wanted=failed)
    assert [hit.session_id for hit in hits] == ["s3", "s1"]
    assert await store.search("needle", wanted=SessionFilter(tags=("x",))) == ()
