"""The notifications of a phone, as `dumpsys notification --noredact` tells of them.

Not a listener: the shell can ask what is there, and is not called when something comes. Invariants:
what an app wrote is cleaned and bounded; where the phone lists the keys of its notifications
(`cmd notification list`, Android 11), a record of no such key is left out, for an app may write
whatever looks like one into a text; two records that claim one key and differ are both left out;
what is listed and was not read is counted.
"""

import re
from collections.abc import Collection

from agent.devices.facts.fact import Fact, Unknown, known
from agent.devices.facts.notification_records import RawRecord, lines_of, records_of
from agent.records.record import Record
from agent.text import clean, one_line

MOST = 200  # Android keeps 50 an app; whatever comes after this many is left out.
_TEXT_LIMIT = 2000
_DUMP_LIMIT_CHARS = 4_000_000  # Of real ones the list is below a tenth of this.
_LISTING_LIMIT_CHARS = 1_000_000
_HEADING = "Notification Manager state"
_LISTED_KEY = re.compile(r"-?\d+\|[^\s|]+\|-?\d+\|")
_CUT_OFF = re.compile(r"^\*\*\* SERVICE '[^'\n]{0,80}' DUMP TIMEOUT[^\n]{0,80}", re.MULTILINE)
"""What `dumpsys` says when a service has not finished within its ten seconds."""
_FLAGS = re.compile(r"(?:0x)?([0-9a-f]+)", re.IGNORECASE)
_HEADER_FLAGS = re.compile(r" flags=(\S+)")
_CATEGORY = re.compile(r" category=(\w+)")
_GROUP_SUMMARY = 0x200
_ONGOING = 0x2


class Notification(Record, frozen=True, kw_only=True):
    """One notification as it is on a phone."""

    key: str  # User, package, id, tag and uid: the same for each update of it.
    package: str
    title: str = ""
    text: str = ""
    category: str = ""  # As the app says: msg, call, email …; empty when it says nothing.
    ongoing: bool = False
    redacted: bool = False  # The phone gave lengths in place of its texts.


class Shade(Record, frozen=True, kw_only=True):
    """What is in the notification shade of a phone, as far as it could be read."""

    notifications: tuple[Notification, ...] = ()
    """Without the summaries of groups."""
    listed: Fact[int]
    """How many the phone lists, summaries too; unknown before Android 11."""
    read: int = 0
    """How many were read, summaries too."""
    unread: int = 0
    """How many are there and could not be read."""
    why: str = ""
    """Why not, when some were not."""

    @property
    def lost(self) -> str:
        """Return in a sentence without its full stop what is missing; empty if nothing is."""
        hidden = sum(one.redacted for one in self.notifications)
        parts = []
        if self.unread:
            of = self.unread + self.read
            parts.append(f"could not read {self.unread} of {of} notifications ({self.why})")
        elif self.why:
            parts.append(self.why)
        if hidden:
            parts.append(f"the phone hides the texts of {hidden} notifications")
        return ", and ".join(parts)


def command(mark: str) -> str:
    """Return the shell command that tells of notifications: a dump, a mark, and the keys."""
    return f"dumpsys notification --noredact 2>&1; echo {mark}; cmd notification list 2>&1; true"


def read_notifications(output: str, mark: str) -> Fact[Shade]:
    """Read what `command` printed."""
    dump, marked, listing = output.rpartition(mark)
    if not marked:
        dump, listing = output, ""
    is_long = len(dump) > _DUMP_LIMIT_CHARS
    raw = list(records_of(dump[:_DUMP_LIMIT_CHARS]))
    heading = next((line for line in dump.split("\n", 200) if _HEADING in line), "")
    cut = _CUT_OFF.search(dump)
    if raw and not raw[-1].closed and (cut is not None or is_long or not marked):
        raw[-1].broken = True
    if not raw and (not heading or cut is not None):
        said = cut[0] if cut else one_line(dump, 200)
        return Unknown(reason=f"dumpsys notification answered: {said or 'nothing'}")
    keys = _listed_keys(listing[:_LISTING_LIMIT_CHARS], {one.key for one in raw})
    if not raw and not dump.partition(_HEADING)[2].partition("\n")[2].strip():
        # A phone without notifications prints its settings below the heading.
        return Unknown(reason="dumpsys notification ended after its heading")
    shade = _shade(raw, keys, listing, cut_off=cut is not None or is_long)
    return known(shade, raw[0].line if raw else heading)


