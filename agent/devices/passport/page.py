"""Write a passport as a page that people read: Markdown, one table for each area.

Pure. Invariant: foreign text is on one line and cannot end a cell.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from agent.devices.passport.passport import Area, Choices, Outcome, Passport, Row
from agent.text import one_line

_HEADINGS = {
    Area.LINK: "Link",
    Area.DISPLAYS: "Displays",
    Area.PEOPLE: "Users and apps",
    Area.POWER: "Power",
    Area.CAPTURE: "Pictures",
    Area.TREE: "UI trees",
    Area.INPUT: "Touches and keys",
    Area.TEXT: "Text",
}
MARKS = {
    Outcome.WORKS: "yes",
    Outcome.FAILS: "no",
    Outcome.ABSENT: "not there",
    Outcome.UNKNOWN: "unknown",
}


def page(passport: Passport) -> str:
    """Return the whole page, ending in a line break."""
    made = datetime.fromtimestamp(passport.made_ms / 1000, tz=UTC)
    what = " ".join(part for part in (passport.maker, passport.model) if part) or "A phone"
    lines = [
        f"# {_cell(what)}, Android {_cell(passport.android) or 'unknown'}",
        "",
        f"`{_cell(passport.serial)}`, build `{_cell(passport.fingerprint) or 'unknown'}`. "
        f"Made on {made:%Y-%m-%d %H:%M} UTC in {passport.took_ms / 1000:.1f} s. "
        "It is used until the build changes.",
        "",
        "## What sessions use",
        "",
        *(f"- {line}" for line in choice_lines(passport.choices)),
    ]
    for area in Area:
        rows = [row for row in passport.rows if row.area is area]
        if rows:
            lines += ["", f"## {_HEADINGS[area]}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def choice_lines(choices: Choices) -> tuple[str, ...]:
    """Return one sentence for each capability."""
    none = "no way was seen to work; sessions try them in their usual order"
    order: dict[tuple[str, ...], list[str]] = {}
    for script, ways in choices.text.items():
        order.setdefault(tuple(way.value for way in ways), []).append(script)
    return (
        f"Pictures: {choices.capture or none}",
        f"UI trees: {choices.tree or none}",
        f"Touches and keys: {choices.input or none}",
        *(
            f"Text in {', '.join(scripts)}: {', then '.join(ways)}"
            for ways, scripts in order.items()
        ),
        *(() if order else (f"Text: {none}",)),
    )


def _table(rows: Iterable[Row]) -> list[str]:
    lines = ["| what | works | ms | found | what to do |", "|---|---|---|---|---|"]
    lines += [
        f"| {_cell(row.name)} | {MARKS[row.outcome]} | {row.took_ms or ''} "
        f"| {_cell(row.detail)} | {_cell(row.remedy)} |"
        for row in rows
    ]
    return lines


def _cell(text: str) -> str:
    return one_line(text, 400).replace("|", "\\|").replace("`", "'")
