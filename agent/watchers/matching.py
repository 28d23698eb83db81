"""What counts as a match, pure: notifications, pages, screens and times against a condition.

Not the looking (`agent.watchers.sensors`), nor calls and deadlines
(`agent.watchers.call_matching`). Invariants: what was there at the first look, or has matched
before, is no match again while it stays; a page's first look only remembers it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from agent.devices.facts.notifications import Notification, Shade
from agent.records import Condition, Evaluator, UiNode, Usage, Watcher
from agent.safety.redacting.redaction import redact
from agent.text import clean, one_line
from agent.watchers.reading import condition_of
from agent.watchers.semantic_match import Verdict
from agent.watchers.web import Page

MATCHES_A_LOOK = 8
"""How many of several new matches one look reacts to; the others are left for the next."""
PAGE = "web"
"""The key of a page among a watcher's marks."""
SHOWN = "shown"
"""The mark of a text that is there."""
_EXCERPT_CHARS = 2000


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a watcher looked for."""

    what: str
    """In a sentence."""
    digest: str
    """With the kind before it, as `notification:…`."""
    event: dict[str, str] = {}
    """What was seen, by name, for a reaction: foreign text, cleaned and without personal data."""
    serial: str = ""
    """The phone, or `web`: under which the mark is kept."""
    mark: str = ""
    """Its fingerprint among the marks of that phone."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What one look came to."""

    matches: tuple[Match, ...] = ()
    marks: dict[str, tuple[str, ...]] | None = None
    """The watcher's marks as they then are; None leaves them."""
    page: str = ""
    """The page as it is, when it was looked at."""
    heard: tuple[str, ...] = ()
    """The phones that told something."""
    lost: tuple[str, ...] = ()
    """What could not be read, a sentence for each phone."""
    has_come: bool = False
    """Whether what is not to come has."""
    usage: Usage = Usage()
    """What a judge used of a model."""
    failure: str = ""
    """Why what is there could not be judged."""

    def after(self, done: int) -> "Look":
        """Return what is to be remembered once so many of the matches are dealt with."""
        if self.marks is None:
            return self
        left = {(match.serial, match.mark) for match in self.matches[done:]}
        marks = {
            serial: tuple(mark for mark in there if (serial, mark) not in left)
            for serial, there in self.marks.items()
        }
        # What judging took counts once, with the first.
        return replace(self, marks=marks, usage=self.usage if done == 1 else Usage())


def time_look(watcher: Watcher, now_ms: int) -> Look:
    if watcher.next_run_at > now_ms:
        return Look()
    moment = datetime.fromtimestamp(watcher.next_run_at / 1000).astimezone()
    event = {"time": moment.isoformat(timespec="seconds")}
    what = f"It is {moment:%Y-%m-%d %H:%M}."
    return Look(matches=(Match(what=what, digest=f"time:{watcher.next_run_at}", event=event),))


def shade_look(watcher: Watcher, serial: str, shade: Shade) -> Look:
    """Match notifications that have come since the first look, and say what could not be read."""
    look = notifications_look(watcher, serial, shade.notifications)
    return replace(look, lost=(f"{serial}: {shade.lost}",)) if shade.lost else look


def notifications_look(watcher: Watcher, serial: str, there: Sequence[Notification]) -> Look:
    """Match notifications that have come since the first look."""
    condition = condition_of(watcher)
    wanted = {_fingerprint(one): one for one in there if fits(one, condition)}
    known = watcher.marks.get(serial)
    if known is None:
        return Look(marks={**watcher.marks, serial: tuple(wanted)})
    new = [mark for mark in wanted if mark not in known][:MATCHES_A_LOOK]
    marks = tuple(mark for mark in wanted if mark in known or mark in new)
    is_reply = bool(condition.sender)
    marked = {**watcher.marks, serial: marks}
    if condition.notify_on.is_silence:
        # An answer came: what there was to wait for is over, and that is no match.
        return Look(marks=marked, has_come=bool(new))
    matches = tuple(_of_notification(wanted[mark], mark, serial, is_reply) for mark in new)
    return Look(matches=matches, marks=marked)


