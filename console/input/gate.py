"""Hold each key until what the key before it caused has run.

A key goes to what has the focus when it is handled, and the focus is moved by keys, some messages
later. So a key means what it meant when it was pressed only if everything that the keys before it
caused is over: messages, callbacks, changes of focus, screens that come and go, the layout, and
the answer of the core to what they asked for. Not the meaning of any key. Invariants: keys, pastes
and the mouse are handled one at a time and in their order; one whose forerunner caused nothing that
lasts is handled at once; a core that does not answer holds keys for a bounded time, and then no
more until it answers again; input that opened something that did not come is dropped, never given
to something else.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from enum import StrEnum
from time import monotonic

from textual.events import Event, InputEvent, Key, MouseMove, Paste, Resize

from widgets.base.causality import Cause

_log = logging.getLogger(__name__)

RUNS_S = 2.0
"""How long messages may take at most. Only a widget that never comes to rest takes longer."""
ANSWERS_S = 2.0
"""How long the core may take to answer what a key asked for."""
STOPS_S = 1.0
"""How long at most while a key that stops waits."""
OPENS_S = 6.0
"""How long what a key opens may take to be there."""
_LOOK_S = 0.05
_LONGEST_LOOK_S = 0.1
"""What a look counts at most: on a busy computer the console itself did not run for the rest."""


class Wait(StrEnum):
    """How the keys after one wait for the work that it began beside the messages."""

    ANSWER = "answer"
    """Until it is done, or the core is late."""
    OPENS = "opens"
    """They belong to what it opens: if that does not come, they are dropped."""
    NOT = "not"
    """They do not: it changes nothing that a key could mean, or takes as long as a phone does."""


def is_input(event: Event) -> bool:
    """Return whether an event is the operator's, and has not been handed on yet.

    Another size of the terminal is: a press before it goes by the layout that was there before it.
    """
    return isinstance(event, InputEvent | Paste | Resize) and not event.is_forwarded


class InputGate:
    """The queue of input in front of an app.

    Args:
        handle: hands one event to whatever it is for; runs in the app's message pump.
        wake: calls `go_on` in the app's message pump, soon.
        stops: returns whether a key stops everything, and so is to wait as little as can be.
        give_up: hears that input was dropped, and how many events.
        follow: hears which key is under way; None once none is.
        lay_out: brings what is drawn up to date; returns whether there was anything to do.
    """

    def __init__(
        self,
        handle: Callable[[Event], Awaitable[None]],
        wake: Callable[[], object],
        *,
        stops: Callable[[Key], bool],
        give_up: Callable[[int], None],
        follow: Callable[[Cause | None], None] = lambda _: None,
        lay_out: Callable[[], bool] = lambda: False,
    ) -> None:
        self._handle = handle
        self._wake = wake
        self._stops = stops
        self._give_up = give_up
        self._follow = follow
        self._lay_out = lay_out
        self._waiting: deque[Event] = deque()
        self._cause: Cause | None = None
        self._opening: set[asyncio.Future[object]] = set()
        self._waiter: asyncio.Task[None] | None = None
        self._is_handling = False
        self._core_is_late = False
        self._taken_s = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether everything that was typed has had its effect."""
        return not (self._waiting or self._is_handling or self._cause is not None)

    @property
    def rests_s(self) -> float:
        """For how many seconds nothing has been typed or clicked."""
        return monotonic() - self._taken_s

    @property
    def waiting(self) -> int:
        """How many events wait for one before them."""
        return len(self._waiting)

    # --- what the app does ----------

    async def take(self, event: Event) -> None:
        """Handle an event, or queue it behind what came before."""
        self._taken_s = monotonic()
        last = self._waiting[-1] if self._waiting else None
        if isinstance(event, MouseMove | Resize) and type(last) is type(event):
            # Only where the pointer is counts, and the size that is, not how it came there.
            self._waiting[-1] = event
        else:
            self._waiting.append(event)
        await self.go_on()

    async def go_on(self) -> None:
        """Handle what waits, as far as nothing holds it."""
        if self._is_handling:
            return
        while self._waiting:
            if self._cause is not None:
                self._wait()
                return
            event = self._waiting.popleft()
            cause = Cause(event.time)
            self._cause = cause
            self._follow(cause)
            self._is_handling = True
            try:
                with cause.running():
                    await self._handle(event)
            finally:
                self._is_handling = False
            if self._has_more(cause):
                # Also when nothing waits: what is caused after it came to rest is not followed.
                self._wait()
            else:
                self._end()

    # --- what keys cause ----------

    def hold(self, work: asyncio.Future[object], cause: Cause, *, opens: bool = False) -> None:
        """Let the next key wait for work that a key began beside the messages.

        Args:
            work: done when what follows from it may be seen.
            cause: the key.
            opens: the keys after it belong to what this opens, and to nothing else.
        """
        if opens:
            self._opening.add(work)
            work.add_done_callback(self._opening.discard)
        elif self._core_is_late:
            work.add_done_callback(lambda _: self._core_answered())
            return
        cause.hold(work)
        work.add_done_callback(lambda _: self._core_answered())

    def _core_answered(self) -> None:
        self._core_is_late = False

    # --- waiting ----------

    def _has_more(self, cause: Cause) -> bool:
        """Return whether something of a key is still to come; begins the layout that it needs."""
        if cause.has_messages or cause.is_held:
            return True
        with cause.running():
            return self._lay_out()

    def _end(self) -> None:
        if self._cause is not None:
            self._cause.is_over = True
        self._cause = None
        self._follow(None)

    def _wait(self) -> None:
        if self._waiter is None or self._waiter.done():
            self._waiter = asyncio.create_task(self._settle(), name="input gate")

    async def _settle(self) -> None:
        cause = self._cause
        looked_s = monotonic()
        waited_s = ran_s = 0.0
        while cause is not None and self._has_more(cause):
            if not cause.is_held:
                if ran_s >= RUNS_S:
                    _log.warning("What a key caused did not come to rest in %g s", RUNS_S)
                    break
            elif waited_s >= self._patience_s():
                self._lose_patience()
                break
            else:
                ran_s = 0.0
            await cause.changed(_LOOK_S)
            # The pumps that were woken run first.
            await asyncio.sleep(0)
            passed_s = min(monotonic() - looked_s, _LONGEST_LOOK_S)
            looked_s = monotonic()
            waited_s += passed_s
            ran_s += passed_s
        if cause is self._cause:
            self._end()
        self._wake()

    def _patience_s(self) -> float:
        if self._opening:
            return OPENS_S
        hurries = any(isinstance(one, Key) and self._stops(one) for one in self._waiting)
        return STOPS_S if hurries else ANSWERS_S

    def _lose_patience(self) -> None:
        self._core_is_late = True
        if self._opening:
            self._opening.clear()
            kept = [one for one in self._waiting if self._counts_anyhow(one)]
            dropped = len(self._waiting) - len(kept)
            self._waiting = deque(kept)
            if dropped:
                self._give_up(dropped)

    def _counts_anyhow(self, event: Event) -> bool:
        return isinstance(event, Resize) or (isinstance(event, Key) and self._stops(event))

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._waiter is not None:
            self._waiter.cancel()
        self._waiting.clear()
