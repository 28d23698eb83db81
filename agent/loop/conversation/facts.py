"""The facts that a model asked to keep: a short, bounded list that every screen shows.

Pure; who stores it is `agent.loop.turn.control_tools`. Invariants: a fact is one cleaned line; the
list never grows beyond its bounds, and nothing is dropped from it without being told.
"""

from collections.abc import Sequence

from agent.text import one_line
from agent.tools.arguments import BadArguments

MAX_FACTS = 60
MAX_FACT_CHARS = 500
MAX_CHARS = 6000


def with_fact(facts: Sequence[str], text: str, replaces: int | None) -> tuple[str, ...]:
    """Return the list with a fact added, or put in the place of another.

    Args:
        facts: the list as it is; the model sees its numbers from 1.
        text: the fact, already redacted; empty to forget the one that it replaces.
        replaces: the number of the fact that goes; None adds one.

    Raises:
        BadArguments: there is nothing to keep, no such number, or no room.
    """
    fact = one_line(text, MAX_FACT_CHARS).strip()
    if replaces is not None and not 1 <= replaces <= len(facts):
        known = f"there are 1 to {len(facts)}" if facts else "nothing is remembered yet"
        raise BadArguments(f"there is no fact {replaces} to replace: {known}")
    if not fact and replaces is None:
        raise BadArguments("`text` is empty: say what to remember")
    kept = list(facts)
    if replaces is not None:
        kept[replaces - 1 : replaces] = [fact] if fact else []
    elif fact not in kept:
        kept.append(fact)
    if len(kept) > MAX_FACTS or sum(map(len, kept)) > MAX_CHARS:
        raise BadArguments(
            f"there is room for {MAX_FACTS} facts of {MAX_CHARS:,} characters in all: replace or "
            "combine old ones with `replaces`"
        )
    return tuple(kept)


def facts_text(facts: Sequence[str]) -> list[str]:
    """Return the lines that show the list; none when it is empty."""
    if not facts:
        return []
    return ["## Remembered", *(f"{at}. {fact}" for at, fact in enumerate(facts, start=1))]
