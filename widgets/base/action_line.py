"""A line of text with clickable parts: tabs, the footer's keys, phones.

Posts a message that names the pressed part; the console acts on it. Invariants: a clickable part,
and nothing else, is underlined under the pointer; a press does nothing where another part stood a
moment before, or at the press before of the same double click.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import NamedTuple

from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.geometry import Offset
from textual.message import Message

from widgets.base import causality
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import steady, to_content
from widgets.base.row_places import SEEN_S
from widgets.base.rows import Parts

_COUNT = re.compile(r"[0-9]+")
_REMEMBERED = 16  # How many former layouts are remembered, where a press waits long to be handled.


class Target(NamedTuple):
    """A range of cells on one line, the name posted for it, and all words of that name."""

    line: int
    start: int
    end: int
    name: str
    words: str


def targets_of(parts: Parts, names: Mapping[int, str]) -> tuple[Target, ...]:
    """Return the positions of the named parts, for text that does not wrap.

    Args:
        parts: the text; a part that ends in a newline ends its line.
        names: the name posted when a part is pressed, by its index; negative ones count from the
            end.
    """
    by_index = {at % len(parts): name for at, name in names.items()} if parts else {}
    words: dict[str, str] = {}
    for at, name in sorted(by_index.items()):
        words[name] = f"{words.get(name, '')} {parts[at][0].strip()}"
    found: list[Target] = []
    line = column = 0
    for at, (text, _) in enumerate(parts):
        shown = steady(text).rstrip("\n")
        end = column + Content(shown).cell_length
        # The space between a key and its word is pressed with them, the gap before the key is not.
        lead = len(shown) - len(shown.lstrip(" "))
        start = column + (lead if lead > 1 else 0)
        if at in by_index and end > start:
            found.append(Target(line, start, end, by_index[at], words[by_index[at]]))
        column = end
        if text.endswith("\n"):
            line, column = line + 1, 0
    return tuple(found)


def target_at(targets: Iterable[Target], offset: Offset) -> Target | None:
    """Return the target at a position; None if there is none."""
    for target in targets:
        if target.line == offset.y and target.start <= offset.x < target.end:
            return target
    return None


def _meaning(target: Target | None) -> tuple[str, str]:
    """Return what a target does and says, without counts, which change what no press does."""
    return (target.name, _COUNT.sub("", target.words)) if target is not None else ("", "")


class ActionLine(PartsLine):
    """A line with clickable parts."""

    class Pressed(Message):
        """A part was pressed with the mouse."""

        def __init__(self, line: "ActionLine", name: str) -> None:
            super().__init__()
            self.line = line
            self.name = name

        @property
        def control(self) -> "ActionLine":
            return self.line

    def __init__(
        self, parts: Parts = (), *, id: str | None = None, clock_s: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(parts, id=id)
        self.clock_s = clock_s
        self._names: Mapping[int, str] = {}
        self._targets: tuple[Target, ...] = ()
        self._former: deque[tuple[float, tuple[Target, ...]]] = deque(maxlen=_REMEMBERED)
        """Where parts stood, and until when."""
        self._pressed = ""
        self._hovered = ""

    def show_pressable(self, parts: Parts, names: Mapping[int, str]) -> None:
        """Show parts, some of them clickable; see `targets_of`."""
        if parts != self._parts or names != self._names:
            self._names = dict(names)
            self._show(parts)

    def show(self, parts: Parts) -> None:
        if parts != self._parts:
            self._show(parts)

    def _show(self, parts: Parts) -> None:
        self._parts = parts
        self._draw()
        targets = targets_of(parts, self._names)
        if causality.current() is not None:
            # What the operator's own key or press moves is where the next one finds it.
            self._former.clear()
        elif targets != self._targets:
            self._former.append((self.clock_s(), self._targets))
        self._targets = targets

    def name_at(self, offset: Offset) -> str:
        """Return the name of the part at a position; empty if there is none."""
        found = target_at(self._targets, offset)
        return found.name if found is not None else ""

    def _has_changed_at(self, offset: Offset) -> bool:
        """Return whether another part, or none, was seen at a position when it was pressed."""
        since_s = self.clock_s() - causality.lag_s() - SEEN_S
        meant = _meaning(target_at(self._targets, offset))
        return any(
            until_s > since_s and _meaning(target_at(targets, offset)) != meant
            for until_s, targets in self._former
        )

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
        offset = event.get_content_offset_capture(self)
        name, before = self.name_at(offset), self._pressed
        self._pressed = name
        is_second = event.chain > 1 and name != before
        if name and not is_second and not self._has_changed_at(offset):
            self.post_message(self.Pressed(self, name))