def _shade(raw: list[RawRecord], keys: tuple[str, ...], listing: str, *, cut_off: bool) -> Shade:
    confirmed = [one for one in raw if not keys or one.key in keys]
    claims: dict[str, list[RawRecord]] = {}
    for at, one in enumerate(confirmed):
        # Android 4 prints no keys: each record is then itself.
        claims.setdefault(one.key or f"{one.package}|{at}", []).append(one)
    agreed = [its for its in claims.values() if _is_one(its)]
    read = [next((one for one in its if one.broken), its[0]) for its in agreed]
    contested = len(claims) - len(agreed)
    broken = [one for one in read if one.broken]
    whole = [one for one in read if not one.broken]
    listed: Fact[int]
    if keys:
        listed = known(len(keys), keys[0])
        unread = len(keys) - len(whole)
    else:
        said = one_line(listing, 120)
        listed = Unknown(reason=f"`cmd notification list` gave no keys: {said or 'nothing'}")
        unread = contested + len(broken)
    found = (_notification(each) for each in whole[:MOST])
    left_out = len(whole) - len(whole[:MOST])
    whys = (
        ("the dump was cut off", cut_off and (unread or not keys)),
        (f"more than {MOST} are posted", left_out),
        ("several records have one key", contested),
        ("their records are printed in an unknown way", unread > contested and not cut_off),
    )
    return Shade(
        notifications=tuple(one for one in found if one is not None),
        listed=listed,
        read=len(whole) - left_out,
        unread=unread + left_out,
        why=", ".join(why for why, is_so in whys if is_so),
    )


def _is_one(claims: list[RawRecord]) -> bool:
    return len(claims) == 1 or _agrees(claims)


def _agrees(claims: list[RawRecord]) -> bool:
    """Return whether records of one key say the same."""
    return all((one.extras, one.flags) == (claims[0].extras, claims[0].flags) for one in claims)


def _listed_keys(listing: str, read: Collection[str]) -> tuple[str, ...]:
    """Return the keys of a listing, one a line, or on several where a tag holds line breaks.

    A tag may spell a line that looks like a key, so the long keys that were read come first.
    """
    text = "\n".join(["", *(line.strip() for line in lines_of(listing)), ""])
    found: list[str] = []
    for key in sorted((one for one in read if "\n" in one), key=len, reverse=True):
        there = "\n".join(line.strip() for line in key.split("\n"))
        if f"\n{there}\n" in text:
            text = text.replace(f"\n{there}\n", "\n", 1)
            found.append(key)
    plain: list[str] = []
    for line in text.split("\n"):
        if _LISTED_KEY.match(line):
            plain.append(line)
        elif line and plain and plain[-1] not in read:
            plain[-1] += f"\n{line}"
    return tuple(dict.fromkeys((*found, *plain)))


def _notification(raw: RawRecord) -> Notification | None:
    """Return what a record means; None for the summary of a group."""
    in_header = _HEADER_FLAGS.findall(raw.tail)
    said = raw.flags or (in_header[-1] if in_header else "")
    number = _FLAGS.fullmatch(said)
    bits, names = (int(number[1], 16), "") if number else (0, said)
    if bits & _GROUP_SUMMARY or _has(names, "GROUP_SUMMARY"):
        return None
    extras = raw.extras
    category = _CATEGORY.findall(raw.tail)
    title = extras.get("android.title", "")
    text = _first(extras, "android.bigText", "android.text", "android.textLines")
    return Notification(
        key=clean(raw.key or f"{raw.package}|{title}", 1000),
        package=one_line(raw.package, 200),
        title=one_line(title, 300),
        # The long form of a message holds the short one.
        text=clean(text, _TEXT_LIMIT).strip(),
        category=category[-1] if category else "",
        ongoing=bool(bits & _ONGOING) or _has(names, "ONGOING_EVENT"),
        redacted=raw.redacted and not (title or text),
    )


def _has(names: str, flag: str) -> bool:
    return flag in names.strip(")").split("|")


def _first(extras: dict[str, str], *names: str) -> str:
    return next((extras[name] for name in names if extras.get(name)), "")
