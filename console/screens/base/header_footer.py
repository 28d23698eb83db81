"""Header and footer of every screen: where we are, what waits, and what the keys do here.

Invariants: an action that cannot be done now is not in the footer; stopping everything is there
while something works.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus, Resize, ScreenResume, TextSelected
from textual.widgets import Input, TextArea

from agent.records import DeviceInfo, DeviceState, SessionState
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, attention
from agent.text import one_line
from console.core.connection import connection_part
from console.keys import actions
from console.keys.controllers import Controller
from console.screens.base.standing_troubles import Trouble, troubles
from widgets.base.action_line import ActionLine
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.pictures.phone_pane import is_driven_at, spread
from widgets.questions.composer import Composer

if TYPE_CHECKING:
    from console.screens.base.framed_screen import FramedScreen

LEAST = (40, 12)
TOO_SMALL: Parts = ((" Too small: 40×12 is the minimum. ^x stops all. ", "$warn"),)
_WRITING = (("esc", "back"), ("^j", "new line"), ("tab", "next pane"))
_SEEKING = (("enter", "to the results"), ("esc", "clear"))
NEXT_QUESTION = "question.next"
"""What the count of what waits leads to, in the header or on the tabs of a Deck without one."""
_STOP_ALL = "session.stop_all"
_WAYS = ["app.help", "app.palette"]
_AT_THE_END = frozenset({_STOP_ALL, *_WAYS})
_ROOM_FOR_BOTH = 100  # Columns from which the palette's key stands beside that of help.
_ROOM_WITHOUT_TABS = 60
"""The same on a screen without a header: the mouse has no other way to the other screens."""
_SCREENS = {
    actions.Where.DECK: "screen.deck",
    actions.Where.WALL: "screen.wall",
    actions.Where.JOBS: "screen.jobs",
    actions.Where.HISTORY: "screen.history",
}


class HeaderFooter(Controller):
    """The two lines of a screen.

    Args:
        screen: whose.
    """

    def __init__(self, screen: "FramedScreen") -> None:
        self._screen = screen
        self._tells_connection = True
        """Whether the header has room for what is wrong with the connection."""

    @property
    def _connection(self) -> Parts:
        """What is wrong with the connection to the core; nothing where nothing is."""
        part = connection_part(self._screen.console_app.bridge)
        return ((f"{part[0]} ", part[1]),) if part is not None else ()

    def on_composer_refused(self, event: Composer.Refused) -> None:
        """Show why what was to be written was not taken."""
        self._screen.console_app.say(event.reason, tone="warning")

    def on_screen_resume(self, _event: ScreenResume) -> None:
        self._screen.refresh_all()

    def on_resize(self, event: Resize) -> None:
        self._screen.set_class(is_small(*event.size), "-tiny")
        self._screen.call_after_refresh(self._screen.refresh_all)

    def on_descendant_focus(self, _event: DescendantFocus) -> None:
        if self._screen.is_composed:
            self.show_header()
        self.show_footer()

    def on_descendant_blur(self, _event: DescendantBlur) -> None:
        self.show_footer()

    def _show_standing(self) -> None:
        """Show what is wrong and lasts, with the command that helps."""
        app = self._screen.console_app
        state = app.bridge.state
        unwritable = app.ops.unwritable(state.event_id)
        listed = troubles(app.bridge, state.servers_away, unwritable, app.data_dir, os.environ)
        line = self._screen.query_one("#standing", PartsLine)
        line.set_class(bool(listed), "-shown")
        self._screen.set_class(bool(listed), "-troubled")
        line.show(standing_line(listed, self._screen.size.width))

    def show_header(self) -> None:
        """Show where we are and what waits."""
        self._show_standing()
        app = self._screen.console_app
        state = app.bridge.state
        width = self._screen.size.width
        left: list[tuple[str, str]] = [(" Switchboard", "bold $primary")]
        if app.place:
            left.append((f" {app.place}", "$muted"))
        left.append(("  ", ""))
        named = len(left)
        pressable: dict[int, str] = {}
        taken = self._screen.taken_digits()
        for where, action_id in _SCREENS.items():
            action = actions.BY_ID[action_id]
            here = where is self._screen.WHERE
            # A digit that would be typed or choose an option is not offered as a screen's key.
            key = app.keys.name(action_id)
            left.append((" " if key in taken else f" {key} ", "$faint"))
            pressable |= {len(left) - 1: action_id, len(left): action_id}
            left.append((f"{action.title} ", "bold $foreground" if here else "$muted"))
        waiting = sum(one.needs_person for one in attention(state, app.seen))
        running, paused = _at_work(state.sessions)
        online, known = _phones(state.devices)
        right: list[tuple[str, str]] = []
        if waiting and state.questions and not app.bridge.has_ended:
            pressable[0] = NEXT_QUESTION
        if waiting:
            # On the Deck the queue itself names the key.
            go = self._screen.WHERE is not actions.Where.DECK and bool(state.questions)
            way = f" · {app.keys.name('question.next')}" if go else ""
            does = "waits" if waiting == 1 else "wait"
            right.append((f"? {waiting} {does} for you{way}  ", "bold $ask"))
        if running:
            right.append((f"● {running} running  ", "$live"))
        if paused:
            right.append((f"‖ {paused} paused  ", "$warn"))
        phones: tuple[str, str] | None = None
        usage = app.usage.newest if app.usage is not None else None
        if usage is not None and usage.is_nearly_full and width >= 100:
            right.append((f"{usage.words}  ", "$warn"))
        connection = self._connection
        if app.bridge.has_ended:
            # What the picture says of sessions and phones is how it was then.
            right.clear()
        right += connection
        if app.bridge.is_opening:
            right.append(("opening … ", "$muted"))
        elif width >= 80 and not app.bridge.has_ended:
            count = f"{online} of {known}" if online < known else str(known)
            tone = "$warn" if online < known else "$muted"
            phones = (f"{count} device{'' if known == 1 else 's'} ", tone)
            right.append(phones)
        # Where there is not room for all, the tabs and what waits stay: they are pressed.
        if _cells(left, right) > width:
            left[:named] = [("", "")] * named
        while len(right) > 1 and _cells(left, right) > width:
            right.pop()
        self._tells_connection = set(connection) <= set(right)
        self._screen.query_one("#too-small", PartsLine).show((*connection, *TOO_SMALL))
        parts = spread(tuple(left), tuple(right), width)
        if pressable.pop(0, ""):
            pressable[-len(right)] = NEXT_QUESTION
        if right and right[-1] is phones:
            pressable[-1] = "screen.wall"
        self._screen.query_one("#header", ActionLine).show_pressable(
            parts, _fitting(pressable, parts, len(right))
        )

    def show_footer(self) -> None:
        """Show what the keys do here, as many as there is room for, or what is to be confirmed."""
        if not self._screen.is_composed:
            return
        width = self._screen.size.width
        armed = self._screen.console_app.two_presses.sentence
        fixed = self._fixed_keys(width, alone=bool(armed))
        told: Parts = ()
        if self._screen.has_class("-short") or not self._tells_connection:
            # Without a header, or room in it, the connection is told here.
            told = tuple((f" {text}", style) for text, style in self._connection)
        waits = self._waits_for_you()
        told += waits
        room = width - sum(len(text) for text, _ in (*told, *fixed)) - 1
        wanted = self._screen.footer_keys()
        keys = ((f" {armed} ", "bold $ask"),) if armed else _keys(wanted, room)
        if waits and len(keys) == 1 and wanted and wanted[0][0] == "esc":
            # The key that hands a phone back is never left out.
            told, waits = told[: -len(waits)], ()
            keys = _keys(wanted, width - sum(len(text) for text, _ in (*told, *fixed)) - 1)
        if _cells(told, keys, fixed) > width:
            # The sentence that has to be answered is there for a few seconds only.
            told = waits = ()
        left = (*told, *keys)
        parts = spread(left, fixed, width)
        # After a key stands its word; both are pressed for it.
        pressable = {} if armed else _keys_by_part(keys, 1, len(told))
        pressable |= _keys_by_part(fixed, 0, -len(fixed))
        if waits:
            pressable[len(told) - 1] = NEXT_QUESTION
        self._screen.query_one("#footer", ActionLine).show_pressable(
            parts, _fitting(pressable, parts, len(fixed))
        )

    def _waits_for_you(self) -> Parts:
        """Return how much waits for the operator, where neither header nor tabs say it."""
        app = self._screen.console_app
        if not self._screen.has_class("-short") or self._screen.WHERE is actions.Where.DECK:
            return ()
        waiting = sum(one.needs_person for one in attention(app.bridge.state, app.seen))
        if not waiting or app.bridge.has_ended:
            return ()
        key = f" {self._key_now(NEXT_QUESTION)}".rstrip()
        return ((f" ? {waiting} waiting{key} ", "bold $ask"),)

    def on_text_selected(self, _event: TextSelected) -> None:
        """Copy what was selected with the mouse."""
        if self._screen._select_state is None:
            # Something else was dragged, such as a border; what is still marked was copied before.
            return
        selected = self._screen.get_selected_text()
        if selected:
            self._screen.console_app.copy(selected)

    async def on_action_line_pressed(self, event: ActionLine.Pressed) -> None:
        """Do what the part of the header, or the key of the footer, stands for."""
        if event.line.id == "header" or event.name == NEXT_QUESTION:
            await self._screen.console_app.action_act(event.name)
        elif event.line.id == "footer":
            self._screen.console_app.keyboard.press_named_later(event.name)
        else:
            self._screen.press_part(event.line.id or "", event.name)

    def _fixed_keys(self, width: int, *, alone: bool) -> Parts:
        """Write the keys at the right end, which the others give way to.

        The way to all other keys is always there, and so is stopping everything while something
        works; `alone` leaves stopping only, beside a sentence that has to be read.
        """
        fixed: list[str] = [_STOP_ALL] if self._is_possible(_STOP_ALL) else []
        if not alone:
            least = _ROOM_WITHOUT_TABS if self._screen.has_class("-short") else _ROOM_FOR_BOTH
            fixed[:0] = _WAYS if width >= least else _WAYS[:1]
        parts: list[tuple[str, str]] = []
        for action_id in fixed:
            key = self._key_now(action_id)
            if key:
                word = actions.BY_ID[action_id].title.lower()
                parts += [(key, "$footer-key"), (f" {word}  ", "$muted")]
        return tuple([*parts[:-1], (parts[-1][0][:-1], parts[-1][1])]) if parts else ()

    def _key_now(self, action_id: str) -> str:
        """Name a key of an action that works where the focus is; empty when none does."""
        keys = self._screen.console_app.keys
        return keys.chord(action_id) if self._is_typing else keys.name(action_id)

    @property
    def _is_typing(self) -> bool:
        """Whether letters are text where the focus is, not keys."""
        driven = is_driven_at(self._screen.focused)
        return driven or isinstance(self._screen.focused, TextArea | Input)

    def _word_of(self, action: actions.Action) -> str:
        owner = self._screen.owner_of(action.id)
        return (owner.word(action) if owner is not None else "") or action.title.lower()

    def keys(self) -> list[tuple[str, str]]:
        """List keys and words for the footer, most useful first."""
        focused = self._screen.focused
        if isinstance(focused, TextArea):
            composers = (one for one in focused.ancestors if isinstance(one, Composer))
            word = next((one.sends for one in composers), "send")
            return [("enter", word), *_WRITING]
        if isinstance(self._screen.focused, Input):
            return list(_SEEKING)
        return [
            (self._screen.key_of(action.id), self._word_of(action))
            for action in actions.footer(self._screen.WHERE)
            if action.id not in _AT_THE_END and self._is_offered(action.id)
        ]

    def _is_offered(self, action_id: str) -> bool:
        """Return whether the footer names an action: it can be done, and leads elsewhere."""
        if action_id == NEXT_QUESTION and not self._screen.console_app.bridge.state.questions:
            return False
        return action_id != f"screen.{self._screen.WHERE.value}" and self._is_possible(action_id)

    def _is_possible(self, action_id: str) -> bool:
        if self._screen.console_app.only_looks and actions.BY_ID[action_id].acts:
            return False
        return self._screen.can(action_id)


def standing_line(listed: Sequence[Trouble], width: int) -> Parts:
    """Return the worst of what is wrong, its command whole, and how much else there is."""
    if not listed:
        return ()
    text, command = listed[0]
    more = f"  and {len(listed) - 1} more" if len(listed) > 1 else ""
    room = width - Content(f" ▲ . Run: {command}{more} ").cell_length
    if room < _LEAST_TROUBLE:
        # The command has a line of its own, where it can be copied.
        first = f" ▲ {one_line(text, max(1, width - 4))}\n"
        return ((first, "bold $warn"), (f" {command}", "$foreground"))
    parts = ((f" ▲ {one_line(text, room)}.", "bold $warn"), (" Run: ", "$muted"))
    return (*parts, (command, "$foreground"), (more, "$muted"))


_LEAST_TROUBLE = 30  # Cells that a trouble needs beside its command.


@memoize_last
def _at_work(sessions: Mapping[str, SessionView]) -> tuple[int, int]:
    """Return how many sessions run, and how many of those that would are paused."""
    working = [
        view.session
        for view in sessions.values()
        if view.session.state is SessionState.RUNNING
        and not view.session.lost
        and not view.session.awaits_phone
    ]
    paused = sum(session.paused for session in working)
    return len(working) - paused, paused


@memoize_last
def _phones(devices: Mapping[str, DeviceInfo]) -> tuple[int, int]:
    """Return how many phones are online, and how many are there."""
    states = [one.state for one in devices.values()]
    return states.count(DeviceState.ONLINE), len(states) - states.count(DeviceState.GONE)


def is_small(width: int, height: int) -> bool:
    """Return whether a screen of this size, in cells, shows one sentence only."""
    return width < LEAST[0] or height < LEAST[1]


def _cells(*parts: Parts | list[tuple[str, str]]) -> int:
    """Return how many cells texts take, side by side."""
    return Content("".join(text for one in parts for text, _ in one)).cell_length


def _keys(pairs: list[tuple[str, str]], width: int) -> Parts:
    parts: list[tuple[str, str]] = [(" ", "")]
    used = 1
    for key, word in pairs:
        length = Content(f"{key} {word}   ").cell_length
        if used + length - 2 > width:
            break
        gap = "   " if used > 1 else ""
        parts += [(f"{gap}{key}", "$footer-key"), (f" {word}", "$muted")]
        used += length
    return tuple(parts)


def _keys_by_part(parts: Parts, first: int, offset: int) -> dict[int, str]:
    """Return which key each part stands for, where a key and its word follow each other."""
    found: dict[int, str] = {}
    for at in range(first, len(parts) - 1, 2):
        key = parts[at][0].strip()
        found |= {at + offset: key, at + 1 + offset: key}
    return found


def _fitting(names: dict[int, str], parts: Parts, at_end: int) -> dict[int, str]:
    """Leave out what a narrow line has no room for: parts from the left that were cut off."""
    kept = len(parts) - at_end - 1
    return {at: name for at, name in names.items() if at < kept}
