"""Define a session's effects as they were seen to happen, and the ledger that they make.

What an act *would* do, for an approval, is `agent.records.effects`; who finds these is
`agent.loop.effects`. Invariants: an effect is never changed once stored; what became of it later is
derived from the effects after it; navigation is none. An offer to take one back
(`agent.loop.undo`) names what would be pressed or typed as the screen shows it, so that a person
can judge it without trusting a guess.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec.structs import replace

from agent.records.observation import Element
from agent.records.record import Record


class SeenEffectKind(StrEnum):
    """What kind of thing has changed."""

    STATE = "state"
    """The state of one thing: a switch, a box, a choice, a star, a slider, a row's summary."""
    FIELD = "field"
    """What a field holds; `saved` says whether it went further than the field."""
    ITEM_ADDED = "item_added"
    ITEM_REMOVED = "item_removed"
    DIALOG_OPENED = "dialog_opened"
    DIALOG_CLOSED = "dialog_closed"
    """`after` is the button that answered it; empty: none of its own did."""
    TOAST = "toast"
    SENT = "sent"
    """A text left the composer and stands in the thread: the object is the thread."""
    DEVICE = "device"
    """A fact of the phone: rotation, a volume, the screen, the clipboard."""
    APPROVED = "approved"
    """A person approved the act, and it was done: `after` is what the question said."""
    NOTIFICATION = "notification"


class FieldFate(StrEnum):
    """How far the content of a field went."""

    NONE = ""  # The effect is about no field.
    TYPED = "typed"  # It stands in the field.
    SUBMITTED = "submitted"
    """Its form was put away by a control of its own, and the text was not seen since."""
    SAVED = "saved"  # It stands outside the field, on the page or in the list that followed.
    ABANDONED = "abandoned"  # Its page was left without it.


class EffectOf(StrEnum):
    """Whose act had the effect."""

    AGENT = "agent"
    OPERATOR = "operator"  # At the wheel.
    NOBODY = "nobody"  # It happened while nothing was done, as far as is known.


class SeenEffect(Record, frozen=True, kw_only=True):
    """One thing that was seen to change. All texts are as the screen shows them, redacted."""

    number: int
    """From 1 in its session."""
    step: int
    """The step of the act that it is attributed to; 0: of none."""
    seen_step: int
    """The step whose screen showed it first; later than the next one if it came late."""
    call_id: str = ""
    by: EffectOf = EffectOf.AGENT
    kind: SeenEffectKind
    object: str = ""
    """The thing by its own name: of a row, a field, an item, a dialog, a thread, a device fact."""
    before: str = ""
    after: str = ""
    """States of a thing that is on or off are `on` and `off`; other states are the thing's words.
    Empty: not applicable, or nothing."""
    app: str = ""
    """The package."""
    page: str = ""
    """The page's title, or its activity; empty: it has neither."""
    phone: str = ""
    """The serial."""
    element_step: int = 0
    """The step whose stored screen has the element; before it went, for what was removed. 0: none
    has it."""
    element: int = 0
    """The element's number on that screen."""
    element_key: str = ""
    saved: FieldFate = FieldFate.NONE
    undone_by: int = 0
    """Derived, never stored: the later effect that took this one back; 0: it stands."""
    settled_by: int = 0
    """Derived, never stored: the later effect that says what became of a typed text, or that closed
    a dialog; 0: none, so the text is only in its field, the dialog still open."""
    undoes: int = 0
    """Derived, never stored: the older effect that this one took back; 0: none."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Return phone, app and page."""
        return self.phone, self.app, self.page


class UndoHow(StrEnum):
    """What is done to take an effect back."""

    PRESS = "press"
    """Press what changed once more: a switch, a star, the choice that was made before."""
    CHOOSE = "choose"
    """Press the row that changed, then its old choice."""
    TYPE = "type"
    """Replace what the field holds by its old text."""
    APP_OFFER = "app_offer"
    """Press the button that the app shows beside what it announced. Only its label says what it
    does."""


class UndoOffer(Record, frozen=True, kw_only=True):
    """One effect and the act that takes it back."""

    step: int
    """The step of the act that had the effect."""
    effect: int
    """The effect's number."""
    how: UndoHow
    element: Element
    """What is pressed or typed into, on the newest screen."""
    text: str = ""
    """The old text or choice; empty where nothing is typed or chosen, and for an empty field."""
    what: str
    """What is taken back, as a line."""
    says: str
    """What would be done, as a sentence."""
    asks: str = ""
    """The question of the approval that the act itself needs; empty: it needs none."""
    seen_ms: int = 0
    """When the screen with the element was seen."""
    until_ms: int = 0
    """When the app has taken its button away at the latest, as far as is known; 0: the act can be
    done as long as its page is in front."""


