"""Send ops to the core and wait until their events are folded.

Invariant: an op is pending from the call on, whether or not anybody awaits it.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from agent.errors import LockedError, StoreError, SwitchboardError
from agent.protocol import Op, Reply
from console.input.pending import PendingOps

_log = logging.getLogger(__name__)


class Requests(Protocol):
    """A core, as the receiver of ops."""

    async def request(self, op: Op) -> Reply:
        """Carry out an op."""


class Folding(Protocol):
    """Folds the core's events: the bridge."""

    async def reached(self, event_id: int) -> None:
        """Wait until an event is folded, for a bounded time."""


class Say(Protocol):
    """Shows the operator a line."""

    def __call__(self, text: str, *, tone: str = "information") -> None:
        """Show it."""


class OpClient:
    """Sends the console's ops.

    Args:
        core: carries them out.
        folding: waits for their events.
        say: shows why one failed.
        changed: called when the events of an op are folded, or it was refused.
    """

    def __init__(
        self, core: Requests, folding: Folding, say: Say, changed: Callable[[], object]
    ) -> None:
        self._core = core
        self._folding = folding
        self._say = say
        self._changed = changed
        self.unlocks: Callable[[LockedError, Callable[[], object]], object] | None = None
        """Asks for the operator's passphrase, then does again what needed it."""
        self.pending = PendingOps()
        """Ops without a reply."""
        self._again: set[asyncio.Future[Reply | None]] = set()
        self._unwritable = ""
        self._unwritable_since: int | None = None

    def unwritable(self, event_id: int) -> str:
        """Return why nothing can be stored; empty once an op or an event was.

        Args:
            event_id: the newest event that is folded.
        """
        if self._unwritable_since is None:
            self._unwritable_since = event_id
        if event_id > self._unwritable_since:
            self._unwritable = ""
        return self._unwritable

    def attempt(self, op: Op) -> Coroutine[Any, Any, Reply | SwitchboardError]:
        """Send an op; return its reply, or the error, which is not shown."""
        self.pending.note(op)
        return self._attempt(op)

    def ask(
        self, op: Op, *, done: str = "", refused: Callable[[SwitchboardError], object] | None = None
    ) -> Coroutine[Any, Any, Reply | None]:
        """Send an op; return its reply, or None when it failed, which is shown.

        Args:
            op: the op.
            done: a line to show once it is done; empty: none.
            refused: hears what it failed with.
        """
        self.pending.note(op)
        return self._ask(op, done, refused)

    async def _ask(
        self, op: Op, done: str, refused: Callable[[SwitchboardError], object] | None
    ) -> Reply | None:
        reply = await self._attempt(op)
        self._changed()
        if isinstance(reply, SwitchboardError):
            if isinstance(reply, LockedError) and self.unlocks is not None:
                self.unlocks(reply, lambda: self._send(self.ask(op, done=done, refused=refused)))
            else:
                self._say(str(reply), tone="error")
            if refused is not None:
                refused(reply)
            return None
        if done:
            self._say(done)
        return reply

    def _send(self, asking: Coroutine[Any, Any, Reply | None]) -> None:
        task = asyncio.ensure_future(asking)
        self._again.add(task)
        task.add_done_callback(self._again.discard)

    async def _attempt(self, op: Op) -> Reply | SwitchboardError:
        try:
            reply = await self._core.request(op)
            await self._folding.reached(reply.event_id)
        except SwitchboardError as error:
            # What it was refused for is shown before the next key counts.
            await self._folding.reached(error.event_id)
            if isinstance(error, StoreError) and not op.changes_nothing:
                self._unwritable, self._unwritable_since = error.message, None
            return error
        except Exception as error:
            _log.exception("The console failed on %s", type(op).__name__)
            return SwitchboardError(f"{type(op).__name__}: {type(error).__name__}: {error}")
        finally:
            self.pending.settle(op)
        if not op.changes_nothing:
            self._unwritable = ""
        return reply
