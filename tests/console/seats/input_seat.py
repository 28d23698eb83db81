"""Run as a program: an app on a terminal by the console's own driver, which tells what comes in.

At the key f33 it asks the terminal what it is, and at f34 it ends.
"""

import json
import os
import sys
from typing import Any

from textual.app import App
from textual.driver import Driver
from textual.events import AppBlur, AppFocus, Event, Key, MouseEvent, Paste

from console.frames.output import paced
from console.terminal.terminal import lenient
from console.terminal.title import titled
from console.terminal_input.gated_driver import DA1, gated

TOLD = (Key, MouseEvent, Paste, AppFocus, AppBlur)


class Seat(App[None]):
    """Writes each event of the operator as a line of JSON to a pipe."""

    ENABLE_COMMAND_PALETTE = False

    def get_driver_class(self) -> type[Driver]:
        return paced(lenient(titled(gated(super().get_driver_class()))))

    def on_mount(self) -> None:
        os.write(TELL, b'"ready"\n')

    async def on_event(self, event: Event) -> None:
        if isinstance(event, TOLD) and not event.is_forwarded:
            name = event.key if isinstance(event, Key) else type(event).__name__
            os.write(TELL, json.dumps(name).encode() + b"\n")
            if name == "f33":
                driver: Any = self._driver
                driver.gate.await_one()
                driver.write(DA1)
            if name == "f34":
                self.exit()
            return
        await super().on_event(event)


if __name__ == "__main__":
    TELL = int(sys.argv[1])
    Seat().run()
