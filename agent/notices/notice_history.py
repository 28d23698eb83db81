"""Which notices are still shown, here and at other hosts, by folding facts; pure but for reading.

Not what is shown now (`agent.notices.shade`). Invariant: a notice is taken over with its own token,
so that Done, Send and a reply to it still count, and it is not posted a second time.
"""

from collections.abc import Iterable

from agent.protocol import Event, NoticePosted, NoticeWithdrawn
from agent.records import Notice
from agent.store.store import Store

NEWEST_FACTS = 5_000
"""This many events about notices are read, whatever came between; an older notice is taken
as read.
"""
_TYPES = tuple(str(kind.__struct_config__.tag) for kind in (NoticePosted, NoticeWithdrawn))


async def shown_before(store: Store) -> dict[str, Notice]:
    """Read which notices nobody took away, by session, oldest first. Raises StoreError."""
    newest = await store.facts(_TYPES, limit=NEWEST_FACTS)
    shown: dict[str, Notice] = {}
    follow(shown, newest)
    return shown


def follow(shown: dict[str, Notice], events: Iterable[Event]) -> None:
    """Fold facts into the notices that are shown, by session."""
    for event in events:
        match event.msg:
            case NoticePosted(notice=notice):
                # The newest is the last.
                shown.pop(notice.session_id, None)
                shown[notice.session_id] = notice
            case NoticeWithdrawn(notice_of=session_id, token=token):
                before = shown.get(session_id)
                if before is not None and before.token == token:
                    del shown[session_id]
            case _:
                pass
