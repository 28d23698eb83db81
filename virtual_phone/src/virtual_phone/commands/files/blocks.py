"""`dd`, and commands on the file system as a whole."""

import asyncio

from virtual_phone.commands.files.listing import human
from virtual_phone.commands.options import whole_number
from virtual_phone.shell.call import Call, CommandError, command


@command("dd")
async def dd(call: Call) -> int:
    """Copy blocks."""
    values = dict(word.partition("=")[::2] for word in call.args)
    unknown = set(values) - {
        "if",
        "of",
        "bs",
        "count",
        "skip",
        "seek",
        "conv",
        "status",
        "ibs",
        "obs",
        "iflag",
        "oflag",
    }
    if unknown:
        raise CommandError(f"dd: bad argument '{sorted(unknown)[0]}'")
    size = whole_number(call, values.get("bs", "512"))
    if not 0 < size <= 64 * 1024 * 1024:
        raise CommandError("dd: bad bs")
    count = whole_number(call, values["count"]) if "count" in values else None
    source = call.open_source(values.get("if", "-"))
    sink = (
        call.open_sink(values["of"], truncate="notrunc" not in values.get("conv", ""))
        if "of" in values
        else call.stdout
    )
    skip = whole_number(call, values.get("skip", "0")) * size
    while skip > 0 and (data := await source.read(min(skip, 1024 * 1024))):
        skip -= len(data)
    full = partial = copied = 0
    while count is None or full + partial < count:
        block = b""
        while len(block) < size and (data := await source.read(size - len(block))):
            block += data
        if not block:
            break
        full, partial = (full + 1, partial) if len(block) == size else (full, partial + 1)
        await sink.write(block)
        copied += len(block)
        await asyncio.sleep(0)
    if values.get("status") != "none":
        await call.err(f"{full}+{partial} records in\n{full}+{partial} records out")
        await call.err(f"{copied} bytes ({human(copied)}) copied, 0.001 s, {human(copied)}/s")
    return 0


@command("sync", "mount", "getenforce", inline=True)
async def sync(call: Call) -> int:
    """Answer commands that have nothing to do here."""
    if call.name == "getenforce":
        await call.line("Enforcing")
    elif call.name == "mount" and not call.args:
        await call.line("/dev/block/dm-0 on / type ext4 (ro,seclabel,relatime)")
        await call.line("/dev/block/dm-5 on /data type f2fs (rw,seclabel,nosuid,nodev,noatime)")
        await call.line("/dev/fuse on /storage/emulated type fuse (rw,nosuid,nodev,noexec,noatime)")
    elif call.name == "mount" and call.args:
        raise CommandError(f"{call.name}: '{call.args[-1]}': Operation not permitted")
    return 0
