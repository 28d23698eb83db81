"""Commands that read everything: checksums, base64, xargs."""

import base64 as base64_codec
import hashlib

from virtual_phone.commands.options import options
from virtual_phone.server.pipes import read_all
from virtual_phone.shell.call import Call, CommandError, command, decode

WHOLE_LIMIT_BYTES = 64 * 1024 * 1024


@command("xargs")
async def xargs(call: Call) -> int:
    """Run a command with words from stdin."""
    found = options(call, "0n:rI:P:", leading=True)
    data = await read_all(call.stdin, WHOLE_LIMIT_BYTES)
    separator = b"\0" if "0" in found else (b"\n" if "I" in found else None)
    words = [decode(word) for word in data.split(separator) if word]
    base = found.operands or ["echo"]
    streams = call.streams
    if "I" in found:
        mark = found.text("I")
        batches = [[part.replace(mark, word) for part in base] for word in words]
    else:
        size = max(1, found.number(call, "n", len(words) or 1))
        batches = [base + words[at : at + size] for at in range(0, len(words), size)]
        if not words and "r" not in found:
            batches = [base]
    status = 0
    for argv in batches:
        if await call.shell.run_argv(argv, streams, functions=False):
            status = 123
    return status


@command("base64")
async def base64(call: Call) -> int:
    """Encode or decode base64."""
    found = options(call, "dw:i")
    path = found.operands[0] if found.operands else "-"
    data = await read_all(call.open_source(path), WHOLE_LIMIT_BYTES)
    if "d" in found:
        try:
            await call.stdout.write(base64_codec.b64decode(b"".join(data.split())))
        except ValueError as error:
            raise CommandError("base64: bad input") from error
        return 0
    text = base64_codec.b64encode(data)
    width = found.number(call, "w", 76) or len(text) or 1
    rows = [text[at : at + width] for at in range(0, len(text), width)]
    await call.stdout.write(b"\n".join(rows) + b"\n" if rows else b"")
    return 0


@command("md5sum", "sha1sum", "sha256sum")
async def digest(call: Call) -> int:
    """Write checksums of files."""
    found = options(call, "bc")
    status = 0
    for path in found.operands or ["-"]:
        hasher = hashlib.new(call.name.removesuffix("sum"), usedforsecurity=False)
        try:
            source = call.open_source(path)
            while data := await source.read(256 * 1024):
                hasher.update(data)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
            continue
        await call.line(hasher.hexdigest() if "b" in found else f"{hasher.hexdigest()}  {path}")
    return status
