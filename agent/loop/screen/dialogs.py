"""Whether a dialog is in front, and what it is called.

Pure. Judged by Android's own ids, or by where its parts stand and what its buttons say. Invariant:
what is only a small page is no dialog: without a sure sign there is none.
"""

from collections.abc import Sequence

from agent.loop.by_identity import by_identity
from agent.loop.screen.elements import NEW_LABEL_CHARS, UNLABELED
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element
from agent.safety.words import words
from agent.text import one_line

SMALL = 14
"""A dialog has few elements."""
SYSTEM_BUTTONS = tuple(f"android:id/button{number}" for number in (1, 2, 3))
DISMISSALS = frozenset(
    words(label)
    for label in (
        *("Cancel", "No", "Not now", "Later", "Maybe later", "No thanks", "Dismiss", "Deny"),
        *("Don't allow", "Keep", "Keep editing", "Go back", "Discard"),
        *("Abbrechen", "Nein", "Annuler", "Non", "Cancelar", "Annulla"),
    )
)
"""Buttons that leave things as they are."""
PLAIN = frozenset(words(label) for label in ("OK", "Got it", "Close", "Done", "Learn more"))
"""Buttons that do nothing but put a message away."""
_TITLES = frozenset({"alertTitle", "alert_title", "dialog_title"})
_SIDE, _TOP, _BOTTOM = 0.03, 0.1, 0.9
"""A dialog keeps clear of the edges by so much."""


@by_identity
def dialog_title(elements: Sequence[Element]) -> str | None:
    """Return the title of the dialog in front, empty where it has none; None: no dialog."""
    elements = [element for element in elements if element.kind != STATUS_BAR]
    titles = [e for e in elements if e.resource_id.rsplit("/", 1)[-1] in _TITLES]
    title = titles[0] if titles else None
    if title is None:
        has_buttons = [e for e in elements if e.resource_id in SYSTEM_BUTTONS]
        if not (has_buttons or _stands_apart(elements)):
            return None
        title = next((e for e in elements if not e.clickable and e.label != UNLABELED), None)
    return "" if title is None else one_line(title.label, NEW_LABEL_CHARS)


def _stands_apart(elements: Sequence[Element]) -> bool:
    """Return whether all there is stands away from the edges and ends with a dialog's buttons."""
    if not 2 <= len(elements) <= SMALL:
        return False
    boxes = [element.bounds for element in elements]
    clear = (
        min(box.left for box in boxes) >= _SIDE
        and max(box.right for box in boxes) <= 1 - _SIDE
        and min(box.top for box in boxes) >= _TOP
        and max(box.bottom for box in boxes) <= _BOTTOM
    )
    buttons = [e for e in elements if e.clickable and e.enabled and not e.checkable]
    last = elements[-1]
    says = any(words(button.label) in DISMISSALS | PLAIN for button in buttons)
    return clear and says and last.clickable and any(not e.clickable for e in elements)