def screen_look(watcher: Watcher, serial: str, nodes: Iterable[UiNode]) -> Look:
    """Match when a text has come onto a screen on which it was not."""
    condition = condition_of(watcher)
    # What stands in password fields is nobody's to look for.
    shown = [
        part
        for node in nodes
        if not node.password and (not condition.package or node.package == condition.package)
        for part in (node.text, node.description)
        if part
    ]
    is_there = _holds("\n".join(shown), condition)
    shows: tuple[str, ...] = (SHOWN,) if is_there else ()
    marks = {**watcher.marks, serial: shows}
    if not is_there or watcher.marks.get(serial):
        return Look(marks=marks)
    words = one_line(", ".join(condition.texts), 200)
    text = redact(clean("\n".join(one_line(part, 300) for part in shown), _EXCERPT_CHARS))
    match = Match(
        what=f"The screen of {serial} shows {words}.",
        digest=f"screen_text:{_digest(serial, words)}",
        event={"serial": serial, "text": text},
        serial=serial,
        mark=SHOWN,
    )
    return Look(matches=(match,), marks=marks)


def is_as_before(watcher: Watcher, page: Page) -> bool:
    """Return whether a page is as it was at the last look."""
    return watcher.last_result_hash == f"web:{page.digest}"


def page_look(watcher: Watcher, page: Page, verdict: Verdict | None = None) -> Look:
    """Match when a page has changed, or has come to hold a text or a meaning.

    Args:
        watcher: as it is stored.
        page: as it was fetched.
        verdict: what a judge found in it, for a watcher that waits for a meaning.
    """
    condition = condition_of(watcher)
    now = f"web:{page.digest}"
    event = {"url": page.url, "text": redact(clean(page.text, _EXCERPT_CHARS))}
    host = one_line(page.url, 200)
    if condition.evaluator is not Evaluator.HASH_CHANGE:
        words = one_line(", ".join(condition.texts), 200)
        is_there = _holds(page.text, condition)
        what = f"{host} says {words}."
        if condition.evaluator is Evaluator.SEMANTIC_MATCH:
            is_there = verdict is not None and verdict.holds
            what = f"{host}: {verdict.why if verdict and verdict.why else condition.meaning}"
        says: tuple[str, ...] = (SHOWN,) if is_there else ()
        usage = Usage() if verdict is None else verdict.usage
        look = Look(marks={PAGE: says}, page=now, usage=usage)
        if not is_there or watcher.marks.get(PAGE):
            return look
        match = Match(what=what, digest=now, event=event, serial=PAGE, mark=SHOWN)
        return replace(look, matches=(match,))
    if not watcher.last_result_hash or watcher.last_result_hash == now:
        return Look(page=now)
    return Look(matches=(Match(what=f"{host} has changed.", digest=now, event=event),), page=now)


def _of_notification(one: Notification, mark: str, serial: str, is_reply: bool) -> Match:
    kind = "message_reply" if is_reply else "notification"
    said = redact(one_line(f"{one.title}: {one.text}" if one.title else one.text, 300))
    return Match(
        what=f"{said} ({one.package} on {serial})",
        digest=f"{kind}:{mark}",
        event={
            "serial": serial,
            "package": one.package,
            "title": redact(one.title),
            "text": redact(one.text),
        },
        serial=serial,
        mark=mark,
    )


def fits(one: Notification, condition: Condition) -> bool:
    """Return whether a notification is of the app and the person, and says the words."""
    if condition.package and one.package != condition.package:
        return False
    if condition.sender and not _names(one, condition.sender):
        return False
    return not condition.texts or _holds(f"{one.title}\n{one.text}", condition)


def _names(one: Notification, sender: str) -> bool:
    """Return whether a notification is somebody's: they stand in its title, or before a colon."""
    wanted = sender.casefold()
    heads = [one.title, *(line.partition(":")[0] for line in one.text.splitlines() if ":" in line)]
    return any(wanted in head.casefold() for head in heads)


def _holds(text: str, condition: Condition) -> bool:
    folded = text.casefold()
    found = [wanted.casefold() in folded for wanted in condition.texts]
    return bool(found) and (any(found) if condition.match_any else all(found))


def _fingerprint(one: Notification) -> str:
    return _digest(one.key, one.title, one.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]
