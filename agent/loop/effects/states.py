"""Find what changed its state on one page: switches, rows, stars, counters. Pure.

Invariant: what runs by itself, such as a clock or a battery's charge, is no effect: where digits
alone differ, the thing has to be what was pressed or stand beside it.
"""

from collections import Counter
from collections.abc import Sequence

from agent.loop.effects.pages import (
    groups_of,
    in_band,
    is_pressed,
    is_row,
    only_digits_differ,
    row_name,
    row_state,
)
from agent.loop.effects.screen_change import OFF, ON, ScreenChange
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.matching import Pair, pairs
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, SeenEffectKind
from agent.text import one_line

TEXT_CHARS = 200
_SAME_PLACE = 0.02
_MOST_NEW = 3
"""A press after which more than this is new has opened something rather than changed its label."""
_ROW_HEIGHT = 0.2
_TIPS_AWAY = 0.12  # A stepper's number stands within this of its buttons.


def matched_elements(before: Sequence[Element], after: Sequence[Element]) -> list[Pair]:
    """Return what both screens of one page show, also rows that say something else now."""
    found = list(pairs(before, after))
    was_known = {id(pair.was) for pair in found}
    now_known = {id(pair.now) for pair in found}
    groups = groups_of(after)
    for group, rows in groups_of(before).items():
        left = [row for row in rows if id(row) not in was_known]
        came = [row for row in groups.get(group, ()) if id(row) not in now_known]
        if not (left and came):
            continue
        old, new = _by_name(left), _by_name(came)
        found += [Pair(row, new[name]) for name, row in old.items() if name in new]
    return found


def _by_name(rows: Sequence[Element]) -> dict[str, Element]:
    """Return rows by their names, those left out that share theirs."""
    names = [row_name(row) for row in rows]
    if len(names) == 1:
        return {names[0]: rows[0]}
    count = Counter(names)
    return {name: row for name, row in zip(names, rows, strict=True) if count[name] == 1}


def changed_states(
    before: Sequence[Element],
    after: Sequence[Element],
    matched: Sequence[Pair],
    pressed: Sequence[Element],
    *,
    title: str,
) -> list[ScreenChange]:
    """Return the changed states of a page.

    Args:
        pressed: what was pressed since `before` was seen.
        title: what the page is called, for what has no name of its own.
    """
    found = []
    for was, now in matched:
        if was.editable or now.editable or now.kind == STATUS_BAR:
            continue
        change = _change(was, now)
        if change is None:
            continue
        if only_digits_differ(*change) and not _is_involved(was, pressed):
            continue
        found.append(_state(now, _name(now, after, title), *change))
    return found + _other_label(before, after, matched, pressed, title)


def selected_by_press(
    before: Sequence[Element], after: Sequence[Element], pressed: Element | None
) -> list[ScreenChange]:
    """Return that an icon is chosen now, or no more, which was pressed: a heart, a pin.

    Where another one changed too, something else was chosen instead, which is navigation.
    """
    turned = [pair for pair in pairs(before, after) if pair.was.selected != pair.now.selected]
    if pressed is None or len(turned) != 1:
        return []
    [(was, now)] = turned
    if was.key != pressed.key or now.kind != "icon-btn" or now.checkable:
        return []
    return [_state(now, now.label, ON if was.selected else OFF, ON if now.selected else OFF)]


def _change(was: Element, now: Element) -> tuple[str, str] | None:
    """Return the state before and after; None where it is the same."""
    if was.checkable and now.checkable:
        if was.checked != now.checked:
            return (ON if was.checked else OFF), (ON if now.checked else OFF)
        # What a switch says beside its name follows from it.
        return None
    if was.value != now.value and now.kind == "slider":
        return was.value, now.value
    if was.label != now.label and is_row(now) and row_name(was) == row_name(now):
        return row_state(was), row_state(now)
    return None


