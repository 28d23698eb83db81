"""Find the act that takes an effect back, on the newest screen: a fold of a session's events. Pure.

Judged by what was seen, never by words: a switch by its state, a field by its content, an app's own
offer by its place beside what the app announced. Invariants: nothing is offered that is not on the
screen; what was taken back, or what has changed again since, is not offered; a reason is given for
everything that is not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent import protocol
from agent.loop.effects.pages import in_band, page_of, row_name, row_state
from agent.loop.effects.screen_change import OFF, ON
from agent.loop.effects.states import TEXT_CHARS
from agent.records import (
    ActionOutcome,
    EffectOf,
    Element,
    FieldFate,
    Ledger,
    Observation,
    SeenEffect,
    SeenEffectKind,
    UndoHow,
    UndoOffer,
)
from agent.safety.redacting.redaction import TAKEN_OUT
from agent.safety.redacting.secrets import SECRET
from agent.state.effect_text import effect_line
from agent.text import on_one_line, one_line

SNACKBAR_MS = 10_000
"""Material: a snackbar goes by itself after four to ten seconds."""
_BAR_TEXT, _BAR_ACTION = "snackbar_text", "snackbar_action"
_SAID_CHARS = 80
_RADIO = "RadioButton"
_WHOLE_CHARS = 2000  # The ledger keeps no more of a field; see `agent.loop.effects.fields`.


@dataclass(slots=True)
class UndoFinder:
    """What a session changed and where its phone was seen last."""

    ledger: Ledger = field(default_factory=Ledger)
    newest: Observation | None = None
    _pressed: dict[str, Element] = field(default_factory=dict)
    """What each call pressed, by its id."""
    _taken: set[int] = field(default_factory=set)
    """The numbers of the effects that the operator took back."""

    @classmethod
    def of(cls, events: Iterable[protocol.Event]) -> "UndoFinder":
        """Fold a session's stored events, oldest first."""
        finder = cls()
        for event in events:
            finder.fold(event.msg)
        return finder

    def fold(self, msg: protocol.EventMsg) -> None:
        match msg:
            case protocol.EffectsSeen(effects=effects):
                self.ledger = self.ledger.with_effects(effects)
            case protocol.ObservationRecorded(observation=seen):
                self.newest = seen
            case protocol.ToolCallRequested(call_id=call_id, element=Element() as element):
                self._pressed[call_id] = element
            case protocol.UndoFinished(effect=number, outcome=outcome):
                # The screen that was known no longer counts.
                self.newest = None
                if outcome is not ActionOutcome.FAILED:
                    self._taken.add(number)
            case _:
                return

    def offers(self, screen: Observation) -> tuple[UndoOffer, ...]:
        """Return what can be taken back on a screen, the newest first."""
        found: list[UndoOffer] = []
        for effect in self._newest_first():
            offer = self.offer(effect, screen)
            if isinstance(offer, UndoOffer) and not _is_among(offer, found):
                found.append(offer)
        return tuple(found)

    def _newest_first(self) -> list[SeenEffect]:
        """Return the agent's effects; of one act first what it touched itself."""
        return sorted(
            (effect for effect in self.ledger if effect.by is EffectOf.AGENT),
            key=lambda effect: (effect.step, self._is_own(effect), effect.number),
            reverse=True,
        )

    def of_step(self, step: int) -> list[SeenEffect]:
        """Return a step's effects that somebody may want back, what it touched itself first."""
        return [
            effect
            for effect in self._newest_first()
            if effect.step == step and effect.kind not in _NOTHING_TO_UNDO
        ]

    def offer(self, effect: SeenEffect, screen: Observation) -> UndoOffer | str:
        """Return what takes an effect back on a screen, or why nothing there does."""
        if effect.undone_by or effect.number in self._taken:
            return "it was taken back already"
        if effect.kind is SeenEffectKind.TOAST:
            return self._by_app(effect, screen)
        if effect.kind not in {SeenEffectKind.STATE, SeenEffectKind.FIELD}:
            bars = (e for e in self.ledger.of_kind(SeenEffectKind.TOAST) if e.step == effect.step)
            offers = (self.offer(bar, screen) for bar in bars)
            by_app = next((one for one in offers if isinstance(one, UndoOffer)), None)
            return by_app or "the app offers nothing on the screen that takes it back"
        page = page_of(screen.foreground, screen.elements)
        if (effect.app, effect.page) != (page.package, page.name):
            where = on_one_line(effect.page, _SAID_CHARS) or effect.app
            return f'its page "{where}" is not in front'
        if effect.kind is SeenEffectKind.FIELD:
            return self._by_typing(effect, screen)
        return self._by_pressing(effect, screen)

    # --- states ----------

    def _by_pressing(self, effect: SeenEffect, screen: Observation) -> UndoOffer | str:
        if {effect.before, effect.after} == {ON, OFF}:
            return self._by_switch(effect, screen)
        if self._is_own(effect):
            now = _only(_like(effect, e) and e.label == effect.after for e in screen.elements)
            if now is None:
                return f'"{_name(effect)}" does not show "{effect.after}" any more'
            element = screen.elements[now]
            says = f'Press "{_cut(element.label)}" once more.'
            return _offer(effect, UndoHow.PRESS, element, screen, says)
        if not self._was_chosen(effect):
            return "it followed from something else, or no press is known that turns it back"
        at = _only(
            row_name(e) == effect.object and row_state(e) == effect.after and e.clickable
            for e in screen.elements
        )
        if at is None:
            return f'"{_name(effect)}" does not show "{effect.after}" any more'
        says = f'Press "{_name(effect)}", then choose "{_cut(effect.before)}".'
        row = screen.elements[at]
        return _offer(effect, UndoHow.CHOOSE, row, screen, says, text=effect.before)

    def _by_switch(self, effect: SeenEffect, screen: Observation) -> UndoOffer | str:
        at = _only(
            e.checkable and (e.key == effect.element_key or row_name(e) == effect.object)
            for e in screen.elements
        )
        if at is None:
            return f'"{_name(effect)}" is not on the screen, or there are several'
        element = screen.elements[at]
        if element.checked != (effect.after == ON):
            return f'"{_name(effect)}" is {effect.before} again already'
        if not element.enabled:
            return f'"{_name(effect)}" cannot be pressed now'
        if element.class_name.endswith(_RADIO) and effect.before == OFF:
            # Pressed again, a chosen one stays chosen: what was chosen before has to be pressed.
            return f'"{_name(effect)}" is turned off only by another choice'
        says = f'Press "{_name(effect)}", which turns it {effect.before} again.'
        return _offer(effect, UndoHow.PRESS, element, screen, says)

    def _is_own(self, effect: SeenEffect) -> bool:
        """Return whether the act pressed the very thing that changed."""
        pressed = self._pressed.get(effect.call_id)
        if pressed is None:
            return False
        # A star says something else once it is pressed, in the same place.
        return pressed.key == effect.element_key or (
            _like(effect, pressed) and pressed.label == effect.before
        )

    def _was_chosen(self, effect: SeenEffect) -> bool:
        """Return whether a dialog was answered with what the row says now."""
        return any(
            one.kind is SeenEffectKind.DIALOG_CLOSED
            and one.step == effect.step
            and one.after == effect.after
            for one in self.ledger
        )

    # --- fields ----------

    def _by_typing(self, effect: SeenEffect, screen: Observation) -> UndoOffer | str:
        if effect.settled_by or effect.saved is FieldFate.ABANDONED:
            return "its text went further, or was dropped"
        old = effect.before
        if SECRET in (old, effect.after) or TAKEN_OUT.search(old):
            return "its old text was not kept, because it holds a secret or personal data"
        if len(old) >= _WHOLE_CHARS:
            return "its old text is too long to have been kept whole"
        at = _only(
            e.editable and not e.password and (_like(effect, e) or e.label == effect.object)
            for e in screen.elements
        )
        if at is None:
            return f'the field "{_name(effect)}" is not on the screen'
        element = screen.elements[at]
        if element.value != effect.after:
            return f'the field "{_name(effect)}" holds something else now'
        says = f'Empty "{_name(effect)}".'
        if old:
            says = f'Type "{_cut(old)}" in place of what "{_name(effect)}" holds.'
        return _offer(effect, UndoHow.TYPE, element, screen, says, text=old)

    # --- what the app offers ----------

    def _by_app(self, effect: SeenEffect, screen: Observation) -> UndoOffer | str:
        gone = f'the app shows no button beside "{_cut(effect.object)}" any more'
        bar = next(
            (
                e
                for e in screen.elements
                if e.resource_id.endswith(_BAR_TEXT) and e.label == effect.object
            ),
            None,
        )
        if bar is None:
            return gone
        at = _only(_stands_beside(e, bar) for e in screen.elements)
        if at is None:
            return gone
        button = screen.elements[at]
        main = next((e for e in self.of_step(effect.step) if e.kind is not effect.kind), effect)
        says = (
            f'Press "{_cut(button.label)}", which the app offers beside "{_cut(effect.object)}". '
            "What it does is the app's word."
        )
        return _offer(
            main, UndoHow.APP_OFFER, button, screen, says, until_ms=screen.ended_ms + SNACKBAR_MS
        )


