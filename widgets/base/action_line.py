"""A line of text with clickable parts: tabs, the footer's keys, phones.

Posts a message that names the pressed part; the console acts on it. Invariant: a clickable part,
and nothing else, is underlined under the pointer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.geometry import Offset
from textual.message import Message

from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import steady, to_content
from widgets.base.rows import Parts


class Target(NamedTuple):
    """A range of cells on one line."""

    line: int
    start: int
    end: int
    name: str


def targets_of(parts: Parts, names: Mapping[int, str]) -> tuple[Target, ...]:
    """Return the positions of the named parts, for text that does not wrap.

    Args:
        parts: the text; a part that ends in a newline ends its line.
        names: the name posted when a part is pressed, by its index; negative ones count from the
            end.
    """
    by_index = {at % len(parts): name for at, name in names.items()} if parts else {}
    found: list[Target] = []
    line = column = 0
    for at, (text, _) in enumerate(parts):
        shown = steady(text).rstrip("\n")
        end = column + Content(shown).cell_length
        # The space between a key and its word is pressed with them, the gap before the key is not.
        lead = len(shown) - len(shown.lstrip(" "))
        start = column + (lead if lead > 1 else 0)
        if at in by_index and end > start:
            found.append(Target(line, start, end, by_index[at]))
        column = end
        if text.endswith("\n"):
            line, column = line + 1, 0
    return tuple(found)


class ActionLine(PartsLine):
    """A line with clickable parts."""

    class Pressed(Message):
        """A part was pressed with the mouse."""

        def __init__(self, line: ActionLine, name: str) -> None:
            super().__init__()
            self.line = line
            self.name = name

        @property
        def control(self) -> ActionLine:
            return self.line

    def __init__(self, parts: Parts = (), *, id: str | None = None) -> None:
        super().__init__(parts, id=id)
        self._names: Mapping[int, str] = {}
        self._hovered = ""

    def show_pressable(self, parts: Parts, names: Mapping[int, str]) -> None:
        """Show parts, some of them clickable; see `targets_of`."""
        self._names = dict(names)
        self.show(parts)

    def show(self, parts: Parts) -> None:
        if parts != self._parts:
            self._parts = parts
            self._draw()

    def name_at(self, offset: Offset) -> str:
        """Return the name of the part at a position; empty if there is none."""
        for target in targets_of(self._parts, self._names):
            if target.line == offset.y and target.start <= offset.x < target.end:
                return target.name
        return ""

    def _draw(self) -> None:
        if not self._hovered:
            self.update(to_content(self._parts))
            return
        count = len(self._parts)
        hovered = {at % count for at, name in self._names.items() if name == self._hovered}
        parts: list[tuple[str, str]] = []
        for at, (text, style) in enumerate(self._parts):
            word = text.strip() if at in hovered else ""
            before, _, after = text.partition(word) if word else (text, "", "")
            parts += [(before, style), (word, f"{style} underline".strip()), (after, style)]
        self.update(to_content(tuple(part for part in parts if part[0])))

    def _hover(self, name: str) -> None:
        if name != self._hovered:
            self._hovered = name
            self.styles.pointer = "pointer" if name else "default"
            self._draw()

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self.name_at(event.get_content_offset_capture(self)))

    def on_leave(self, _event: Leave) -> None:
        self._hover("")

    def on_click(self, event: Click) -> None:
        name = self.name_at(event.get_content_offset_capture(self))
        if name:
            self.post_message(self.Pressed(self, name))
