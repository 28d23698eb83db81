"""Saving a phone's state some moments after it changed, off the event loop.

How a state file is written is `virtual_phone.state.persistence`. Invariant: what could not be
written counts as unsaved.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.state.persistence import StateFile
from virtual_phone.timing import Timer

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

log = logging.getLogger(__name__)

SAVE_DELAY_S = 0.4


class Autosave:
    """Save one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self._file = StateFile()
        self._timer: Timer | None = None
        self._writing: set[asyncio.Future[None]] = set()
        self._unsaved = False

    def note_change(self) -> None:
        """Save soon."""
        self._unsaved = True
        if self._timer is None and not self._phone.closed:
            self._timer = self._phone.timing.later(SAVE_DELAY_S, self._save_soon)

    def save(self) -> None:
        """Write the state to disk now.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        self._stop_timer()
        self._unsaved = False
        self._file.write(self._phone.home, self._phone.snapshot(), self._file.next())

    def finish(self) -> None:
        """Save what is not saved yet.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        if self._unsaved:
            self.save()
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _save_soon(self) -> None:
        """Write in a thread, as a slow disk must not hold up the screen."""
        self._timer = None
        self._unsaved = False
        phone, number = self._phone, self._file.next()
        writing = asyncio.to_thread(self._file.write, phone.home, phone.snapshot(), number)
        task = asyncio.ensure_future(writing)
        self._writing.add(task)
        task.add_done_callback(self._saved)

    def _saved(self, task: asyncio.Future[None]) -> None:
        self._writing.discard(task)
        if task.cancelled():
            self._unsaved = True
            return
        error = task.exception()
        if error is None:
            return
        self._unsaved = True
        if isinstance(error, PhoneError):
            self._phone.report(error.message)
        else:
            log.error("The phone %s could not be saved", self._phone.name, exc_info=error)
