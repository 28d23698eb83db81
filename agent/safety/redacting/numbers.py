"""Find payment cards, social security numbers and bank accounts in a text's normal form.

A number is one of these by its check digit, its prefix or its written form, never by its length
alone: parcel, order and telephone numbers are as long. Whatever is neither letter nor digit may
stand between digits. Every search is linear in the text's length.

Sources: ISO/IEC 7812 and the networks' own ranges for cards; SSA's rules since 2011 for social
security numbers (no area 000, 666 or 900–999, no group 00, no serial 0000); ISO 13616 for IBAN and
the lengths of its registry.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from re import Match

RUN = re.compile(r"[0-9]+(?:(?:[^\w\0]|_){1,16}+[0-9]+)*+")
"""Groups of digits with anything between that is neither letter nor digit."""
_GROUP = re.compile(r"[0-9]+")
_MOST_BEFORE = 2
_MOST_AFTER = 10
"""Digits that may stand beside a card that is split in an unusual way: a list's number before it,
its expiry date and its code after it."""
_PATTERNS = frozenset({(4, 6, 5), (4, 6, 4), (6, 13), (6, 10), (4, 4, 5), (4, 2, 4, 6)})
"""Lengths of groups in which cards of unequal groups are printed."""

_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE BI",
        18: "DK FK FO FI GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BY DJ FR GR IT MC MR SM",
        28: "AL AZ CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
_IBAN_START = re.compile(r"(?<![a-z0-9])[a-z]{2}[^\w\0\n]{0,3}[0-9][^\w\0\n]{0,3}[0-9]")
_IBAN_PART = re.compile(r"[^\w\0]{0,3}[a-z0-9]")
_SSN_CUE = re.compile(r"\b(?:ssn|social[^\w\0]{0,3}security)[^\0]{0,24}$")
_SSN_LENGTHS = (3, 2, 4)
Span = tuple[int, int]


def passes_luhn(digits: str) -> bool:
    """Return whether a string of digits ends in the check digit of a payment card."""
    even, odd = _luhn_sums(digits)
    return _passes(even, odd, 0, len(digits))


def cards(text: str) -> Iterator[Span]:
    """Return where payment cards stand in a normal form, from left to right."""
    for run in RUN.finditer(text):
        if run.end() - run.start() >= 12:
            yield from _cards_in(run)


def _cards_in(run: Match[str]) -> Iterator[Span]:
    groups = [(m.start() + run.start(), m.end() + run.start()) for m in _GROUP.finditer(run[0])]
    digits = "".join(run[0][a - run.start() : b - run.start()] for a, b in groups)
    if len(digits) < 12:
        return
    # Where each group begins among the digits, and the end.
    places = list(accumulate((b - a for a, b in groups), initial=0))
    even, odd = _luhn_sums(digits)
    at = 0
    while at < len(groups):
        last = _card_from(digits, places, even, odd, at)
        if last is None:
            at += 1
            continue
        yield groups[at][0], groups[last][1]
        at = last + 1


def _card_from(
    digits: str, places: Sequence[int], even: Sequence[int], odd: Sequence[int], at: int
) -> int | None:
    """Return the last group of the card that begins with a group; None when none does."""
    begins = places[at]
    for length in card_lengths(digits[begins : begins + 6]):
        ends = begins + length
        last = bisect_left(places, ends)
        if last >= len(places) or places[last] != ends or not _passes(even, odd, begins, ends):
            continue
        if len(set(digits[begins:ends])) == 1:
            # A run of one digit passes Luhn for some lengths and is never a card.
            continue
        sizes = tuple(places[k + 1] - places[k] for k in range(at, last))
        if _is_printed(sizes) or _stands_alone(begins, len(digits) - ends):
            return last - 1
    return None


def _stands_alone(before: int, after: int) -> bool:
    """Return whether so few digits stand beside a card that it need not be split as cards are."""
    return (before == 0 and after <= _MOST_AFTER) or (before <= _MOST_BEFORE and after == 0)


def _is_printed(sizes: tuple[int, ...]) -> bool:
    """Return whether a number is split as cards are: evenly but for its end, or by a pattern."""
    if sizes in _PATTERNS:
        return True
    return len(set(sizes[:-1])) <= 1 and sizes[-1] <= max(sizes[0], 4)


def card_lengths(prefix: str) -> tuple[int, ...]:
    """Return how many digits a card with this prefix may have, the most common first."""
    if len(prefix) < 6:
        return ()
    two, three, four = int(prefix[:2]), int(prefix[:3]), int(prefix[:4])
    if prefix[0] == "4":
        return (16, 19, 13)
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return (16,)
    if two in {34, 37}:
        return (15,)
    if 2200 <= four <= 2204 or 3528 <= four <= 3589:
        return (16, 17, 18, 19)
    if two in {36, 38, 39} or 300 <= three <= 305:
        return (14, 16, 17, 18, 19)
    if two in {62, 81, 60, 64, 65, 82} or four == 9792 or three == 508:
        return (16, 17, 18, 19)
    if two == 50 or 56 <= two <= 58 or prefix[0] == "6":
        return (16, 19, 18, 17, 15, 14, 13)
    return ()


def _luhn_sums(digits: str) -> tuple[list[int], list[int]]:
    """Return running sums of the digits, with those at even or at odd places doubled."""
    plain = [int(c) for c in digits]
    twice = [2 * value - 9 * (value > 4) for value in plain]
    even = [t if k % 2 == 0 else p for k, (p, t) in enumerate(zip(plain, twice, strict=True))]
    odd = [p if k % 2 == 0 else t for k, (p, t) in enumerate(zip(plain, twice, strict=True))]
    return list(accumulate(even, initial=0)), list(accumulate(odd, initial=0))


def _passes(even: Sequence[int], odd: Sequence[int], first: int, end: int) -> bool:
    # The digit before the last is doubled, and every second one to its left.
    sums = even if (end - 2) % 2 == 0 else odd
    return (sums[end] - sums[first]) % 10 == 0


def security_numbers(text: str, lower: str) -> Iterator[Span]:
    """Return where American social security numbers stand: by their form, or by what is said."""
    for run in RUN.finditer(text):
        if run.end() - run.start() < 9:
            continue
        groups = list(_GROUP.finditer(run[0]))
        free = 0
        for at in range(len(groups)):
            if at < free:
                continue
            three = groups[at : at + 3]
            sizes = tuple(len(group[0]) for group in three)
            if sizes == _SSN_LENGTHS and _is_written_out(run[0], three, groups, at):
                number = "".join(group[0] for group in three)
            elif len(groups[at][0]) == 9 or len(run[0]) == 17:
                start = run.start() + groups[at].start()
                if not _SSN_CUE.search(lower[max(0, start - 60) : start]):
                    continue
                three = [groups[at]] if len(groups[at][0]) == 9 else groups
                number = "".join(group[0] for group in three)
            else:
                continue
            if _is_issued(number):
                free = at + len(three)
                yield run.start() + three[0].start(), run.start() + three[-1].end()


def _is_written_out(
    run: str, three: Sequence[Match[str]], groups: Sequence[Match[str]], at: int
) -> bool:
    """Return whether 3, 2 and 4 digits stand apart by one sign, and no other number beside them."""
    first, second = (run[three[k].end() : three[k + 1].start()] for k in (0, 1))
    if first != second or len(first) > 3 or (first.isspace() and "\n" in first):
        return False
    close = (
        at > 0 and three[0].start() - groups[at - 1].end() <= 1,
        at + 3 < len(groups) and groups[at + 3].start() - three[2].end() <= 1,
    )
    return not any(close)


def _is_issued(number: str) -> bool:
    if len(number) != 9:
        return False
    area, group, serial = number[:3], number[3:5], number[5:]
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


def is_iban(text: str) -> bool:
    """Return whether a text is an international bank account number, by its check digits."""
    plain = "".join(c for c in text if c.isalnum()).upper()
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain) or not plain.isascii():
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def accounts(lower: str) -> Iterator[Span]:
    """Return where bank accounts (IBAN) stand in a normal form in lower case."""
    free = 0
    for start in _IBAN_START.finditer(lower):
        length = _IBAN_LENGTHS.get(start[0][:2].upper(), 0)
        if not length or start.start() < free:
            continue
        end = start.end()
        for _ in range(length - 4):
            part = _IBAN_PART.match(lower, end)
            if part is None:
                break
            end = part.end()
        else:
            if is_iban(lower[start.start() : end]) and not lower[end : end + 1].isalnum():
                free = end
                yield start.start(), end
