"""The calls of a phone, as its call log tells of them through `content query`.

Not a listener: the shell can ask what is there. Columns and types are those of
android.provider.CallLog.Calls. Invariants: a number and a name are foreign text, cleaned and
bounded; a row that they merely spell is left out, for the numbers of the rows are asked for beside.
"""

import re
from enum import StrEnum
from secrets import token_hex

from agent.devices.shell.phone_shell import PhoneShell
from agent.records.record import Record
from agent.text import one_line

MOST = 100  # How many of the newest calls are read.
_URI = "content://call_log/calls"
_NEWEST = "'date DESC'"
_ROW = re.compile(
    r"^Row: \d+ _id=(\d{1,18}), date=(\d{1,18}), type=(\d{1,4}), number=(.*?), name=(.*)$"
)
_PLAIN_ROW = re.compile(r"^Row: \d+ _id=(\d{1,18}), date=(\d{1,18}), type=(\d{1,4})\s*$")


class CallKind(StrEnum):
    """What became of a call."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"
    MISSED = "missed"
    VOICEMAIL = "voicemail"
    REJECTED = "rejected"
    BLOCKED = "blocked"
    ELSEWHERE = "answered elsewhere"

    @property
    def is_from_them(self) -> bool:
        """Whether somebody called this phone, and was not kept off it."""
        return self not in {CallKind.OUTGOING, CallKind.BLOCKED}


_KINDS = dict(enumerate(CallKind, start=1))


class Call(Record, frozen=True, kw_only=True):
    """One call in the log of a phone."""

    call_id: int  # The log's own number of it: it stays the same.
    age_ms: int  # How long ago it was by the phone's own clock.
    kind: CallKind
    number: str = ""
    name: str = ""  # As the phone's contacts have it; empty for a stranger.


async def call_log(shell: PhoneShell, timeout_s: float) -> tuple[Call, ...]:
    """Read the newest calls of a phone. Raises DeviceError when it tells of none."""
    mark = f"switchboard-{token_hex(8)}"
    result = await shell.run(command(mark), timeout_s)
    calls = read_calls(result.text, mark)
    if calls is None:
        raise shell.failure("content query call_log", result)
    return calls


def command(mark: str) -> str:
    """Return the shell command that tells of calls: the time, the log's numbers, and the log."""
    query = f"content query --uri {_URI} --sort {_NEWEST} --projection"
    plain = "_id:date:type"
    return f"date +%s; {query} {plain}; echo {mark}; {query} {plain}:number:name"


def read_calls(output: str, mark: str) -> tuple[Call, ...] | None:
    """Read what `command` printed, the newest first; None when the phone tells of no call log."""
    plain, found, full = output.partition(mark)
    first, _, listed = plain.partition("\n")
    now_s = first.strip()
    if not found or not now_s.isdecimal() or "Error while accessing" in listed:
        return None
    lines = listed.splitlines()
    known = {match.groups() for line in lines if (match := _PLAIN_ROW.match(line.rstrip()))}
    if not known and not any(line.startswith("No result found") for line in lines):
        return None
    calls: dict[int, Call] = {}
    for line in full.splitlines():
        row = _ROW.match(line.rstrip())
        if row is None or row.groups()[:3] not in known:
            continue
        kind = _KINDS.get(int(row[3]))
        if kind is not None:
            call = Call(
                call_id=int(row[1]),
                age_ms=max(0, int(now_s[:12]) * 1000 - int(row[2])),
                kind=kind,
                number=_field(row[4]),
                name=_field(row[5]),
            )
            calls.setdefault(call.call_id, call)
        if len(calls) >= MOST:
            break
    return tuple(calls.values())


def _field(value: str) -> str:
    return "" if value == "NULL" else one_line(value, 200)
