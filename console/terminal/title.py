"""Show in the terminal's title what waits, and restore the terminal's own title.

Counts nothing itself. Invariants: nothing foreign but the cleaned name of a place is in it; it is
written when it is another, not with every picture; whoever gets the terminal next – a shell, an
editor, a suspended console's shell – finds the title that was there before.
"""

from collections.abc import Mapping
from typing import Any

from textual.driver import Driver

_WITHOUT = ("dumb", "linux", "vt", "cons", "sun", "ansi")
"""How names in TERM begin whose terminals have no title, and may draw what is for one."""
_KEEP, _GIVE_BACK = "\x1b[22;2t", "\x1b]2;\x1b\\\x1b[23;2t"
"""XTWINOPS 22 and 23 (xterm, ctlseqs). A terminal without them is left with no title of ours."""


def has_title(environ: Mapping[str, str]) -> bool:
    """Return whether a terminal takes operating system commands, such as a title, by its name."""
    term = environ.get("TERM", "")
    return bool(term) and not term.startswith(_WITHOUT)


def title_words(name: str, place: str, waiting: int, news: int) -> str:
    """Write a title.

    Args:
        name: of the program.
        place: what it shows, cleaned; may be empty.
        waiting: how many things stand still until somebody acts.
        news: how many more are to be read.
    """
    words = []
    if waiting:
        words.append(f"({waiting}) waiting for you")
    if news:
        words.append(f"{news} to read")
    return " · ".join([*words, f"{name} {place}".strip()])


def titled(driver: type[Driver]) -> type[Driver]:
    """Make a driver carry a title; one that is not of a terminal of Linux or macOS has none."""
    try:
        from textual.drivers.linux_driver import LinuxDriver
    except ImportError:
        return driver
    if not issubclass(driver, LinuxDriver):
        return driver

    class TitledDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._title = ""

        def show_title(self, text: str) -> None:
            """Show a title from now on, also after the terminal was another program's."""
            if text == self._title:
                return
            begin = "" if self._title else _KEEP
            self._title = text
            self.write(f"{begin}\x1b]2;{text}\x1b\\")

        def start_application_mode(self) -> None:
            super().start_application_mode()
            title, self._title = self._title, ""
            if title and self._writer_thread is not None:
                self.show_title(title)

        def stop_application_mode(self) -> None:
            if self._title:
                self.write(_GIVE_BACK)
            super().stop_application_mode()

    return TitledDriver


def show_title(driver: Driver | None, text: str) -> None:
    show = getattr(driver, "show_title", None)
    if callable(show) and not getattr(driver, "is_suspended", False):
        show(text)
