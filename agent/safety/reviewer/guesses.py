"""Which rules guess: by a control's words and by where it stands, they infer what it may do.

Pure. Whoever reads goal and screens knows more than such a rule, so that a review may let pass what
only guesses ask about. All other rules are the floor, which no review opens: secrets, enter, what
is overwritten, keypads, system pages, addresses, the operator's own rules. Invariant: a rule is of
the floor unless it is named here, and so is a guess that a rule of the floor shares.
"""

from agent.safety.capabilities import Decision
from agent.safety.effects.verdict import Verdict

_GUESSES = frozenset(
    {
        "own words",
        "dialog",
        "payment",
        "charge",
        "written message",
        "page's purpose",
        "activity's purpose",
        "other people",
        "shared choice",
        "agreement",
        "outcome",
        "swipe over a row",
    }
)


def is_guess(verdict: Verdict) -> bool:
    """Return whether nothing but guesses asks about an act."""
    matched = {verdict.rule, *verdict.also}
    return verdict.decision is Decision.ASK and matched <= _GUESSES
