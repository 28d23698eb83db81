"""Part what is read into records, and a record into fields.

Not the variables that say how. Invariant: a record that is longer than a text may be ends the
program.
"""

from __future__ import annotations

from virtual_phone.awk.patterns import found_in, parted, quoted
from virtual_phone.awk.values import MOST_CHARS, AwkError
from virtual_phone.server.pipes import Source

MOST_FIELDS = 50_000
_BLANK = " \t\n"


class Records:
    """The records of one source, one after another."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._held = ""
        self._at = 0
        """Where in what is held the next record begins."""
        self._is_over = False

    async def next(self, separator: str) -> str | None:
        """Return the next record, separated as `RS` says; None at the end. Raises AwkError."""
        if len(separator) == 1:
            return await self._until_char(separator)
        if separator:
            return await self._until(separator)
        while True:
            while self._held.startswith("\n", self._at):
                self._at += 1
            if self._at < len(self._held):
                break
            if not await self._more():
                return None
        found = await self._until(r"\n\n+")
        return None if found is None else found.removesuffix("\n")

    async def _until_char(self, char: str) -> str | None:
        seen = 0
        while (end := self._held.find(char, self._at + seen)) < 0:
            seen = len(self._held) - self._at
            if not await self._more():
                return self._rest()
        record, self._at = self._held[self._at : end], end + 1
        return record

    async def _until(self, pattern: str) -> str | None:
        while True:
            found = found_in(self._held, pattern, self._at)
            is_one = found is not None and found.end() > found.start()
            # What ends where all that was read ends may go on.
            if found is not None and is_one and (found.end() < len(self._held) or self._is_over):
                record, self._at = self._held[self._at : found.start()], found.end()
                return record
            if not await self._more() and not is_one:
                return self._rest()

    async def _more(self) -> bool:
        if self._is_over:
            return False
        data = await self._source.read()
        self._is_over = not data
        self._held, self._at = self._held[self._at :] + data.decode("latin-1"), 0
        if len(self._held) > MOST_CHARS:
            raise AwkError("input record is too long")
        return bool(data)

    def _rest(self) -> str | None:
        rest, self._held, self._at = self._held[self._at :], "", 0
        return rest or None


def fields_of(record: str, separator: str, *, lines_part: bool = False) -> list[str]:
    """Part a record into fields, as `FS` says it.

    Args:
        record: the record, or any text.
        separator: a blank for runs of blanks, one character for itself, else a pattern.
        lines_part: whether a newline parts them too, as where records are paragraphs.

    Raises:
        AwkError: there are too many.
    """
    if not record:
        return []
    if separator == " ":
        found = record.translate(_TO_BLANKS).split(" ")
        found = [part for part in found if part]
    elif separator == "":
        found = list(record[: MOST_FIELDS + 1])
    elif len(separator) == 1 and not lines_part:
        found = record.split(separator)
    else:
        pattern = quoted(separator) if len(separator) == 1 else separator
        found = parted(record, rf"({pattern})|\n" if lines_part else pattern)
    if len(found) > MOST_FIELDS:
        raise AwkError("too many fields")
    return found


_TO_BLANKS = str.maketrans(dict.fromkeys(_BLANK, " "))
