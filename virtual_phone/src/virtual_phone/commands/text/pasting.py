"""`paste`: the lines of several files side by side, or those of each file in one line.

After toybox's paste (toys/posix/paste.c). Invariant: at most WHOLE_LIMIT_BYTES are held.
"""

import itertools
from collections.abc import Iterator

from virtual_phone.commands.options import options
from virtual_phone.commands.text.filters import WHOLE_LIMIT_BYTES
from virtual_phone.commands.text.printing import unescape
from virtual_phone.server.pipes import read_all
from virtual_phone.shell.call import Call, command, encode


@command("paste")
async def paste(call: Call) -> int:
    """Join lines: -s those of each file in one, -d by the characters of a list in turn."""
    found = options(call, "sd:")
    between = unescape(found.text("d", "\t"))[0]
    columns: list[Iterator[bytes]] = []
    stdin: Iterator[bytes] | None = None
    status = 0
    for path in found.operands or ["-"]:
        if path == "-" and stdin is not None:
            columns.append(stdin)  # Each `-` takes the next line.
            continue
        try:
            source = call.open_source(path)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
            continue
        data = await read_all(source, WHOLE_LIMIT_BYTES)
        columns.append(iter(data.removesuffix(b"\n").split(b"\n") if data else []))
        if path == "-":
            stdin = columns[-1]
    if "s" in found:
        for column in columns:
            await call.stdout.write(_joined(list(column), between) + b"\n")
        return status
    while any(row := [next(column, None) for column in columns]) or b"" in row:
        await call.stdout.write(_joined([one or b"" for one in row], between) + b"\n")
    return status


def _joined(pieces: list[bytes], between: str) -> bytes:
    marks = itertools.cycle([encode(one) for one in between] or [b""])
    return b"".join(
        itertools.chain.from_iterable(
            zip(pieces, [*itertools.islice(marks, max(0, len(pieces) - 1)), b""], strict=False)
        )
    )
