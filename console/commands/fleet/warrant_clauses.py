"""Clauses of warrants as they are typed in a shell: `verb=spend;total=40 EUR;app=com.example.shop`.

Not their checking against words (that is the core's). Invariant: a part that cannot be read is
refused by its name.
"""

from datetime import datetime

from agent.errors import UsageError
from agent.records import Clause, EffectVerb
from agent.safety.allowances.amount_text import read_amount
from agent.safety.effects.amounts import currency
from agent.safety.warrants.reach import VERBS
from console.cli_support.time_parsing import when_ms

_EXAMPLE = 'Write one as "verb=spend;total=40 EUR;app=com.example.shop;items=milk,bread".'
_NAMES = ("verb", "app", "to", "items", "total", "each", "count", "until")


def parse_clause(text: str, now: datetime) -> Clause:
    """Read one clause.

    Args:
        now: the present, with its zone, from which `until=2h` counts.

    Raises:
        UsageError: a part is missing, unknown or wrong.
    """
    parts: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in _NAMES or not equals or not value or name in parts:
            raise UsageError(
                f"The part {part[:40]!r} of a clause cannot be read.",
                f"{_EXAMPLE} The parts are {', '.join(_NAMES)}, each once.",
            )
        parts[name] = value
    limit, unit = amount_of(parts.get("total", ""))
    each, each_unit = amount_of(parts.get("each", ""))
    if unit and each_unit and unit != each_unit:
        raise UsageError("total and each are in two currencies.", _EXAMPLE)
    count = parts.get("count", "0")
    if not count.isascii() or not count.isdecimal():
        raise UsageError(f"The count {count[:40]!r} is not a whole number.", _EXAMPLE)
    return Clause(
        verb=verb_of(parts.get("verb", "")),
        app=parts.get("app", ""),
        recipients=_names(parts.get("to", "")),
        items=_names(parts.get("items", "")),
        limit=limit,
        each=each,
        currency=unit or each_unit,
        count=int(count),
        until_ms=when_ms(parts.get("until", ""), now),
    )


def verb_of(text: str) -> EffectVerb:
    """Read what a clause is about. Raises UsageError."""
    found = next((verb for verb in VERBS if verb.value == text), None)
    if found is None:
        kinds = ", ".join(verb.value for verb in VERBS)
        raise UsageError(f"{text[:40]!r} is not what a warrant covers.", f"Use {kinds}.")
    return found


def amount_of(text: str) -> tuple[int, str]:
    """Read an amount as hundredths and currency; nothing for an empty text. Raises UsageError."""
    if not text:
        return 0, ""
    money = read_amount(text)
    return money.hundredths, currency(f"1 {money.unit}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in text.split(","))))
