"""Write to the operator's terminal, also when it has gone.

Not a driver of its own: it changes one thing of Textual's. Invariant: a terminal that takes no more
output never blocks the console, which may hold the core; what cannot be written is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO, cast

from textual.driver import Driver


class _Lenient:
    """A terminal's output that swallows what a terminal that has gone refuses."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except (OSError, ValueError):
            # Textual's writing thread would end, and the next writes would wait for it for ever.
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except (OSError, ValueError):
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _leniently(write: Callable[[bytes], int]) -> Callable[[bytes], int]:
    def written(data: bytes) -> int:
        try:
            return write(data)
        except OSError:
            return len(data)

    return written


def lenient(driver: type[Driver]) -> type[Driver]:
    """Make a driver outlive its terminal."""

    class LenientDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            file = getattr(self, "_file", None)
            if file is not None:
                self._file = cast(TextIO, _Lenient(file))
            # Textual's driver for a browser writes to its server's pipe by this.
            write = getattr(self, "_write", None)
            if callable(write):
                self._write = _leniently(write)

    return LenientDriver
