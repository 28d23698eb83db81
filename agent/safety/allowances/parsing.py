"""Read and check what a session may send or spend without asking.

The written form is `send:N:NAMES` or `spend:AMOUNT CURRENCY:NAMES`, with commas between names.
Not the judging (that is `agent.safety.allowances.covering`). Invariant: what passes names a limit
above zero and at least one recipient.
"""

import re
from collections.abc import Sequence

from agent.errors import UsageError
from agent.records import Allowance, EffectVerb
from agent.safety.allowances.amount_text import read_amount
from agent.safety.effects.amounts import amounts, currency
from agent.safety.redacting.redaction import find_secrets
from agent.text import clean

MAX_ALLOWANCES = 16
MAX_RECIPIENTS = 32
MAX_MESSAGES = 1000
MAX_HUNDREDTHS = 100_000_000  # One million of a currency.
_NAME_CHARS = 100
_EXAMPLES = 'Write "send:3:Ana Silva,Mom" or "spend:20 EUR:Corner Cafe".'
_COUNT = re.compile(r"[0-9]{1,6}")
_SHOWN_CHARS = 60


def parse_allowance(text: str) -> Allowance:
    """Read one allowance.

    Raises:
        UsageError: a part is missing or wrong; the message names the part, the remedy the form.
    """
    parts = text.split(":", 2)
    if len(parts) < 3:
        raise UsageError(
            f"The allowance {_shown(text)} has {len(parts)} of its 3 parts.",
            f"{_EXAMPLES} The parts are the kind, the limit and the recipients.",
        )
    kind, limit, names = (part.strip() for part in parts)
    recipients = tuple(name.strip() for name in names.split(","))
    match kind:
        case "send":
            if not _COUNT.fullmatch(limit):
                raise UsageError(
                    f"The limit {_shown(limit)} of a send allowance is not a whole number.",
                    f"Use 1 to {MAX_MESSAGES} messages: {_EXAMPLES}",
                )
            found = Allowance(verb=EffectVerb.SEND, limit=int(limit), recipients=recipients)
        case "spend":
            money = read_amount(limit)
            found = Allowance(
                verb=EffectVerb.SPEND,
                limit=money.hundredths,
                recipients=recipients,
                currency=currency(f"1 {money.unit}"),
            )
        case _:
            raise UsageError(
                f"The kind {_shown(kind)} of an allowance is unknown.",
                f"Use send or spend; nothing else is allowed without asking. {_EXAMPLES}",
            )
    return checked_allowance(found)


def checked_allowances(allowances: Sequence[Allowance]) -> tuple[Allowance, ...]:
    """Return the allowances of a new session, unused.

    Raises:
        UsageError: there are too many, or one cannot be used.
    """
    if len(allowances) > MAX_ALLOWANCES:
        raise UsageError(
            f"There are {len(allowances)} allowances.", f"Use at most {MAX_ALLOWANCES}."
        )
    return tuple(checked_allowance(one) for one in allowances)


def checked_allowance(given: Allowance) -> Allowance:
    """Return an allowance, unused, when it can be used.

    Raises:
        UsageError: its kind, limit, currency or a recipient is out of bounds.
    """
    match given.verb:
        case EffectVerb.SEND:
            if not 1 <= given.limit <= MAX_MESSAGES:
                raise UsageError(
                    f"The limit of a send allowance is {given.limit} messages.",
                    f"Use 1 to {MAX_MESSAGES}.",
                )
            if given.currency:
                raise UsageError("A send allowance has a currency.", "Leave the currency out.")
        case EffectVerb.SPEND:
            if not 1 <= given.limit <= MAX_HUNDREDTHS:
                raise UsageError(
                    f"The limit of a spend allowance is {given.limit / 100:.2f}.",
                    f"Use 0.01 to {MAX_HUNDREDTHS // 100}.",
                )
            # What the judge would not read as an amount on a screen could never be compared.
            written = f"20 {given.currency}"
            if amounts(written) != (written,) or currency(written) != given.currency:
                raise UsageError(
                    f"The currency {_shown(given.currency)} of a spend allowance is unknown.",
                    "Use a code such as EUR, USD or GBP.",
                )
        case _:
            raise UsageError(
                f"An allowance for {given.verb.value} is not possible.", "Use send or spend."
            )
    if len(given.recipients) > MAX_RECIPIENTS:
        raise UsageError(
            f"An allowance names {len(given.recipients)} recipients.",
            f"Use at most {MAX_RECIPIENTS}.",
        )
    if not given.recipients:
        raise UsageError("An allowance names no recipient.", f"Name at least one. {_EXAMPLES}")
    for name in given.recipients:
        _check_name(name)
    return Allowance(
        verb=given.verb,
        limit=given.limit,
        recipients=tuple(dict.fromkeys(given.recipients)),
        currency=given.currency,
    )


def _check_name(name: str) -> None:
    if not any(map(str.isalnum, name)):
        raise UsageError(
            f"The recipient {_shown(name)} of an allowance is not a name.",
            f"Write each name as the phone shows it, with commas between them. {_EXAMPLES}",
        )
    if len(name) > _NAME_CHARS or clean(name) != name or "\n" in name:
        raise UsageError(
            f"The recipient {_shown(name)} of an allowance is too long or contains control "
            "characters.",
            f"Use at most {_NAME_CHARS} characters on one line.",
        )
    if find_secrets(name):
        raise UsageError(
            "A recipient of an allowance looks like a card number or another secret.",
            "Use the name that the phone shows.",
        )


def _shown(text: str) -> str:
    return f'"{clean(text)[:_SHOWN_CHARS]}"'
