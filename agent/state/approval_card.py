"""Read an approval as the lines of its card: what happens, then each fact by its name. Pure.

The facts come from the effect, not from the words of the question, so that no text of an app reads
as a fact of its own. Invariant: what the question says and is bound to is on the card, whole.
"""

from typing import NamedTuple

from agent.records import Effect, Question
from agent.safety.effects.wording import ON_SCREEN, FactLine, fact_lines, facts
from agent.text import clean

__all__ = ["ON_SCREEN", "ApprovalCard", "FactLine", "approval_card"]

_MOST_CHARS = 6_000


class ApprovalCard(NamedTuple):
    """What an approval says, in parts."""

    headline: str
    act: str
    facts: tuple[FactLine, ...]
    note: str = ""
    """What Switchboard adds below, as how many operators have to approve it."""


def approval_card(question: Question, phone: str = "") -> ApprovalCard | None:
    """Return the parts of an approval; None where its words state no effect.

    Args:
        phone: what the operator calls the phone; its serial when empty.
    """
    effect = question.subject.effect if question.subject is not None else None
    if effect is None:
        return None
    asked = clean(question.shown, _MOST_CHARS).strip()
    before, found, after = asked.rpartition("\n" + "\n".join(facts(effect)))
    if not found or (after and not after.startswith("\n\n")):
        return None
    headline, _, act = before.strip("\n").partition("\n")
    lines = tuple(_with_phone(line, effect, phone) for line in fact_lines(effect))
    return ApprovalCard(headline, act, lines, after.strip("\n"))


def _with_phone(line: FactLine, effect: Effect, phone: str) -> FactLine:
    text = clean(line.text, _MOST_CHARS)
    if line.name == "Where" and phone and effect.phone and text.endswith(f"phone {effect.phone}"):
        text = text.removesuffix(effect.phone) + phone
    return line._replace(text=text)
