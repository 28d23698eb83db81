"""Define watchers and commitments: standing checks, and reminders of promises.

Field names are the wire's, as in jobs. A watcher's three `_json` fields hold its condition,
schedule and delivery, which are read as the structs below.
"""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent.records.jobs import Moment
from agent.records.observation import Usage

Words = Annotated[str, Meta(max_length=400)]


class WatcherType(StrEnum):
    """What is looked at."""

    TIME = "time"
    NOTIFICATION = "notification"
    """A notification that is posted on a phone."""
    MESSAGE_REPLY = "message_reply"
    """Somebody writes, or does not until a deadline: told by the notifications of a phone."""
    CALL_BACK = "call_back"
    """Somebody calls, or does not until a deadline: told by the call log of a phone."""
    WEB_CHANGE = "web_change"
    SCREEN_TEXT = "screen_text"
    """A text on the screen of a phone."""

    @property
    def is_on_a_phone(self) -> bool:
        return self not in {WatcherType.TIME, WatcherType.WEB_CHANGE}


class WatcherStatus(StrEnum):
    """How a watcher stands."""

    ACTIVE = "active"
    FIRED = "fired"  # It found what it looked for and looks no more.
    STOPPED = "stopped"


class Evaluator(StrEnum):
    """What counts as a match on a page; the last one also in notifications and messages."""

    HASH_CHANGE = "hash_change"  # The page's text is another than before.
    TEXT_CONTAINS = "text_contains"
    SEMANTIC_MATCH = "semantic_match"  # A model finds that what is there means what was said.


class NotifyOn(StrEnum):
    """Which outcome of waiting for a message, or for a call, counts."""

    REPLY = "reply"
    NO_REPLY = "no_reply"  # None came until the deadline.
    CALL = "call"
    NO_CALL = "no_call"

    @property
    def is_silence(self) -> bool:
        """Return whether it matches when nothing arrives."""
        return self in {NotifyOn.NO_REPLY, NotifyOn.NO_CALL}


class Condition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A watcher's `condition_json`."""

    serial: Annotated[str, Meta(max_length=200)] = ""
    """The phone; empty for every phone that is online."""
    package: Annotated[str, Meta(max_length=200)] = ""
    """The app that a notification or screen must be of; empty for any."""
    sender: Words = ""
    """Who must have written or called, as the phone names them; of a call also a number."""
    texts: Annotated[tuple[Words, ...], Meta(max_length=20)] = ()
    """What must be in it, in any case."""
    match_any: bool = False
    """Whether one of the texts is enough."""
    meaning: Words = ""
    """For `semantic_match`: what must be so, in words."""
    url: Annotated[str, Meta(max_length=2000)] = ""
    evaluator: Evaluator = Evaluator.HASH_CHANGE
    notify_on: NotifyOn = NotifyOn.REPLY


class WatchSchedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A watcher's `schedule_json`."""

    next_run_at: Moment = 0
    interval_ms: Moment = 0
    recurring: bool = False  # Whether it goes on after a match.
    deadline_at: Moment = 0  # When it gives up, or for `no_reply` fires; 0 for never.


class Reaction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A watcher's `delivery_json`: what a match leads to."""

    mode: str = "notification"
    """notification, or silent."""
    notification_text: Annotated[str, Meta(max_length=400)] = ""
    """Text of the notice."""
    prompt: Annotated[str, Meta(max_length=8000)] = ""
    """What the job is to do that a match starts; empty: none is started."""
    tool: Annotated[str, Meta(max_length=100)] = ""
    """In its place, the one tool that the job calls."""
    arguments: dict[str, Any] = {}
    """What it is called with; `{{event.title}}` and the like stand for what was seen."""


class Watcher(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the core looks out for."""

    id: int
    type: WatcherType
    title: str
    condition_json: dict[str, Any]
    schedule_json: dict[str, Any]
    session_target: str
    delivery_json: dict[str, Any]
    status: WatcherStatus
    last_result_hash: str
    """What matched last, or a page as it was, with the kind before it, as `web:` and a digest."""
    failure_count: int
    failure_alert_at: int
    created_at: int
    updated_at: int
    next_run_at: int
    """When it is looked at next, as far as that is stored: quiet looks are not."""
    last_run_at: int
    """When the look was that is stored last."""
    fired_at: int = 0
    fired_count: int = 0
    last_result: str = ""
    shortfall: str = ""
    """What the last look could not read, in a sentence; empty if it read everything."""
    job_id: int = 0
    """The job that the last match started."""
    unread: bool = False
    """Whether its last match waits to be seen by the operator."""
    marks: dict[str, tuple[str, ...]] = {}
    """By phone, the fingerprints of what was there and matched: it counts no second time."""
    usage: Usage = Usage()
    """What judging by meaning has used of a model."""
    host: str = ""
    """The host of a fleet whose core looks; empty in a store of one core."""
    request: str = ""
    """Which request made it, where its client numbered that; see `CreatingOp`."""

    @property
    def places(self) -> tuple[str, ...]:
        """Return its host, as `rack-3/`, and the phone that it watches."""
        serial = self.condition_json.get("serial")
        named = (serial,) if isinstance(serial, str) and serial else ()
        return (*((f"{self.host}/",) if self.host else ()), *named)


class CommitmentStatus(StrEnum):
    """How a commitment stands."""

    PENDING = "pending"  # It has no time: it waits to be done.
    ACTIVE = "active"  # It waits for its time.
    SNOOZED = "snoozed"
    FIRED = "fired"  # Its time has come.
    COMPLETED = "completed"
    DISMISSED = "dismissed"

    @property
    def is_over(self) -> bool:
        """Return whether the commitment needs no further action."""
        return self in {CommitmentStatus.COMPLETED, CommitmentStatus.DISMISSED}


class TriggerType(StrEnum):
    """What makes a commitment due."""

    MANUAL = "manual"
    TIME = "time"


class OriginKind(StrEnum):
    """What a commitment was found in."""

    NOTIFICATION = "notification"
    MESSAGE = "message"


class Origin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which notification of a phone a commitment is from: what it must say to be the one."""

    kind: OriginKind
    serial: Annotated[str, Meta(max_length=200)] = ""
    """The phone; empty for every phone that is online."""
    package: Annotated[str, Meta(max_length=200)] = ""
    sender: Words = ""
    text: Words = ""


class Commitment(msgspec.Struct, frozen=True, kw_only=True):
    """Something that somebody has promised, and is to be reminded of."""

    id: int
    title: str
    description: str
    trigger_type: TriggerType
    trigger_spec_json: dict[str, Any]
    due_at: int  # 0 = it is never due by itself.
    expires_at: int  # When it is dismissed by itself; 0 = never.
    status: CommitmentStatus
    confidence: float  # How sure whoever wrote it down is that it was promised; 0 to 1.
    evidence_json: dict[str, Any]
    created_at: int
    updated_at: int
    host: str = ""  # The host of a fleet whose core reminds of it; empty in a store of one core.
    request: str = ""  # Which request made it, where its client numbered that.

    @property
    def places(self) -> tuple[str, ...]:
        """Return its host, as `rack-3/`."""
        return (f"{self.host}/",) if self.host else ()
