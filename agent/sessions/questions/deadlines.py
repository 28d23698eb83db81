"""Close the questions whose time is up, whether a call waits for the answer or its turn has died.

Invariant: an open question is closed at its deadline, and within a quarter of a minute of it where
the clock was set or the computer slept meanwhile.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from agent.errors import StoreError, UsageError, WrongStateError
from agent.protocol import Event, RequestUserInput
from agent.sessions.registry.services import Services
from agent.wake_timer import WakeTimer

_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class Deadlines:
    """The deadlines of one core's questions.

    Args:
        parts: hold the open questions.
        expire: closes a question by its id, as unanswered.
    """

    def __init__(self, parts: Services, expire: Callable[[str], Awaitable[str]]) -> None:
        self._parts = parts
        self._expire = expire
        self._timer = WakeTimer(parts.clock_ms, lambda: parts.questions.next_deadline_ms() or None)

    def on_commit(self, events: Iterable[Event]) -> None:
        """Look again when a question was asked."""
        if any(isinstance(event.msg, RequestUserInput) for event in events):
            self._timer.changed()

    async def run(self) -> None:
        """Close what is overdue, for ever."""
        while True:
            await self._timer.wait()
            for question in self._parts.questions.overdue(self._parts.clock_ms()):
                try:
                    await self._expire(question.question_id)
                except (WrongStateError, UsageError):
                    await asyncio.sleep(0)  # answered, or deleted, at the same moment
                except StoreError as error:
                    _log.warning("A question could not be closed: %s", error)
                    await asyncio.sleep(_RETRY_S)
