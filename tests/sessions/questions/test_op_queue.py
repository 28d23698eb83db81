"""The queue of ops: whoever waits for an answer gets one, however the core ends."""

import pytest

from agent.errors import RuntimeDiedError
from agent.protocol import Reply, Shutdown
from agent.runtime.op_queue import OpQueue, Submission

DIED = RuntimeDiedError("The core has been closed.", "Start it again.")


async def test_closing_answers_every_op_that_was_taken_and_not_settled() -> None:
    op_queue = OpQueue()
    asked = [Submission(Shutdown(), answered=True) for _ in range(3)]
    for submission in asked:
        await op_queue.put(submission)
    first, second = await op_queue.take(), await op_queue.take()
    first.succeed(Reply(submission_id=first.submission_id))
    op_queue.close(DIED)
    assert first.reply is not None and (await first.reply).submission_id == first.submission_id
    for submission in (second, asked[2]):
        assert submission.reply is not None
        with pytest.raises(RuntimeDiedError, match="has been closed"):
            await submission.reply
    with pytest.raises(RuntimeDiedError):
        await op_queue.put(Submission(Shutdown(), answered=True))
