"""Write a screen as text for a model: in reading order, or in the zones of CONTRACTS 5.1.

Zones are for support goals, where they lead to a way on. Not the numbering (that is
`agent.loop.screen.elements`) and not the order (`agent.loop.screen.reading_order`). Invariant:
an element, or a row of short cells, is one line, whatever its label holds: labels have no line
breaks, and a quotation mark in one is written as an apostrophe so that nothing a phone shows can
look like the end of its own label.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from agent.loop.screen.cell_rows import CellRow, cell_rows, short_labels
from agent.loop.screen.chat_sides import chat_sides, is_search, sends
from agent.loop.screen.cut_edges import cut_off
from agent.loop.screen.elements import UNLABELED, zone
from agent.loop.screen.folding import fold, folded
from agent.loop.screen.names import names_nothing
from agent.loop.screen.screen_kind import is_navigation, layout_of, writes_message
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, Foreground
from agent.text import on_one_line, without_glyphs

MAX_OTHERS = 30
_COLLAPSED = 8
MAX_VALUE_CHARS = 300
MAX_TEXT_CHARS = 1000
"""How much of a long text is written; a label that can be pressed ends at 120 characters."""
_LONG_TEXTS_CHARS = 6000  # How much all long texts of a screen may take together.
_LISTED = 40  # How many folded elements `more_elements` writes at a time.
_LISTED_LABEL_CHARS = 60
_INDENT = "  "
_DEEPEST_INDENT = 3
_STRONG = "  >>> "
_PLAIN = "  "
_UNMARKED = "     "
_TABS = 3  # So many buttons at the foot of a screen are a bar that leads to its pages.
CHAT = "Layout: chat; (me) is on the right, (them) on the left"


def screen_text(
    foreground: Foreground,
    elements: Sequence[Element],
    *,
    note: str = "",
    zones: bool = False,
    collapse: bool = False,
) -> str:
    """Write the whole screen.

    Args:
        note: why there is no UI tree; empty when there is one.
        zones: for a support goal: navigation first, then the top bar and the content.
        collapse: with zones, list content that leads nowhere by label only, without numbers, to
            keep a model on its way through menus.
    """
    lines = [f"Package: {foreground.package or 'unknown'}"]
    if foreground.activity:
        lines.append(f"Screen: {activity_name(foreground.activity)}")
    over = _over(foreground, elements)
    if over:
        lines.append(f"In front of it: {over}")
    if foreground.keyboard_shown is None:
        lines.append("Keyboard: unknown")
    elif foreground.keyboard_shown:
        lines.append("Keyboard: shown")
    if note:
        lines.append(f"(no UI tree: {note})")
    if not elements:
        lines += [] if note else ["(empty screen)"]
    elif zones:
        lines += _in_zones(elements, collapse)
    else:
        lines += _in_reading_order(elements)
    return "\n".join(lines)


def _over(foreground: Foreground, elements: Sequence[Element]) -> str:
    """Name the window of another app, such as the shade, that all elements belong to."""
    packages = {element.package for element in elements if element.kind != STATUS_BAR}
    if len(packages) != 1 or not foreground.package:
        return ""
    [package] = packages
    return "" if package == foreground.package else package


def _in_reading_order(elements: Sequence[Element]) -> list[str]:
    """Write elements as a person reads them, what lies in a row indented below it."""
    sides = chat_sides(elements)
    lines = [CHAT, ""] if sides else [""]
    marks_new = _few_are_new(elements)
    room = _LONG_TEXTS_CHARS
    depths, cut = _depths(elements), cut_off(elements)
    rows = {row[0].number: row for row in cell_rows(elements) if not _is_told(row, sides, cut)}
    written = 0  # The last cell that stands in the line of its row.
    for line in fold(elements, is_fresh=marks_new):
        if isinstance(line, tuple):
            lines.append(_folded_line(line))
            continue
        if line.number <= written:
            continue
        if line.number in rows:
            row = rows[line.number]
            lines.append(_INDENT * depths[line.number] + cells_line(row, marks_new=marks_new))
            written = row[-1].number
            continue
        text = ""
        if line.label.endswith("..."):
            text = _long_text(line, room, is_message=line.number in sides)
            room -= len(text)
        lines.append(
            _INDENT * depths[line.number]
            + element_line(
                line,
                place=sides.get(line.number, "") or cut.get(line.number, ""),
                text=text,
                marks_new=marks_new,
                focus=True,
            )
        )
    return lines


def _is_told(row: CellRow, sides: Mapping[int, str], cut: Mapping[int, str]) -> bool:
    """Return whether the line of an element of a row says where it is."""
    return any(cell.number in sides or cell.number in cut for cell in row)


def cells_line(row: CellRow, *, marks_new: bool) -> str:
    """Write a row of cells in one line; the kind is that of the first."""
    named = zip(row, short_labels([cell.label for cell in row]), strict=True)
    cells = []
    for cell, label in named:
        kind = f" {cell.kind}:" if cell is row[0] else ""
        new = " <-- NEW" if marks_new and cell.is_new else ""
        states = "".join(f" {state}" for state in states_of(cell))
        cells.append(f'[{cell.number}]{kind} "{_quoted(label)}"{states}{new}')
    return " ".join(cells)


def _depths(elements: Sequence[Element]) -> dict[int, int]:
    """Count the rows and cards that each element lies in; lists and pages do not indent."""
    depths: dict[int, int] = {}
    pages = {element.number for element in elements if _is_page(element)}
    for element in elements:
        inside = int(element.parent > 0 and element.parent not in pages)
        depths[element.number] = min(depths.get(element.parent, 0) + inside, _DEEPEST_INDENT)
    return depths


def _is_page(element: Element) -> bool:
    """Return whether an element is a list or a page, which holds rows and is none."""
    return element.kind in ("scrollable", "webview")


def _few_are_new(elements: Sequence[Element]) -> bool:
    """Return whether it says something that an element is new: on a new screen all of them are."""
    return len([element for element in elements if element.is_new]) * 2 <= len(elements)


def _long_text(element: Element, room: int, *, is_message: bool = False) -> str:
    """Return the whole of a text or message whose label had to be cut; empty for all others."""
    if not (element.kind == "text" or is_message) or not element.label.endswith("..."):
        return ""
    if not element.more.startswith(element.label[:-3]):
        return ""
    limit = min(MAX_TEXT_CHARS, room)
    if limit <= len(element.label):
        return ""
    return element.more if len(element.more) <= limit else element.more[: limit - 3] + "..."


def _folded_line(elements: Sequence[Element]) -> str:
    first, last = elements[0], elements[-1]
    return (
        f"… {len(elements)} rows like [{first.number}], to [{last.number}]: "
        "more_elements lists them …"
    )


def _in_zones(elements: Sequence[Element], collapse: bool) -> list[str]:
    sides = chat_sides(elements)
    pattern = layout_of(elements)
    lines = [CHAT] if sides else [f"Layout: {pattern}"] if pattern else []
    lines.append("")
    top, content, bottom = _by_zone(elements)
    strong = _leading(elements, bottom)
    written = _zoned_lines(elements, sides)
    if bottom:
        header = "[NAVIGATION -- click these to find support]" if collapse else "[NAVIGATION]"
        lines.append(header)
        lines += [_mark(element, strong, _UNMARKED) + written[element.number] for element in bottom]
    if top:
        lines.append("[TOP BAR]")
        lines += [_mark(element, strong, _UNMARKED) + written[element.number] for element in top]
    if content:
        lines += _content(content, collapse, strong, written)
    return lines


def _mark(element: Element, strong: frozenset[int], plain: str) -> str:
    return _STRONG if element.number in strong else plain


def _leading(elements: Sequence[Element], bottom: Sequence[Element]) -> frozenset[int]:
    """Return the numbers of what leads on: ways to other pages, a message's field and its button.

    What may change something by itself is none, and neither is a field to search with.
    """
    tabs = [element for element in bottom if element.clickable and not element.editable]
    writes = writes_message(elements)
    return frozenset(
        element.number
        for element in elements
        if (element.editable and not is_search(element))
        or (is_navigation(element) and not element.editable)
        or (writes and sends(element))
        or (len(tabs) >= _TABS and element in tabs)
    )


def _zoned_lines(elements: Sequence[Element], sides: Mapping[int, str]) -> dict[int, str]:
    """Write each element of a screen in zones, by its number."""
    marks_new = _few_are_new(elements)
    room = _LONG_TEXTS_CHARS
    lines: dict[int, str] = {}
    for element in elements:
        side = sides.get(element.number, "")
        # What was written to and fro is the case; any other long text may be read elsewhere.
        text = _long_text(element, room, is_message=True) if side else ""
        room -= len(text)
        place = side or (_side(element) if element.label != UNLABELED else "")
        lines[element.number] = element_line(
            element, place=place, text=text, marks_new=marks_new, focus=True
        )
    return lines


def _by_zone(elements: Sequence[Element]) -> tuple[list[Element], list[Element], list[Element]]:
    zones: tuple[list[Element], list[Element], list[Element]] = ([], [], [])
    for element in elements:
        zones[zone(element)].append(element)
    return zones


def _content(
    content: Sequence[Element], collapse: bool, strong: frozenset[int], written: Mapping[int, str]
) -> list[str]:
    lines = ["[CONTENT]"]
    leads = [e for e in content if e.number in strong and not e.editable]
    inputs = [e for e in content if e.editable]
    others = [e for e in content if e.number not in strong and not e.editable]
    lines += [_mark(e, strong, _PLAIN) + written[e.number] for e in (*leads, *inputs)]
    if others and collapse:
        lines.append(f"[{len(others)} other items -- NOT paths to support]")
        labels = [e.label for e in others if 2 <= len(e.label) <= 60 and e.label != UNLABELED]
        if labels:
            lines.append("  ~ " + ", ".join(f'"{_quoted(label)}"' for label in labels[:_COLLAPSED]))
    elif others:
        lines += [_PLAIN + written[element.number] for element in others[:MAX_OTHERS]]
        if len(others) > MAX_OTHERS:
            lines.append(f"  ({len(others) - MAX_OTHERS} more items...)")
    if any(element.scrollable for element in content):
        lines.append("  (scrollable)")
    return lines


def left_out(elements: Sequence[Element], *, zones: bool = False) -> tuple[Element, ...]:
    """Return the elements that `screen_text` only counts, when it is not collapsed."""
    if not zones:
        return folded(elements, is_fresh=_few_are_new(elements))
    _, content, bottom = _by_zone(elements)
    strong = _leading(elements, bottom)
    others = [e for e in content if not e.editable and e.number not in strong]
    return tuple(others[MAX_OTHERS:])


def listing(elements: Sequence[Element]) -> tuple[str, int]:
    """Write the first of some elements shortly; return the lines, and how many they are."""
    shown = elements[:_LISTED]
    lines = [
        element_line(
            element if len(element.label) <= _LISTED_LABEL_CHARS else _shortened(element),
            marks_new=False,
        )
        for element in shown
    ]
    return "\n".join(f"  {line}" for line in lines), len(shown)


def _shortened(element: Element) -> Element:
    return replace(element, label=element.label[: _LISTED_LABEL_CHARS - 3] + "...")


def element_line(
    element: Element,
    *,
    place: str = "",
    text: str = "",
    marks_new: bool = True,
    focus: bool = False,
) -> str:
    """Write one element: `[id] type: "label"`, place, value, states and whether it is new.

    Args:
        place: where it is; an element without a label says so by itself.
        text: what is written in the place of its label; empty for the label.
        marks_new: whether a new element is marked.
        focus: whether the one with the focus is marked.
    """
    labelled = element.label != UNLABELED
    if not place and not labelled and element.kind != "scrollable":
        place = _position(element)
    parts = [f'[{element.number}] {element.kind}: "{_quoted(text or element.label)}"']
    if place:
        parts.append(f" ({place})")
    value = without_glyphs(element.value)
    if value:
        parts.append(f' = "{_quoted(on_one_line(value, MAX_VALUE_CHARS))}"')
    if element.length:
        parts.append(f" = {element.length} hidden characters")
    name = _id_name(element)
    parts += [f" id={name}"] if name else []
    parts += [f" {state}" for state in states_of(element)]
    if focus and element.focused and not element.scrollable:
        parts.append(" [FOCUSED]")
    if element.scrollable and element.kind != "scrollable":
        parts.append(" [SCROLLS]")
    if marks_new and element.is_new:
        parts.append(" <-- NEW")
    return "".join(parts)


def _id_name(element: Element) -> str:
    """Return the id of what is named by nothing, or by a number alone, as a count of likes is."""
    name = element.resource_id.rsplit("/", 1)[-1][:40]
    if not name or element.label == UNLABELED:
        return name
    usable = element.clickable or element.editable or element.long_clickable
    if not usable or element.checkable or not names_nothing(element.label):
        return ""
    # Such as the 7 of digit_7 and of key7.
    return "" if element.label.casefold() in name.casefold() else name


def states_of(element: Element) -> list[str]:
    """Return the states of an element as its line shows them, such as [CHECKED]."""
    states = []
    if element.checkable:
        states.append("[CHECKED]" if element.checked else "[UNCHECKED]")
    if not element.enabled and (element.kind != "text" or element.clickable):
        states.append("[DISABLED]")
    if element.selected or (element.kind == "tab" and element.checked):
        states.append("[SELECTED]")
    return states


def activity_name(activity: str) -> str:
    return activity.rsplit(".", 1)[-1].rsplit("/", 1)[-1]


def _side(element: Element) -> str:
    x = element.bounds.center_x
    return "left" if x < 1 / 3 else "right" if x > 2 / 3 else ""


def _position(element: Element) -> str:
    x = element.bounds.center_x
    if x > 0.85:
        return "far-right"
    if x < 0.15:
        return "far-left"
    return _side(element) or "center"


def _quoted(label: str) -> str:
    return label.replace('"', "'")
