"""Find the effects of a session's acts: a fold of its stored events, asked with each new screen.

The running turn asks before it stores an observation and stores what was found beside it; a resumed
one folds the stored past and knows the same. Not the words for it (`agent.state.effect_text`).
Invariants: finding changes nothing, folding does; what shows late goes to the act before; nothing
is compared that is not one page, and navigation is no effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent import protocol
from agent.loop.effects.announcements import notifications, toasts
from agent.loop.effects.device_facts import changed_facts
from agent.loop.effects.dialogs import closed, is_refused, opened, presses_refusal, taken_back
from agent.loop.effects.fields import (
    Left,
    changed_fields,
    filters,
    is_in_field,
    is_typed_into,
    settled_fields,
)
from agent.loop.effects.items import ListMemory, changed_items
from agent.loop.effects.pages import Page, has_same_frame, page_key, page_of
from agent.loop.effects.past_acts import NOTHING_DONE, PastAct, act_of, cause_of_content, newest_act
from agent.loop.effects.screen_change import OFF, ON, Cause, ScreenChange
from agent.loop.effects.sliders import placed_slider
from agent.loop.effects.standing_text import showing
from agent.loop.effects.states import changed_states, matched_elements, selected_by_press
from agent.loop.screen.elements import find_by_key
from agent.records import (
    ActionOutcome,
    EffectOf,
    Element,
    FieldFate,
    Ledger,
    Observation,
    Question,
    QuestionKind,
    SeenEffect,
    SeenEffectKind,
    Speaker,
)
from agent.safety.approval import is_yes
from agent.text import one_line
from agent.tools.registry import may_change_screen, moves_view

_MOST_PAGES = 40
_TEXT_CHARS = 300


@dataclass(slots=True, eq=False)
class _Sighting:
    """A page as it was seen last."""

    page: Page
    step: int
    observation: Observation
    known: set[str]
    """The labels of all that it ever showed."""
    acts_from: int
    """Where in the list of acts those begin that were done since."""

    @property
    def elements(self) -> Sequence[Element]:
        return self.observation.elements


@dataclass(slots=True)
class EffectFinder:
    """What one session has changed, and what has to be known to see more.

    Args:
        phone: the serial.
    """

    phone: str = ""
    ledger: Ledger = field(default_factory=Ledger)
    _pages: list[_Sighting] = field(default_factory=list)
    """What was seen, dialogs apart, the newest last."""
    _ways: dict[str, list[_Sighting]] = field(default_factory=dict)
    """For each app the pages that led to its newest one: what is left by the way back is over."""
    _last: _Sighting | None = None
    _acts: list[PastAct] = field(default_factory=list)
    """Of this turn."""
    _acts_told: int = 0
    """How many of them were done when the newest screen was seen."""
    _calls: dict[str, protocol.ToolCallRequested] = field(default_factory=dict)
    _asked: dict[str, Question] = field(default_factory=dict)
    _approved: dict[str, str] = field(default_factory=dict)
    _done_approved: list[tuple[PastAct, str]] = field(default_factory=list)
    _echoed: set[int] = field(default_factory=set)
    """The numbers of typed texts that stood beside their fields: they filter or search."""

    # --- folding ----------

    def fold(self, msg: protocol.EventMsg) -> None:
        """Take in one stored event."""
        match msg:
            case protocol.ObservationRecorded(step=step, observation=seen):
                self._see(step, seen)
            case protocol.EffectsSeen(effects=effects):
                self.ledger = self.ledger.with_effects(effects)
                self._note_echoes()
            case protocol.ToolCallRequested(call_id=call_id):
                self._calls[call_id] = msg
            case protocol.ToolCallFinished():
                self._finish(msg)
            case protocol.WheelActed(said=said, outcome=outcome):
                if outcome is not ActionOutcome.FAILED:
                    self._acts.append(PastAct(by=EffectOf.OPERATOR, tool="wheel", said=said))
            case protocol.UndoStarted(offer=offer):
                act = PastAct(by=EffectOf.OPERATOR, tool="undo", element=offer.element)
                self._acts.append(act)
            case protocol.UndoFinished():
                # Its screen is not stored, and what it showed is in the ledger.
                self._forget(self._last)
            case protocol.UserMessage(text=text, steer=True, speaker=Speaker.PRODUCT):
                # A running turn learns by a hint what the operator did at the wheel.
                self._acts.append(PastAct(by=EffectOf.OPERATOR, tool="wheel", said=text))
            case protocol.RequestUserInput(question=question):
                self._asked[question.question_id] = question
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                asked = self._asked.pop(question_id, None)
                if asked is not None and asked.kind is QuestionKind.APPROVAL and is_yes(answer):
                    self._approved[asked.call_id] = asked.text
            case protocol.TaskComplete() | protocol.TurnAborted():
                # Whatever happens until the next turn, no act of this one did it.
                self._acts.clear()
                self._acts_told = 0
                for page in (*self._pages, *([self._last] if self._last else ())):
                    page.acts_from = 0
            case _:
                # Every other fact changes nothing on a phone.
                return

    def _forget(self, page: "_Sighting | None") -> None:
        """Forget what an app's pages looked like: the next look at each is its first."""
        if page is not None:
            package = page.page.package
            self._pages = [one for one in self._pages if one.page.package != package]
            self._ways.pop(package, None)
        self._last = None

    def _finish(self, msg: protocol.ToolCallFinished) -> None:
        call = self._calls.pop(msg.call_id, None)
        approved = self._approved.pop(msg.call_id, "")
        if call is None or call.kind != "action" or msg.outcome is ActionOutcome.FAILED:
            return
        act = act_of(call, msg.text)
        if approved and msg.outcome is ActionOutcome.DONE and not moves_view(call.tool):
            self._done_approved.append((act, approved))
        if may_change_screen(call.tool, call.arguments) or call.tool == "clipboard":
            self._acts.append(act)

    def _note_echoes(self) -> None:
        """Note which typed texts stand beside their fields: what a search has found does."""
        screen = () if self._last is None else self._last.elements
        for text in self._open_texts():
            if is_in_field(text, screen) and showing(text.after, screen):
                self._echoed.add(text.number)

    def _open_texts(self) -> list[SeenEffect]:
        """Return the effects of typing that nothing has settled yet."""
        return [
            one
            for one in self.ledger.of_kind(SeenEffectKind.FIELD)
            if one.saved in {FieldFate.TYPED, FieldFate.SUBMITTED}
            and one.after
            and not one.settled_by
            and one.number not in self._echoed
        ]

    def _see(self, step: int, seen: Observation) -> None:
        self._done_approved.clear()
        page = page_of(seen.foreground, seen.elements)
        self._acts_told = len(self._acts)
        before = self._seen_before(page, seen)
        if seen.is_loading and before is not None:
            # What it will show is compared with what it showed when it was whole.
            self._last = replace(before, step=step, observation=seen)
            return
        known = before.known if before is not None else set()
        known.update([element.label for element in seen.elements])
        self._last = _Sighting(page, step, seen, known, len(self._acts))
        self._note_echoes()
        if page.dialog is not None or _is_unreadable(seen):
            return
        way = self._ways.setdefault(page.package, [])
        if before is not None:
            self._pages = [one for one in self._pages if one is not before]
        if before in way:
            del way[way.index(before) :]
        way.append(self._last)
        self._pages.append(self._last)
        del self._pages[:-_MOST_PAGES], way[:-_MOST_PAGES]

    def _seen_before(self, page: Page, now: Observation) -> _Sighting | None:
        """Return the newest sighting of a page; None: it was never seen."""
        if page.dialog is not None or _is_unreadable(now):
            return None
        key = page_key(page)
        return next(
            (
                one
                for one in reversed(self._pages)
                if page_key(one.page) == key and has_same_frame(one.elements, now.elements)
            ),
            None,
        )

    # --- finding ----------

    def find(self, step: int, now: Observation) -> tuple[SeenEffect, ...]:
        """Return the effects that a new screen shows, which is about to be stored.

        Args:
            step: the screen's.
        """
        last = self._last
        if last is None:
            return ()
        recent = self._acts[self._acts_told :] or self._acts[-1:]
        newest = newest_act(recent)
        told = [
            (ScreenChange(kind=SeenEffectKind.APPROVED, object=_pressed(act), after=text), act)
            for act, text in self._done_approved
        ]
        shown = [] if newest is NOTHING_DONE else toasts(last.observation, now)
        told += [(one, newest) for one in shown]
        # Nobody knows what brought it.
        told += [(one, NOTHING_DONE) for one in notifications(last.elements, now.elements)]
        if len(self._acts) > self._acts_told:
            facts = changed_facts(last.observation, now, newest, self.ledger)
            told += [(one, newest) for one in facts]
        page = page_of(now.foreground, now.elements)
        earlier: _Sighting | None = None
        if not (_is_unreadable(now) or _is_unreadable(last.observation) or now.is_loading):
            told += [(one, newest) for one in self._dialogs(last, page, now, newest)]
            earlier = self._comparable(last, page, now)
            held = last if is_typed_into(last.page, page, newest) else earlier
            typed = []
            if held is not None:
                typed = changed_fields(held.elements, now.elements, page.name, newest)
            told += [(one, newest) for one in typed]
            sent = {_key_of(one) for one in typed}
            if earlier is not None:
                acts = self._acts[earlier.acts_from :] or self._acts[-1:]
                on_page = self._on_page(earlier, page, now, acts)
                told += [one for one in on_page if _key_of(one[0]) not in sent]
                found = placed_slider(last.observation, now, newest, (one for one, _ in told))
                told += [(one, newest) for one in found]
            if (last.page.activity, last.page.title) == (page.activity, page.title):
                chosen = selected_by_press(last.elements, now.elements, newest.element)
                told += [(one, newest) for one in chosen]
            told += self._left_fields(last, page, now, newest)
        numbered: list[SeenEffect] = []
        for one, act in told:
            if act is NOTHING_DONE and not _is_sure(one):
                continue
            at = earlier if one.was_there else None
            number = self.ledger.next_number + len(numbered)
            numbered.append(self._effect(number, step, one, act, page, at))
        return tuple(numbered)

    def _effect(
        self,
        number: int,
        step: int,
        found: ScreenChange,
        act: PastAct,
        page: Page,
        at: _Sighting | None,
    ) -> SeenEffect:
        element = found.element
        return SeenEffect(
            number=number,
            step=act.step,
            seen_step=step,
            call_id=act.call_id,
            by=act.by,
            kind=found.kind,
            object=found.object,
            before=found.before,
            after=found.after,
            saved=found.saved,
            app=page.package,
            page=one_line(found.page or page.name, _TEXT_CHARS),
            phone=self.phone,
            element_step=0 if element is None else step if at is None else at.step,
            element=0 if element is None else element.number,
            element_key="" if element is None else element.key,
        )

    def _comparable(self, last: _Sighting, page: Page, now: Observation) -> _Sighting | None:
        """Return the page as it was seen before; None where it may be another one of its kind."""
        if page.dialog is not None:
            return last if _is_same_dialog(last, page, now) else None
        before = self._seen_before(page, now)
        return before if before in self._ways.get(page.package, ()) else None

    def _on_page(
        self, earlier: _Sighting, page: Page, now: Observation, acts: Sequence[PastAct]
    ) -> list[tuple[ScreenChange, PastAct]]:
        before, after = earlier.elements, now.elements
        matched = matched_elements(before, after)
        pressed = [
            act.element
            for act in acts
            if act.element is not None and not act.only_looks and _key_in(before, act.element)
        ]
        cause, newest = cause_of_content(acts), newest_act(acts)
        found = changed_states(before, after, matched, pressed, title=page.name)
        if cause is not NOTHING_DONE and page.dialog is None:
            memory = ListMemory(
                known=frozenset(earlier.known),
                typed=tuple(filter(None, (act.text for act in acts))),
                pressed=tuple(pressed),
                scrolled=any(act.scrolls for act in acts),
                toggled=any(one.checkable for one in pressed),
                resized=earlier.observation.foreground.keyboard_shown
                != now.foreground.keyboard_shown,
            )
            if not filters(matched):
                found += changed_items(before, after, matched, memory)
        return [(one, newest if one.cause is Cause.NEWEST else cause) for one in found]

    def _dialogs(
        self, last: _Sighting, page: Page, now: Observation, act: PastAct
    ) -> list[ScreenChange]:
        if last.page.dialog is None and page.dialog is None:
            return []
        if _is_same_dialog(last, page, now):
            return []
        found = []
        title = last.page.dialog
        if title is not None:
            found.append(closed(title, last.elements, act))
            if page.dialog is None and is_refused(last.elements, act):
                found += taken_back(title, self.ledger)
        if page.dialog is not None:
            found.append(opened(page.dialog))
        return found

    def _left_fields(
        self, last: _Sighting, page: Page, now: Observation, act: PastAct
    ) -> list[tuple[ScreenChange, PastAct]]:
        open_texts = [one for one in self._open_texts() if one.app == page.package]
        if not open_texts:
            return []
        earlier = self._seen_before(page, now)
        left = Left(
            page=last.page,
            now=page,
            by_way_back=act.leads_back or presses_refusal(last.elements, act),
            by_own_control=_key_in(last.elements, act.element),
            came_back=earlier is not None and earlier.page != last.page,
        )
        shown = () if earlier is None else earlier.elements
        found = settled_fields(open_texts, last.elements, now.elements, shown, left)
        return [
            # A text that was submitted and shows late was saved by the act that submitted it.
            (
                one,
                act if text.saved is FieldFate.TYPED else PastAct(text.step, text.call_id, text.by),
            )
            for text, one in found
        ]


