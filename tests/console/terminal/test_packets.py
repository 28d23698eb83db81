"""What a console in a browser draws and the files that it sends share a pipe."""

import os
import sys
from threading import Thread

import pytest
from textual.app import App
from textual.drivers.web_driver import WebDriver

from console.terminal.terminal import lenient

FILES, PICTURES = 60, 3_000
PART, LINE = b"f" * 100_000, "d" * 500


async def test_the_parts_of_a_file_and_what_is_drawn_are_packets_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken, given = os.pipe()
    kinds: dict[bytes, int] = {}

    def read() -> None:
        with os.fdopen(taken, "rb") as packets:
            while kind := packets.read(1):
                packets.read(int.from_bytes(packets.read(4), "big"))
                kinds[kind] = kinds.get(kind, 0) + 1

    def send() -> None:
        for _ in range(FILES):
            driver.write_binary_encoded(("deliver_chunk", "key", PART))

    typed, keys = os.pipe()
    with os.fdopen(given, "w") as out, os.fdopen(typed) as stdin, os.fdopen(keys, "w"):
        monkeypatch.setattr(sys, "__stdin__", stdin)
        monkeypatch.setattr(sys, "__stdout__", out)
        driver = lenient(WebDriver)(App())
        threads = [Thread(target=read), Thread(target=send)]
        for thread in threads:
            thread.start()
        for _ in range(PICTURES):
            driver.write(LINE)
        threads[1].join()
    threads[0].join()
    assert kinds == {b"P": FILES, b"D": PICTURES}
