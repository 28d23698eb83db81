"""Send a core's notices by its people's channels: to whom, when, and once.

Implements `agent.notices.notice_service.Sink`. When somebody is due, `agent.channels.rota` and
`agent.channels.urgency` decide. Invariants: nothing that a person may not see is sent to them; a
channel that fails holds up no other, and its person counts as not told.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field

from agent.channels.answers import Answers
from agent.channels.channel import Channel, Message, Outcome, Reply
from agent.channels.message_text import digest_of_notices, message_of
from agent.channels.people import OpenQuestion, People
from agent.channels.rota import due_people, in_order
from agent.channels.urgency import Urgency, quiet_until_ms, urgency_of
from agent.errors import SwitchboardError, WebError
from agent.records import Notice, NoticeKind
from agent.settings import NoticeSettings

RETRY_MS = 60_000
"""After how long a message that was not accepted is sent again."""
MOST_WAIT_S = 60.0
"""The longest wait until the clock is looked at again: it may be set, or the computer sleep."""
NO_MORE = "it needs no answer any more."
RELISTEN_S = (1.0, 5.0, 30.0, 60.0)
_MOST_GATHERED = 500
_log = logging.getLogger(__name__)

Picture = Callable[[str], Awaitable[bytes]]
"""Read a stored frame by its hash."""


@dataclass
class _Open:
    """A notice that is shown, and by which channels it was sent."""

    notice: Notice
    sent: dict[str, Message] = field(default_factory=dict)
    """By channel."""
    failed_until_ms: dict[str, int] = field(default_factory=dict)
    """The channels that did not accept it, and when to try again."""


class Dispatch:
    """The notices of one core.

    Args:
        channels: with the setting that names their quiet hours, and whether they may get pictures.
        people: who may see and answer.
        answers: makes the tokens of answers, and decides on what comes back.
        settings: of notices.
        clock_ms: milliseconds since the epoch.
        picture: reads a stored frame.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        people: People,
        answers: Answers,
        settings: NoticeSettings,
        clock_ms: Callable[[], int],
        picture: Picture,
    ) -> None:
        self._channels = tuple(channels)
        self._people = people
        self._answers = answers
        self._settings = settings
        self._clock_ms = clock_ms
        self._picture = picture
        self._open: dict[str, _Open] = {}
        self._gathered: dict[str, list[Notice]] = {}
        """What waits for a channel's next digest."""
        self._digest_ms: dict[str, int] = {}
        """When each channel's next digest is due."""
        self._gone: list[_Open] = []
        self._ring = asyncio.Event()
        self._sending = asyncio.Lock()
        """Held while anything is sent, so that nothing is sent twice."""

    # --- as a sink ----------

    async def post(self, notice: Notice) -> str:
        """Take in a notice; answers come back by their own way."""
        self._open[notice.token] = _Open(notice)
        self._ring.set()
        return ""

    def withdraw(self, notice: Notice) -> None:
        """Show it no more."""
        gone = self._open.pop(notice.token, None)
        if gone is not None:
            self._gone.append(gone)
            self._ring.set()

    def look(self) -> None:
        """Look at the clock now."""
        self._ring.set()

    # --- work ----------

    async def run(self) -> None:
        """Send what is due, for ever."""
        wait_s = 0.0
        while True:
            try:
                async with asyncio.timeout(wait_s):
                    await self._ring.wait()
            except TimeoutError:
                pass
            self._ring.clear()
            try:
                next_ms = await self.send_due()
            except SwitchboardError as error:
                _log.warning("Notices could not be sent: %s", error)
                next_ms = self._clock_ms() + RETRY_MS
            left_s = max(0.0, (next_ms - self._clock_ms()) / 1000) if next_ms else MOST_WAIT_S
            wait_s = min(left_s, MOST_WAIT_S)

    async def finish(self) -> None:
        """Send what was gathered, as the core ends; what quiet hours hold back is lost."""
        async with self._sending:
            for channel in self._channels:
                if self._gathered.get(channel.name):
                    self._digest_ms[channel.name] = 1
                    await self._send_digest(channel)

    async def listen(self, channel: Channel) -> None:
        """Take what comes back by a channel, for ever; a service that is away is tried again."""

        async def take(reply: Reply) -> Outcome:
            return await self._answers.take(channel, reply)

        tries = 0
        while True:
            began_ms = self._clock_ms()
            try:
                await channel.listen(take)
            except WebError as error:
                _log.warning("The channel %s: %s", channel.name, error)
            tries = 0 if self._clock_ms() - began_ms > RETRY_MS else tries + 1
            await asyncio.sleep(RELISTEN_S[min(tries, len(RELISTEN_S)) - 1])

    async def send_due(self) -> int:
        """Send what is due now; returns when more is, or 0."""
        async with self._sending:
            while self._gone:
                await self._send_withdrawn(self._gone.pop())
            waits = [await self._send_notice(one) for one in tuple(self._open.values())]
            waits += [await self._send_digest(one) for one in self._channels]
            return min(filter(None, waits), default=0)

    async def _send_notice(self, entry: _Open) -> int:
        """Send a notice to whom it is due; returns when it is to somebody else, or 0."""
        notice = entry.notice
        asked = await self._people.open_question(notice.question_id) if notice.question_id else None
        if notice.question_id and asked is None:
            return 0
        question = asked.question if asked else None
        urgency = urgency_of(notice, question, self._settings.urgent)
        channels = [
            one for one in self._channels if await self._people.may_see(one.operator, notice)
        ]
        if urgency is Urgency.LOW and self._settings.digest_every_s > 0:
            for channel in channels:
                self._gather(channel, notice)
            del self._open[notice.token]
            return 0
        now_ms = self._clock_ms()
        waits: list[int] = []
        answering: list[str] = []
        for channel in channels:
            may_answer = self._may_answer(channel, asked)
            if may_answer:
                answering.append(channel.operator)
                continue
            # Who cannot answer has nothing to wait for, and is told at once.
            waits.append(await self._send_by([channel], entry, asked, urgency))
        order = in_order(answering, self._settings.people)
        due = due_people(
            order,
            needed=self._needed(asked, order),
            asked_ms=notice.posted_ms,
            every_ms=round(self._settings.escalate_after_s * 1000),
            now_ms=now_ms,
            free_ms=lambda name: self._free_ms(name, channels, entry, urgency),
        )
        for name in due.people:
            own = [one for one in channels if one.operator == name]
            waits.append(await self._send_by(own, entry, asked, urgency))
        is_done = notice.kind is not NoticeKind.WAITING and not any(waits) and not due.next_ms
        if is_done:
            self._open.pop(notice.token, None)
        return min(filter(None, (*waits, due.next_ms)), default=0)

    def _needed(self, asked: OpenQuestion | None, order: Sequence[str]) -> int:
        """Return how many people are told at once: all of them where no order is set."""
        if asked is None or not self._settings.people:
            return len(order)
        return asked.question.people

    def _may_answer(self, channel: Channel, asked: OpenQuestion | None) -> bool:
        if asked is None or not (channel.operator and channel.takes_answers):
            return False
        return self._people.may_answer(channel.operator, asked)

    def _free_ms(
        self, name: str, channels: Sequence[Channel], entry: _Open, urgency: Urgency
    ) -> int:
        """Return when a person can be told of a notice: the earliest of their channels."""
        return min(
            0 if one.name in entry.sent else self._channel_free_ms(one, entry, urgency)
            for one in channels
            if one.operator == name
        )

    def _channel_free_ms(self, channel: Channel, entry: _Open, urgency: Urgency) -> int:
        failed_ms = entry.failed_until_ms.get(channel.name, 0)
        quiet_ms = 0 if urgency is Urgency.URGENT else self._quiet_ms(channel)
        return max(failed_ms, quiet_ms)

    def _quiet_ms(self, channel: Channel) -> int:
        own = self._settings.channels.get(channel.name)
        quiet = own.quiet if own is not None and own.quiet else self._settings.quiet
        return quiet_until_ms(quiet, self._clock_ms())

    async def _send_by(
        self,
        channels: Collection[Channel],
        entry: _Open,
        asked: OpenQuestion | None,
        urgency: Urgency,
    ) -> int:
        """Send a notice by channels that have not; returns when one is to be tried again, or 0."""
        waits = []
        for channel in channels:
            if channel.name in entry.sent:
                continue
            free_ms = self._channel_free_ms(channel, entry, urgency)
            if free_ms > self._clock_ms():
                waits.append(free_ms)
                continue
            try:
                message = self._message(channel, entry.notice, asked, urgency)
                await channel.send(message)
            except SwitchboardError as error:
                _log.warning("A notice was not sent by the channel %s: %s", channel.name, error)
                entry.failed_until_ms[channel.name] = self._clock_ms() + RETRY_MS
                # At once, so that the next person is told in the place of this one.
                waits.append(self._clock_ms() + 1)
                continue
            entry.sent[channel.name] = message
            await self._send_picture(channel, message, asked)
        return min(waits, default=0)

    def _message(
        self, channel: Channel, notice: Notice, asked: OpenQuestion | None, urgency: Urgency
    ) -> Message:
        may_answer = self._may_answer(channel, asked)

        def issue(answer: str) -> str:
            assert asked is not None, "only answers to a question have tokens"
            return self._answers.issue(asked, channel, answer, self._clock_ms())

        return message_of(
            notice,
            asked.question if asked else None,
            urgency,
            most_bytes=channel.most_bytes,
            phone=self._people.phone_name(asked.serial) if asked else "",
            issue=issue if may_answer else None,
        )

    async def _send_picture(
        self, channel: Channel, message: Message, asked: OpenQuestion | None
    ) -> None:
        own = self._settings.channels.get(channel.name)
        subject = asked.question.subject if asked else None
        if own is None or not own.pictures or subject is None or subject.frame is None:
            return
        try:
            await channel.send_picture(message, await self._picture(subject.frame.digest))
        except SwitchboardError as error:
            _log.warning("A picture was not sent by the channel %s: %s", channel.name, error)

    async def _send_withdrawn(self, entry: _Open) -> None:
        by = self._answers.answered_by(entry.notice.question_id)
        if entry.notice.kind is not NoticeKind.WAITING:
            return
        for channel in self._channels:
            message = entry.sent.get(channel.name)
            if message is None:
                continue
            try:
                await channel.withdraw(message, NO_MORE, is_own=channel.name == by)
            except SwitchboardError as error:
                _log.info("The channel %s was not told of an end: %s", channel.name, error)

    # --- the rest ----------

    def _gather(self, channel: Channel, notice: Notice) -> None:
        gathered = self._gathered.setdefault(channel.name, [])
        gathered.append(notice)
        del gathered[:-_MOST_GATHERED]
        every_ms = round(self._settings.digest_every_s * 1000)
        self._digest_ms.setdefault(channel.name, self._clock_ms() + every_ms)

    async def _send_digest(self, channel: Channel) -> int:
        """Send what was gathered for a channel, when it is due; returns when it is, or 0."""
        due_ms = self._digest_ms.get(channel.name, 0)
        if not due_ms:
            return 0
        now_ms = self._clock_ms()
        due_ms = max(due_ms, self._quiet_ms(channel))
        if due_ms > now_ms:
            return due_ms
        gathered = self._gathered[channel.name]
        try:
            await channel.send(digest_of_notices(f"digest-{now_ms}", gathered))
        except SwitchboardError as error:
            _log.warning("A digest was not sent by the channel %s: %s", channel.name, error)
            self._digest_ms[channel.name] = now_ms + RETRY_MS
            return now_ms + RETRY_MS
        del self._gathered[channel.name], self._digest_ms[channel.name]
        return 0
