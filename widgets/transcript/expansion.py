"""How much of each item of a transcript is open: its summary, all that was told, its stored record.

State without drawing. Invariants: only a step has a record; a record belongs to the item it was
read for, so one whose step went on is known to be old.
"""

from collections import OrderedDict
from enum import IntEnum

from agent.state.reducer import Item, StepItem
from widgets.transcript.transcript_lines import Paragraph

_KEPT = 20  # Records at hand; older ones are read again when they are looked at.
READING = Paragraph((("       ", ""),), (("reading its record …", "$faint"),))
_Key = tuple[str, str]


class Depth(IntEnum):
    """How much of an item is shown."""

    BRIEF = 0
    WHOLE = 1
    RECORD = 2


class Expansion:
    """The open items of all sessions that one view has shown."""

    def __init__(self) -> None:
        self._depths: dict[_Key, Depth] = {}
        self._asked: dict[_Key, Item] = {}
        self._records: OrderedDict[_Key, tuple[Item, tuple[Paragraph, ...]]] = OrderedDict()

    def depth(self, session_id: str, item: Item) -> Depth:
        """Return how far an item is open."""
        return self._depths.get((session_id, item.key), Depth.BRIEF)

    def deepen(self, session_id: str, item: Item) -> Depth:
        """Open an item one layer further; from the last layer it closes."""
        deepest = Depth.RECORD if isinstance(item, StepItem) else Depth.WHOLE
        now = self.depth(session_id, item)
        then = Depth.BRIEF if now >= deepest else Depth(now + 1)
        self._depths[session_id, item.key] = then
        self._asked.pop((session_id, item.key), None)
        return then

    def asks_for_record(self, session_id: str, item: Item) -> bool:
        """Report, once, an item open to its record whose record was not read since it changed."""
        key = (session_id, item.key)
        if self.depth(session_id, item) is not Depth.RECORD or self._asked.get(key) is item:
            return False
        self._asked[key] = item
        known = self._records.get(key)
        return known is None or known[0] is not item

    def keep_record(self, session_id: str, item: Item, record: tuple[Paragraph, ...]) -> None:
        self._records[session_id, item.key] = (item, record)
        self._records.move_to_end((session_id, item.key))
        while len(self._records) > _KEPT:
            self._records.popitem(last=False)

    def record(self, session_id: str, item: Item) -> tuple[Paragraph, ...]:
        """Return what is shown of an item's record: what was read last, until it is read anew."""
        if self.depth(session_id, item) is not Depth.RECORD:
            return ()
        known = self._records.get((session_id, item.key))
        return known[1] if known is not None else (READING,)