def _key_of(found: ScreenChange) -> str:
    return "" if found.element is None else found.element.key


def _key_in(screen: Sequence[Element], element: Element | None) -> bool:
    return element is not None and find_by_key(screen, element.key) is not None


def _is_unreadable(seen: Observation) -> bool:
    return bool(seen.tree_note) or not seen.elements


def _is_sure(found: ScreenChange) -> bool:
    """Return whether a change is told that nothing was done for: a switch that moved by itself."""
    if found.kind is SeenEffectKind.NOTIFICATION:
        return True
    return found.kind is SeenEffectKind.STATE and {found.before, found.after} == {ON, OFF}


def _is_same_dialog(last: _Sighting, page: Page, now: Observation) -> bool:
    """Return whether the same dialog is still in front; that of a date changes its title."""
    if last.page.dialog is None or page.dialog is None:
        return False
    if last.page.package != page.package:
        return False
    if last.page.dialog and last.page.dialog == page.dialog:
        return True
    keys = {_unplaced(element) for element in last.elements}
    same = sum(_unplaced(element) in keys for element in now.elements)
    return 2 * same >= min(len(last.elements), len(now.elements))


def _unplaced(element: Element) -> str:
    """Return an element's key without its place: a keyboard moves what it does not cover."""
    return element.key.rpartition("|")[0]


def _pressed(act: PastAct) -> str:
    return act.tool if act.element is None else one_line(act.element.label, _TEXT_CHARS)
