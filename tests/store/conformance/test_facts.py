"""Facts of no session are found by their kind, however many other events came since."""

from agent.notices.notice_history import shown_before
from agent.protocol import DeviceChanged, NoticePosted, NoticeWithdrawn, WithdrawReason
from agent.records import DeviceInfo, DeviceState, Notice, NoticeKind
from agent.store.store import EventDraft, Store
from tests.store.conftest import session_draft, step_draft

_OTHERS = 6_000


def posted(session_id: str, token: str) -> EventDraft:
    notice = Notice(
        session_id=session_id,
        kind=NoticeKind.WAITING,
        token=token,
        title="Asks",
        text="May I?",
        posted_ms=1,
    )
    return EventDraft("", NoticePosted(notice=notice))


async def test_a_notice_is_shown_however_many_events_came_since(store: Store) -> None:
    await store.append(session_draft("s"), posted("a", "t1"), posted("b", "t2"))
    withdrawn = NoticeWithdrawn(notice_of="a", token="t1", reason=WithdrawReason.REMOVED)
    device = DeviceInfo(serial="phone", state=DeviceState.ONLINE)
    others = (EventDraft("", DeviceChanged(device=device)) for _ in range(9))
    await store.append(*others, EventDraft("", withdrawn))
    await store.append(*(step_draft("s", number) for number in range(_OTHERS)))
    assert list(await shown_before(store)) == ["b"]
    types = ("notice_posted", "notice_withdrawn")
    assert [type(one.msg) for one in await store.facts(types, limit=2)] == [
        NoticePosted,
        NoticeWithdrawn,
    ]
