"""Answer what the page of a paired phone sends: pair it, show the queue, pass on what it signed.

Not how it comes (`console.paired.page_server`). Invariants: nothing is shown that the
phone's key did not ask for; what acts is judged by the core, never here.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from agent.consent.paired_phones import PairedPhone, PairedPhones
from agent.consent.phone_statements import Look, Picture, Push
from agent.devices.frames.target_capture import small_picture
from agent.errors import (
    NotAllowedError,
    RuntimeDiedError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.protocol import RequestUserInput
from agent.records import Question
from agent.rpc.remote_core import Client
from console.paired import page_messages
from console.paired.page_messages import Pair, Queue, Signed, ToPage
from console.paired.push_sender import PushSender
from console.paired.queue_view import queue_of

LOOK_S = 20.0
"""How long a look waits for something new: shorter than proxies let a request stand."""
_SETTLES_S = 0.3
"""So long after an event others come too: a session at work says several things a second."""
_MOST_LOOKS = 64
_log = logging.getLogger(__name__)


class PhonePage:
    """The page of one core's paired phones.

    Args:
        core: the connection that its statements go over.
        phones: those that are known.
        pushes: tells phones that a question waits; None: nobody is told.
        clock_ms: the time by which statements are made.
    """

    def __init__(
        self,
        core: Client,
        phones: PairedPhones,
        *,
        pushes: PushSender | None = None,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._core = core
        self._phones = phones
        self._pushes = pushes
        self._clock_ms = clock_ms
        self._sending: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._read: tuple[Queue, str] | None = None
        """The queue as it was read last; None: something has happened since, or may have."""
        self._is_following = False
        self._reading = asyncio.Lock()
        self._looks = 0

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Learn of what happens, for the length of a `with` block."""
        task = asyncio.create_task(self._follow(), name="queue of paired phones")
        try:
            yield
        finally:
            self._is_following, self._read = False, None
            tasks = {task, *self._sending}
            for one in tasks:
                one.cancel()
            await asyncio.wait(tasks)

    async def reply(self, body: bytes) -> bytes:
        """Return the answer to what a page sent; never raises for what is in it."""
        return page_messages.to_page.encode(await self._answer(body))

    async def _answer(self, body: bytes) -> ToPage:
        try:
            sent = page_messages.from_page.decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            return self._refused(UsageError(f"The page sent another form: {error}.", "Reload it."))
        try:
            match sent:
                case Pair(code=code, public=public, signature=signature):
                    paired = await self._core.pairing_accept(code, public, signature)
                    return self._done(phone_id=paired.phone_id, name=paired.name)
                case Signed():
                    return await self._signed(sent)
        except SwitchboardError as error:
            return self._refused(error)

    async def _signed(self, sent: Signed) -> ToPage:
        try:
            phone, said = self._phones.verified_statement(
                sent.phone_id, sent.statement, sent.signature, self._clock_ms()
            )
        except NotAllowedError as error:
            return self._refused(error, is_unpaired=self._phones.find(sent.phone_id) is None)
        self._check_operator(phone)
        match said:
            case Look(seen=seen):
                queue, version = await self._queue_after(seen)
                vapid = "" if self._pushes is None else self._pushes.public
                return self._done(queue=queue, version=version, name=phone.name, vapid=vapid)
            case Picture(question_id=question_id):
                return self._done(picture=await self._picture(question_id))
            case Push() if self._pushes is not None:
                self._pushes.subscribe(phone.phone_id, said)
                return self._done()
            case Push():
                raise UsageError("This server sends no pushes.")
            case _:
                await self._core.phone_act(sent.phone_id, sent.statement, sent.signature)
                return self._done()

    def _check_operator(self, phone: PairedPhone) -> None:
        if phone.operator != self._core.operator:
            raise NotAllowedError(
                "This phone was paired by another operator.", "Use the page that they serve."
            )

    # --- looking ----------

    async def _queue_after(self, seen: str) -> tuple[Queue, str]:
        """Return the queue and its version, once it is another than the one that was seen."""
        queue, version = await self._queue()
        if version != seen or self._looks >= _MOST_LOOKS:
            return queue, version
        self._looks += 1
        try:
            async with asyncio.timeout(LOOK_S):
                while version == seen:
                    news = self._news
                    await news.wait()
                    await asyncio.sleep(_SETTLES_S)
                    queue, version = await self._queue()
        except TimeoutError:
            pass
        finally:
            self._looks -= 1
        return queue, version

    async def _queue(self) -> tuple[Queue, str]:
        # Several phones that look read it once: of a store with many sessions it is long.
        async with self._reading:
            found = self._read
            if found is None:
                news = self._news
                queue = queue_of(await self._core.overview())
                found = queue, hashlib.sha256(msgspec.json.encode(queue)).hexdigest()[:16]
                self._read = found if self._is_following and news is self._news else None
            return found

    async def _picture(self, question_id: str) -> bytes:
        open_now = (await self._core.overview()).questions
        asked = next((one for one in open_now if one.question_id == question_id), None)
        frame = None if asked is None or asked.subject is None else asked.subject.frame
        if frame is None:
            raise WrongStateError("This question has no picture, or is no longer open.")
        return await asyncio.to_thread(small_picture, await self._core.blob(frame.digest))

    async def _follow(self) -> None:
        async with self._core.events() as events:
            self._is_following = True
            async for event in events:
                self._read = None
                news, self._news = self._news, asyncio.Event()
                news.set()
                if isinstance(event.msg, RequestUserInput) and self._pushes is not None:
                    task = asyncio.create_task(self._push(event.msg.question), name="push")
                    self._sending.add(task)
                    task.add_done_callback(self._sending.discard)

    async def _push(self, question: Question) -> None:
        assert self._pushes is not None
        try:
            await self._pushes.notify(question)
        except SwitchboardError as error:
            _log.warning("Nothing was pushed: %s", error.message)

    # --- replies ----------

    def _done(self, **fields: object) -> ToPage:
        reply = ToPage(at_ms=self._clock_ms(), is_done=True)
        return msgspec.structs.replace(reply, **fields)

    def _refused(self, error: SwitchboardError, *, is_unpaired: bool = False) -> ToPage:
        # What the core refused stays refused; what it could not do may be done a moment later.
        is_final = isinstance(error, NotAllowedError | UsageError | WrongStateError)
        if not is_final:
            _log.warning("A paired phone was not served: %s", error.message)
        return ToPage(
            at_ms=self._clock_ms(),
            message=error.message,
            remedy=error.remedy,
            may_help_again=not is_final or isinstance(error, RuntimeDiedError),
            is_unpaired=is_unpaired,
        )
