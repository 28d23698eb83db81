"""Which side of a conversation a message belongs to, by where it stands.

Messaging apps put what the owner of the phone wrote at the right edge and what others wrote at the
left one; the tree says nothing of it. Hints only. Invariant: a side is named only where the screen
has a field to write into, the message reaches one edge of the column and not the other, and the
sides do not share their rows, as the labels and values of a form do. A field is known by its name,
or in any language by where it stands; then both sides must be there.
"""

from collections.abc import Mapping, Sequence

from agent.loop.screen.elements import TOP_ZONE, UNLABELED
from agent.records import Element
from agent.safety.words import words

ME, THEM = SIDES = "me", "them"
_COMPOSE = frozenset({"message", "reply", "chat", "type", "write", "text", "sms", "compose"})
_COMPOSE |= frozenset({"nachricht", "mensaje", "mensagem", "messaggio", "сообщение"})
_SEARCH = frozenset({"search", "suche", "suchen", "buscar", "rechercher", "cerca", "поиск"})
_LEFT_EDGE, _RIGHT_EDGE = 0.07, 0.93
"""Where a column of messages begins and ends at the latest, as shares of the width."""
_SAME_EDGE = 0.02
_APART = 0.05
_FOOT = 0.5  # From here on down a field stands below what was written.
_MESSAGE_KINDS = frozenset({"text", "btn"})


def chat_sides(elements: Sequence[Element]) -> dict[int, str]:
    """Return `ME` or `THEM` by element number; empty when the screen is no conversation."""
    field = message_field(elements)
    # A form asks for a message among other things; what stands over it was written by nobody.
    others = [e for e in elements if e.editable and e is not field and not is_search(e)]
    is_sure = field is not None and not others
    field = field or _bar_field(elements)
    if field is None:
        return {}
    messages = [element for element in elements if _may_be_message(element, field)]
    if not messages:
        return {}
    left = min(_LEFT_EDGE, *(element.bounds.left for element in messages))
    right = max(_RIGHT_EDGE, *(element.bounds.right for element in messages))
    sides = {}
    for element in messages:
        from_left, from_right = element.bounds.left - left, right - element.bounds.right
        if from_left <= _SAME_EDGE + (_LEFT_EDGE - left) and from_right >= _APART:
            sides[element.number] = THEM
        elif from_right <= _SAME_EDGE + (right - _RIGHT_EDGE) and from_left >= _APART:
            sides[element.number] = ME
    if _is_table(sides, messages) or not (is_sure or len(set(sides.values())) == len(SIDES)):
        return {}
    return sides


def message_field(elements: Sequence[Element]) -> Element | None:
    """Return the field that a message is written into; None where the screen has none."""
    return next((e for e in elements if takes_message(e) and e.bounds.center_y >= 1 / 3), None)


def _bar_field(elements: Sequence[Element]) -> Element | None:
    """Return the one field of a screen where it stands at the foot, beside what may send.

    Whatever language its name is in; whether people write to each other there is told by the sides.
    """
    fields = [element for element in elements if element.editable]
    if len(fields) != 1 or fields[0].bounds.center_y < _FOOT or is_search(fields[0]):
        return None
    box = fields[0].bounds
    has_button = any(
        element.clickable and box.top <= element.bounds.center_y <= box.bottom
        for element in elements
        if element is not fields[0]
    )
    return fields[0] if has_button else None


def sends(element: Element) -> bool:
    """Return whether a press on an element sends what was written."""
    return element.clickable and element.enabled and "send" in _named(element)


def is_search(element: Element) -> bool:
    return element.editable and bool(_SEARCH.intersection(_named(element)))


def takes_message(element: Element) -> bool:
    """Return whether a field, wherever it stands, is there for a message."""
    if not element.editable or is_search(element):
        return False
    return bool(_COMPOSE.intersection(_named(element)))


def _named(element: Element) -> tuple[str, ...]:
    name = element.resource_id.rsplit("/", 1)[-1].replace("_", " ")
    return words(f"{element.label} {name}")


def _is_table(sides: Mapping[int, str], messages: Sequence[Element]) -> bool:
    """Return whether most of one side shares its rows with the other: labels with their values."""
    boxes = {side: [e.bounds for e in messages if sides.get(e.number) == side] for side in SIDES}
    fewer = min(boxes.values(), key=len)
    more = max(reversed(boxes.values()), key=len)
    beside = sum(
        any(one.top < other.bottom and other.top < one.bottom for other in more) for one in fewer
    )
    return bool(fewer) and 2 * beside >= len(fewer)


def _may_be_message(element: Element, field: Element) -> bool:
    box = element.bounds
    return (
        element.kind in _MESSAGE_KINDS
        and element.label != UNLABELED
        and box.center_y >= TOP_ZONE
        and box.bottom <= field.bounds.top + _SAME_EDGE
    )
