"""Whether an answer is right, judged by the tree."""

import re

from bench.screens.formats import Screen, Written
from bench.screens.questions import Kind, Question


def is_right(question: Question, answer: str, screen: Screen, written: Written) -> bool:
    """Return whether an answer is true; a number is when a press in its middle hits the target."""
    match question.kind:
        case Kind.NUMBER:
            return _presses(question, answer, screen, written)
        case Kind.SAYS:
            return _flat(question.what) in _flat(answer)
        case Kind.STATE | Kind.BY:
            return re.findall(r"[a-z]+", answer.casefold())[-1:] == [question.more]


def _presses(question: Question, answer: str, screen: Screen, written: Written) -> bool:
    number = re.search(r"\d+", answer)
    if number is None:
        return False
    named = next((e for e in written.entries if e.number == int(number[0])), None)
    if named is None:
        return False
    target, x, y = question.target(screen.nodes), named.bounds.center_x, named.bounds.center_y
    hit = target.left <= x <= target.right and target.top <= y <= target.bottom
    # A container around the target presses what is in its middle, which is seldom the target.
    return hit and named.bounds.bottom - named.bounds.top <= 1.5 * (target.bottom - target.top)


def _flat(text: str) -> str:
    return " ".join(text.replace('"', "'").split()).casefold()
