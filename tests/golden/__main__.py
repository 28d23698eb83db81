"""Compare the program with the golden set: `python -m tests.golden [--keep] [PART …]`.

Says what differs, line by line, and exits with 1; `--keep` stores what is drawn now. Who moves or
renames code draws it before and after; where words change, it changes in words only. It is no gate:
words change on purpose every day. The pages docs/protocol.md, cli.md and keys.md belong to the set
as they are: their own tests draw them and compare them whole.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# Ages and dates on screens are the same wherever it is drawn.
os.environ |= {"TZ": "UTC", "LANG": "C.UTF-8", "TEXTUAL_ANIMATIONS": "none"}
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
time.tzset()

from tests import headless  # noqa: E402
from tests.golden import stored, written  # noqa: E402
from tests.golden.demo import demo  # noqa: E402
from tests.golden.exercises import exercises  # noqa: E402
from tests.golden.screens import screens  # noqa: E402

_DRAW: dict[str, Callable[[Path], str]] = {
    "schema": lambda _: written.schema(),
    "openapi": lambda _: written.openapi(),
    "sentences": lambda _: written.sentences(),
    "screens": lambda folder: asyncio.run(screens(folder)),
    "exercises": lambda folder: asyncio.run(exercises(folder)),
    "demo": lambda folder: asyncio.run(demo(folder)),
}


def main(words: list[str]) -> int:
    """Draw the parts that are named, or all; 1 where one differs from what is stored."""
    headless.install()
    differs = False
    for part in [word for word in words if word != "--keep"] or stored.PARTS:
        with tempfile.TemporaryDirectory() as folder:
            drawn = _DRAW[part](Path(folder))
        if "--keep" in words:
            stored.keep(part, drawn)
        elif lines := stored.difference(part, drawn):
            differs = True
            print("\n".join(lines))
        else:
            print(f"{part}: as stored, {len(drawn.splitlines())} lines")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
