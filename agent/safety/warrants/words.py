"""Hold the clauses of a warrant against the operator's words: nothing in them is wider.

Pure. Numbers, currencies, names, days and times of a clause have to stand in the words, and every
number of the words has to stand in a clause. What is unclear is a gap: a sentence that tells the
operator what to write. Not whether the words mean it: borderline cases show that.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

import msgspec

from agent.errors import UsageError
from agent.language.amounts import Amount, amounts_in
from agent.language.dates import DateText, dates_in
from agent.language.fold import hidden
from agent.language.numbers import Number, numbers_in
from agent.language.times import Time, times_in
from agent.language.tokens import Token, has_phrase, tokens
from agent.language.tokens import words as tokens_of
from agent.records import Clause, EffectVerb
from agent.safety.allowances.covering import compared_unit
from agent.safety.redacting.redaction import find_secrets
from agent.safety.warrants.reach import VERBS
from agent.text import clean, one_line

MOST_CLAUSES = 8
MOST_NAMES = 16
MOST_HUNDREDTHS = 100_000_000  # One million of a currency.
MOST_ACTS = 1000
_Place: TypeAlias = Amount | DateText | Number | Time | Token
_WORDS_CHARS = 600
_NAME_CHARS = 80


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """When words end."""

    at_ms: int  # The end of the latest day that they name, or the time on it; of today if none.
    is_said: bool  # Whether they name a day or a time.
    gaps: tuple[str, ...] = ()


def checked_words(words: str) -> str:
    """Return the words of a warrant on one line. Raises UsageError: they cannot be used."""
    said = " ".join(clean(words, _WORDS_CHARS + 1).split())
    if not any(map(str.isalpha, said)):
        raise UsageError(
            "The warrant has no words.",
            'Write what is allowed, as "today up to 40 EUR in Corner Shop, messages to Ana Silva".',
        )
    if len(said) > _WORDS_CHARS:
        raise UsageError(
            f"The words of a warrant are longer than {_WORDS_CHARS} characters.",
            "Say it in a sentence or two, or sign two warrants.",
        )
    if find_secrets(said):
        raise UsageError(
            "The words of a warrant look as if they contain a card number or another secret.",
            "Leave it out: no warrant covers secrets.",
        )
    return said


def check_clauses(clauses: Sequence[Clause]) -> None:
    """Raise UsageError unless every clause has the form of one, whatever the words say."""
    if not 1 <= len(clauses) <= MOST_CLAUSES:
        raise UsageError(
            f"The warrant has {len(clauses)} clauses.", f"Give 1 to {MOST_CLAUSES} clauses."
        )
    for number, one in enumerate(clauses, 1):
        for why, remedy in _malformed(one):
            raise UsageError(f"Clause {number} {why}.", remedy)


def _malformed(one: Clause) -> Iterator[tuple[str, str]]:
    if one.verb not in VERBS:
        kinds = ", ".join(verb.value for verb in VERBS)
        yield f"is about {one.verb.value}, which no warrant covers", f"Use {kinds}."
    if not 0 <= one.count <= MOST_ACTS:
        yield f"has the count {one.count}", f"Use 1 to {MOST_ACTS}, or 0 for no number."
    if one.until_ms < 0:
        yield "ends before there were clocks", "Leave until_ms out, or give a moment."
    for name in (one.app, *one.recipients, *one.items):
        if len(name) > _NAME_CHARS or clean(name) != name or "\n" in name or hidden(name):
            yield "has a name that is too long or holds what nobody sees", "Write it on one line."
    if len(one.recipients) > MOST_NAMES or len(one.items) > MOST_NAMES:
        yield "names too much", f"Use at most {MOST_NAMES} recipients and items."
    if not all(
        tokens_of(name) for name in (*filter(None, (one.app,)), *one.recipients, *one.items)
    ):
        yield "has a name without a letter or digit", "Write each name as the phone shows it."
    if one.verb is EffectVerb.SPEND:
        if not (0 <= one.limit <= MOST_HUNDREDTHS and 0 <= one.each <= MOST_HUNDREDTHS):
            yield "has an amount out of bounds", f"Use 0.01 to {MOST_HUNDREDTHS // 100}."
    elif one.limit or one.each or one.currency or one.items:
        yield f"is about {one.verb.value} and has an amount or items", "Those belong to spend."


def gaps_of(
    words: str,
    clauses: Sequence[Clause],
    now_ms: int,
    *,
    knows_app: Callable[[str], bool] = lambda _name: True,
) -> tuple[str, ...]:
    """List what stands in a clause and not in the words, or the other way round, a sentence each.

    Args:
        now_ms: tells what "today" is.
        knows_app: whether a name that is no package is that of a known app.
    """
    facts = _Facts(words, now_ms, clauses)
    gaps = list(facts.ending.gaps)
    for number, clause in enumerate(clauses, 1):
        gaps += [f"Clause {number}: {gap}" for gap in facts.gaps(clause, knows_app)]
    gaps += facts.unused(clauses)
    return tuple(dict.fromkeys(gaps))


def ending_of(words: str, now_ms: int, clauses: Sequence[Clause] = ()) -> Ending:
    """Return when words end; those that name no day end today.

    Args:
        clauses: whose names are no days: "Sunday Silva".
    """
    return _Facts(words, now_ms, clauses).ending


class _Facts:
    """What words say in numbers, days and names."""

    def __init__(self, words: str, now_ms: int, clauses: Sequence[Clause]) -> None:
        self._tokens = tokens_of(words)
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        self._amounts = amounts_in(words)
        named = [name for one in clauses for name in (one.app, *one.recipients, *one.items)]
        taken: list[_Place] = [*self._amounts, *_places(words, named)]
        self._dates = [one for one in dates_in(words, now.date()) if not _overlaps(one, taken)]
        taken += self._dates
        self._times: list[Time] = []
        for time in times_in(words):
            if not _overlaps(time, [*taken, *self._times]):
                self._times.append(time)
        taken += self._times
        self._numbers = [one for one in numbers_in(words) if not _overlaps(one, taken)]
        self._now = now
        self.ending = self._ending()

    def gaps(self, clause: Clause, knows_app: Callable[[str], bool]) -> Iterator[str]:
        """List what of a clause the words do not say."""
        for name in (clause.app, *clause.recipients, *clause.items):
            if name and not self._names(name):
                yield f'"{_shown(name)}" does not stand in your words; write the name there.'
        if clause.app and "." not in clause.app and not knows_app(clause.app):
            yield (
                f'no app is known as "{_shown(clause.app)}"; write its package in your words, as '
                "com.example.shop (switchboard devices apps lists them)."
            )
        if clause.verb is not EffectVerb.SPEND and not clause.recipients:
            yield "it names nobody; write to whom, as the phone shows the name."
        if clause.verb is EffectVerb.SPEND:
            yield from self._money_gaps(clause)
        said = {int(value) for one in self._numbers for value in one.readings if value % 1 == 0}
        if clause.count > 1 and clause.count not in said:
            yield f"{clause.count} times does not stand in your words; write the number in digits."
        if clause.until_ms and not self._may_end(clause.until_ms):
            yield "its end does not stand in your words; write the day or the time, as 18:30."

    def unused(self, clauses: Sequence[Clause]) -> Iterator[str]:
        """List the numbers of the words that no clause keeps to."""
        for amount in self._amounts:
            least = _hundredths(amount)
            kept = (
                one.currency and _is_unit(one.currency, amount) and _least(one) <= least
                for one in clauses
                if one.verb is EffectVerb.SPEND
            )
            if not any(kept):
                yield f"No clause keeps to {amount.value} {_shown(amount.unit)} of your words."
        for number in self._numbers:
            if not any(0 < one.count <= number.value for one in clauses):
                yield f"No clause keeps to the number {number.value} of your words; say what it is."

    def _names(self, name: str) -> bool:
        return has_phrase(self._tokens, tokens_of(name))

    def _money_gaps(self, clause: Clause) -> Iterator[str]:
        if not (clause.limit or (clause.each and clause.count)):
            yield "it names no amount; write what it may come to, as 40 EUR."
        if not (clause.app or clause.recipients):
            yield "it names neither an app nor who is paid; write one of them."
        for hundredths in filter(None, (clause.limit, clause.each)):
            said = [one for one in self._amounts if _is_unit(clause.currency, one)]
            # One cent less: the operator may say that the amount itself is too much.
            if not any(_hundredths(one) - hundredths in {0, 1} for one in said):
                amount = f"{hundredths / 100:.2f} {_shown(clause.currency)}"
                yield f"{amount} does not stand in your words; write amount and currency."
        for one in self._amounts:
            if one.number.is_ambiguous:
                yield f"{_shown(str(one.value))} may be read in two ways; write it as 19.99."

    def _may_end(self, until_ms: int) -> bool:
        if not (self._dates or self._times):
            return False
        end = datetime.fromtimestamp(until_ms / 1000).astimezone()
        # The end of a day is the first moment of the next.
        last = end - timedelta(milliseconds=1)
        said = any(one.may_be(last.date()) for one in self._dates)
        on_day = said if self._dates else last.date() == self._now.date()
        is_whole_day = (end.hour, end.minute, end.second) == (0, 0, 0)
        at_time = any(time.may_be(end.hour * 60 + end.minute) for time in self._times)
        return on_day and (at_time or is_whole_day)

    def _ending(self) -> Ending:
        today = self._now.date()
        days, gaps = [], []
        for one in self._dates:
            found = {_day_of(reading, today) for reading in one.readings} - {None}
            if len(found) != 1:
                gaps.append("The day in your words is unclear; write it as 2026-11-30.")
            days += [day for day in found if day is not None]
        if len(self._times) > 1 or any(len(one.readings) > 1 for one in self._times):
            gaps.append("The time in your words is unclear; write one, as 18:30.")
        day = max(days, default=today)
        minute = self._times[0].minute if len(self._times) == 1 else 24 * 60
        # Without a zone on purpose: the day as this computer's clock shows it, whatever it shifts.
        start = datetime.combine(day, datetime.min.time())
        end = (start + timedelta(minutes=minute)).astimezone()
        return Ending(
            at_ms=round(end.timestamp() * 1000),
            is_said=bool(self._dates or self._times),
            gaps=tuple(gaps),
        )


def _day_of(reading: object, today: date) -> date | None:
    """Return the next day that a reading may be, within a year."""
    ahead = (today + timedelta(days=days) for days in range(366))
    return next((day for day in ahead if reading.may_be(day)), None)  # type: ignore[attr-defined]


def _places(words: str, names: Sequence[str]) -> Iterator[Token]:
    """Return where names stand in words."""
    found = tokens(words)
    said = tuple(" ".join(tokens_of(one.text)) for one in found)
    for name in names:
        wanted = tokens_of(name)
        for at in range(len(said) - len(wanted) + 1):
            if wanted and said[at : at + len(wanted)] == wanted:
                yield Token(name, found[at].start, found[at + len(wanted) - 1].end)


def _overlaps(one: _Place, taken: Sequence[_Place]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in taken)


def _is_unit(currency: str, amount: Amount) -> bool:
    wanted = compared_unit(currency)
    # A sign of several currencies is taken for the dearest that it commonly stands for.
    said = next(iter(amount.codes)) if len(amount.codes) == 1 else amount.unit.upper()
    return bool(wanted) and compared_unit(said) == wanted


def _hundredths(amount: Amount) -> int:
    """Return the least that an amount may say."""
    return int(min(amount.number.readings) * Decimal(100))


def _least(clause: Clause) -> int:
    return min(filter(None, (clause.limit, clause.each)), default=MOST_HUNDREDTHS + 1)


def _shown(text: str) -> str:
    return one_line(text, _NAME_CHARS)
