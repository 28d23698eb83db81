"""Read the values of an answer whatever their types are: an endpoint may write anything anywhere.

Pure. Invariant: what comes back has the type that is said, so that nothing of it fails later, when
it is added up, stored or sent again.
"""

import json
import math
from typing import Any

from agent.records import Usage

MAX_TOKENS = 10**9  # No call has used more; a larger number is no count.


def words(value: object) -> str:
    """Read a text, or the texts of a list of parts; anything else says nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(
            words(part.get("text") if isinstance(part, dict) else getattr(part, "text", None))
            for part in value
        )
    return ""


def listed(value: object) -> list[Any]:
    """Read a list; anything else has nothing in it."""
    return value if isinstance(value, list) else []


def argument_text(value: object) -> str:
    """Read a call's arguments: JSON as text, or an object that was not made into one."""
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value if isinstance(value, str) else ""


def name_text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and value != "" else ""


def usage_of(used: Any, given: str, written: str, details: str) -> Usage:
    """Read what one call used; what is no count of tokens is none.

    Args:
        used: as the endpoint says it, or None.
        given, written, details: what this wire calls the tokens of the request, of the answer, and
            what is said of the request's beside their number.
    """
    more = getattr(used, details, None)
    return Usage(
        calls=1,
        input_tokens=count_of(getattr(used, given, None)),
        output_tokens=count_of(getattr(used, written, None)),
        cached_input_tokens=count_of(getattr(more, "cached_tokens", None)),
    )


def number_of(value: object) -> int | None:
    """Read which one of several it is: a number, also as text."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
    return value if isinstance(value, int) else None


def count_of(value: object) -> int:
    if isinstance(value, str):
        return number_of(value) or 0
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value) if 0 <= value <= MAX_TOKENS else 0


def is_whole(text: str) -> bool:
    """Return whether the arguments of a call are a whole JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
