"""Two stored sessions side by side: what they did alike, and the first step where they part.

Reads both from the store and sends no op; what is compared is `console.report.parting`'s, as for
the command line. Invariant: the cursor begins where they part.
"""

from collections.abc import Set as AbstractSet
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from agent.knowledge.app_names import name_of_package
from agent.state.reducer import ActionView, State
from console.keys import actions
from console.keys.controllers import Controller
from console.report.parting import Pair, Parting, compare
from console.report.parting_words import parting_lines
from console.report.recorded import RecordedAction, RecordedSession, read_recorded
from console.screens.base.console_screen import ConsoleScreen
from console.steps.stored_frames import FrameReader
from widgets.base import status
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Parts
from widgets.lists.parting_rows import Done, Place, done_detail, parting_rows
from widgets.lists.session_rows import device_name, session_title
from widgets.pictures.phone_pane import PhonePane, spread

SIDES = ("left", "right")
_EMPTY = "Reading both sessions…"
_NOTHING = "Neither of them has done anything on a phone."


class Compared(NamedTuple):
    """Both sessions, and where they part."""

    left: RecordedSession
    right: RecordedSession
    parting: Parting
    places: tuple[Place, ...]

    @property
    def sides(self) -> tuple[RecordedSession, RecordedSession]:
        """Both, in order."""
        return self.left, self.right


class FramesController(Controller):
    """The picture that each session saw at the place under the cursor.

    Args:
        screen: the comparison.
    """

    def __init__(self, screen: "CompareScreen") -> None:
        self._screen = screen
        self._frames = FrameReader(self._show_read)

    def show_frame(self) -> None:
        """Show both pictures."""
        compared, pair = self._screen.compared, self._screen.pair
        if compared is None or pair is None:
            return
        acts = (pair.left, pair.right)
        for side, act, told in zip(SIDES, acts, compared.sides, strict=True):
            self._show(side, act, told.session.serial)

    def _show(self, side: str, act: RecordedAction | None, serial: str) -> None:
        app = self._screen.console_app
        phone = self._screen.query_one(f"#{side}-phone", PhonePane)
        kept, size_px = act.frame if act is not None else None, phone.wanted_px
        frame = None
        if kept is not None and min(size_px) > 1:
            frame = self._frames.get(app, kept, size_px, serial=serial)
            if frame is None:
                return
        phone.show_marks((act.element,) if act is not None and act.element else (), None)
        phone.show_phone(
            frame,
            name=device_name(serial, app.bridge.state.devices),
            proportions=(kept.width_px, kept.height_px) if kept is not None else (0, 0),
            now_ms=app.now_ms(),
            step=act.step if act is not None else 0,
        )

    def _show_read(self) -> None:
        if self._screen.is_running and self._screen.is_attached:
            self.show_frame()

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.show_frame()


