"""The queue of ops: bounded, first in first out, with an answer for each.

Not what carries them out. Invariants: at most 64 ops wait, and who submits the next one waits too;
once closed, everybody who waits for room or for an answer gets an error, nobody hangs.
"""

import asyncio
from collections import deque
from secrets import token_hex

from agent.core import OWNER, ClientInfo
from agent.errors import RuntimeDiedError
from agent.protocol import Op, Reply

QUEUE_LIMIT = 64


class Submission:
    """One op on its way, and where its outcome goes."""

    def __init__(self, op: Op, client: ClientInfo = OWNER, *, answered: bool) -> None:
        self.op = op
        self.client = client
        self.submission_id = f"op-{token_hex(6)}"
        self.reply: asyncio.Future[Reply] | None = None
        if answered:
            self.reply = asyncio.get_running_loop().create_future()
            # Whoever asked may be gone; its failure is then nobody's.
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
    """Ops that wait to be carried out."""

    def __init__(self) -> None:
        self._waiting: deque[Submission] = deque()
        self._room = asyncio.Semaphore(QUEUE_LIMIT)
        self._filled = asyncio.Event()
        self._taken: set[Submission] = set()
        """Those under way that somebody waits for."""
        self._closed: RuntimeDiedError | None = None

    async def put(self, submission: Submission) -> None:
        """Queue an op; waits while 64 are queued. Raises RuntimeDiedError once closed."""
        self._check()
        await self._room.acquire()
        try:
            self._check()
        except RuntimeDiedError:
            self._room.release()
            raise
        self._waiting.append(submission)
        self._filled.set()

    async def take(self) -> Submission:
        """Wait for the next op; until it is answered, closing answers it."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        submission = self._waiting.popleft()
        self._room.release()
        if submission.reply is not None:
            self._taken.add(submission)
            submission.reply.add_done_callback(lambda _: self._taken.discard(submission))
        return submission

    def close(self, error: RuntimeDiedError) -> None:
        """Refuse what comes, and fail what waits or is under way, with this error."""
        if self._closed is not None:
            return
        self._closed = error
        # Whoever waits for room is let in one after the other, each to find the door closed.
        self._room.release()
        left = [*self._taken, *self._waiting]
        self._waiting.clear()
        for submission in left:
            submission.fail(error)

    def _check(self) -> None:
        if self._closed is not None:
            raise RuntimeDiedError(self._closed.message, self._closed.remedy) from self._closed
