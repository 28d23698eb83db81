"""What a model may do with watchers and commitments, and the replies it reads.

Not the carrying out (`agent.loop.turn.service_tools`) and not the checks, which are the watchers'
own. Names are OpenPhone's. Invariants: a reply is one JSON object whose status says what happened;
what a phone or a page wrote stands in it redacted and bounded.
"""

from typing import Annotated, TypeAlias

import msgspec

from agent import protocol, records
from agent.errors import UsageError
from agent.safety.redacting.redaction import redact
from agent.text import one_line
from agent.timestamps import iso_time
from agent.tools.arguments import ServiceArguments, ToolKind
from agent.tools.background_jobs import (
    LIST_DEFAULT,
    LIST_MOST,
    Moment,
    Reason,
    json_object,
    moment_ms,
    reply,
)
from agent.tools.tool_groups import ToolGroup

_RESULT_SHOWN_CHARS = 400


class CreateWatcher(ServiceArguments, frozen=True, kw_only=True):
    """Look out for a notification, somebody's message or call, a change of a page, a text on a
    screen or a time, when the goal asks for that; then tell the operator or start a job.
    """

    tool_name = "watcher_create"
    tool_group = ToolGroup.WATCHERS
    required = ("type", "reason")

    type: Annotated[
        records.WatcherType,
        msgspec.Meta(
            description="notification, message_reply, call_back, web_change, screen_text or time: "
            "what is looked at."
        ),
    ]
    reason: Reason = ""
    title: Annotated[str, msgspec.Meta(description="A short name.")] = ""
    texts: Annotated[
        tuple[str, ...], msgspec.Meta(description="What must be in it, in any case.")
    ] = ()
    match_any: Annotated[bool, msgspec.Meta(description="Whether one text is enough.")] = False
    package: Annotated[str, msgspec.Meta(description="Only from this app.")] = ""
    sender: Annotated[
        str, msgspec.Meta(description="Whose message or call; of a call also a number.")
    ] = ""
    url: Annotated[str, msgspec.Meta(description="The page, for web_change.")] = ""
    evaluator: Annotated[
        records.Evaluator,
        msgspec.Meta(
            description="hash_change: any change of the page; text_contains: it says `texts`; "
            "semantic_match: page or message means `meaning`."
        ),
    ] = records.Evaluator.HASH_CHANGE
    meaning: Annotated[str, msgspec.Meta(description="What must be so, for semantic_match.")] = ""
    notify_on: Annotated[
        records.NotifyOn,
        msgspec.Meta(description="no_reply, no_call: when nobody has by deadline_at."),
    ] = records.NotifyOn.REPLY
    run_at: Moment = 0
    interval_ms: Annotated[int, msgspec.Meta(description="15000 or more; 0 = as usual.")] = 0
    recurring: Annotated[bool, msgspec.Meta(description="Go on after a match.")] = False
    deadline_at: Moment = 0
    device: Annotated[str, msgspec.Meta(description="Serial of the phone; empty: any.")] = ""
    prompt: Annotated[
        str, msgspec.Meta(description="What a job does at each match; empty: the operator is told.")
    ] = ""
    tool: Annotated[
        str, msgspec.Meta(description="In place of prompt: the one tool that each match calls.")
    ] = ""
    arguments: Annotated[
        str,
        msgspec.Meta(description="Its arguments, a JSON object; {{event.title}} is what was seen."),
    ] = ""
    session_target: Annotated[
        str, msgspec.Meta(description="isolated (default), main, current or session:ID.")
    ] = ""
    delivery: Annotated[str, msgspec.Meta(description="notification (default) or silent.")] = ""
    notification_text: Annotated[str, msgspec.Meta(description="Exactly what they are told.")] = ""


class ListWatchers(ServiceArguments, frozen=True, kw_only=True):
    """List watchers, the newest first."""

    tool_name = "watcher_list"
    tool_kind = ToolKind.OBSERVE
    tool_group = ToolGroup.WATCHERS
    required = ("reason",)

    reason: Reason = ""
    query: str = ""
    limit: Annotated[int, msgspec.Meta(description="1 to 20.")] = LIST_DEFAULT


class StopWatchers(ServiceArguments, frozen=True, kw_only=True):
    """Stop watchers for good: one, those that a text finds, or all."""

    tool_name = "watcher_stop"
    tool_group = ToolGroup.WATCHERS
    required = ("reason",)

    reason: Reason = ""
    watcher_id: Annotated[int, msgspec.Meta(description="The watcher's number.")] = 0
    query: Annotated[str, msgspec.Meta(description="Or a part of their titles.")] = ""
    all: Annotated[bool, msgspec.Meta(description="Or all that are active.")] = False


class SearchCommitments(ServiceArguments, frozen=True, kw_only=True):
    """Find commitments, the newest first."""

    tool_name = "commitment_search"
    tool_kind = ToolKind.OBSERVE
    tool_group = ToolGroup.COMMITMENTS
    required = ("reason",)

    reason: Reason = ""
    query: str = ""
    limit: Annotated[int, msgspec.Meta(description="1 to 20.")] = LIST_DEFAULT


