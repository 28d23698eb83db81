"""Compare to whom and how much an act gives with what the operator's own words say.

A hint for the person who judges, never a verdict: people write nicknames, and "the usual" names
nothing. Pure.
"""

from agent.records import Stated
from agent.safety.effects.amounts import amounts, value_of, values
from agent.safety.words import words
from agent.text import one_line

_SHORTEST_NAME = 2


def beside_goal(recipient: Stated | None, amount: Stated | None, goal: str) -> str:
    """Return what the goal does not say of an effect, as a sentence; empty: it says it all.

    A recipient is named where one of its words stands in the goal; amounts are compared only
    where the goal says any.
    """
    if not goal.strip():
        return ""
    said = []
    if recipient is not None and recipient.text and not _names(goal, recipient.text):
        said.append(f'your words do not name "{one_line(recipient.text, 80)}"')
    asked = amounts(goal)
    states = amount is not None and bool(amount.text) and bool(asked)
    if amount is not None and states and values(amount.text).isdisjoint(map(value_of, asked)):
        said.append(f"your words say {one_line(', '.join(asked), 80)}")
    return f"{'; '.join(said)}." if said else ""


def _names(goal: str, recipient: str) -> bool:
    named = [word for word in words(recipient) if len(word) >= _SHORTEST_NAME]
    digits = "".join(filter(str.isdigit, recipient))
    if len(digits) >= 5 and digits in "".join(filter(str.isdigit, goal)):
        return True
    return not named or not set(named).isdisjoint(words(goal))