_VALUED = frozenset({SeenEffectKind.STATE, SeenEffectKind.DEVICE})
_OPEN = frozenset({FieldFate.TYPED, FieldFate.SUBMITTED})
"""A text of which it is not known where it went."""
_ITEMS = frozenset({SeenEffectKind.ITEM_ADDED, SeenEffectKind.ITEM_REMOVED})


class Ledger(Record, frozen=True, kw_only=True):
    """All effects that were seen in one session, oldest first, with what became of each."""

    effects: tuple[SeenEffect, ...] = ()

    def __iter__(self) -> Iterator[SeenEffect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    @property
    def next_number(self) -> int:
        return self.effects[-1].number + 1 if self.effects else 1

    def with_effects(self, found: Iterable[SeenEffect]) -> "Ledger":
        """Return the ledger with newer effects, which may take older ones back."""
        effects = list(self.effects)
        for effect in found:
            _with(effects, effect)
        return Ledger(effects=tuple(effects)) if len(effects) > len(self.effects) else self

    def until(self, step: int) -> "Ledger":
        """Return the ledger as it stood after a step."""
        kept = [effect for effect in self.effects if effect.seen_step <= step]
        return self if len(kept) == len(self.effects) else Ledger().with_effects(kept)

    def not_undone(self) -> tuple[SeenEffect, ...]:
        """Return the effects that were not taken back later."""
        return tuple(effect for effect in self.effects if not effect.undone_by)

    def of_kind(self, *kinds: SeenEffectKind) -> tuple[SeenEffect, ...]:
        return tuple(effect for effect in self.effects if effect.kind in kinds)

    def of_call(self, call_id: str) -> tuple[SeenEffect, ...]:
        """Return the effects of one call; empty: it had none that was seen."""
        return tuple(effect for effect in self.effects if call_id and effect.call_id == call_id)

    def since(self, step: int) -> tuple[SeenEffect, ...]:
        """Return the effects that were seen after a step."""
        return tuple(effect for effect in self.effects if effect.seen_step > step)

    def numbered(self, number: int) -> SeenEffect | None:
        return next((effect for effect in self.effects if effect.number == number), None)


def _with(effects: list[SeenEffect], new: SeenEffect) -> None:
    """Add an effect, and mark the older ones that it takes back or settles."""
    undoes = 0
    for at in range(len(effects) - 1, -1, -1):
        old = effects[at]
        if old.undone_by or old.settled_by:
            continue
        if _settles(old, new):
            effects[at] = replace(old, settled_by=new.number)
        elif _takes_back(old, new) and not (undoes and new.kind in _ITEMS):
            # One item of that name came, so one item of that name had gone.
            effects[at] = replace(old, undone_by=new.number)
            undoes = old.number
    effects.append(replace(new, undone_by=0, settled_by=0, undoes=undoes))


def _settles(old: SeenEffect, new: SeenEffect) -> bool:
    """Return whether a new effect says what became of a text in a field, or of a dialog."""
    if (old.phone, old.app) != (new.phone, new.app):
        return False
    if old.kind is SeenEffectKind.DIALOG_OPENED:
        return new.kind is SeenEffectKind.DIALOG_CLOSED and old.object == new.object
    if old.saved not in _OPEN:
        return False
    if new.kind is SeenEffectKind.SENT:
        return old.after == new.after
    return _is_same_field(old, new) and bool(new.after) and new.saved is not FieldFate.ABANDONED


def _takes_back(old: SeenEffect, new: SeenEffect) -> bool:
    if old.object != new.object or (old.phone, old.app) != (new.phone, new.app):
        return False
    if new.kind in _VALUED:
        # Back where it was before the older effect, whatever it was in between.
        return old.kind is new.kind and old.page == new.page and old.before == new.after
    if new.kind in _ITEMS:
        return old.kind in _ITEMS and old.kind is not new.kind
    # Emptied, or left without being saved.
    return old.saved in _OPEN and _is_same_field(old, new)


def _is_same_field(old: SeenEffect, new: SeenEffect) -> bool:
    return new.kind is SeenEffectKind.FIELD and old.object == new.object
