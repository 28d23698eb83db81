"""Find what came into a list of one page, or went from it, and not by scrolling. Pure.

Rows that both screens show say how the list has moved; a row counts only where, moved as its
neighbour was, it would have been in sight. Invariants: what a filter, another tab or a switch shows
and hides is no item; where scrolling may explain it, nothing is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.loop.effects.pages import groups_of, in_band, is_pressed
from agent.loop.effects.screen_change import ScreenChange
from agent.loop.effects.standing_text import shows
from agent.loop.effects.states import TEXT_CHARS, is_counted
from agent.loop.screen.matching import Pair
from agent.records import Element, SeenEffectKind
from agent.text import one_line

_MOST_ADDED = 3
_NEAR = 0.01
_PART = 0.5  # A row cut off by more than this at an edge may have been there unseen.


@dataclass(frozen=True, slots=True)
class ListMemory:
    """What is known of a page's lists, beside its two screens."""

    known: frozenset[str] = frozenset()
    """The labels of all rows that were ever seen on the page."""
    typed: tuple[str, ...] = ()
    """What was typed since the earlier screen."""
    pressed: tuple[Element, ...] = ()
    scrolled: bool = False
    """Whether its content may have been moved since the earlier screen."""
    toggled: bool = False
    """Whether a switch of the page was pressed: what then comes and goes depends on it."""
    resized: bool = False
    """Whether the keyboard came or went."""


def changed_items(
    before: Sequence[Element], after: Sequence[Element], matched: Sequence[Pair], memory: ListMemory
) -> list[ScreenChange]:
    """Return the rows that came and went."""
    known = {id(pair.was) for pair in matched} | {id(pair.now) for pair in matched}
    was_groups, now_groups = groups_of(before), groups_of(after)
    was_lists, now_lists = ({e.number: e for e in page if e.scrollable} for page in (before, after))
    alone = not any([is_pressed(row) for rows in was_groups.values() for row in rows])
    empty = not any([is_pressed(row) for rows in now_groups.values() for row in rows])
    found: list[ScreenChange] = []
    for group in dict.fromkeys((*was_groups, *now_groups)):
        was, now = was_groups.get(group, []), now_groups.get(group, [])
        gone = _not_moved([row for row in was if id(row) not in known], now)
        came = _not_moved([row for row in now if id(row) not in known], was)
        if not (gone or came):
            continue
        own = set(map(id, was))
        stayed = [pair for pair in matched if id(pair.was) in own]
        area = _area(was, was_lists) or _area(now, now_lists) or (0.0, 1.0)
        # At its end a list fills a freed place with what is above, which was seen before.
        refilled = memory.known.issuperset([row.label for row in came])
        added = [
            row
            for row in came
            if _is_added(row, stayed, gone, area, memory, alone=alone and len(now) == 1)
        ]
        removed = [
            row
            for row in gone
            if _is_removed(
                row, stayed, area, memory, emptied=not now, alone=empty, refilled=refilled
            )
        ]
        told = [row for row in added if _has_typed(row, memory)]
        if len(added) > _MOST_ADDED:
            added = told
        found += [_item(SeenEffectKind.ITEM_ADDED, row) for row in added]
        found += [_item(SeenEffectKind.ITEM_REMOVED, row) for row in removed]
    return found


def _not_moved(rows: Sequence[Element], others: Sequence[Element]) -> list[Element]:
    """Leave out as many rows as another screen has with the same label, and those that got a
    count.
    """
    if not (rows and others):
        return list(rows)
    left = []
    labels, own = [row.label for row in others], [row.label for row in rows]
    for row in rows:
        if labels.count(row.label) >= own.count(row.label):
            continue
        for other in others:
            if is_counted(row, other):
                break
        else:
            left.append(row)
    return left


