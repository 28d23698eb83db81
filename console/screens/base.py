"""What every screen of the console has: header, footer, size classes, a word when it is too small.

Not a screen itself. Invariants: resizing moves no scroll position and loses no text, because
nothing is mounted again; an action that cannot be done now is not in the footer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import (
    DescendantBlur,
    DescendantFocus,
    Resize,
    ScreenResume,
    TextSelected,
)
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from agent.records import DeviceState, SessionState
from agent.state.reducer import State, attention
from console.keys import actions
from console.keys.controllers import Controller
from widgets.base.action_line import ActionLine
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts
from widgets.pictures.phone_pane import is_driven_at, spread

if TYPE_CHECKING:
    from console.app import SwitchboardApp
    from console.frames.stills import Source
    from widgets.questions.composer import Composer

LEAST = (40, 12)
OPENING = "Opening …"
"""What stands where nothing is known yet: that there is none would be a guess."""
_WRITING = (
    ("enter", "send"),
    ("esc", "back"),
    ("^j", "new line"),
    ("tab", "next pane"),
)
_SEEKING = (("enter", "to what was found"), ("esc", "clear"))
_STOP_ALL = "session.stop_all"
_WAYS = ["app.help", "app.palette"]
_AT_THE_END = frozenset({_STOP_ALL, *_WAYS})
_ROOM_FOR_BOTH = 100
"""Columns from which the palette's key stands beside that of help."""


