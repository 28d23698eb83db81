"""Divide what `dumpsys window` prints into its live parts, one for each display.

No fact is read here. Invariants: the copy that was saved at the last ANR is never among the live
parts; of two sections of one display the later one counts, because Android prints the copy first;
a line is at most `LINE_LIMIT` characters, so that readers of lines take bounded time.

Order and headings: WindowManagerService.doDump and RootWindowContainer.dumpDisplayContents, Android
10 to 16. Displays come from the bottom of the z-order up, so display 0 may be the last.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

LINE_LIMIT = 4000
MAIN_DISPLAY = 0
_LINE_END = re.compile(r"\r*\n|\r")
_LAST_ANR = re.compile(r"\s*(?:(?:WINDOW )?MANAGER LAST ANR\b|ANR time:)")
_RULE = re.compile(r"\s*-{20,}")
_HEADING = re.compile(r"\s*WINDOW MANAGER (?!LAST ANR)(?P<name>[A-Z][A-Z ]*[A-Z])")
_DISPLAY = re.compile(r"\s*Display: mDisplayId=(?P<id>\d{1,9})\b")
_MANAGER = "WINDOW MANAGER "
_BROKEN_HEADING = "(dumpsys window "
_DISPLAYS = "DISPLAY CONTENTS"
_COPIED = (_DISPLAYS, "WINDOWS")  # What the copy of the last ANR holds under headings.


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one display, or those that stand in no display's section."""

    display: int | None
    lines: tuple[str, ...]

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the first match of a pattern in a line."""
        return next((found for line in self.lines if (found := pattern.search(line))), None)

    def find_all(self, pattern: re.Pattern[str]) -> tuple[re.Match[str], ...]:
        """Return every match of a pattern, line by line."""
        return tuple(found for line in self.lines for found in pattern.finditer(line))


@dataclass(frozen=True, slots=True)
class WindowDump:
    """The live parts of `dumpsys window`, whatever it was asked for.

    Attributes:
        displays: the sections with a heading, in the order of the text.
        rest: what belongs to no display: Android's policy, its windows, loose lines.
    """

    displays: tuple[Section, ...]
    rest: Section

    def of(self, display: int) -> Section | None:
        """Return the section of a display; None if the text has none.

        Text without any heading is of a phone that knows one display.
        """
        if not self.displays:
            return self.rest if display == MAIN_DISPLAY else None
        return next((one for one in self.displays if one.display == display), None)


def lines_of(text: str) -> list[str]:
    """Return the lines without their ends, bounded in length; CR LF and CR CR LF are ends."""
    return [line[:LINE_LIMIT] for line in _LINE_END.split(text)]


def live_lines(text: str) -> list[str]:
    """Return the lines without the copy that was saved at the last ANR."""
    kept: list[str] = []
    copied: set[str] | None = None
    for before, line in pairwise(["", *lines_of(text)]):
        if "ANR" in line and _LAST_ANR.match(line):
            copied = set()
            continue
        if copied is not None:
            heading = _HEADING.match(line) if _MANAGER in line else None
            name = heading["name"] if heading else ""
            is_copy = name in _COPIED and (name not in copied or line == before)
            if not _RULE.match(line) and (not name or is_copy):
                copied.add(name)
                continue
            copied = None
        kept.append(line)
    return kept


def read_dump(text: str) -> WindowDump:
    """Divide the output of `dumpsys window`, with or without words behind it."""
    sections: dict[int, list[str]] = {}
    rest: list[str] = []
    lines = rest
    for line in live_lines(text):
        if "mDisplayId=" in line and (found := _DISPLAY.match(line)):
            number = int(found["id"])
            # The later section of one display is the live one, at its own place in the order.
            sections.pop(number, None)
            lines = sections[number] = []
        elif _MANAGER in line and (heading := _HEADING.match(line)):
            lines = rest if heading["name"] != _DISPLAYS else lines
        elif _BROKEN_HEADING in line and "lastanr" not in line:
            # Another program's words broke into a heading.
            lines = rest
        lines.append(line)
    return WindowDump(
        tuple(Section(number, tuple(its)) for number, its in sections.items()),
        Section(None, tuple(rest)),
    )
