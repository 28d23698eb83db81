"""When pictures are sent: never while the terminal has still to take what it was given."""

import threading
from typing import Any

from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread

from console.frames.clock import LEAST_CELLS, MOST_CELLS, MOST_FOR_KEYS, FrameClock
from console.frames.output import Backlog, backlog_of, paced


class Tape:
    """A terminal that takes nothing until it is let."""

    def __init__(self) -> None:
        self.taken = ""
        self.free = threading.Event()
        self.flushed = threading.Semaphore(0)

    def write(self, text: str) -> int:
        self.free.wait(30)
        self.taken += text
        return len(text)

    def flush(self) -> None:
        self.flushed.release()


class Writes(Driver):
    """A driver that writes as Textual's does, by its own writing thread."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer_thread: WriterThread | None = None

    def start_application_mode(self) -> None:
        # Textual's own driver hands its file to the thread here.
        self._writer_thread = WriterThread(self._file)
        self._writer_thread.start()

    def write(self, data: str) -> None:
        assert self._writer_thread is not None
        self._writer_thread.write(data)

    def disable_input(self) -> None: ...

    def stop_application_mode(self) -> None: ...

    def close(self) -> None:
        if self._writer_thread is not None:
            self._writer_thread.stop()


def test_a_frame_waits_until_the_terminal_has_taken_what_came_before() -> None:
    tape = Tape()
    driver: Any = paced(Writes)(tape)  # type: ignore[call-arg]
    driver.start_application_mode()
    clock = FrameClock()
    assert clock.may_draw(driver)
    driver.write("a picture")
    assert not clock.may_draw(driver)
    assert (clock.sent, clock.held) == (1, 1)
    tape.free.set()
    assert tape.flushed.acquire(timeout=30)
    backlog = backlog_of(driver)
    assert backlog is not None
    done = threading.Event()
    for _ in range(3_000):
        if not backlog.pending:
            break
        done.wait(0.01)
    assert clock.may_draw(driver)
    assert tape.taken == "a picture"
    driver.close()


def test_while_suspended_nothing_is_written_and_no_frame_is_drawn() -> None:
    tape = Tape()
    tape.free.set()
    driver: Any = paced(Writes)(tape)  # type: ignore[call-arg]
    driver.start_application_mode()
    driver.suspend_application_mode()
    # More than the queue holds: Textual's own driver would block here for ever.
    for _ in range(100):
        driver.write("over somebody's editor")
    assert not FrameClock().may_draw(driver)
    assert tape.taken == ""
    driver.resume_application_mode()
    assert FrameClock().may_draw(driver)
    driver.write("again")
    driver.close()
    assert tape.taken == "again"


def test_a_slow_terminal_is_given_less_at_once_and_never_nothing() -> None:
    class Slow:
        backlog = Backlog()

    slow: Any = Slow()
    assert FrameClock.budget_cells(slow) == MOST_CELLS
    slow.backlog.rate = 2_000_000.0
    assert LEAST_CELLS < FrameClock.budget_cells(slow) < MOST_CELLS
    slow.backlog.rate = 1_000.0
    assert FrameClock.budget_cells(slow) == LEAST_CELLS


def test_a_driver_without_a_backlog_is_always_ready() -> None:
    class Other(Driver):
        def __init__(self) -> None: ...

        def write(self, data: str) -> None: ...

        def start_application_mode(self) -> None: ...

        def disable_input(self) -> None: ...

        def stop_application_mode(self) -> None: ...

    assert FrameClock().may_draw(paced(Other)())  # type: ignore[call-arg]
    assert not FrameClock().may_draw(None)


def test_a_frame_waits_for_the_key_that_is_worked_on_and_not_for_keys_without_end() -> None:
    tape = Tape()
    tape.free.set()
    driver: Any = paced(Writes)(tape)  # type: ignore[call-arg]
    driver.start_application_mode()
    clock = FrameClock()
    turns = [clock.may_draw(driver, key_is_under_way=True) for _ in range(2 * MOST_FOR_KEYS + 2)]
    assert turns == [*[False] * MOST_FOR_KEYS, True] * 2
    assert not clock.may_draw(driver, key_is_under_way=True)
    assert clock.may_draw(driver)
    driver.close()


def test_how_fast_a_terminal_takes_output_is_measured() -> None:
    now_s = [0.0]
    backlog = Backlog(lambda: now_s[0])
    for _ in range(20):
        backlog.give(10_000)
        backlog.give(10_000)
        now_s[0] += 0.02
        backlog.buffer(20_000)
        backlog.flush()
        assert backlog.pending == 0
    assert 1_000_000 < backlog.rate < 1_100_000
