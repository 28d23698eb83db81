"""The queue of ops: bounded, first in first out, with an answer for each.

Invariants: at most 64 ops wait, and who submits the next one waits too, unless it stops something;
once closed, everybody who waits for room or for an answer gets an error.
"""

import asyncio
from collections import deque
from secrets import token_hex

from agent.core import OWNER, ClientInfo
from agent.errors import RuntimeDiedError
from agent.protocol import Op, Reply
from agent.runtime.harmless_ops import harmless

QUEUE_LIMIT = 64


class Submission:
    """One op, its client, and the future of its reply."""

    def __init__(self, op: Op, client: ClientInfo = OWNER, *, answered: bool) -> None:
        self.op = harmless(op)
        self.client = client
        self.submission_id = f"op-{token_hex(6)}"
        self.has_room = False
        """Whether it takes none of the places in the queue."""
        self.reply: asyncio.Future[Reply] | None = None
        if answered:
            self.reply = asyncio.get_running_loop().create_future()
            # The client may be gone: an error that nobody reads must not be logged.
            self.reply.add_done_callback(lambda done: done.cancelled() or done.exception())

    def succeed(self, reply: Reply) -> None:
        """Answer, if anybody still waits."""
        if self.reply is not None and not self.reply.done():
            self.reply.set_result(reply)

    def fail(self, error: Exception) -> bool:
        """Answer with an error; False when nobody waits for it."""
        if self.reply is None or self.reply.done():
            return False
        self.reply.set_exception(error)
        return True


class OpQueue:
    """Ops that wait to be executed."""

    def __init__(self) -> None:
        self._waiting: deque[Submission] = deque()
        self._room = asyncio.Semaphore(QUEUE_LIMIT)
        self._filled = asyncio.Event()
        self._taken: set[Submission] = set()
        """Those being executed whose reply is awaited."""
        self._closed: RuntimeDiedError | None = None

    async def put(self, submission: Submission) -> None:
        """Queue an op; waits while 64 are queued, except with what stops something.

        Raises RuntimeDiedError once closed.
        """
        self._check()
        if submission.op.stops:
            submission.has_room = True
            self._waiting.append(submission)
            self._filled.set()
            return
        await self._room.acquire()
        try:
            self._check()
        except RuntimeDiedError:
            self._room.release()
            raise
        self._waiting.append(submission)
        self._filled.set()

    async def take(self) -> Submission:
        """Wait for the next op; until it is answered, `close` fails it."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        submission = self._waiting.popleft()
        if not submission.has_room:
            self._room.release()
        if submission.reply is not None:
            self._taken.add(submission)
            submission.reply.add_done_callback(lambda _: self._taken.discard(submission))
        return submission

    def close(self, error: RuntimeDiedError) -> None:
        """Refuse new ops, and fail those that wait or are being executed, with this error."""
        if self._closed is not None:
            return
        self._closed = error
        # Those who wait for room wake one after the other, and each finds the queue closed.
        self._room.release()
        left = [*self._taken, *self._waiting]
        self._waiting.clear()
        for submission in left:
            submission.fail(error)

    def _check(self) -> None:
        if self._closed is not None:
            raise RuntimeDiedError(self._closed.message, self._closed.remedy) from self._closed
