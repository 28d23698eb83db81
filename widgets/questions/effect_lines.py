"""Draw an approval's card: the headline, the act, then each fact by its name.

What is unknown or only somebody's word stands out.
"""

from collections.abc import Sequence

from textual.content import Content

from agent.state.approval_card import ON_SCREEN, ApprovalCard, FactLine
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts

_HANGS = 2  # By so much the further lines of a fact are moved to the right.
_SHORT_NAMES = frozenset({"To: ", "Amount: ", "From: "})


def card_lines(card: ApprovalCard, width: int) -> list[Content]:
    """Lay out an approval in lines of a width in cells."""
    lines = _laid(((card.headline, "bold $foreground"),), width)
    if card.act:
        lines += _laid(((card.act, "$foreground"),), width)
    for parts in _joined([_parts(one) for one in card.facts], width):
        lines += _laid(parts, width)
    if card.note:
        lines += to_content(((card.note, "$warn"),)).wrap(width)
    return lines


def _parts(fact: FactLine) -> Parts:
    tone = "$warn" if fact.is_unsure else "$foreground"
    if fact.name == "The reviewer says":
        tone = "italic $warn"
    if fact.name == "Where":
        tone = "$muted"
    # What stands on the screen is not marked.
    is_marked = fact.note and fact.note != ON_SCREEN
    note = ((f" ({fact.note})", "$muted"),) if is_marked else ()
    return ((f"{fact.name}: ", "$muted"), (fact.text, tone), *note)


def _joined(facts: Sequence[Parts], width: int) -> list[Parts]:
    """Put the first short facts, as whom and how much, on one line as long as they fit."""
    lines: list[Parts] = []
    for parts in facts:
        if lines and parts[0][0] in _SHORT_NAMES and lines[-1][0][0] in _SHORT_NAMES:
            both = (*lines[-1], ("   ", ""), *parts)
            if to_content(both).cell_length <= width:
                lines[-1] = both
                continue
        lines.append(parts)
    return lines


def _laid(parts: Parts, width: int) -> list[Content]:
    """Wrap one fact; its further lines hang below it."""
    first, *rest = to_content(parts).wrap(max(1, width - _HANGS)) or [Content("")]
    return [first, *(Content.assemble(" " * _HANGS, line) for line in rest)]
