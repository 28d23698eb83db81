"""Whether foreign text is a number that can be read: `str.isdigit` alone is no guard for `int`.

Not a parser. Invariant: `int` takes what passes here, in no time.
"""

MOST_DIGITS = 18  # A number that long fits into 64 bits.


def is_number(text: str) -> bool:
    """Whether text is one to 18 of the digits 0 to 9; `²` is a digit to Python and no number."""
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