class CreateCommitment(ServiceArguments, frozen=True, kw_only=True):
    """Write down what was promised, so that the operator is reminded of it."""

    tool_name = "commitment_create"
    tool_group = ToolGroup.COMMITMENTS
    required = ("title", "reason")

    title: Annotated[str, msgspec.Meta(description="What was promised, in a few words.")] = ""
    reason: Reason = ""
    description: str = ""
    due_at: Moment = 0
    expires_at: Moment = 0
    confidence: Annotated[float, msgspec.Meta(description="How sure you are, 0 to 1.")] = 0.8
    evidence: Annotated[str, msgspec.Meta(description="The words that say so.")] = ""


class CommitmentFromPhone(ServiceArguments, frozen=True, kw_only=True):
    """What a commitment is written down from that stands in a phone's shade."""

    title: Annotated[str, msgspec.Meta(description="What was promised, in a few words.")] = ""
    reason: Reason = ""
    package: Annotated[str, msgspec.Meta(description="Of this app.")] = ""
    description: str = ""
    due_at: Moment = 0
    expires_at: Moment = 0
    confidence: Annotated[float, msgspec.Meta(description="How sure you are, 0 to 1.")] = 0.75
    device: Annotated[str, msgspec.Meta(description="Serial of the phone; empty: yours.")] = ""


class NotificationCommitment(CommitmentFromPhone, frozen=True, kw_only=True):
    """Write down what a notification on the phone asks for or promises; what it says is kept as the
    evidence.
    """

    tool_name = "notification_commitment_create"
    tool_group = ToolGroup.COMMITMENTS
    required = ("title", "text", "reason")

    text: Annotated[str, msgspec.Meta(description="Words that stand in the notification.")] = ""


class MessageCommitment(CommitmentFromPhone, frozen=True, kw_only=True):
    """Write down what somebody's message asks for or promises, while its notification is on the
    phone; what it says is kept as the evidence.
    """

    tool_name = "message_commitment_create"
    tool_group = ToolGroup.COMMITMENTS
    required = ("title", "sender", "reason")

    sender: Annotated[str, msgspec.Meta(description="Who wrote, as the phone names them.")] = ""
    text: Annotated[str, msgspec.Meta(description="Words that stand in the message.")] = ""


class UpdateCommitment(ServiceArguments, frozen=True, kw_only=True):
    """Complete, put off or dismiss a commitment."""

    tool_name = "commitment_update_status"
    tool_group = ToolGroup.COMMITMENTS
    required = ("commitment_id", "status", "reason")

    commitment_id: Annotated[int, msgspec.Meta(description="The commitment's number.")]
    status: Annotated[
        records.CommitmentStatus,
        msgspec.Meta(description="completed, snoozed, dismissed or active."),
    ]
    reason: Reason = ""
    due_at: Moment = 0


WatchArguments: TypeAlias = (
    CreateWatcher
    | ListWatchers
    | StopWatchers
    | SearchCommitments
    | CreateCommitment
    | NotificationCommitment
    | MessageCommitment
    | UpdateCommitment
)
WatchOp: TypeAlias = (
    protocol.WatcherCreate
    | protocol.WatcherList
    | protocol.WatcherStop
    | protocol.CommitmentCreate
    | protocol.CommitmentSearch
    | protocol.CommitmentUpdate
)


def watch_op(arguments: WatchArguments) -> WatchOp:
    """Make the op of a call. Raises BadArguments for a time that cannot be read."""
    match arguments:
        case CreateWatcher() as wanted:
            return protocol.WatcherCreate(
                watcher_type=wanted.type,
                title=wanted.title,
                serial=wanted.device.strip(),
                package=wanted.package,
                sender=wanted.sender,
                texts=wanted.texts,
                match_any=wanted.match_any,
                url=wanted.url,
                evaluator=wanted.evaluator,
                meaning=wanted.meaning,
                notify_on=wanted.notify_on,
                next_run_at=moment_ms(wanted.run_at),
                interval_ms=wanted.interval_ms,
                recurring=wanted.recurring,
                deadline_at=moment_ms(wanted.deadline_at),
                prompt=wanted.prompt,
                tool=wanted.tool,
                arguments=json_object(wanted.arguments, "arguments"),
                session_target=wanted.session_target or "isolated",
                delivery_mode=wanted.delivery or "notification",
                notification_text=wanted.notification_text,
            )
        case ListWatchers(query=query, limit=limit):
            return protocol.WatcherList(query=query, limit=min(max(limit, 1), LIST_MOST))
        case StopWatchers(watcher_id=watcher_id, query=query):
            return protocol.WatcherStop(watcher_id=watcher_id, query=query, all=arguments.all)
        case SearchCommitments(query=query, limit=limit):
            return protocol.CommitmentSearch(query=query, limit=min(max(limit, 1), LIST_MOST))
        case CreateCommitment() as promised:
            return protocol.CommitmentCreate(
                title=promised.title,
                description=promised.description,
                due_at=moment_ms(promised.due_at),
                expires_at=moment_ms(promised.expires_at),
                confidence=promised.confidence,
                evidence={"said": promised.evidence} if promised.evidence else {},
            )
        case NotificationCommitment() | MessageCommitment() as found:
            is_message = isinstance(found, MessageCommitment)
            return protocol.CommitmentCreate(
                title=found.title,
                description=found.description,
                due_at=moment_ms(found.due_at),
                expires_at=moment_ms(found.expires_at),
                confidence=found.confidence,
                origin=records.Origin(
                    kind=records.OriginKind.MESSAGE
                    if is_message
                    else records.OriginKind.NOTIFICATION,
                    serial=found.device.strip(),
                    package=found.package,
                    sender=found.sender if isinstance(found, MessageCommitment) else "",
                    text=found.text,
                ),
            )
        case UpdateCommitment() as change:
            return protocol.CommitmentUpdate(
                commitment_id=change.commitment_id,
                status=change.status,
                due_at=moment_ms(change.due_at),
            )


