"""What a session has typed so far, so that a secret in pieces is judged as the whole it makes.

Not the typing and not the memory of secrets (`agent.safety.redacting.secrets`). Invariants: a
payment card or a social security number is found however it is split: over texts, fields or the
keys of a pad; the field's content is judged together with the text that comes to it.
"""

from collections import deque
from collections.abc import Iterable

from agent.protocol import Event, ObservationRecorded, ToolCallRequested
from agent.records import Observation
from agent.safety.effects.acts import Act, ActKind, ReadActs
from agent.safety.redacting.finding import PERSONAL, Kind, find

_MOST_PIECES = 64
_PIECE_CHARS = 200
_MADE_OF_PIECES = frozenset({Kind.CARD, Kind.SSN})
"""What only its own check digit or form makes, so that pieces far apart make none by chance."""


class TypedText:
    """The pieces that one session has typed, oldest first."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[str, str]] = deque(maxlen=_MOST_PIECES)

    @classmethod
    def of(cls, history: Iterable[Event], read: ReadActs) -> "TypedText":
        """Read what a session's events say was typed; secrets in them are taken out already."""
        typed = cls()
        screen: Observation | None = None
        for event in history:
            match event.msg:
                case ObservationRecorded(observation=seen):
                    screen = seen
                case ToolCallRequested(kind="action") as call:
                    for act in read(call, screen):
                        typed.add(act)
                case _:
                    pass
        return typed

    def add(self, act: Act) -> None:
        """Take in an act that was done."""
        text = piece_of(act)
        if text and not act.is_secret:
            self._add(_field(act), text, clear=act.clear)

    def completes(self, act: Act) -> frozenset[Kind]:
        """Return which secrets an act would complete that its own text does not show alone."""
        text = piece_of(act)
        if not text or act.is_secret:
            return frozenset()
        alone = {one.kind for one in find(text)}
        held = "" if act.clear or act.element is None else act.element.value
        kinds = _across(held, text) | _across(text, held) if held else frozenset[Kind]()
        field = _field(act)
        before = [
            piece for name, piece in self._pieces if not (act.clear and field and name == field)
        ]
        joined = _across(" ".join(before), f" {text}") & _MADE_OF_PIECES
        return frozenset((kinds | joined) - alone - PERSONAL)

    def completes_by(self, acts: Iterable[Act]) -> frozenset[Kind]:
        """Return which secrets several acts would complete, one after the other."""
        ahead = TypedText()
        ahead._pieces.extend(self._pieces)
        kinds: set[Kind] = set()
        for act in acts:
            kinds |= ahead.completes(act)
            ahead.add(act)
        return frozenset(kinds)

    def _add(self, field: str, text: str, *, clear: bool) -> None:
        if clear and field:
            kept = [piece for piece in self._pieces if piece[0] != field]
            self._pieces = deque(kept, maxlen=_MOST_PIECES)
        if text:
            self._pieces.append((field, text[-_PIECE_CHARS:]))


def piece_of(act: Act) -> str:
    """Return what an act types: its text, or the digit of the key that it presses."""
    if act.kind in {ActKind.TYPE, ActKind.COPY}:
        return act.text
    if act.kind is ActKind.PRESS and act.element is not None and not act.element.editable:
        label = act.element.label.strip()
        return label if len(label) == 1 and label.isdigit() else ""
    return ""


def _field(act: Act) -> str:
    if act.kind is not ActKind.TYPE:
        return act.kind.value
    return "" if act.element is None else f"{act.element.package} {act.element.key}"


def _across(first: str, second: str) -> frozenset[Kind]:
    meet = len(first)
    return frozenset(
        one.kind for one in find(first + second) if one.start < meet and one.end > meet
    )
