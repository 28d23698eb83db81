"""Take personal data out of what a phone shows and a model says, before it is kept or sent.

Not the search (that is `agent.safety.redacting`, which also judges what may be typed) and not the
memory of what was typed into password fields (`agent.safety.redacting.secrets`). Text that a phone
shows loses secrets, telephone and account numbers and e-mail addresses; what the operator or the
model wrote loses secrets only, because the operator's own goal may be to write to an address.
Invariant: redacting twice changes nothing. What the operator let through for a session stays in it
(`agent.safety.redacting.let_through`). Pixels are never redacted: a stored frame shows what the
phone showed.
"""

import re
from collections.abc import Callable, Iterable

from agent.language.normal_form import BARRIER
from agent.safety.redacting.finding import PERSONAL, Kind, SecretSpan, find, may_hold
from agent.safety.redacting.numbers import is_iban as is_iban
from agent.safety.redacting.numbers import passes_luhn as passes_luhn
from agent.text import as_written, one_line

TAKEN_OUT = re.compile(
    r"\[(?:CARD|SSN|CVV|PIN|CODE|PASSWORD|KEY|IBAN) REDACTED\]|\[(?:PHONE|EMAIL) \*\*\*\]"
)
"""What stands for anything that was taken out."""
_MAX_PASSES = 8


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """Find what `redact_secrets` would take out."""
    return tuple(one for one in find(text) if one.kind not in PERSONAL)


def redact_secrets(text: str) -> str:
    """Take out cards, social security numbers, codes, PINs, passwords and keys."""
    return _settled(text, personal=False)


def redact(text: str) -> str:
    """Take out secrets, telephone numbers, account numbers (IBAN) and e-mail addresses."""
    return _settled(text, personal=True)


def hidden_as_written(text: str, hide: Callable[[str], str], limit: int) -> str:
    """Clean and redact a text with its line breaks and spaces, unless a detail spans them.

    Args:
        hide: takes the details out of a text.
        limit: the most characters that are returned.
    """
    written, folded = as_written(text, limit), one_line(text, limit)
    shown, plain = hide(written), hide(folded)
    if plain in (folded, one_line(shown, limit)):
        return shown
    return plain


def any_may_hold(texts: Iterable[str]) -> bool:
    """Return whether anything can be to redact in one of several texts, in one look at them all."""
    return may_hold(BARRIER.join(texts))


def marker(kind: Kind) -> str:
    """Return what takes the place of a text."""
    return f"[{kind.value} ***]" if kind in (Kind.PHONE, Kind.EMAIL) else f"[{kind.value} REDACTED]"


def _settled(text: str, *, personal: bool) -> str:
    """Redact until nothing changes: what is taken out may leave a number standing alone."""
    for _ in range(_MAX_PASSES):
        parts: list[str] = []
        at = 0
        for one in find(text):
            if one.kind in PERSONAL and not personal:
                continue
            parts += [text[at : one.start], marker(one.kind)]
            at = one.end
        if not parts:
            break
        text = "".join([*parts, text[at:]])
    return text
