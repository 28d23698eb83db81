"""An approval's effect as the lines of its card: what happens, then each fact by its name.

Drawn from the effect, not from the words of the question, so that no text of an app reads as a fact
of its own. Invariant: what the question says and is bound to is on the card, whole; what is unknown
or only somebody's word stands out.
"""

from textual.content import Content

from agent.records import Effect, Question
from agent.safety.effects.wording import ON_SCREEN, FactLine, fact_lines, facts
from agent.text import clean
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts

_MOST_CHARS = 6_000
_SHORT_NAMES = frozenset({"To: ", "Amount: ", "From: "})
_HANGS = 2  # By so much the further lines of a fact are moved to the right.


def effect_of(question: Question) -> Effect | None:
    """Return the effect that an approval's words state; None where they state none."""
    effect = question.subject.effect if question.subject is not None else None
    return effect if effect is not None and _split(question, effect) is not None else None


def effect_lines(question: Question, effect: Effect, phone: str, width: int) -> list[Content]:
    """Lay out an approval: the headline, the act, its facts.

    Args:
        phone: what the operator calls the phone; its serial when empty.
        width: in cells.
    """
    said, note = _split(question, effect) or (_asked(question), "")
    headline, _, act = said.partition("\n")
    lines = list(_laid(((headline, "bold $foreground"),), width))
    if act:
        lines += _laid(((act, "$foreground"),), width)
    for parts in _joined([_parts(one, effect, phone) for one in fact_lines(effect)], width):
        lines += _laid(parts, width)
    if note:
        lines += to_content(((note, "$warn"),)).wrap(width)
    return lines


def _split(question: Question, effect: Effect) -> tuple[str, str] | None:
    """Return what a question says before the facts of an effect, and the note after them."""
    before, found, after = _asked(question).rpartition("\n" + "\n".join(facts(effect)))
    if not found or (after and not after.startswith("\n\n")):
        return None
    return before.strip("\n"), after.strip("\n")


def _asked(question: Question) -> str:
    return clean(question.shown, _MOST_CHARS).strip()


def _parts(fact: FactLine, effect: Effect, phone: str) -> Parts:
    text = fact.text
    if fact.name == "Where" and phone and effect.phone and text.endswith(f"phone {effect.phone}"):
        text = text.removesuffix(effect.phone) + phone
    tone = "$warn" if fact.is_unsure else "$foreground"
    if fact.name == "The reviewer says":
        tone = "italic $warn"
    if fact.name == "Where":
        tone = "$muted"
    # What stands on the screen is not marked.
    is_marked = fact.note and fact.note != ON_SCREEN
    note = ((f" ({fact.note})", "$muted"),) if is_marked else ()
    return ((f"{fact.name}: ", "$muted"), (clean(text, _MOST_CHARS), tone), *note)


def _joined(shown: list[Parts], width: int) -> list[Parts]:
    """Put the first short facts, as whom and how much, on one line as long as they fit."""
    lines: list[Parts] = []
    for parts in shown:
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