def is_back(offer: UndoOffer, ledger: Ledger, screen: Observation | None) -> bool:
    """Return whether what followed an offer's act shows that its effect is gone.

    Args:
        ledger: with what the act itself has changed.
        screen: after the act; None where none could be read.
    """
    if offer.how is UndoHow.TYPE:
        shown = () if screen is None else screen.elements
        key = _unnamed(offer.element.key)
        return any(e.editable and _unnamed(e.key) == key and e.value == offer.text for e in shown)
    effect = ledger.numbered(offer.effect)
    return effect is not None and effect.undone_by != 0


def returned_item(effect: SeenEffect, before: Observation, after: Observation) -> bool:
    """Return whether an item that was gone stands on the screen again.

    A list's own changes are told only of items that were never seen before.
    """
    if effect.kind is not SeenEffectKind.ITEM_REMOVED:
        return False
    was, now = ({e.label for e in seen.elements} for seen in (before, after))
    return any(one_line(label, TEXT_CHARS) == effect.object for label in now - was)


_NOTHING_TO_UNDO = frozenset(
    {
        SeenEffectKind.APPROVED,
        SeenEffectKind.DIALOG_OPENED,
        SeenEffectKind.DIALOG_CLOSED,
        SeenEffectKind.NOTIFICATION,
    }
)


