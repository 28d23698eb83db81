"""`tar`, and how it makes an archive.

Options, words and refusals are those of toybox's tar.c. Invariant: the sizes in an archive are
those of the content that follows, whatever happens to the files meanwhile.
"""

from __future__ import annotations

import asyncio
import tarfile

from virtual_phone.commands.files.archives import (
    END,
    PIECE_BYTES,
    ArchiveError,
    Entry,
    header,
    padding,
)
from virtual_phone.commands.files.compressing import Deflating, GzipError
from virtual_phone.commands.files.folders import USERS, join
from virtual_phone.commands.files.tar_options import TarJob, base_of, covers, tar_job
from virtual_phone.commands.files.unarchiving import take_out
from virtual_phone.server.pipes import Sink
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.userland.file_stat import FileStat


@command("tar")
async def tar(call: Call) -> int:
    """Make an archive (-c), take one out (-x) or list it (-t)."""
    job = await tar_job(call)
    if len(job.flags & set("ctx")) != 1:
        raise CommandError('tar: Needs -txc (see "tar --help")')
    if job.flags & set("jJ"):
        program = "bzip2" if "j" in job.flags else "xz"
        raise CommandError(f"tar: exec {program}: No such file or directory", 127)
    try:
        if "c" in job.flags:
            await _create(job)
        else:
            await take_out(job)
    except (ArchiveError, GzipError) as error:
        raise CommandError(f"tar: {error.message.removeprefix('tar: ')}") from error
    return job.status


async def _create(job: TarJob) -> None:
    call = job.call
    if not job.names:
        raise CommandError("tar: empty archive")
    plain: Sink = call.stdout if job.archive == "-" else call.open_sink(job.archive)
    own = "" if job.archive == "-" else call.files.resolve(job.archive, call.cwd)
    packs = "z" in job.flags or job.archive.endswith((".tgz", ".tar.gz"))
    packed = Deflating(plain) if packs else None
    sink: Sink = packed or plain
    base = base_of(job)
    for name in job.names:
        pending = [name]
        entered: set[str] = set()
        warned = False
        while pending:
            path = pending.pop()
            try:
                found = call.files.stat(path, base, follow="h" in job.flags)
                if own and call.files.resolve(path, base) == own:
                    await job.complain(f"'{path}' file is the archive; not dumped")
                    continue
                kept = _kept_name(path)
                if _is_excluded(job, kept):
                    continue
                if kept != path and not warned and path.startswith("/"):
                    await call.err("removing leading '/' from member names")
                    warned = True
                await _add(job, sink, path, kept, found, base)
                if found.is_dir and "no-recursion" not in job.flags:
                    real = call.files.resolve(path, base)
                    if real not in entered:
                        # With -h a link may lead back to a folder above it.
                        entered.add(real)
                        inner = call.files.listdir(path, base)
                        pending += [join(path, one) for one in reversed(inner)]
                await asyncio.sleep(0)
            except BrokenPipeError:
                raise
            except OSError as error:
                await job.complain(f"{error.filename or path}: {error.strerror}")
    await sink.write(END)
    if packed is not None:
        await packed.end()


def _is_excluded(job: TarJob, kept: str) -> bool:
    """Whether a pattern means a name, or the end of it from one of its folders on."""
    parts = kept.split("/")
    ends = ["/".join(parts[at:]) for at in range(len(parts))]
    return any(covers(pattern, end) for pattern in job.excluded for end in ends)


def _kept_name(path: str) -> str:
    """Return a name without a root or parents in front."""
    parts = path.split("/")
    if ".." in parts:
        parts = parts[len(parts) - parts[::-1].index("..") :]
    return "/".join(parts).lstrip("/")


async def _add(job: TarJob, sink: Sink, path: str, kept: str, found: FileStat, base: str) -> None:
    call = job.call
    if not kept and not found.is_dir:
        return
    link, size, source = "", 0, None
    if found.is_link:
        kind, link = tarfile.SYMTYPE, call.files.readlink(path, base)
    elif found.is_dir:
        kind, kept = tarfile.DIRTYPE, kept + "/" * (not kept.endswith("/"))
        if kept == "/":
            return
    elif found.is_file and (again := job.other_names.get((found.device, found.inode))):
        kind, link = tarfile.LNKTYPE, again
    elif found.is_file:
        if found.links > 1:
            job.other_names[found.device, found.inode] = kept
        kind, size = tarfile.REGTYPE, found.size
        source = call.files.open_read(path, base)
    else:
        await job.complain(f"unknown file type '{found.mode & 0o170000:o}'")
        return
    try:
        users = {} if "numeric-owner" in job.flags else USERS
        entry = Entry(
            kept,
            kind,
            found.mode,
            size,
            found.mtime,
            link,
            users.get(found.uid, ""),
            users.get(found.gid, ""),
        )
        if "v" in job.flags:
            await call.err(kept)
        await sink.write(header(entry, uid=found.uid, gid=found.gid))
        left = size
        while source is not None and left:
            # A file that became shorter meanwhile is filled up: its size has been written.
            data = source.read(min(left, PIECE_BYTES)) or bytes(min(left, PIECE_BYTES))
            await sink.write(data)
            left -= len(data)
        await sink.write(padding(size))
    finally:
        if source is not None:
            source.close()