class ConsoleScreen(FaultIsolated, Screen[None]):
    """A screen of the console."""

    WHERE: ClassVar[actions.Where] = actions.Where.EVERYWHERE
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 -- Textual declares it on the instance
        (0, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]  # noqa: RUF012

    @property
    def console_app(self) -> SwitchboardApp:
        """The app, by its own type."""
        from console.app import SwitchboardApp

        assert isinstance(self.app, SwitchboardApp)
        return self.app

    _frame_shown = -1
    _sizes: tuple[tuple[str | None, Size], ...] = ()
    is_composed = False
    """Whether the widgets are there; resizing and resuming come before they are."""

    _got_composed = False
    """Whether composing came to its end."""

    def on_mount(self) -> None:
        self.is_composed = self._got_composed
        if not self._got_composed:
            # What is empty shows no notice of why, either.
            self.app.call_later(self._go_away)
            return
        # Before the first picture, which would be an empty one, and again with the widths it gave.
        self.refresh_all()
        self.call_after_refresh(self._show_measured)
        self.screen_layout_refresh_signal.subscribe(self, self._on_laid_out, immediate=True)

    def _go_away(self) -> None:
        below = self.app.screen_stack[-2:-1]
        if self.app.screen is self and any(isinstance(one, ConsoleScreen) for one in below):
            self.app.pop_screen()

    def _show_measured(self) -> None:
        self.refresh_all()
        self.console_app.painted.set()

    def _on_laid_out(self, _screen: Screen[None]) -> None:
        """Show the picture again where what it is shown in has another size now."""
        named = (widget for widget in self.query_one("#body").query("*") if widget.id)
        sizes = tuple((widget.id, widget.size) for widget in named)
        if sizes != self._sizes:
            self._sizes = sizes
            self.call_later(self.refresh_all)

    # --- what a screen has ----------

    def compose(self) -> ComposeResult:
        self._fit()
        yield ActionLine(id="header")
        yield from self.compose_tabs()
        with Container(id="body"):
            yield from self.compose_body()
        yield ActionLine(id="footer")
        yield PartsLine(
            ((" Too small: 40×12 is the minimum. ^x stops all. ", "$warn"),), id="too-small"
        )
        self._got_composed = True

    def _fit(self) -> None:
        """Take the classes of this size, which Textual gives only after it drew the first time."""
        width, height = self.app.size
        ways = ((width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS))
        for cells, breakpoints in ways:
            fitting = max((least, name) for least, name in breakpoints or () if cells >= least)
            self.add_class(fitting[1], update=False)
        self.set_class(_is_small(width, height), "-tiny", update=False)

    def compose_tabs(self) -> ComposeResult:
        """Return what is under the header."""
        yield from ()

    def compose_body(self) -> ComposeResult:
        """Return what is between header and footer."""
        yield from ()

    def show_state(self, state: State) -> None:
        """Show the picture; called at most once a tick, and once a second for ages."""

    def show_frame(self) -> None:
        """Show the newest frame; called at most once a tick, only while on top."""

    def tick_frames(self) -> None:
        """Show what came since the last time; called while the terminal takes pictures."""
        version = self.console_app.feed.version
        if version != self._frame_shown:
            self._frame_shown = version
            self.show_frame()

    def still(self) -> Source | None:
        """Return the picture that may be drawn as an image while it rests."""
        return None

    CONTROLLERS: ClassVar[tuple[type[Controller], ...]] = ()
    """What it is composed of, besides itself."""

    controllers: tuple[Controller, ...] = ()
    """The parts that own some of this screen's actions; asked before the screen is."""

    def owner_of(self, action_id: str) -> Controller | None:
        """Return the controller that does an action now; None where the screen does it."""
        return next((one for one in self.controllers if one.owns(action_id)), None)

    def can(self, action_id: str) -> bool:
        """Return whether an action can be done now; palette and footer leave the rest out."""
        return True

    def back(self) -> bool:
        """Go one layer back; False when there is none on this screen."""
        return False

    def if_known(self, sentence: str) -> str:
        """Return what is to be said of an empty place, or that the core is still being opened."""
        return OPENING if self.console_app.bridge.is_opening else sentence

    def on_composer_refused(self, event: Composer.Refused) -> None:
        """Show why what was to be written was not taken."""
        self.console_app.say(event.reason, tone="warning")

    # --- keeping it fresh ----------

    def refresh_all(self) -> None:
        """Show the picture, header and footer again."""
        if not self.is_composed:
            return
        self.show_state(self.console_app.bridge.state)
        self.show_header()
        self.show_footer()

    def on_screen_resume(self, _event: ScreenResume) -> None:
        self.refresh_all()

    def on_resize(self, event: Resize) -> None:
        self.set_class(_is_small(*event.size), "-tiny")
        self.call_after_refresh(self.refresh_all)

    def taken_digits(self) -> str:
        """Name the digits that belong to what has the focus, not to the screens."""
        return "123456789" if isinstance(self.focused, TextArea | Input) else ""

    def on_descendant_focus(self, _event: DescendantFocus) -> None:
        if self.is_composed:
            self.show_header()
        self.show_footer()

    def on_descendant_blur(self, _event: DescendantBlur) -> None:
        self.show_footer()

    def focus_now(self, widget: Widget) -> None:
        """Focus something that may just have been shown: the next key already belongs to it."""
        self.app.stylesheet.update(self, animate=False)
        self.set_focus(widget)
        self.show_footer()

    # --- header and footer ----------

    def show_header(self) -> None:
        """Show where we are and what waits."""
        app = self.console_app
        state = app.bridge.state
        width = self.size.width
        left: list[tuple[str, str]] = [(" Switchboard", "bold $primary")]
        if app.place:
            left.append((f" {app.place}", "$muted"))
        left.append(("  ", ""))
        named = len(left)
        pressable: dict[int, str] = {}
        taken = self.taken_digits()
        for where, action_id in (
            (actions.Where.DECK, "screen.deck"),
            (actions.Where.WALL, "screen.wall"),
            (actions.Where.JOBS, "screen.jobs"),
            (actions.Where.HISTORY, "screen.history"),
        ):
            action = actions.BY_ID[action_id]
            here = where is self.WHERE
            # A digit that would be typed or choose an option is not offered as a screen's key.
            key = app.keys.name(action_id)
            left.append((" " if key in taken else f" {key} ", "$faint"))
            pressable |= {len(left) - 1: action_id, len(left): action_id}
            left.append((f"{action.title} ", "bold $foreground" if here else "$muted"))
        waiting = sum(one.needs_person for one in attention(state, app.seen))
        working = [
            view.session
            for view in state.sessions.values()
            if view.session.state is SessionState.RUNNING
            and not view.session.lost
            and not view.session.awaits_phone
        ]
        paused = sum(session.paused for session in working)
        running = len(working) - paused
        online = sum(d.state is DeviceState.ONLINE for d in state.devices.values())
        right: list[tuple[str, str]] = []
        if waiting and state.questions:
            pressable[0] = "question.next"
        if waiting:
            # On the Deck the queue itself names the key.
            go = self.WHERE is not actions.Where.DECK and bool(state.questions)
            way = f" · {app.keys.name('question.next')}" if go else ""
            does = "waits" if waiting == 1 else "wait"
            right.append((f"? {waiting} {does} for you{way}  ", "bold $ask"))
        if running:
            right.append((f"● {running} running  ", "$live"))
        if paused:
            right.append((f"‖ {paused} paused  ", "$warn"))
        usage = app.usage.newest if app.usage is not None else None
        if usage is not None and usage.is_nearly_full and width >= 100:
            right.append((f"{usage.words}  ", "$warn"))
        if app.bridge.is_opening:
            right.append(("opening … ", "$muted"))
        elif width >= 80:
            known = sum(d.state is not DeviceState.GONE for d in state.devices.values())
            count = f"{online} of {known}" if online < known else str(known)
            tone = "$warn" if online < known else "$muted"
            right.append((f"{count} device{'' if known == 1 else 's'} ", tone))
        # Where there is not room for all, the tabs and what waits stay: they are pressed.
        if _cells(left, right) > width:
            left[:named] = [("", "")] * named
        while len(right) > 1 and _cells(left, right) > width:
            right.pop()
        parts = spread(tuple(left), tuple(right), width)
        if pressable.pop(0, ""):
            pressable[-len(right)] = "question.next"
        self.query_one("#header", ActionLine).show_pressable(
            parts, _seen(pressable, parts, len(right))
        )

    def show_footer(self) -> None:
        """Show what the keys do here, as many as there is room for, or what is to be confirmed."""
        if not self.is_composed:
            return
        width = self.size.width
        armed = self.console_app.two_acts.sentence
        fixed = self._fixed_keys(width, alone=bool(armed))
        room = width - sum(len(text) for text, _ in fixed) - 1
        left = ((f" {armed} ", "bold $ask"),) if armed else _keys(self.footer_keys(), room)
        parts = spread(left, fixed, width)
        # After a key stands its word; both are pressed for it.
        pressable = {} if armed else _keys_by_part(left, 1, 0)
        pressable |= _keys_by_part(fixed, 0, -len(fixed))
        self.query_one("#footer", ActionLine).show_pressable(
            parts, _seen(pressable, parts, len(fixed))
        )

    def on_text_selected(self, _event: TextSelected) -> None:
        """Copy what was selected with the mouse."""
        selected = self.get_selected_text()
        if selected:
            self.console_app.copy(selected)

    async def on_action_line_pressed(self, event: ActionLine.Pressed) -> None:
        """Do what the part of the header, or the key of the footer, stands for."""
        if event.line.id == "header":
            await self.console_app.action_act(event.name)
        elif event.line.id == "footer":
            self.console_app.press_named_key(event.name)
        else:
            self.press_part(event.line.id or "", event.name)

    def press_part(self, line: str, name: str) -> None:
        """Do what a part of another line of this screen stands for."""

    def _fixed_keys(self, width: int, *, alone: bool) -> Parts:
        """Write the keys at the right end, which the others give way to.

        The way to all other keys is always there, and so is stopping everything while something
        works; `alone` leaves stopping only, beside a sentence that has to be read.
        """
        fixed: list[str] = [_STOP_ALL] if self.can(_STOP_ALL) else []
        if not alone:
            fixed[:0] = _WAYS if width >= _ROOM_FOR_BOTH else _WAYS[:1]
        parts: list[tuple[str, str]] = []
        for action_id in fixed:
            key = self._key_now(action_id)
            if key:
                word = actions.BY_ID[action_id].title.lower()
                parts += [(key, "$footer-key"), (f" {word}  ", "$muted")]
        return tuple([*parts[:-1], (parts[-1][0][:-1], parts[-1][1])]) if parts else ()

    def _key_now(self, action_id: str) -> str:
        """Name a key of an action that works where the focus is; empty when none does."""
        keys = self.console_app.keys
        return keys.chord(action_id) if self.is_typing else keys.name(action_id)

    @property
    def is_typing(self) -> bool:
        """Whether letters are text where the focus is, not keys."""
        driven = is_driven_at(self.focused)
        return driven or isinstance(self.focused, TextArea | Input)

    def key_of(self, action_id: str) -> str:
        """Name the key of an action, as the operator has it."""
        return self.console_app.keys.name(action_id)

    def word_of(self, action: actions.Action) -> str:
        """Return in a word or two what an action would do now."""
        owner = self.owner_of(action.id)
        return (owner.word(action) if owner is not None else "") or action.title.lower()

    def footer_keys(self) -> list[tuple[str, str]]:
        """List keys and words for the footer, most useful first."""
        if isinstance(self.focused, TextArea):
            return list(_WRITING)
        if isinstance(self.focused, Input):
            return list(_SEEKING)
        return [
            (self.key_of(action.id), self.word_of(action))
            for action in actions.footer(self.WHERE)
            if action.id not in _AT_THE_END and self._is_offered(action.id)
        ]

    def _is_offered(self, action_id: str) -> bool:
        """Return whether the footer names an action: it can be done, and leads elsewhere."""
        if action_id == "question.next" and not self.console_app.bridge.state.questions:
            return False
        return action_id != f"screen.{self.WHERE.value}" and self.can(action_id)


def _is_small(width: int, height: int) -> bool:
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


def _seen(names: dict[int, str], parts: Parts, at_end: int) -> dict[int, str]:
    """Leave out what a narrow line has no room for: parts from the left that were cut off."""
    kept = len(parts) - at_end - 1
    return {at: name for at, name in names.items() if at < kept}