def _is_added(
    row: Element,
    stayed: Sequence[tuple[Element, Element]],
    gone: Sequence[Element],
    area: tuple[float, float],
    memory: ListMemory,
    *,
    alone: bool,
) -> bool:
    if _has_typed(row, memory):
        return True
    if row.label in memory.known or memory.toggled or not is_pressed(row):
        return False
    if not stayed:
        return alone and not memory.scrolled
    if _follows_pressed(row, stayed, memory):
        # A row that was opened shows what lies in it.
        return False
    above, below = _neighbours(row, [now for _, now in stayed])
    if above is None and memory.scrolled:
        return False
    if below is None and memory.resized:
        return False
    if above is None:
        return True
    was = next(was for was, now in stayed if now is above)
    moved = above.bounds.bottom - was.bounds.bottom
    top = row.bounds.top - moved
    height = row.bounds.bottom - row.bounds.top
    if below is not None:
        return True
    if any(abs(one.bounds.top - top) < height * _PART for one in gone):
        # It came up from below the edge into the place of the one that went.
        return False
    return area[0] - _NEAR <= top and top + height * _PART <= area[1]


def _is_removed(
    row: Element,
    stayed: Sequence[tuple[Element, Element]],
    area: tuple[float, float],
    memory: ListMemory,
    *,
    emptied: bool,
    alone: bool,
    refilled: bool,
) -> bool:
    own = bool([one for one in memory.pressed if _is_of(row, one)])
    if memory.toggled and not any(row.key == one.key for one in memory.pressed):
        return False
    if not is_pressed(row) and not own:
        return False
    if not stayed:
        # All others may have come in its place, which is another page of the list.
        return emptied and (alone or own) and not memory.scrolled
    above, below = _neighbours(row, [was for was, _ in stayed])
    if above is not None and below is not None:
        return True
    if memory.scrolled or (below is None and memory.resized):
        return False
    if own and refilled:
        return True
    if above is None:
        assert below is not None, "some rows stayed"
        # The first one went if the next one has come up into its place.
        now = next(now for was, now in stayed if was is below)
        return abs(now.bounds.top - row.bounds.top) < _NEAR or own
    now = next(now for was, now in stayed if was is above)
    top = row.bounds.top + now.bounds.bottom - above.bounds.bottom
    height = row.bounds.bottom - row.bounds.top
    return top + height * _PART <= area[1]


def _neighbours(row: Element, others: Sequence[Element]) -> tuple[Element | None, Element | None]:
    """Return the nearest rows above and below; in a grid, before and after it in its line."""
    at = (round(row.bounds.top, 2), row.bounds.left)
    before = [e for e in others if (round(e.bounds.top, 2), e.bounds.left) < at]
    after = [e for e in others if (round(e.bounds.top, 2), e.bounds.left) > at]
    return (before[-1] if before else None), (after[0] if after else None)


def _follows_pressed(
    row: Element, stayed: Sequence[tuple[Element, Element]], memory: ListMemory
) -> bool:
    keys = {one.key for one in memory.pressed}
    opened = [now for was, now in stayed if was.key in keys]
    return any([one.bounds.top <= row.bounds.top for one in opened])


def _is_of(row: Element, pressed: Element) -> bool:
    """Return whether what was pressed is a row, or a button in it."""
    if row.key == pressed.key or row.label == pressed.label:
        return True
    return pressed.parent == row.number or (
        in_band(pressed, row)
        and row.bounds.left <= pressed.bounds.center_x
        and pressed.bounds.bottom - pressed.bounds.top
        <= (row.bounds.bottom - row.bounds.top) + _NEAR
    )


def _has_typed(row: Element, memory: ListMemory) -> bool:
    return any([shows(text, row) for text in memory.typed])


def _area(rows: Sequence[Element], lists: Mapping[int, Element]) -> tuple[float, float] | None:
    """Return the top and the bottom of what rows are seen through; None: they do not scroll."""
    for row in rows:
        holder = lists.get(row.parent)
        if holder is not None:
            return holder.bounds.top, holder.bounds.bottom
    return None


def _item(kind: SeenEffectKind, row: Element) -> ScreenChange:
    return ScreenChange(
        kind=kind,
        object=one_line(row.label, TEXT_CHARS),
        element=row,
        was_there=kind is SeenEffectKind.ITEM_REMOVED,
    )
