"""Find which dialogs came and went, and what was chosen in one that was then refused. Pure.

A choice in a dialog that offers both, to take it and to leave it, holds only once it is taken.
Invariant: where a dialog offers no way to refuse, what was chosen in it stands however it is left.
"""

from collections.abc import Iterable, Sequence

from agent.loop.effects.past_acts import PastAct
from agent.loop.effects.screen_change import Cause, ScreenChange
from agent.loop.screen.dialogs import DISMISSALS, SYSTEM_BUTTONS
from agent.loop.screen.elements import UNLABELED, find_by_key
from agent.records import Element, Ledger, SeenEffect, SeenEffectKind
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.words import words
from agent.text import one_line

_ANSWER_CHARS = 120
_NEGATIVE = SYSTEM_BUTTONS[1]


def closed(title: str, dialog: Sequence[Element], act: PastAct) -> ScreenChange:
    """Return that a dialog is gone, with the button of its own that answered it."""
    pressed = act.element
    is_own = pressed is not None and find_by_key(dialog, pressed.key) is not None
    answer = one_line(pressed.label, _ANSWER_CHARS) if is_own and pressed is not None else ""
    return _dialog(SeenEffectKind.DIALOG_CLOSED, title, answer)


def opened(title: str) -> ScreenChange:
    return _dialog(SeenEffectKind.DIALOG_OPENED, title)


def is_refused(dialog: Sequence[Element], act: PastAct) -> bool:
    """Return whether an act left a dialog, which offers both, without taking what it offers."""
    is_own = act.element is not None and find_by_key(dialog, act.element.key) is not None
    return presses_refusal(dialog, act) or (not is_own and _offers_both(dialog))


def presses_refusal(screen: Sequence[Element], act: PastAct) -> bool:
    """Return whether an act pressed what leaves things as they are, beside what does not."""
    own = None if act.element is None else find_by_key(screen, act.element.key)
    return own is not None and _refuses(own) and _offers_both(screen)


def _offers_both(screen: Sequence[Element]) -> bool:
    buttons = [e for e in screen if e.clickable and not e.checkable and e.label != UNLABELED]
    return len({_refuses(button) for button in buttons}) == 2


def taken_back(title: str, ledger: Ledger) -> list[ScreenChange]:
    """Return the choices in a dialog as they are again, now that it was refused."""
    return [
        ScreenChange(
            kind=SeenEffectKind.STATE,
            object=one.object,
            before=one.after,
            after=one.before,
            page=title,
            cause=Cause.NEWEST,
        )
        for one in _chosen_in(title, ledger)
    ]


def _chosen_in(title: str, ledger: Ledger) -> Iterable[SeenEffect]:
    """Return the states that were changed since a dialog was opened, each thing's last."""
    since = 0
    for one in ledger.of_kind(SeenEffectKind.DIALOG_OPENED):
        since = one.number if one.object == title else since
    chosen = {
        one.object: one
        for one in ledger.of_kind(SeenEffectKind.STATE)
        if since and one.number > since and one.page == title and not one.undone_by
    }
    return [one for one in chosen.values() if not one.undoes]


def _refuses(button: Element) -> bool:
    label = button.label
    is_said = words(label) in DISMISSALS or Meaning.REFUSE in read(label).whole
    return button.resource_id == _NEGATIVE or is_said


def _dialog(kind: SeenEffectKind, title: str, answer: str = "") -> ScreenChange:
    return ScreenChange(kind=kind, object=title, after=answer, page=title, cause=Cause.NEWEST)
