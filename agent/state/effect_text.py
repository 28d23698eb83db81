"""Effects in words: one line each, for people and for the model. Pure.

Not the transcript that they stand in (`agent.state.transcript`). Invariants: what an app shows is
quoted and on one line; a list that is cut says how much it leaves out.
"""

from typing import assert_never

from agent.records import EffectOf, FieldFate, Ledger, SeenEffect, SeenEffectKind
from agent.text import counted, on_one_line, one_line

HEADING = "## Effects so far"
_BLOCK_CHARS = 360
"""About 100 tokens: the newest results say the same in the conversation."""
_NOT_TOLD = frozenset({SeenEffectKind.APPROVED, SeenEffectKind.NOTIFICATION})
"""What says nothing of how far the work is."""
_NAME_CHARS, _VALUE_CHARS = 60, 80


def effect_line(effect: SeenEffect) -> str:
    """Return an effect as a line without its number."""
    said = _phrase(effect)
    if effect.by is EffectOf.OPERATOR:
        said += ", by the operator"
    elif effect.by is EffectOf.NOBODY:
        said += ", by itself"
    if effect.undone_by:
        said += f" (undone by {effect.undone_by})"
    elif effect.undoes and effect.kind is not SeenEffectKind.FIELD:
        said += ", back as before"
    return said


def _phrase(effect: SeenEffect) -> str:
    name = _quoted(effect.object, _NAME_CHARS)
    before, after = effect.before, _quoted(effect.after, _VALUE_CHARS)
    match effect.kind:
        case SeenEffectKind.STATE | SeenEffectKind.DEVICE:
            was, now = one_line(before, _VALUE_CHARS), one_line(effect.after, _VALUE_CHARS)
            return f"{name}: {was} → {now or 'nothing'}" if was else f"{name}: {now}"
        case SeenEffectKind.FIELD:
            return _of_field(effect, name, after)
        case SeenEffectKind.ITEM_ADDED:
            return f"item added: {name}"
        case SeenEffectKind.ITEM_REMOVED:
            return f"item removed: {name}"
        case SeenEffectKind.DIALOG_OPENED:
            return f"dialog opened: {name}" if effect.object else "dialog opened"
        case SeenEffectKind.DIALOG_CLOSED:
            how = f"answered {after}" if effect.after else "closed"
            return f"dialog {name}: {how}" if effect.object else f"dialog: {how}"
        case SeenEffectKind.TOAST:
            return f"toast: {name}"
        case SeenEffectKind.SENT:
            return f"sent to {name}: {after}"
        case SeenEffectKind.APPROVED:
            return f"approved and done: {name}"
        case SeenEffectKind.NOTIFICATION:
            return f"notification of {name}"
        case _:
            assert_never(effect.kind)


def _of_field(effect: SeenEffect, name: str, after: str) -> str:
    match effect.saved:
        case FieldFate.SAVED:
            return f"field {name}: {after} saved"
        case FieldFate.SUBMITTED:
            return f"field {name}: {after} submitted, not seen since"
        case FieldFate.ABANDONED:
            return f"field {name}: left without saving {_quoted(effect.before, _VALUE_CHARS)}"
        case _ if not effect.after:
            return f"field {name}: emptied"
        case _ if effect.settled_by:
            return f"field {name}: {after}"
        case _:
            return f"field {name}: {after} typed, not saved yet"


def _is_told(effect: SeenEffect, ledger: Ledger) -> bool:
    if effect.settled_by or effect.undone_by or effect.kind in _NOT_TOLD:
        return False
    if effect.saved is not FieldFate.SAVED or not effect.element_key:
        return True
    # The new item that shows the text says it already.
    return not any(
        other.kind is SeenEffectKind.ITEM_ADDED
        and (other.seen_step, other.element_key) == (effect.seen_step, effect.element_key)
        for other in ledger
    )


def _quoted(text: str, most: int) -> str:
    return f'"{on_one_line(text, most)}"'


def ledger_lines(ledger: Ledger, *, chars: int = _BLOCK_CHARS) -> list[str]:
    """Return what the model is told: the newest effects that matter, oldest first.

    What became of a text, a dialog or a state that was turned back is told by its end alone.

    Args:
        chars: the most characters of all lines.
    """
    told = [effect for effect in ledger if _is_told(effect, ledger)]
    lines: list[str] = []
    left = chars
    for effect in reversed(told):
        line = f"{effect.number}. {effect_line(effect)}"
        left -= len(line) + 1
        if left < 0:
            earlier = len(told) - len(lines)
            lines.append(f"({counted(earlier, 'earlier effect')} not shown)")
            break
        lines.append(line)
    return lines[::-1]
