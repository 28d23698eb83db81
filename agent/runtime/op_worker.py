"""Take ops from the queue, have the router execute them one by one, and answer each caller.

Invariants: ops are executed in the order they came; those that wait for a phone are only begun in
it; every submission gets a reply, a refusal, or an ErrorEvent; a defect in one op ends that op
alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from agent.errors import RuntimeDiedError, SwitchboardError
from agent.protocol import ErrorEvent, Shutdown
from agent.runtime.op_queue import OpQueue, Submission
from agent.runtime.router import Router
from agent.sessions.registry.live_session import error_event
from agent.sessions.registry.supervisor import Supervisor
from agent.text import one_line

_log = logging.getLogger(__name__)


class TellError(Protocol):
    """Stores an error, for every listener."""

    def __call__(self, error: ErrorEvent, submission_id: str = "") -> Awaitable[None]:
        """Store it under the submission that caused it."""


class OpWorker:
    """Works through the submissions of one core.

    Args:
        shut_down: begins to end the core, because an op says so.
        last_event_id: returns the id of the newest stored event.
        note: stores which operator requests an op, before it is executed.
    """

    def __init__(
        self,
        op_queue: OpQueue,
        router: Router,
        supervisor: Supervisor,
        tell_error: TellError,
        shut_down: Callable[[], object],
        last_event_id: Callable[[], Awaitable[int]],
        note: Callable[[Submission], Awaitable[None]],
    ) -> None:
        self._op_queue = op_queue
        self._router = router
        self._supervisor = supervisor
        self._tell_error = tell_error
        self._shut_down = shut_down
        self._last_event_id = last_event_id
        self._note = note

    async def run(self) -> None:
        """Execute what is submitted, forever."""
        while True:
            submission = await self._op_queue.take()
            if submission.op.waits_for_phone:
                # Nobody's stop may wait behind a phone.
                self._supervisor.start(self._settle(submission), "an act on a phone")
            else:
                await self._settle(submission)

    async def _settle(self, submission: Submission) -> None:
        try:
            if submission.client.operator:
                await self._note(submission)
            reply = await self._router.carry_out(submission)
            reply = replace(reply, event_id=await self._last_event_id())
        except asyncio.CancelledError:
            submission.fail(RuntimeDiedError("The core has been closed.", "Start it again."))
            raise
        except SwitchboardError as error:
            await self._refuse(submission, error)
        except Exception as error:
            _log.exception("An op could not be carried out")
            kind = type(submission.op).__name__
            await self._refuse(
                submission,
                SwitchboardError(
                    one_line(f"{kind} failed: {type(error).__name__}: {error}.", 1000),
                    "This is a defect: report it.",
                ),
            )
        else:
            submission.succeed(reply)
            if isinstance(submission.op, Shutdown):
                self._shut_down()

    async def _refuse(self, submission: Submission, error: SwitchboardError) -> None:
        with suppress(SwitchboardError):
            # Why it was refused may be stored only now, as a question that has expired.
            error.event_id = await self._last_event_id()
        if not submission.fail(error):
            await self._tell_error(error_event(error), submission.submission_id)