class CompareScreen(ConsoleScreen):
    """Two sessions.

    Args:
        left_id: the one that was chosen first.
        right_id: the other.
    """

    WHERE = actions.Where.COMPARE
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.COMPARE)]
    CONTROLLERS = (FramesController,)
    AUTO_FOCUS = "#places"

    def __init__(self, left_id: str, right_id: str) -> None:
        super().__init__()
        self.ids = (left_id, right_id)
        self.compared: Compared | None = None
        self.frames = FramesController(self)
        self.controllers = (self.frames,)

    def compose_body(self) -> ComposeResult:
        with Vertical(id="compare"):
            yield PartsLine(id="compare-heading")
            yield RowList(id="places", empty=_EMPTY)
            with Horizontal(id="compare-detail"):
                for side in SIDES:
                    with Vertical(classes="compare-side"):
                        yield PartsLine(id=f"{side}-text")
                        yield PhonePane(id=f"{side}-phone", empty="No frame of it was stored.")

    def on_mount(self) -> None:
        for pane in self.query(PhonePane):
            pane.can_focus = False
        self.console_app.spawn(self._read(), "comparing two sessions")

    async def _read(self) -> None:
        core = self.console_app.core
        left, right = [await read_recorded(core, one) for one in self.ids]
        parting = compare(left, right)
        places = tuple(
            Place(_done(pair.left), _done(pair.right), pair.is_alike) for pair in parting.pairs
        )
        self.compared = Compared(left, right, parting, places)
        if self.is_running and self.is_attached:
            self.table.say_when_empty(_NOTHING)
            self.refresh_all()
            self.table.move_to(str(min(parting.at, len(places) - 1)))

    # --- what there is ----------

    @property
    def table(self) -> RowList:
        """The places in the order of both."""
        return self.query_one("#places", RowList)

    @property
    def at(self) -> int:
        """The place under the cursor."""
        return int(self.table.cursor_key or 0)

    @property
    def pair(self) -> Pair | None:
        """What both did at this place."""
        pairs = self.compared.parting.pairs if self.compared is not None else ()
        return pairs[self.at] if self.at < len(pairs) else None

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        compared = self.compared
        if compared is None:
            return
        table = self.table
        heading = self.query_one("#compare-heading", PartsLine)
        asking = {question.session_id for question in state.questions.values()}
        heading.show(_heading(compared, asking, max(1, heading.size.width)))
        table.show_rows(
            parting_rows(compared.places, parts_at=compared.parting.at, width=table.text_width)
        )
        place = compared.places[self.at] if self.at < len(compared.places) else None
        for side in SIDES:
            done = getattr(place, side) if place is not None else None
            detail = done_detail(done) if place is not None else ()
            self.query_one(f"#{side}-text", PartsLine).show(detail)
        self.show_frame()

    def show_frame(self) -> None:
        self.frames.show_frame()

    # --- keys ----------

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self.refresh_all()

    def on_row_list_opened(self, _event: RowList.Opened) -> None:
        self._play(0)

    def do_compare_other(self) -> None:
        """Play the second session from the place under the cursor."""
        self._play(1)

    def _play(self, which: int) -> None:
        # Imported here: the replay itself can be compared, and knows this screen.
        from console.screens.history.replay import ReplayScreen

        pair = self.pair
        if pair is None:
            return
        act = (pair.left, pair.right)[which]
        seq = act.seq if act is not None else 0
        self.console_app.push_screen(ReplayScreen(self.ids[which], at_seq=seq))

    def do_compare_parting(self) -> None:
        """Go to the first step where they part."""
        if self.compared is not None:
            self.table.move_to(str(min(self.compared.parting.at, len(self.compared.places) - 1)))
            self.refresh_all()

    def do_compare_copy(self) -> None:
        """Copy where they part, as lines."""
        if self.compared is not None:
            left, right, parting, _ = self.compared
            self.console_app.copy("\n".join(parting_lines(left, right, parting)))


def _done(act: RecordedAction | None) -> Done | None:
    if act is None:
        return None
    action = ActionView(
        call_id="", tool=act.tool, arguments=act.arguments, kind=act.kind, element=act.element
    )
    # By its package, never by what the phone says of it.
    app = f"{name_of_package(act.package)} ({act.package})" if act.package else ""
    return Done(act.step, action, app, act.thought, act.frame)


def _heading(compared: Compared, asking: AbstractSet[str], width: int) -> Parts:
    """Name both, a line each, with those that ask, and say where they part."""
    parts: list[tuple[str, str]] = []
    for number, told in enumerate(compared.sides, 1):
        mark = status.of_session(told.session, asks=told.session.session_id in asking)
        left: Parts = (
            (f" {number} ", "$faint"),
            (f"{mark.glyph} ", mark.style),
            (session_title(told.session), "bold $foreground"),
        )
        steps = f"{len(told.steps)} step{'' if len(told.steps) == 1 else 's'}"
        parts += [*spread(left, ((f"{mark.word} · {steps} ", "$muted"),), width), ("\n", "")]
    at, count = compared.parting.at, len(compared.places)
    if not count:
        said = "nothing to compare"
    elif compared.parting.is_same:
        said = f"Identical throughout: {_actions(count)}."
    elif not at:
        said = "They diverge at the first action."
    else:
        said = f"Identical for {_actions(at)}, then they diverge."
    return (*parts, (f" {said}", "$ask" if count and not compared.parting.is_same else "$muted"))


def _actions(count: int) -> str:
    return f"{count} action{'' if count == 1 else 's'}"
