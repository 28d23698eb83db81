"""Put the gate before Textual: its drivers read bytes by it, and end by no bytes.

Textual's parser stays unused. Invariants: no error in reading ends the thread that reads, or the
console; it is reported with its bytes, which are those of one sequence; before the terminal is
another program's, what was changed of it is changed back.
"""

import json
import logging
import os
import selectors
from threading import Event
from typing import Any, cast

from textual.driver import Driver
from textual.message import Message

from console.terminal.last_resort import note_given_back, note_taken
from console.terminal_input.byte_gate import ByteGate
from console.terminal_input.meanings import Hear
from widgets.base.fault_isolation import WidgetFailed

_log = logging.getLogger(__name__)
_LOOK_S = 0.1  # How soon the end is noticed.
_READ_BYTES = 4_096
_LOGGED_BYTES = 200
_NORMAL_MODES = "\x1b[?1l\x1b>\x1b[?1016l"
"""DECCKM, DECKPNM and the mouse in pixels: a program before us may have left them on."""
_AT_THE_END = "\x1b[?1004l\x1b[?1003l\x1b[?1000l\x1b[?1016l\x1b[?1006l"
"""Focus and the mouse, first of all: they may report while the rest is changed back."""
DA1 = "\x1b[c"  # What every terminal answers.
_LAST_ANSWER_S = 3.0
"""How long to wait for the answers of a terminal that has answered before: on a busy machine they
are late, and what comes after us is typed into the shell."""


class TerminalNotice(Message):
    """The operator is to know something about the terminal."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class _Gated(Driver):
    """What both drivers have: the gate, and whoever hears answers."""

    def __init__(self, *args: Any, alts: frozenset[str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.hear: Hear = lambda _kind, _text: None
        self.gate = ByteGate(
            self._hear,
            alts,
            tell=lambda text: self._app_gets(TerminalNotice(text)),
            failed=self._report,
        )

    def _hear(self, kind: str, text: str) -> None:
        self.hear(kind, text)

    def _take(self, data: bytes) -> None:
        """Hand on what bytes mean."""
        try:
            events = self.gate.feed(data)
        except Exception as error:
            self._begin_again(error, data)
            return
        for event in events:
            self._hand_on(event)

    def _look(self) -> None:
        """Hand on what waited for its rest in vain."""
        try:
            events = self.gate.overdue()
        except Exception as error:
            self._begin_again(error, b"")
            return
        for event in events:
            self._hand_on(event)

    def _begin_again(self, error: Exception, data: bytes) -> None:
        """Report an error of the gate itself, and forget what it held."""
        self._report(error, data)
        self.gate.drop()

    def _hand_on(self, event: Message) -> None:
        try:
            self.process_message(event)
        except Exception as error:
            self._report(error, repr(event).encode())

    def _report(self, error: Exception, raw: bytes) -> None:
        _log.error("Input failed on %r", raw[:_LOGGED_BYTES], exc_info=error)
        self._app_gets(WidgetFailed(error, "reading the terminal"))

    def _app_gets(self, message: Message) -> None:
        message.set_sender(self._app)
        self.send_message(message)


def gated(driver: type[Driver], alts: frozenset[str] = frozenset()) -> type[Driver]:
    """Make a driver read by the gate; one that reads no bytes is left as it is.

    Args:
        driver: Textual's, or one made of it.
        alts: the characters that are bound with alt.
    """
    try:
        from textual.drivers.linux_driver import LinuxDriver
    except ImportError:
        LinuxDriver = None  # type: ignore[assignment, misc]
    if LinuxDriver is not None and issubclass(driver, LinuxDriver):
        return _for_terminal(driver, alts)
    from textual.drivers.web_driver import WebDriver

    return _for_browser(driver, alts) if issubclass(driver, WebDriver) else driver


def _for_terminal(driver: type[Driver], alts: frozenset[str]) -> type[Driver]:
    class TerminalDriver(_Gated, driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, alts=alts, **options)
            self.farewell = ""
            """What is written before the terminal is given to another program."""
            self.times_left = 0
            """How often it was."""
            self._is_quiet = Event()
            """Set by the answer to the last DA1, which a terminal gives after all before it."""
            self._unanswered = 0
            """How often DA1 was asked and not answered yet."""

        def write(self, data: str) -> None:
            if asked := data.count(DA1):
                self._is_quiet.clear()
                self._unanswered += asked
            super().write(data)  # type: ignore[safe-super]

        def start_application_mode(self) -> None:
            # What was not answered to us was answered to whoever had the terminal meanwhile.
            self._unanswered = 0
            # Textual asks for the modes of the terminal.
            self.gate.await_one()
            note_taken(self.fileno, self._file.fileno())
            super().start_application_mode()  # type: ignore[safe-super]
            self.write(_NORMAL_MODES + "\x1b[?1006h")

        def _enable_mouse_pixels(self) -> None:
            """Leave the mouse in cells: not all that report their size have it in pixels."""

        def run_input_thread(self) -> None:
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    wanted_s = min(_LOOK_S, self.gate.waits_s)
                    if not selector.select(wanted_s):
                        # What was there before the time was up has been read.
                        self._look()
                    elif not self._read():
                        # It has gone, or was closed: who looks after the terminal ends us.
                        self.exit_event.wait(_LOOK_S)

        def _hear(self, kind: str, text: str) -> None:
            if kind == "attributes":
                self._unanswered = max(0, self._unanswered - 1)
                if not self._unanswered:
                    self._is_quiet.set()
            super()._hear(kind, text)

        def _read(self) -> bool:
            try:
                data = os.read(self.fileno, _READ_BYTES)
            except OSError as error:
                _log.debug("The terminal cannot be read: %s", error)
                return False
            self._take(data)
            return bool(data)

        def stop_application_mode(self) -> None:
            self.times_left += 1
            self.write(self.farewell + _AT_THE_END)
            self.farewell = ""
            if self.gate.is_awaiting and self.gate.has_answered:
                # What was asked a moment ago would be answered to the shell.
                self.write(DA1)
                self.flush()
                self._is_quiet.wait(_LAST_ANSWER_S)
            super().stop_application_mode()  # type: ignore[safe-super]
            note_given_back(self.fileno)

    return TerminalDriver


def _for_browser(driver: type[Driver], alts: frozenset[str]) -> type[Driver]:
    from textual.drivers.web_driver import _ExitInput

    class BrowserDriver(_Gated, driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, alts=alts, **options)

        def run_input_thread(self) -> None:
            from textual.drivers._byte_stream import ByteStream

            stream = ByteStream()
            try:
                for data in self._input_reader:
                    if not data:
                        self._look()
                        continue
                    for kind, payload in stream.feed(data):
                        self._packet(kind, payload)
            except _ExitInput:
                pass
            except Exception as error:
                # The packets of its server are out of step: nothing after them can be read.
                self._report(error, b"")
            finally:
                self._input_reader.close()

        def _packet(self, kind: str, payload: bytes) -> None:
            if kind == "D":
                self._take(payload)
                return
            try:
                told = json.loads(payload)
                self.on_meta(cast(str, told["type"]), told)
            except (ValueError, TypeError, LookupError) as error:
                self._report(error, payload)

    return BrowserDriver
