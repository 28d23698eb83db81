"""Read a part of what is stored: windows of a long session, pages of a list, whole trees."""

import pytest

from agent.protocol import SessionStateChanged
from agent.records import SessionState
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES
from tests.store.conftest import session_draft, step_draft


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("after", "before", "limit", "expected"),
    [
        (0, 0, 3, [1, 2, 3]),
        (1197, 0, 10, [1198, 1199, 1200, 1201]),
        (0, 5, 2, [3, 4]),
        (0, 5, 10, [1, 2, 3, 4]),
        (3, 5, 10, [4]),
        (0, 9999, 2, [1200, 1201]),
        (0, 1, 10, []),
        (0, 1100, 700, list(range(400, 1100))),
    ],
)
async def test_a_window_of_a_long_session_is_read_from_either_side(
    store: Store, after: int, before: int, limit: int, expected: list[int]
) -> None:
    await store.append(session_draft("s1"), *(step_draft("s1", n) for n in range(1, 1201)))
    events = await store.session_events("s1", after_seq=after, before_seq=before, limit=limit)
    assert [event.seq for event in events] == expected


async def test_pages_of_sessions_follow_each_other_without_gap_or_repetition(store: Store) -> None:
    await store.append(*(session_draft(f"s{number:02}") for number in range(25)))
    listed: list[str] = []
    while page := await store.sessions(limit=10, before=listed[-1] if listed else ""):
        listed += [one.session_id for one in page]
    assert listed == [f"s{number:02}" for number in reversed(range(25))]


async def test_a_tree_is_never_cut_and_what_is_at_work_is_always_listed(store: Store) -> None:
    for number in range(12):
        await store.append(session_draft(f"p{number}"))
        for child in "abc":
            await store.append(session_draft(f"p{number}{child}", parent_id=f"p{number}"))
    names = [f"p{number}{child}" for number in range(12) for child in ("", "a", "b", "c")]
    settled = [name for name in names if name != "p1b"]
    await store.append(
        *(EventDraft(n, SessionStateChanged(state=SessionState.COMPLETED)) for n in settled)
    )
    listed = {one.session_id for one in await store.trees(limit=3)}
    trees = ("p11", "p10", "p9", "p1")
    assert listed == {f"{root}{child}" for root in trees for child in ("", "a", "b", "c")}
