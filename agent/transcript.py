"""A session's transcript: fold its events into the items a person reads.

Part of the pure picture of `agent.state`; no I/O, no clock, and nothing is drawn here. Invariant:
items never change their key and are added at the end only, so a view can keep what it has drawn; a
rollback takes some off the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent.protocol import (
    AgentMessage,
    Event,
    ObservationRecorded,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    SessionRolledBack,
    SteerApplied,
    SteerEdited,
    SteerWithdrawn,
    StepCompleted,
    StepStarted,
    ToolCallFinished,
    ToolCallRequested,
    UserMessage,
)
from agent.records import (
    ActionOutcome,
    Element,
    Frame,
    Observation,
    Point,
    Question,
    TimeSplit,
    Usage,
)
from agent.sentences import Tone as Tone
from agent.sentences import sentence


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """One entry; the key is unique in its session."""

    key: str
    at_ms: int


class ActionView(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call; without an outcome it is under way, or was when the core died."""

    call_id: str
    tool: str
    arguments: str
    kind: str = "action"
    element: Element | None = None
    point: Point | None = None
    outcome: ActionOutcome | None = None
    result: str = ""


class StepItem(_Item, frozen=True, kw_only=True):
    """One step: what was seen, thought, done and found."""

    number: int
    thought: str = ""
    package: str = ""
    element_count: int = 0
    change: str = ""
    frame: Frame | None = None
    actions: tuple[ActionView, ...] = ()
    time: TimeSplit = TimeSplit()
    usage: Usage = Usage()
    done: bool = False


class MessageItem(_Item, frozen=True, kw_only=True):
    """What the operator wrote; a hint waits until a step applies it."""

    text: str
    message_id: str
    steer: bool = False
    applied_step: int = 0
    """0 = not yet."""
    withdrawn: bool = False


class QuestionItem(_Item, frozen=True, kw_only=True):
    """A question and what became of it."""

    question: Question
    answer: str | None = None
    answered_by: str = ""
    closed: str = ""
    """Why it ended without an answer."""


class NoticeItem(_Item, frozen=True, kw_only=True):
    """A sentence about the session: continued, stopped, failed, achieved."""

    tone: Tone
    text: str
    remedy: str = ""


Item: TypeAlias = StepItem | MessageItem | QuestionItem | NoticeItem


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The items up to event `seq` of a session, and what the last step left to look at."""

    seq: int = 0
    items: tuple[Item, ...] = ()
    observation: Observation | None = None
    touch: Point | None = None
    """Where the newest action touched the screen."""
    last_time: TimeSplit = TimeSplit()
    """The time split of the newest complete step."""


def follow(transcript: Transcript, event: Event) -> Transcript:
    """Fold an event in when it is the next one of its session; any other changes nothing."""
    if event.seq != transcript.seq + 1:
        return transcript
    return replace(_fold(transcript, event), seq=event.seq)


def _fold(past: Transcript, event: Event) -> Transcript:
    msg = event.msg
    match msg:
        case StepStarted(step=step):
            return _add(past, StepItem(key=str(event.seq), at_ms=event.ts_ms, number=step))
        case ObservationRecorded(step=step, observation=seen):
            return _step(
                replace(past, observation=seen),
                step,
                package=seen.foreground.package,
                element_count=len(seen.elements),
                change=seen.change,
                frame=seen.frame,
            )
        case AgentMessage(step=step, text=text):
            return _step(past, step, thought=text)
        case ToolCallRequested(step=step):
            begun = ActionView(
                call_id=msg.call_id,
                tool=msg.tool,
                arguments=msg.arguments,
                kind=msg.kind,
                element=msg.element,
                point=msg.point,
            )
            touch = msg.point or (msg.element.bounds.center if msg.element else None)
            return _step(replace(past, touch=touch), step, actions=(*_actions(past, step), begun))
        case ToolCallFinished(step=step):
            ended = tuple(
                replace(a, outcome=msg.outcome, result=msg.text) if a.call_id == msg.call_id else a
                for a in _actions(past, step)
            )
            return _step(past, step, actions=ended)
        case StepCompleted(step=step, time=time, usage=usage):
            return _step(replace(past, last_time=time), step, time=time, usage=usage, done=True)
        case UserMessage():
            said = MessageItem(
                key=str(event.seq),
                at_ms=event.ts_ms,
                text=msg.text,
                message_id=msg.message_id,
                steer=msg.steer,
            )
            return _add(past, said)
        case SteerApplied(message_id=wanted, step=step):
            return _change(
                past,
                lambda item: isinstance(item, MessageItem) and item.message_id == wanted,
                applied_step=step,
            )
        case SteerEdited(message_id=wanted, text=text):
            return _change(
                past,
                lambda item: isinstance(item, MessageItem) and item.message_id == wanted,
                text=text,
            )
        case SteerWithdrawn(message_id=wanted):
            return _change(
                past,
                lambda item: isinstance(item, MessageItem) and item.message_id == wanted,
                withdrawn=True,
            )
        case RequestUserInput(question=question):
            return _add(
                past, QuestionItem(key=str(event.seq), at_ms=event.ts_ms, question=question)
            )
        case QuestionAnswered(question_id=asked):
            return _question(past, asked, answer=msg.answer, answered_by=msg.answered_by)
        case QuestionClosed(question_id=asked):
            return _question(past, asked, closed=msg.reason or "closed")
        case SessionRolledBack(turns=turns, from_seq=from_seq):
            # A key is the seq of the event that an item began with.
            left = tuple(item for item in past.items if int(item.key) < from_seq)
            count = "The newest turn was" if turns == 1 else f"The newest {turns} turns were"
            told = NoticeItem(
                key=str(event.seq),
                at_ms=event.ts_ms,
                tone=Tone.INFO,
                text=f"{count} rolled back.",
                remedy="Nothing was undone on the phone.",
            )
            return replace(past, items=(*left, told))
        case _:
            tone, text, remedy = sentence(msg)
            last = past.items[-1] if past.items else None
            # A failure is told by its error and again by the state change that follows it.
            if not text or (isinstance(last, NoticeItem) and last.text == text):
                return past
            told = NoticeItem(
                key=str(event.seq), at_ms=event.ts_ms, tone=tone, text=text, remedy=remedy
            )
            return _add(past, told)


def _add(past: Transcript, item: Item) -> Transcript:
    return replace(past, items=(*past.items, item))


def _change(past: Transcript, wanted: Callable[[Item], bool], **fields: Any) -> Transcript:
    """Replace the newest wanted item; what changes is nearly always near the end."""
    for at in range(len(past.items) - 1, -1, -1):
        if wanted(past.items[at]):
            changed = replace(past.items[at], **fields)
            # Concatenated, not unpacked: a long transcript is copied with each event.
            return replace(past, items=past.items[:at] + (changed,) + past.items[at + 1 :])  # noqa: RUF005
    return past


def _step(past: Transcript, number: int, **fields: Any) -> Transcript:
    return _change(
        past, lambda item: isinstance(item, StepItem) and item.number == number, **fields
    )


def _question(past: Transcript, question_id: str, **fields: Any) -> Transcript:
    return _change(
        past,
        lambda item: isinstance(item, QuestionItem) and item.question.question_id == question_id,
        **fields,
    )


def _actions(past: Transcript, number: int) -> tuple[ActionView, ...]:
    for item in reversed(past.items):
        if isinstance(item, StepItem) and item.number == number:
            return item.actions
    return ()
