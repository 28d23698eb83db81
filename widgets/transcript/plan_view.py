"""The plan of a session as a checklist, or the parts of one that delegates.

Draws what it is given. Invariants: it takes no more lines than it may have, and the item that is
worked on is among them; an item that is too long ends in an ellipsis, under its own beginning.
"""

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content
from textual.events import Resize

from agent.records import PlanItem, PlanStatus
from agent.text import one_line
from widgets.base import status
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts

_STYLES = {
    PlanStatus.COMPLETED: "$muted",
    PlanStatus.IN_PROGRESS: "bold $foreground",
    PlanStatus.PENDING: "$foreground",
}
_MOST_CHARS = 400


class _Item(NamedTuple):
    """One item: what stands before it, its text, what stands behind it, the lines it may have."""

    head: Parts
    text: tuple[str, str]
    tail: Parts = ()
    most_lines: int = 1


class PlanView(PartsLine):
    """The plan as a checklist; away while there is none."""

    DEFAULT_CSS = """
    PlanView { height: auto; max-height: 9; display: none; }
    PlanView.-shown { display: block; }
    """
    ROWS = 7

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[_Item, ...] = ()
        self._more = ""
        self._laid: tuple[tuple[_Item, ...], str, int] = ((), "", 0)

    def show_parts_of(self, parts: Sequence[tuple[status.Mark, str]]) -> None:
        """Show the parts of a session that delegates."""
        items = tuple(
            _Item(
                (
                    (f" {'subtasks' if at == 0 else '':<9}", "$faint"),
                    (f"{mark.glyph} ", mark.style),
                ),
                (one_line(title, _MOST_CHARS), "$foreground"),
                ((f"  {mark.word}", mark.style),),
            )
            for at, (mark, title) in enumerate(parts[: self.ROWS])
        )
        self._show_items(items, len(parts) - len(items))

    def show_plan(self, plan: Sequence[PlanItem]) -> None:
        """Show a plan; a long one is cut to what is around the present item."""
        done = sum(item.status is PlanStatus.COMPLETED for item in plan)
        current = next((i for i, p in enumerate(plan) if p.status is not PlanStatus.COMPLETED), 0)
        first = max(0, min(current - 2, len(plan) - self.ROWS))
        items = []
        for at, item in enumerate(plan[first : first + self.ROWS]):
            mark = status.PLAN[item.status]
            lead = "plan " if at == 0 else f"{done}/{len(plan)}  " if at == 1 else "     "
            items.append(
                _Item(
                    ((f" {lead[:5]:<5}", "$faint"), (f"{mark.glyph} ", mark.style)),
                    (one_line(item.step, _MOST_CHARS), _STYLES[item.status]),
                    most_lines=2 if first + at == current else 1,
                )
            )
        self._show_items(tuple(items), len(plan) - first - len(items))

    def _show_items(self, items: tuple[_Item, ...], left: int) -> None:
        self.set_class(bool(items), "-shown")
        self._items, self._more = items, f"       … {left} more" if left > 0 else ""
        self._lay_out()

    def on_resize(self, _event: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        # Before the first layout there is no width: what is drawn then is drawn again.
        width = self.size.width or self.screen.size.width
        wanted = (self._items, self._more, width)
        if wanted == self._laid:
            return
        self._laid = wanted
        lines = [line for item in self._items for line in _lines(item, width)]
        if self._more:
            lines.append(to_content(((self._more, "$faint"),)))
        self.update(Content("\n").join(lines))


def _lines(item: _Item, width: int) -> list[Content]:
    """Lay an item out: its text under its own beginning, what stands behind it always whole."""
    head, tail = to_content(item.head), to_content(item.tail)
    room = max(1, width - head.cell_length - tail.cell_length)
    text = to_content((item.text,))
    if text.cell_length <= room:
        return [Content.assemble(head, text, tail)]
    if item.most_lines == 1:
        return [Content.assemble(head, text.truncate(room, ellipsis=True), tail)]
    wrapped = text.wrap(room)
    kept = wrapped[: item.most_lines]
    if len(wrapped) > len(kept):
        kept[-1] = Content.assemble(kept[-1], " …").truncate(room, ellipsis=True)
    lead = " " * head.cell_length
    return [
        Content.assemble(lead if at else head, line, tail if at == len(kept) - 1 else "")
        for at, line in enumerate(kept)
    ]
