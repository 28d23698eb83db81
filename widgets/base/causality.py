"""Track everything that one key causes, through a Textual app's messages and callbacks.

`console.input.gate` queues the keys. A message posted while a cause is handled belongs to that
cause, and so do the messages of its handler. Textual's deferred layout and drawing belong to the
open cause (`widgets.base.deferred_layout`). Invariants: a cause is settled when none of its
messages waits, none of its handlers runs and no work is held open for it; a message that another
one replaced does not keep it open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual._callback import invoke
from textual.message import Message

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

_ATTRIBUTE = "switchboard_cause"


class Cause:
    """A key, paste or mouse press, and everything that follows from it.

    Args:
        pressed_s: the time of the press, by `time.monotonic`, in seconds.
    """

    def __init__(self, pressed_s: float) -> None:
        self.pressed_s = pressed_s
        self.is_over = False
        """Whether nobody waits for it any more: what is posted then is not followed."""
        self._pumps: set[MessagePump] = set()
        self._under_way = 0
        self._held: set[asyncio.Future[Any]] = set()
        self._changed = asyncio.Event()

    @property
    def is_held(self) -> bool:
        """Return whether work outside messages, such as a request to the core, is in flight."""
        return any(not work.done() for work in self._held)

    @property
    def has_messages(self) -> bool:
        """Return whether one of its messages waits, or a handler of one runs."""
        return self._under_way > 0 or any(self._waits_at(pump) for pump in self._pumps)

    def hold(self, work: asyncio.Future[Any]) -> None:
        """Keep it open until this work is done."""
        if not self.is_over:
            self._held.add(work)
            work.add_done_callback(lambda _: self._changed.set())

    async def changed(self, timeout_s: float) -> None:
        """Wait until some of its work has ended, or the time is up."""
        self._changed.clear()
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return

    def own(self, pump: MessagePump, message: Message) -> None:
        """Count a message, posted to a pump, as part of this cause."""
        setattr(message, _ATTRIBUTE, self)
        self._pumps.add(pump)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Attribute the block's work to this cause."""
        token = _current.set(self)
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            _current.reset(token)
            self._changed.set()

    def _waits_at(self, pump: MessagePump) -> bool:
        if pump._closed or pump._closing:
            return False
        waiting = (pump._pending_message, *pump._message_queue.values)
        return any(getattr(message, _ATTRIBUTE, None) is self for message in waiting)


_current: ContextVar[Cause | None] = ContextVar("switchboard_cause", default=None)


def current() -> Cause | None:
    """Return the cause being handled; None outside of any, and once it is no longer awaited."""
    cause = _current.get()
    return None if cause is None or cause.is_over else cause


def lag_s() -> float:
    """Return the seconds since the press of the key being handled; 0 outside."""
    cause = current()
    return 0.0 if cause is None else max(0.0, monotonic() - cause.pressed_s)


def posted(pump: MessagePump, message: Message) -> None:
    """Record that a message goes to a pump; call it before the message is queued."""
    cause = current()
    if cause is not None:
        cause.own(pump, message)
    elif hasattr(message, _ATTRIBUTE):
        setattr(message, _ATTRIBUTE, None)


@contextmanager
def dispatching(message: Message) -> Iterator[None]:
    """Handle a message as part of its cause."""
    cause: Cause | None = getattr(message, _ATTRIBUTE, None)
    if cause is not None and not cause.is_over:
        with cause.running():
            yield
    else:
        yield


def with_cause(callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """Bind a deferred callback to the current cause."""
    bound = partial(callback, *args, **kwargs)
    cause = current()
    if cause is None:
        return bound
    return _WithCause(cause, bound)


class _WithCause:
    """A callback that belongs to a cause until it is called."""

    def __init__(self, cause: Cause, call: Callable[[], Any]) -> None:
        self._cause = cause
        self._call = call
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        cause.hold(self._done)

    async def __call__(self) -> None:
        try:
            with self._cause.running():
                await invoke(self._call)
        finally:
            if not self._done.done():
                self._done.set_result(None)
