"""What was taken out of an operator's text, and what they let through, for the operator.

Invariant: the notice names kinds of secrets, never the secrets.
"""

from collections.abc import Sequence

from agent.safety.redacting.finding import Kind

NAMES = {
    Kind.CARD: "a payment card number",
    Kind.SSN: "a social security number",
    Kind.CVV: "a card's security code",
    Kind.PIN: "a PIN",
    Kind.CODE: "a one-time code",
    Kind.PASSWORD: "a password",
    Kind.KEY: "a key",
}


def redacted_notice(kinds: Sequence[str], where: str) -> str:
    """Return the notice for a text that lost secrets.

    Args:
        kinds: the values of `Kind`; one of another version is named as it is written.
        where: the text, as "goal".
    """
    return (
        f"What looks like {named_kinds(kinds)} was taken out of the {where} before it was stored: "
        "the agent does not see it. A secret for a field is asked for when the field needs it."
    )


def let_through_notice(count: int) -> str:
    """Return the notice for texts that the operator let through."""
    if count == 1:
        return "The operator let a text that looks like a secret through for this session."
    return f"The operator let {count} texts that look like secrets through for this session."


def named_kinds(kinds: Sequence[str]) -> str:
    """Name kinds of secrets, given by the values of `Kind`, as "a PIN and a password"."""
    known = {kind.value: name for kind, name in NAMES.items()}
    return " and ".join(known.get(kind, kind) for kind in kinds)
