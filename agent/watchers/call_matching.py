"""Calls that come, and messages and calls that do not, pure.

Not the looking (`agent.watchers.sensors`). Invariant: that somebody has not written or called is
said only where the phone could be asked; else it is said that it is not known.
"""

from collections.abc import Sequence

from agent.devices.shell.call_log import Call
from agent.records import Watcher, WatcherType
from agent.safety.redacting.redaction import redact
from agent.text import one_line
from agent.watchers.matching import MATCHES_A_LOOK, Look, Match
from agent.watchers.reading import condition_of, schedule_of

_LEAST_DIGITS = 5
_DIGITS = 9
"""How many of a number's last digits tell it: those before are codes that may be left out."""


def calls_look(watcher: Watcher, serial: str, there: Sequence[Call], now_ms: int) -> Look:
    """Match calls that have come since the watcher was made, by the phone's own clock."""
    condition = condition_of(watcher)
    wanted = {
        str(call.call_id): call
        for call in there
        if call.kind.is_from_them and _is_of(call, condition.sender)
    }
    known = watcher.marks.get(serial)
    if known is None:
        since_ms = now_ms - watcher.created_at
        known = tuple(mark for mark, call in wanted.items() if call.age_ms > since_ms)
    new = [mark for mark in wanted if mark not in known][:MATCHES_A_LOOK]
    marks = {
        **watcher.marks,
        serial: tuple(mark for mark in wanted if mark in known or mark in new),
    }
    if condition.notify_on.is_silence:
        return Look(marks=marks, has_come=bool(new))
    return Look(matches=tuple(_of_call(wanted[mark], mark, serial) for mark in new), marks=marks)


def deadline_look(watcher: Watcher, look: Look) -> Look:
    """Match what waits for nothing to come until a deadline that has passed.

    Args:
        watcher: as it is stored.
        look: the look at the deadline.
    """
    condition = condition_of(watcher)
    if not condition.notify_on.is_silence:
        return Look()
    who = one_line(condition.sender, 100) or "anybody"
    is_call = watcher.type is WatcherType.CALL_BACK
    # A call has its time; a notification is only known to be new where there was a look before.
    phones = set(watcher.marks) | (set(look.marks or ()) if is_call else set())
    unheard = sorted(phones - set(look.heard))
    done = "called" if is_call else "written"
    if look.lost:
        what = f"Whether {who} has {done} is not known: {one_line('; '.join(look.lost), 200)}."
        known = "no"
    elif phones and not unheard:
        what = f"{who} has not {done}." if condition.sender else f"Nobody has {done}."
        known = "yes"
    else:
        where = ", ".join(unheard[:3]) or condition.serial or "no phone"
        verb = "was not there to be" if unheard or condition.serial else "was"
        what = f"Whether {who} has {done} is not known: {one_line(where, 200)} {verb} looked at."
        known = "no"
    event = {"sender": condition.sender, "known": known, "what": what}
    digest = f"{watcher.type.value}:none:{schedule_of(watcher).deadline_at}"
    return Look(matches=(Match(what=what, digest=digest, event=event),))


def _is_of(call: Call, sender: str) -> bool:
    """Return whether a call is somebody's: by their name, or by the end of their number."""
    if not sender:
        return True
    if call.name and sender.casefold() in call.name.casefold():
        return True
    wanted, number = _digits(sender), _digits(call.number)
    length = min(len(wanted), len(number), _DIGITS)
    return length >= _LEAST_DIGITS and wanted[-length:] == number[-length:]


def _digits(text: str) -> str:
    # A name with a digit in it is no number.
    if any(char.isalpha() for char in text):
        return ""
    return "".join(char for char in text if char in "0123456789")


def _of_call(call: Call, mark: str, serial: str) -> Match:
    who = redact(call.name or call.number) or "A hidden number"
    return Match(
        what=f"{who} has called ({call.kind.value}, on {serial})",
        digest=f"call_back:{mark}",
        event={
            "serial": serial,
            "sender": redact(call.name),
            "number": redact(call.number),
            "kind": call.kind.value,
        },
        serial=serial,
        mark=mark,
    )
