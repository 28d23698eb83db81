"""A session's transcript: fold its events into the items a person reads.

Part of the view state of `agent.state.reducer`: no I/O, no clock, no drawing.
Invariant: items never change their key and are added at the end only, so a view can keep what it
has drawn; a rollback takes some off the end.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent import protocol, records
from agent.state.event_text import Tone as Tone
from agent.state.event_text import closed_words, sentence


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
    element: records.Element | None = None
    point: records.Point | None = None
    path: tuple[records.Point, ...] = ()  # The places that it touched, where those were several.
    outcome: records.ActionOutcome | None = None
    result: str = ""


class StepItem(_Item, frozen=True, kw_only=True):
    """One step: what was seen, thought, done and found."""

    number: int
    thought: str = ""  # The model's words.
    package: str = ""
    element_count: int = 0
    change: str = ""
    frame: records.Frame | None = None
    actions: tuple[ActionView, ...] = ()
    effects: tuple[records.SeenEffect, ...] = ()
    """What its act was seen to have changed; with the next screen."""
    time: records.TimeSplit = records.TimeSplit()
    usage: records.Usage = records.Usage()
    done: bool = False


class MessageItem(_Item, frozen=True, kw_only=True):
    """What somebody told a session; a hint waits until a step applies it."""

    text: str
    message_id: str
    steer: bool = False
    applied_step: int = 0  # 0 = not yet.
    withdrawn: bool = False
    speaker: records.Speaker = records.Speaker.OPERATOR


class QuestionItem(_Item, frozen=True, kw_only=True):
    """A question and what became of it."""

    question: records.Question
    answer: str | None = None
    answered_by: str = ""
    closed: str = ""  # Why it ended without an answer.
    ended_ms: int = 0  # When it was answered or closed; 0 while it is open.


class NoticeItem(_Item, frozen=True, kw_only=True):
    """A sentence about the session: continued, stopped, failed, achieved."""

    tone: Tone
    text: str
    remedy: str = ""
    speaker: records.Speaker = records.Speaker.PRODUCT
    """Whose words the text is; the remedy is Switchboard's."""


Item: TypeAlias = StepItem | MessageItem | QuestionItem | NoticeItem


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The items up to event `seq` of a session, and what the last step left to look at."""

    seq: int = 0
    items: tuple[Item, ...] = ()
    observation: records.Observation | None = None
    touch: records.Point | None = None
    """Where the newest action touched the screen."""
    path: tuple[records.Point, ...] = ()
    """The way of the newest action, where it touched several places."""
    last_time: records.TimeSplit = records.TimeSplit()
    """The time split of the newest complete step."""
    ledger: records.Ledger = records.Ledger()
    """What the session was seen to have changed."""


def shown_with(effect: records.SeenEffect) -> int:
    """Return the step that an effect is shown with: its act's, or the one that saw it."""
    return effect.step or effect.seen_step


def ledger_of(events: Iterable[protocol.Event]) -> records.Ledger:
    """Return what a session was seen to have changed, from all its events."""
    ledger = records.Ledger()
    steps: list[tuple[int, int]] = []
    for event in events:
        match event.msg:
            case protocol.StepStarted(step=step):
                steps.append((event.seq, step))
            case protocol.EffectsSeen(effects=effects):
                ledger = ledger.with_effects(effects)
            case protocol.SessionRolledBack(from_seq=from_seq):
                steps = [one for one in steps if one[0] < from_seq]
                ledger = ledger.until(max((step for _, step in steps), default=0))
            case _:
                pass
    return ledger


def follow(transcript: Transcript, event: protocol.Event) -> Transcript:
    """Fold an event in when it is the next one of its session; any other changes nothing."""
    return follow_all(transcript, (event,))


def follow_all(transcript: Transcript, events: Iterable[protocol.Event]) -> Transcript:
    """Fold events in, each when it is the next one; the items are copied once for all of them."""
    draft: _Draft | None = None
    seq = transcript.seq
    for event in events:
        if event.seq != seq + 1:
            continue
        seq = event.seq
        draft = draft or _Draft(transcript)
        _fold(draft, event)
    return transcript if draft is None else draft.finished(seq)


