"""Send ops to the core and wait until what they changed is in the picture.

Invariant: from the call on an op counts as asked for, whether or not anybody awaits it.
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from agent.errors import SwitchboardError
from agent.protocol import Op, Reply
from console.input.pending import PendingOps

_log = logging.getLogger(__name__)


class Requests(Protocol):
    """Whom ops are sent to: a core."""

    async def request(self, op: Op) -> Reply:
        """Do an op."""


class Picture(Protocol):
    """What follows the events: the bridge."""

    async def reached(self, event_id: int) -> None:
        """Wait until an event is in the picture, for a bounded time."""


class Say(Protocol):
    """How a line is said to the operator."""

    def __call__(self, text: str, *, tone: str = "information") -> None:
        """Say it."""


class OpClient:
    """The console's way to its core.

    Args:
        core: whom ops are sent to.
        picture: waits for what they changed.
        say: says what they failed with.
        changed: hears that the picture has what an op changed, or was refused for.
    """

    def __init__(
        self, core: Requests, picture: Picture, say: Say, changed: Callable[[], object]
    ) -> None:
        self._core = core
        self._picture = picture
        self._say = say
        self._changed = changed
        self.pending = PendingOps()
        """What was asked for and not answered yet."""

    def attempt(self, op: Op) -> Coroutine[Any, Any, Reply | SwitchboardError]:
        """Send an op and wait for its reply, or for why it failed, which is not said."""
        self.pending.note(op)
        return self._attempt(op)

    def ask(self, op: Op, *, done: str = "") -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None when it failed, which was said.

        Args:
            op: what is asked for.
            done: what is said once it is done; empty: nothing.
        """
        self.pending.note(op)
        return self._ask(op, done)

    async def _ask(self, op: Op, done: str) -> Reply | None:
        reply = await self._attempt(op)
        self._changed()
        if isinstance(reply, SwitchboardError):
            self._say(str(reply), tone="error")
            return None
        if done:
            self._say(done)
        return reply

    async def _attempt(self, op: Op) -> Reply | SwitchboardError:
        try:
            reply = await self._core.request(op)
            await self._picture.reached(reply.event_id)
        except SwitchboardError as error:
            # What it was refused for is shown before the next key counts.
            await self._picture.reached(error.event_id)
            return error
        except Exception as error:
            _log.exception("The console failed on %s", type(op).__name__)
            return SwitchboardError(f"{type(op).__name__}: {type(error).__name__}: {error}")
        finally:
            self.pending.settle(op)
        return reply
