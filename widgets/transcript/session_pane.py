"""One session as a column: title, plan, transcript. The Deck and the replay show the same.

Draws a session view. Invariant: it does not know whether the view is live or stored.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from textual.app import ComposeResult
from textual.containers import Vertical

from agent.records import DIRECT, DeviceInfo, SessionState
from agent.state.device_names import device_names
from agent.state.reducer import SessionView
from agent.state.terms import term
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.lists.hosts import is_stranded
from widgets.lists.session_rows import device_name, session_title, step_words
from widgets.transcript.plan_view import PlanView
from widgets.transcript.transcript_view import TranscriptView

_NO_OTHERS: Mapping[str, SessionView] = MappingProxyType({})


class SessionPane(FaultIsolated, Vertical):
    """Title, plan and transcript of a session."""

    DEFAULT_CSS = """
    SessionPane { height: 1fr; }
    SessionPane > #below { height: 1; display: none; }
    SessionPane > #below.-shown { display: block; }
    """

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty

    def compose(self) -> ComposeResult:
        yield PartsLine(id="title")
        yield PlanView(id="plan")
        yield TranscriptView(id="transcript", empty=self.empty)
        yield PartsLine(id="below")

    @property
    def transcript(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    def show_view(
        self,
        view: SessionView | None,
        *,
        devices: Mapping[str, DeviceInfo],
        now_ms: int,
        asks: bool = False,
        delegates: bool = False,
        saying: str = "",
        parts: Sequence[tuple[status.Mark, str]] = (),
        others: Mapping[str, SessionView] = _NO_OTHERS,
        is_stored: bool = False,
    ) -> None:
        """Show a session, with what it delegated; None shows the empty sentence.

        `others` are the sessions that it may name: whom it waits for, what it is a branch of.
        `is_stored` says that it is a moment of the past, at which nothing can be asked for.
        """
        title = self.query_one("#title", PartsLine)
        plan = self.query_one(PlanView)
        if view is None:
            title.show(())
            plan.show_plan(())
            self.transcript.say_when_empty(self.empty)
            self.transcript.show_items("", ())
            return
        head = session_head(
            view,
            devices,
            now_ms,
            asks=asks,
            delegates=delegates,
            is_one_line=title.size.height == 1,
            others=others,
        )
        title.show(head)
        self.transcript.say_when_empty(_NOT_BEGUN if is_stored else _nothing_yet(view, parts))
        if view.session.plan or not parts:
            plan.show_plan(view.session.plan)
        else:
            plan.show_parts_of(parts)
        self.transcript.name_phones(device_names(devices))
        self.transcript.show_items(view.session.session_id, view.transcript.items)
        self.transcript.show_saying(saying)

    def on_transcript_view_new_items(self, event: TranscriptView.NewItems) -> None:
        below = self.query_one("#below", PartsLine)
        below.set_class(event.count > 0, "-shown")
        below.show(((f" {event.count} new ↓ ", "bold $live"), (" G follows", "$faint")))


_NOT_BEGUN = "Nothing had happened yet at this moment."


def _nothing_yet(view: SessionView, parts: Sequence[tuple[status.Mark, str]]) -> str:
    """Return why a session's transcript is empty."""
    session = view.session
    if parts:
        words = [mark.word for mark, _ in parts]
        told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        return f"Its subtasks do the work ({told}). Choose one at the left to see its steps."
    if session.state is SessionState.CREATED:
        return "Not started. Press p to start it."
    if session.state is SessionState.QUEUED:
        told = one_line(session.waits_for, 400) if is_told(session.waits_for) else ""
        return f"Queued: {told}." if told else "Queued."
    return "Reading its steps …" if session.steps and view.is_behind else "No steps yet."


def _named(key: str, others: Mapping[str, SessionView]) -> str:
    """Return what the operator calls a session; who drives a phone may also be no session."""
    view = others.get(key)
    return formatting.quoted(session_title(view.session), 40) if view else one_line(key, 40)


def is_told(reason: str) -> bool:
    """Return whether why a session waits is more than that every phone is in use."""
    return reason not in ("", "waiting for a free device")


def session_head(
    view: SessionView,
    devices: Mapping[str, DeviceInfo],
    now_ms: int,
    *,
    asks: bool,
    delegates: bool = False,
    is_one_line: bool = False,
    others: Mapping[str, SessionView] = _NO_OTHERS,
) -> Parts:
    """Write the two lines that stand over a transcript, or one: how it stands, and its title."""
    session = view.session
    mark = status.of_session(
        session, asks=asks, delegates=delegates, stranded=is_stranded(session, devices)
    )
    title = (session_title(session), "bold $foreground")
    if is_one_line:
        return ((f" {mark.glyph} {mark.word}  ", mark.style), title)
    until = session.updated_ms if session.state.is_terminal else now_ms
    # The phone first: of alike sessions it tells which this is, and the end of the line may be cut.
    facts = [device_name(session.serial, devices)] if session.serial else []
    facts += step_words(view)
    if session.forked_from:
        facts.append(f"branch of {_named(session.forked_from, others)}")
    facts.append(formatting.clock(until - session.created_ms))
    if session.model.startswith(DIRECT):
        facts.append(f"by {one_line(session.model.removeprefix(DIRECT), 40)}")
    if session.tool_servers:
        facts.append(f"tools of {', '.join(session.tool_servers)}")
    if session.target_package:
        facts.append(one_line(session.target_package, 40))
    if where := status.TARGET[session.target_runtime]:
        facts.append(f"{where} {session.target_display}" if session.target_display else where)
    held = devices.get(session.serial) if session.state is SessionState.QUEUED else None
    if held is not None and held.driver:
        facts.append(f"waits for {_named(held.driver, others)}")
    elif mark == status.QUEUED and is_told(session.waits_for):
        facts.append(one_line(session.waits_for, 200))
    elif not session.serial and mark == status.QUEUED:
        facts.append("waits for a free phone")
    if session.driver:
        facts.append(f"driven by {one_line(session.driver, 40)}")
    if session.deferred is not None:
        facts.append(f"then {term(session.deferred)}")
    if spent := formatting.cost(session.usage):
        facts.append(spent)
    if session.generation:
        facts.append(f"resumed {session.generation}×")
    return (
        (f" {mark.glyph} ", mark.style),
        title,
        ("\n   ", ""),
        (mark.word, mark.style),
        (f"  {' · '.join(facts)}", "$muted"),
    )
