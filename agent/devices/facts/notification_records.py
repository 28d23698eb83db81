"""Split the list in `dumpsys notification` into its records.

Not the reading of what a record means (`agent.devices.facts.notifications`). The format is that of
NotificationManagerService.dumpImpl and NotificationRecord.dump (AOSP 8 to 16). Makers add words to
a record's first line, a tag may hold line breaks, and a text is printed as it is, with whatever
looks like a record in it. Invariants: each line is looked at a bounded number of times; what stands
inside an open text begins no record; other lists than the one of what is posted are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_RECORDS = 1000
_HEADER_LIMIT_CHARS = 8000
_HEADER_LIMIT_LINES = 64
_VALUE_LIMIT_CHARS = 20_000
_CANDIDATES = 8
_LIST = re.compile(r"[ \t]{0,4}Notification List:\s*")
_HEADER = re.compile(r"([ \t]{0,8})NotificationRecord\(0x[0-9a-fA-F]+: pkg=(\S+) ")
_OTHER_SECTION = re.compile(
    r" {0,3}(?:[A-Z][\w ]{0,40}(?:List|Queue|[Nn]otifications)\b[^=]*:|m[A-Z]\w*[=:])"
)
_BELOW_HEADER = re.compile(r"[ \t]{2,}(?:uid=\d|(?:opPkg|icon|key|flags|notification)=|android\.)")
_USER = re.compile(r"user=UserHandle\{(-?\d+)\}")
_ID = re.compile(r" id=(-?\d+)")
_UID = re.compile(r"\|\d{1,10}")
_ENTRY = re.compile(r"([ \t]*)([^\s=(){}]+)=(.*)", re.DOTALL)
_TYPED = re.compile(r"([\w$]+) \((.*)", re.DOTALL)
_ARRAY = re.compile(r"[\w$]+\[\] \(\d+\)")
_REDACTED = re.compile(r"[\w$]+ \[length=\d+\]|\w*String(?:Builder)?")
"""The kind of a text without the text: with its length since Android 8, alone before."""
_ELEMENT = re.compile(r"[ \t]*\[\d+\] (.*)")
_TEXTS = frozenset({"android.title", "android.text", "android.bigText"})
_LINKER = "WARNING: linker: "
"""Begins what the dynamic linker of many phones says between the lines of any program."""


@dataclass(slots=True)
class RawRecord:
    """One record as it is printed."""

    line: str  # Its first line.
    package: str
    key: str = ""  # Empty: it could not be read.
    tail: str = ""  # What follows the key in the header: channel, flags, category.
    flags: str = ""  # Of the line below, which no app can write into.
    extras: dict[str, str] = field(default_factory=dict)
    redacted: bool = False  # Lengths stand where texts were.
    broken: bool = False  # A text of it has no end, or its key cannot be read.
    closed: bool = False  # Whether its texts were printed to their end.


def lines_of(output: str) -> list[str]:
    """Return the lines of an output without what the linker says between them."""
    lines = [line.rstrip("\r") for line in output.split("\n")]
    return [line for line in lines if not line.startswith(_LINKER)]


def records_of(dump: str) -> Iterator[RawRecord]:
    """Yield the records of the list of what is posted, at most `MOST_RECORDS`."""
    lines = lines_of(dump)
    at = next((at + 1 for at, line in enumerate(lines) if _LIST.fullmatch(line)), 0)
    given = 0
    while at < len(lines) and given < MOST_RECORDS:
        line = lines[at]
        head = _HEADER.match(line)
        if head is None:
            if _OTHER_SECTION.match(line):
                return
            at += 1
        else:
            while at + 1 < len(lines) and lines[at + 1] == line:
                at += 1  # A line that was printed twice.
            one, at = _Scan(lines, at, head).record()
            given += 1
            yield one


class _Scan:
    """The reading of one record, from its first line on."""

    def __init__(self, lines: list[str], at: int, head: re.Match[str]) -> None:
        self._lines = lines
        self._at = at
        self._indent = len(head[1])
        self._braced = False  # Whether texts stand in braces, as AOSP prints them.
        self._done = False  # Whether what follows is of another notification than the record's.
        self._one = RawRecord(line=lines[at], package=head[2])
        self._read_header(head)

    def record(self) -> tuple[RawRecord, int]:
        """Return the record and where the next may begin."""
        one, below = self._one, ""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if _HEADER.match(line) or _OTHER_SECTION.match(line):
                break
            entry = _ENTRY.match(line)
            if entry is None:
                one.closed = one.closed or (self._braced and line.strip() == "}")
                self._at += 1
                continue
            name, rest = entry[2], entry[3]
            if name == "key" and not below and not self._braced:
                below = rest
            elif name == "flags" and not one.flags and not self._braced:
                one.flags = rest
            elif name == "publicNotification":
                self._done = True
            elif rest == "{" and name in ("extras", "actions"):
                self._braced = self._braced or name == "extras"
                if name == "actions":
                    self._skip_braces()
                    continue
            elif name == "tickerText" or self._braced or name.startswith("android."):
                self._read_value(len(entry[1]), name, rest)
                continue
            self._at += 1
        # What stands in no braces has no end but the next record.
        one.closed = one.closed or (bool(one.extras) and not self._braced)
        self._settle_key(below)
        return one, self._at

    # --- the header ----------

    def _read_header(self, head: re.Match[str]) -> None:
        first = self._lines[self._at][head.end() :][:_HEADER_LIMIT_CHARS]
        self._at += 1
        if self._identify(first):
            return
        # A tag that holds line breaks.
        parts, room = [first], _HEADER_LIMIT_CHARS - len(first)
        at = self._at
        for line in self._lines[at : at + _HEADER_LIMIT_LINES]:
            if room <= 0 or _BELOW_HEADER.match(line) or _HEADER.match(line):
                break
            parts.append(line[:room])
            room -= len(line) + 1
            at += 1
        if len(parts) > 1 and self._identify("\n".join(parts)):
            self._at = at
        elif len(parts) == 1:
            self._one.tail = first

    def _identify(self, text: str) -> bool:
        """Find the key: user, package, id, tag and uid, of which the tag may hold anything.

        It stands twice, behind `tag=` and within the key, and what it is followed by differs.
        """
        user = _USER.search(text)
        number = _ID.search(text, user.end()) if user else None
        tag = text.find("tag=", number.end()) if number else -1
        if user is None or number is None or tag < 0:
            return False
        begins = f"{user[1]}|{self._one.package}|{number[1]}|"
        there = tag
        for _ in range(_CANDIDATES):
            there = text.find(f"key={begins}", there + 1)
            if there < 0:
                return False
            key = text[there + 4 + len(begins) :]
            same = _common_length(key, text[tag + 4 :])
            uid = _UID.match(key, same)
            if uid is not None:
                self._one.key = f"{begins}{key[: uid.end()]}"
                self._one.tail = key[uid.end() :]
                return True
        return False

    def _settle_key(self, below: str) -> None:
        one = self._one
        if not one.key:
            own = re.match(rf"-?\d+\|{re.escape(one.package)}\|-?\d+\|.*\|\d+", below)
            one.key = below if own else ""
            # Android 4 prints no key, on one line.
            is_old = ": Notification(" in one.line and " key=" not in one.line
            one.broken = one.broken or not (one.key or is_old)
        elif one.tail.startswith("|"):
            # The key of a group's summary ends in that of the group.
            ends = one.tail.partition(": Notification(")[0].partition(" ")[0]
            one.key = below if below.startswith(f"{one.key}|") else one.key + ends

    # --- what belongs to it ----------

    def _skip_braces(self) -> None:
        while self._at < len(self._lines) and self._lines[self._at].strip() != "}":
            self._at += 1

    def _read_value(self, indent: int, name: str, rest: str) -> None:
        """Read a value up to the line that belongs to it no more."""
        one, lines, begun = self._one, self._lines, self._at
        typed = _TYPED.fullmatch(rest)
        is_raw = name == "tickerText" or _ARRAY.match(rest) is not None
        if typed is None and not is_raw:
            hidden = _REDACTED.fullmatch(rest) is not None
            one.redacted = one.redacted or hidden
            # Another program's words may have broken into the line.
            one.broken = one.broken or (name in _TEXTS and not hidden and rest != "null")
            self._at += 1
            return
        closed = begun if rest.endswith(")") else -1
        at = begun + 1
        while at < len(lines) and not self._is_next(lines[at], indent, is_raw=is_raw):
            if lines[at].endswith(")"):
                closed = at
            at += 1
        self._at = at
        if self._done or name == "tickerText":
            return
        if is_raw:
            found = (_ELEMENT.match(line) for line in lines[begun + 1 : at][:50])
            one.extras.setdefault(name, "\n".join(each[1] for each in found if each))
        elif typed is not None and closed < 0:
            one.broken = True
        elif typed is not None:
            value = "\n".join([typed[2], *lines[begun + 1 : closed + 1]])
            one.extras.setdefault(name, value[:-1][:_VALUE_LIMIT_CHARS])

    def _is_next(self, line: str, indent: int, *, is_raw: bool) -> bool:
        if line[:1] not in (" ", "\t", "}", "N"):
            return False
        entry = _ENTRY.match(line)
        if entry is not None and len(entry[1]) == indent:
            return True
        if self._braced or is_raw:
            return line.strip() == "}" and len(line) - len(line.lstrip()) < indent
        return _HEADER.match(line) is not None or _OTHER_SECTION.match(line) is not None


def _common_length(one: str, other: str) -> int:
    """Return how many letters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