def _other_label(
    before: Sequence[Element],
    after: Sequence[Element],
    matched: Sequence[Pair],
    pressed: Sequence[Element],
    title: str,
) -> list[ScreenChange]:
    """Return what says something else in its place: a star, a button, the number of a stepper."""
    if 2 * len(matched) < len(before):
        return []
    known = {id(pair.was) for pair in matched} | {id(pair.now) for pair in matched}
    old = [e for e in before if id(e) not in known and _may_change_label(e)]
    new = [e for e in after if id(e) not in known and _may_change_label(e)]
    if len(new) > len(old) + _MOST_NEW:
        return []
    found = []
    for was in old:
        now = next((one for one in new if is_in_its_place(was, one)), None)
        if now is None or was.label == now.label:
            continue
        if is_counted(was, now):
            found.append(_state(now, was.label, was.label, now.label))
            continue
        own = any(was.key == element.key for element in pressed)
        name = _name_beside(now, after, title)
        # Another row that came up into the place has icons of its own.
        if (own or _stands_at(was, pressed)) and name == _name_beside(was, before, title):
            found.append(_state(now, name, was.label, now.label))
    return found


def is_counted(was: Element, now: Element) -> bool:
    """Return whether a label got or lost a count: Cart, Cart (1)."""
    had, has = any(map(str.isdigit, was.label)), any(map(str.isdigit, now.label))
    if had == has or not is_in_its_place(was, now):
        return False
    return _letters(was.label) == _letters(now.label) != ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _may_change_label(element: Element) -> bool:
    return not (element.editable or element.scrollable or element.kind == STATUS_BAR) and (
        element.label != UNLABELED
    )


def is_in_its_place(was: Element, now: Element) -> bool:
    same = (was.resource_id, was.class_name) == (now.resource_id, now.class_name)
    return (
        same
        and abs(was.bounds.center_x - now.bounds.center_x) < _SAME_PLACE
        and abs(was.bounds.center_y - now.bounds.center_y) < _SAME_PLACE
    )


def _is_involved(element: Element, pressed: Sequence[Element]) -> bool:
    return any(
        element.key == one.key or row_name(element) == row_name(one) or _stands_at(element, [one])
        for one in pressed
    )


def _stands_at(element: Element, pressed: Sequence[Element]) -> bool:
    """Return whether an element stands in what was pressed, in its row, or right beside it."""
    return any(
        _lies_in(element, one)
        or (one.parent and one.parent == element.parent and in_band(one, element))
        or (
            in_band(one, element)
            and abs(one.bounds.center_x - element.bounds.center_x) < 2 * _TIPS_AWAY
        )
        for one in pressed
    )


def _lies_in(element: Element, row: Element) -> bool:
    box = row.bounds
    inside = box.top <= element.bounds.center_y <= box.bottom and _lies_over(element, row)
    return inside and box.bottom - box.top <= _ROW_HEIGHT


def _name(element: Element, screen: Sequence[Element], title: str) -> str:
    if element.label == UNLABELED:
        return _name_beside(element, screen, title)
    return row_name(element)


def _name_beside(element: Element, screen: Sequence[Element], title: str) -> str:
    """Return the name of the row that an icon or a number is part of; else of the page."""
    row = next((e for e in screen if e.number == element.parent and is_row(e)), None)
    if row is not None:
        return row_name(row)
    beside = [e for e in screen if e is not element and is_row(e) and in_band(element, e)]
    named = [e for e in beside if any(map(str.isalpha, row_name(e)))]
    # The row that the icon lies over, else the text to its left.
    nearest = min(
        (e for e in named if not is_pressed(e) or _lies_over(element, e)),
        key=lambda e: abs(e.bounds.center_x - element.bounds.center_x),
        default=None,
    )
    return row_name(nearest) if nearest is not None else title


def _lies_over(element: Element, row: Element) -> bool:
    return row.bounds.left <= element.bounds.center_x <= row.bounds.right


def _state(element: Element, name: str, before: str, after: str) -> ScreenChange:
    return ScreenChange(
        kind=SeenEffectKind.STATE,
        object=one_line(name, TEXT_CHARS),
        before=one_line(before, TEXT_CHARS),
        after=one_line(after, TEXT_CHARS),
        element=element,
    )
