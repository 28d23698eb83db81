"""The notifications of a phone, as `dumpsys notification --noredact` tells of them.

Not a listener: the shell can ask what is there, and is not called when something comes. The format
is NotificationRecord.dump's in AOSP. Invariants: what an app wrote is cleaned and bounded; where
the phone can list the keys of its notifications (Android 11), a record of no such key is left out,
for an app may write whatever looks like one into a text of its own.
"""

import re

from agent.records.record import Record
from agent.text import clean, one_line

MOST = 200  # Android keeps 50 an app; whatever comes after this many is left out.
_TEXT_LIMIT = 2000
_RECORD_LIMIT_CHARS = 20_000
# Four blanks stand before a record of the list, and more before what belongs to it.
_RECORD = re.compile(r"^ {2,6}NotificationRecord\(0x[0-9a-f]+: pkg=(\S+) ", re.MULTILINE)
_KEY = re.compile(r" key=([^\n]*?)(?::? Notification\(|\)?$)", re.MULTILINE)
_EXTRA = re.compile(
    r"^\s+android\.(title|text|bigText|subText)=(?:\w*(?:String|Spannable\w*|SpannedString)) "
    r"\((.*?)\)$(?=\n\s+(?:android\.|[\w.]+=)|\n\s*\}|\n\s*$|\n? *\Z|\n {2,6}\S)",
    re.MULTILINE | re.DOTALL,
)
_FLAGS = re.compile(r" flags=(?:0x([0-9a-f]+)|([A-Z_|]+))")
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


def command(mark: str) -> str:
    """Return the shell command that tells of notifications: a dump, a mark, and the keys."""
    return f"dumpsys notification --noredact; echo {mark}; cmd notification list 2>/dev/null; true"


def read_notifications(output: str, mark: str) -> tuple[Notification, ...]:
    """Read what `command` printed."""
    dump, _, listed = output.rpartition(mark)
    keys = {line.strip() for line in listed.splitlines() if line.count("|") >= 4}
    found = parse_notifications(dump)
    return tuple(one for one in found if not keys or one.key in keys)


def parse_notifications(dump: str) -> tuple[Notification, ...]:
    """Read what is posted; summaries of groups are left out."""
    starts = list(_RECORD.finditer(dump))
    found: dict[str, Notification] = {}
    for place, start in enumerate(starts[:MOST]):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(dump)
        block = dump[start.start() : min(end, start.start() + _RECORD_LIMIT_CHARS)]
        notification = _read(block, start.group(1))
        if notification is not None:
            found.setdefault(notification.key, notification)
    return tuple(found.values())


def _read(block: str, package: str) -> Notification | None:
    head, _, below = block.partition("\n")
    key = _KEY.search(head)
    flags = _FLAGS.search(head)
    bits = int(flags.group(1), 16) if flags and flags.group(1) else 0
    names = flags.group(2) or "" if flags else ""
    if bits & _GROUP_SUMMARY or "GROUP_SUMMARY" in names:
        return None
    extras: dict[str, str] = {}
    for name, value in _EXTRA.findall(below):
        extras.setdefault(name, value)
    category = _CATEGORY.search(head)
    return Notification(
        key=one_line(key.group(1) if key else f"{package}|{extras.get('title', '')}", 300),
        package=one_line(package, 200),
        title=one_line(extras.get("title", ""), 300),
        # The long form of a message holds the short one.
        text=clean(extras.get("bigText") or extras.get("text", ""), _TEXT_LIMIT).strip(),
        category=category.group(1) if category else "",
        ongoing=bool(bits & _ONGOING) or "ONGOING_EVENT" in names,
    )