def only_looks(arguments: WatchArguments) -> bool:
    """Return whether a call changes nothing."""
    return isinstance(arguments, ListWatchers | SearchCommitments)


def answered(arguments: WatchArguments, came: protocol.Reply) -> str:
    """Return the reply to what was done."""
    match arguments:
        case CreateWatcher():
            assert came.watcher is not None, "what was created is in the reply"
            return reply("watcher.created", **_watcher(came.watcher))
        case ListWatchers(query=query):
            listed = [_watcher(one) for one in came.watchers]
            return reply("watcher.list.results", query=query, watchers=listed)
        case StopWatchers():
            return reply("watcher.stopped", watcher_ids=[one.id for one in came.watchers])
        case SearchCommitments(query=query):
            found = [_commitment(one) for one in came.commitments]
            return reply("commitment.search.results", query=query, commitments=found)
        case (
            CreateCommitment() | NotificationCommitment() | MessageCommitment() | UpdateCommitment()
        ):
            assert came.commitment is not None, "the commitment is in the reply"
            what = "updated" if isinstance(arguments, UpdateCommitment) else "created"
            return reply(f"commitment.{what}", **_commitment(came.commitment))


def refused(arguments: WatchArguments, error: UsageError) -> str:
    """Return the reply to what was refused."""
    kind = "watcher" if isinstance(arguments, CreateWatcher | ListWatchers | StopWatchers) else ""
    said = one_line(error.message, 300)
    return reply(f"{kind or 'commitment'}.refused", reason=said, remedy=one_line(error.remedy, 200))


def summary_of(arguments: WatchArguments) -> str:
    """Return what would be done, for whoever is asked."""
    match arguments:
        case CreateWatcher() as wanted:
            looked_for = (*wanted.texts, wanted.meaning, wanted.sender, wanted.url)
            what = ", ".join(filter(None, looked_for))
            then = wanted.prompt or (wanted.tool and f"call {wanted.tool} {wanted.arguments}")
            then = f"; then: {one_line(then, 200)}" if then else ""
            return f"Look out for a {wanted.type.value}: {one_line(what, 200)}{then}"
        case StopWatchers(watcher_id=watcher_id, query=query):
            which = str(watcher_id) if watcher_id else f'all with "{one_line(query, 80)}"'
            return f"Stop watchers: {'all' if arguments.all else which}"
        case CreateCommitment(title=title):
            return f'Write down the commitment "{one_line(title, 120)}"'
        case NotificationCommitment(title=title, text=text):
            origin = f'the notification with "{one_line(text, 80)}"'
            return f'Write down the commitment "{one_line(title, 120)}" from {origin}'
        case MessageCommitment(title=title, sender=sender):
            origin = f'a message of "{one_line(sender, 80)}"'
            return f'Write down the commitment "{one_line(title, 120)}" from {origin}'
        case UpdateCommitment(commitment_id=number, status=status):
            return f"Make commitment {number} {status.value}"
        case ListWatchers() | SearchCommitments():
            return "Look at watchers and commitments"


def _watcher(one: records.Watcher) -> dict[str, object]:
    return {
        "watcher_id": one.id,
        "title": redact(one.title),
        "type": one.type.value,
        "watcher_status": one.status.value,
        "fired_count": one.fired_count,
        "last_result": redact(one_line(one.last_result, _RESULT_SHOWN_CHARS)),
        **({"not_read": one.shortfall} if one.shortfall else {}),
    }


def _commitment(one: records.Commitment) -> dict[str, object]:
    return {
        "commitment_id": one.id,
        "title": redact(one.title),
        "commitment_status": one.status.value,
        "due_at": iso_time(one.due_at),
        "description": redact(one_line(one.description, _RESULT_SHOWN_CHARS)),
    }
