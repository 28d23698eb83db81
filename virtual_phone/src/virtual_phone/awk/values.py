"""What awk's values are worth: as numbers, as text, compared, and formatted.

Text is bytes, one character each, as awk of that release counts them. Invariant: whatever a program
or its input says becomes a value; a number or a width that is none never raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

MOST_CHARS = 4 * 1024 * 1024
"""The longest text that a program may make; a phone's would end for want of memory."""
WIDEST = 100_000
"""The widest field that is formatted."""


class Input(str):
    """Text that came from outside: where it looks like a number it is compared as one."""

    __slots__ = ()


Value: TypeAlias = float | str | None
"""None is what was never set: nothing and zero."""


class AwkError(Exception):
    """The program did what awk ends for."""


_LEADING = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)", re.ASCII)
_WHOLE = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_WHOLE_TO = 2.0**63
"""Whole numbers below it are written out, as a C `long long` holds them."""


def number_of(value: Value) -> float:
    """Return a value as a number: what a text begins with, or zero."""
    if isinstance(value, float):
        return value
    found = _LEADING.match(value[:400]) if value else None
    return float(found.group(1)) if found else 0.0


def whole_of(value: Value) -> int:
    """Return a value as a whole number, for places and counts; what is no number is zero."""
    number = number_of(value)
    if math.isnan(number):
        return 0
    return int(max(-(2.0**53), min(number, 2.0**53)))


def text_of(value: Value, form: str = "%.6g") -> str:
    """Return a value as text, a number that is not whole by a format."""
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return str(value)
        if value == int(value) and abs(value) < _WHOLE_TO:
            return str(int(value))
        return "".join(formatted(form, [value]))
    return "" if value is None else value


def is_true(value: Value) -> bool:
    """Return whether a value counts as true."""
    if isinstance(value, Input) and _looks_numeric(value):
        return number_of(value) != 0
    return value != 0 if isinstance(value, float) else bool(value)


def compared(left: Value, right: Value, form: str) -> int:
    """Compare as numbers where both are, else as text: below, at or above zero."""
    if _is_numeric(left) and _is_numeric(right):
        one, other = number_of(left), number_of(right)
        return (one > other) - (one < other)
    first, second = text_of(left, form), text_of(right, form)
    return (first > second) - (first < second)


def _is_numeric(value: Value) -> bool:
    if value is None or isinstance(value, float):
        return True
    return isinstance(value, Input) and _looks_numeric(value)


def _looks_numeric(text: str) -> bool:
    return len(text) < 400 and _WHOLE.fullmatch(text) is not None


def bounded(text: str) -> str:
    """Return a text that is not too long. Raises AwkError."""
    if len(text) > MOST_CHARS:
        raise AwkError("out of memory")
    return text


# --- printf ----------

_SPEC = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlLqjzt]*([a-zA-Z%])")


def formatted(form: str, values: Sequence[Value]) -> str:
    """Format as awk's printf does.

    Raises:
        AwkError: there are too few values, or a field is too wide.
    """
    left = iter(values)
    out: list[str] = []
    at = 0
    for spec in _SPEC.finditer(form):
        out.append(form[at : spec.start()])
        at = spec.end()
        flags, width, precision, kind = spec.groups()
        if kind == "%":
            out.append("%")
            continue
        layout = f"%{flags}{_wide(width, left, form)}"
        if precision is not None:
            layout += f".{_wide(precision, left, form).removeprefix('-') or '0'}"
        out.append(_one(layout, kind, left, form, spec.group()))
    return bounded("".join((*out, form[at:])))


def _wide(text: str | None, left: Iterator[Value], form: str) -> str:
    if text == "*":
        text = str(whole_of(_taken(left, form)))
    digits = (text or "").lstrip("-")
    if len(digits) > len(str(WIDEST)) or int(digits or 0) > WIDEST:
        raise AwkError("format item is too wide")
    return text or ""


def _taken(left: Iterator[Value], form: str) -> Value:
    for value in left:
        return value
    raise AwkError(f"not enough args in printf({form[:60]})")


def _one(layout: str, kind: str, left: Iterator[Value], form: str, said: str) -> str:
    if kind not in "diouxXeEfFgGaAcs":
        return said
    value = _taken(left, form)
    if kind == "s":
        return f"{layout}s" % text_of(value)
    if kind == "c":
        if isinstance(value, float):
            return f"{layout}s" % chr(whole_of(value) & 0xFF)
        return f"{layout}s" % text_of(value)[:1]
    number = number_of(value)
    if kind in "eEfFgGaA":
        return f"{layout}{'e' if kind in 'aA' else kind}" % number
    whole = whole_of(number)
    if kind in "ouxX" and whole < 0:
        whole += 1 << 64
    return f"{layout}{'d' if kind in 'iu' else kind}" % whole