class _Draft:
    """A transcript while it is written; what it was made from stays as it is."""

    __slots__ = ("_before", "_items", "last_time", "ledger", "observation", "path", "touch")

    def __init__(self, before: Transcript) -> None:
        self._before = before
        self._items: list[Item] | None = None
        self.observation = before.observation
        self.touch = before.touch
        self.path = before.path
        self.last_time = before.last_time
        self.ledger = before.ledger

    def finished(self, seq: int) -> Transcript:
        return Transcript(
            seq=seq,
            items=self._before.items if self._items is None else tuple(self._items),
            observation=self.observation,
            touch=self.touch,
            path=self.path,
            last_time=self.last_time,
            ledger=self.ledger,
        )

    @property
    def items(self) -> list[Item]:
        """The items, to be changed."""
        if self._items is None:
            self._items = list(self._before.items)
        return self._items

    @items.setter
    def items(self, items: list[Item]) -> None:
        self._items = items

    @property
    def last(self) -> Item | None:
        """The newest item."""
        items = self._before.items if self._items is None else self._items
        return items[-1] if items else None

    def add(self, item: Item) -> None:
        self.items.append(item)

    def tell(self, event: protocol.Event, tone: Tone, text: str, remedy: str) -> None:
        """Add a sentence."""
        key = str(event.seq)
        msg = event.msg
        speaker = (
            msg.speaker if isinstance(msg, protocol.ResultPublished) else records.Speaker.PRODUCT
        )
        said = NoticeItem(
            key=key, at_ms=event.ts_ms, tone=tone, text=text, remedy=remedy, speaker=speaker
        )
        self.add(said)

    def change_step(self, number: int, **fields: Any) -> None:
        """Change a step; the newest is nearly always the one."""
        at = self._find_step(number)
        if at is not None:
            self.items[at] = replace(self.items[at], **fields)

    def actions_of(self, number: int) -> tuple[ActionView, ...]:
        """Return the calls of a step so far."""
        at = self._find_step(number)
        step = None if at is None else self.items[at]
        return step.actions if isinstance(step, StepItem) else ()

    def take_effects(self, ledger: records.Ledger) -> None:
        """Take a ledger, and show with each step what it says of it now."""
        changed = set(self.ledger) ^ set(ledger)
        self.ledger = ledger
        for number in sorted({shown_with(effect) for effect in changed}):
            own = tuple(effect for effect in ledger if shown_with(effect) == number)
            self.change_step(number, effects=own)

    def change_message(self, message_id: str, **fields: Any) -> None:
        """Change what became of something that the operator wrote."""
        for at, item in self._from_the_newest():
            if isinstance(item, MessageItem) and item.message_id == message_id:
                self.items[at] = replace(item, **fields)
                return

    def change_question(self, question_id: str, **fields: Any) -> None:
        for at, item in self._from_the_newest():
            if isinstance(item, QuestionItem) and item.question.question_id == question_id:
                self.items[at] = replace(item, **fields)
                return

    def _find_step(self, number: int) -> int | None:
        for at, item in self._from_the_newest():
            if isinstance(item, StepItem) and item.number == number:
                return at
        return None

    def _from_the_newest(self) -> Iterator[tuple[int, Item]]:
        items = self.items
        return zip(range(len(items) - 1, -1, -1), reversed(items), strict=True)


def _fold(draft: _Draft, event: protocol.Event) -> None:
    msg = event.msg
    match msg:
        case protocol.StepStarted(step=step):
            draft.add(StepItem(key=str(event.seq), at_ms=event.ts_ms, number=step))
        case protocol.ObservationRecorded(step=step, observation=seen):
            draft.observation = seen
            draft.change_step(
                step,
                package=seen.foreground.package,
                element_count=len(seen.elements),
                change=seen.change,
                frame=seen.frame,
            )
        case protocol.AgentMessage(step=step, text=text):
            draft.change_step(step, thought=text)
        case protocol.ToolCallRequested(step=step):
            begun = ActionView(
                call_id=msg.call_id,
                tool=msg.tool,
                arguments=msg.arguments,
                kind=msg.kind,
                element=msg.element,
                point=msg.point,
                path=msg.path,
            )
            draft.touch = msg.point or (msg.element.bounds.center if msg.element else None)
            draft.path = msg.path
            if msg.path:
                draft.touch = msg.path[-1]
            draft.change_step(step, actions=(*draft.actions_of(step), begun))
        case protocol.ToolCallFinished(step=step):
            ended = tuple(
                replace(a, outcome=msg.outcome, result=msg.text) if a.call_id == msg.call_id else a
                for a in draft.actions_of(step)
            )
            draft.change_step(step, actions=ended)
        case protocol.EffectsSeen(effects=effects):
            draft.take_effects(draft.ledger.with_effects(effects))
        case protocol.StepCompleted(step=step, time=time, usage=usage):
            draft.last_time = time
            draft.change_step(step, time=time, usage=usage, done=True)
        case protocol.UserMessage():
            said = MessageItem(
                key=str(event.seq),
                at_ms=event.ts_ms,
                text=msg.text,
                message_id=msg.message_id,
                steer=msg.steer,
                speaker=msg.speaker,
            )
            draft.add(said)
        case protocol.SteerApplied(message_id=wanted, step=step):
            draft.change_message(wanted, applied_step=step)
        case protocol.SteerEdited(message_id=wanted, text=text):
            draft.change_message(wanted, text=text)
        case protocol.SteerWithdrawn(message_id=wanted):
            draft.change_message(wanted, withdrawn=True)
        case protocol.RequestUserInput(question=question):
            draft.add(QuestionItem(key=str(event.seq), at_ms=event.ts_ms, question=question))
        case protocol.QuestionAnswered(question_id=asked):
            draft.change_question(
                asked, answer=msg.answer, answered_by=msg.answered_by, ended_ms=event.ts_ms
            )
        case protocol.QuestionClosed(question_id=asked):
            draft.change_question(asked, closed=closed_words(msg) or "closed", ended_ms=event.ts_ms)
        case protocol.SessionRolledBack(turns=turns, from_seq=from_seq):
            # A key is the seq of the event that an item began with.
            draft.items = [item for item in draft.items if int(item.key) < from_seq]
            steps = [item.number for item in draft.items if isinstance(item, StepItem)]
            draft.take_effects(draft.ledger.until(max(steps, default=0)))
            count = "The newest turn was" if turns == 1 else f"The newest {turns} turns were"
            draft.tell(
                event, Tone.INFO, f"{count} rolled back.", "Nothing was undone on the phone."
            )
        case _:
            tone, text, remedy = sentence(msg)
            last = draft.last
            # A failure is told by its error and again by the state change that follows it.
            if text and not (isinstance(last, NoticeItem) and last.text == text):
                draft.tell(event, tone, text, remedy)