def _offer(
    effect: SeenEffect,
    how: UndoHow,
    element: Element,
    screen: Observation,
    says: str,
    *,
    text: str = "",
    until_ms: int = 0,
) -> UndoOffer:
    return UndoOffer(
        step=effect.step,
        effect=effect.number,
        how=how,
        element=element,
        text=text,
        what=effect_line(effect),
        says=says,
        seen_ms=screen.ended_ms,
        until_ms=until_ms,
    )


def _is_among(offer: UndoOffer, others: Sequence[UndoOffer]) -> bool:
    return any((one.step, one.effect) == (offer.step, offer.effect) for one in others)


def _only(matches: Iterable[bool]) -> int | None:
    """Return the place of the only match; None where there is none, or several."""
    places = [at for at, found in enumerate(matches) if found]
    return places[0] if len(places) == 1 else None


def _like(effect: SeenEffect, element: Element) -> bool:
    """Return whether an element is what an effect changed, wherever it stands now."""
    return bool(effect.element_key) and _unnamed(element.key) == _unnamed(effect.element_key)


def _unnamed(key: str) -> tuple[str, str, str]:
    """Return a key without the label: id, class and place."""
    resource_id, _, rest = key.partition("|")
    return resource_id, rest.partition("|")[0], rest.rpartition("|")[2]


def _stands_beside(element: Element, bar: Element) -> bool:
    """Return whether a button stands in the bar of an announcement."""
    if not element.clickable or not element.enabled or element is bar:
        return False
    if element.resource_id.endswith(_BAR_ACTION):
        return True
    return element.parent == bar.parent != 0 and in_band(element, bar)


def _name(effect: SeenEffect) -> str:
    return _cut(effect.object)


def _cut(text: str) -> str:
    return on_one_line(text, _SAID_CHARS)
