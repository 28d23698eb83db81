"""Rows of the device screen: the elements of a phone's screen, its log, what was found of it.

Pure functions from records to rows. Invariant: a row's key names the same thing at every look.
"""

from collections.abc import Sequence

from agent.records import Bounds, Element, PhoneFinding
from agent.text import clean, one_line
from widgets.base.formatting import quoted
from widgets.base.rows import Line, Parts, Row

_LOG_STYLES = {"E": "$bad", "F": "$bad", "W": "$warn", "I": "$foreground"}
_WIDE = 56


def element_rows(elements: Sequence[Element], *, width: int) -> list[Row]:
    """List elements: number, role, label, and where there is room bounds and resource id."""
    rows: list[Row] = []
    for element in elements:
        left: Parts = (
            (f"{element.number:>3} ", "$ask"),
            (f"{element.kind[:9]:<10}", "$muted"),
            (one_line(element.label, 120), "$foreground" if element.enabled else "$faint"),
        )
        if element.value:
            left = (*left, (f"  {quoted(element.value, 60)}", "$primary"))
        marks = [
            word
            for word, holds in (
                ("checked", element.checked),
                ("focused", element.focused),
                ("off", not element.enabled),
            )
            if holds
        ]
        right: Parts = ((" ".join(marks), "$muted"),) if marks else ()
        if width >= _WIDE:
            right = (*right, (f"  {_percent(element.bounds)}", "$faint"))
        rows.append(Row(f"{element.number}:{element.key}", (Line(left, right),)))
    return rows


def element_detail(element: Element) -> Parts:
    can = [
        word
        for word, holds in (
            ("tap", element.clickable),
            ("long press", element.long_clickable),
            ("type", element.editable),
            ("scroll", element.scrollable),
            ("check", element.checkable),
        )
        if holds
    ]
    facts = (
        ("id", element.resource_id or "none"),
        ("class", element.class_name),
        ("app", element.package),
        ("bounds", _percent(element.bounds)),
        ("takes", ", ".join(can) or "nothing"),
    )
    parts: list[tuple[str, str]] = [
        (f"{element.number} {element.kind}  ", "bold $ask"),
        (one_line(element.label, 200), "bold $foreground"),
    ]
    for name, value in facts:
        parts += [(f"\n{name:<7}", "$faint"), (one_line(value, 160), "$foreground")]
    return tuple(parts)


def _percent(bounds: Bounds) -> str:
    left, top, right, bottom = (
        round(100 * edge) for edge in (bounds.left, bounds.top, bounds.right, bounds.bottom)
    )
    return f"{left},{top}-{right},{bottom} %"


def finding_rows(findings: Sequence[PhoneFinding]) -> list[Row]:
    """List what was found; what is not well says what to do."""
    rows: list[Row] = []
    for found in findings:
        glyph, style = ("✓", "$good") if found.ok else ("×", "$bad")
        first = Line(
            (
                (f"{glyph} ", style),
                (f"{one_line(found.name, 20):<11}", "$foreground"),
                (one_line(found.detail, 200), "$muted" if found.ok else "$foreground"),
            ),
            ((("f repairs", "$ask"),) if found.can_repair else ()),
        )
        rest = ((f"    {one_line(found.remedy, 300)}", "$warn"),)
        rows.append(Row(found.name, (first, Line(rest)) if found.remedy else (first,)))
    return rows


def log_rows(lines: Sequence[str]) -> list[Row]:
    """List the lines of a log, the newest last, coloured by their priority."""
    seen: dict[str, int] = {}
    rows: list[Row] = []
    for line in lines:
        # Equal lines are told apart by counting them, so the cursor stays on its own.
        count = seen[line] = seen.get(line, 0) + 1
        style = _LOG_STYLES.get(log_priority(line), "$muted")
        rows.append(Row(f"{count}:{line}", (Line(_shortened(line, style)),)))
    return rows


def _shortened(line: str, style: str) -> Parts:
    """Leave out date, process and thread, which the detail says."""
    words = line.split(maxsplit=5)
    if not log_priority(line) or len(words) < 6:
        return ((one_line(line, 400), style),)
    return ((f"{words[1]} {words[4]} ", "$faint"), (one_line(words[5], 400), style))


def log_priority(line: str) -> str:
    """Return the priority of a line of `logcat -v threadtime`, as V D I W E F; empty for others."""
    words = line.split(maxsplit=5)
    return words[4] if len(words) > 4 and len(words[4]) == 1 else ""


def matching(lines: Sequence[str], wanted: str) -> list[str]:
    """Return the lines that hold every wanted word; `!word` must not be in them."""
    words = wanted.casefold().split()

    def fits(line: str) -> bool:
        hay = line.casefold()
        return all(
            (word[1:] not in hay) if word.startswith("!") and len(word) > 1 else word in hay
            for word in words
        )

    return [line for line in lines if fits(line)]


def log_detail(line: str) -> Parts:
    return ((clean(line, 4_000), "$foreground"),)
