"""How `tar` lists an archive and takes files out of it.

Words and refusals are those of toybox's tar.c. Invariant: nothing is written outside the directory
that an archive is taken out into, whatever its names and links say.
"""

from __future__ import annotations

import errno
import os
import tarfile
import time

from virtual_phone.commands.files.archives import (
    BLOCK_BYTES,
    PIECE_BYTES,
    ArchiveError,
    Entry,
    Reader,
    is_header,
)
from virtual_phone.commands.files.compressing import MAGIC, Inflated
from virtual_phone.commands.files.folders import join
from virtual_phone.commands.files.listing import mode_text
from virtual_phone.commands.files.tar_options import TarJob, base_of
from virtual_phone.server.pipes import Source
from virtual_phone.shell.call import Call, FileSink

MOST_PATH = 4096
"""PATH_MAX of the kernel."""
_TYPE_BITS = {
    tarfile.SYMTYPE: 0o120000,
    tarfile.CHRTYPE: 0o020000,
    tarfile.BLKTYPE: 0o060000,
    tarfile.DIRTYPE: 0o040000,
    tarfile.FIFOTYPE: 0o010000,
}


class _Ahead:
    """A source of which the beginning has been looked at."""

    def __init__(self, head: bytes, source: Source) -> None:
        self._head = head
        self._source = source

    async def read(self, limit: int = PIECE_BYTES) -> bytes:
        """Return the beginning, then what follows."""
        if self._head:
            found, self._head = self._head[:limit], self._head[limit:]
            return found
        return await self._source.read(limit)


async def _unpacked(job: TarJob) -> Source:
    """Return the archive's blocks; compression is told from its beginning."""
    source = job.call.open_source(job.archive)
    head = b""
    while len(head) < BLOCK_BYTES and (data := await source.read(BLOCK_BYTES - len(head))):
        head += data
    whole = _Ahead(head, source)
    if "z" in job.flags or (not is_header(head) and head.startswith(MAGIC)):
        return Inflated(whole, "<fd:0>")
    if not is_header(head) and head.strip(b"\0"):
        raise ArchiveError("Not tar")
    return whole


async def take_out(job: TarJob) -> None:
    """Take out what is asked for, or list it; raise ArchiveError, GzipError or OSError."""
    call = job.call
    reader = Reader(await _unpacked(job))
    base = base_of(job)
    folders: list[tuple[str, float]] = []
    while (entry := await reader.next()) is not None:
        if not job.wants(entry.name):
            continue
        if "t" in job.flags:
            await call.line(_row(entry, job.flags))
            continue
        name = _stripped(entry.name, job.strip)
        if not name:
            continue
        if "v" in job.flags:
            await call.line(name)
        if "O" in job.flags:
            while data := await reader.content():
                await call.stdout.write(data)
            continue
        try:
            await _extract(job, reader, entry, name, base, folders)
        except BrokenPipeError:
            raise
        except OSError as error:
            await job.complain(f"{name}: {error.strerror}")
            if error.errno == errno.ENOSPC:
                return
    # Files that are put into a folder change its time, so folders come last.
    for path, mtime in reversed(folders):
        call.files.set_times(path, mtime)
    for pattern in job.names:
        if pattern not in job.seen:
            await job.complain(f"'{pattern}' not in archive")


def _stripped(name: str, count: int) -> str:
    parts = [part for part in name.split("/") if part]
    return name if not count else "/".join(parts[count:])


async def _extract(
    job: TarJob,
    reader: Reader,
    entry: Entry,
    name: str,
    base: str,
    folders: list[tuple[str, float]],
) -> None:
    call = job.call
    if len(name) > MOST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    path = _place(call, name, base, follow_last=entry.is_dir)
    if base != "/" and path != base and not path.startswith(f"{base}/"):
        await job.complain(f"'{name}' {path} not under '{base}'")
        return
    _make_parents(call, path, base)
    if entry.is_dir:
        if not call.files.exists(path):
            call.files.mkdir(path)
        if path != base:
            call.files.chmod(path, entry.mode & 0o777)
            if "m" not in job.flags:
                folders.append((path, entry.mtime))
        return
    if "k" not in job.flags and call.files.exists(path, follow=False):
        call.files.unlink(path)
    elif call.files.exists(path, follow=False):
        await job.complain(f"{name}: File exists")
        return
    if entry.kind == tarfile.SYMTYPE:
        call.files.symlink(entry.link, path)
        return
    if entry.kind == tarfile.LNKTYPE or (entry.is_file and entry.link):
        call.files.link(_place(call, entry.link, base, follow_last=False), path)
        return
    if not entry.is_file:
        await job.complain(f"can't create '{name}': Operation not permitted")
        return
    with call.files.open_write(path) as file:
        sink = FileSink(file, call.files)
        while data := await reader.content():
            await sink.write(data)
    call.files.chmod(path, entry.mode & 0o777)
    if "m" not in job.flags:
        call.files.set_times(path, entry.mtime)


def _place(call: Call, name: str, base: str, *, follow_last: bool) -> str:
    """Return where a name leads, links and `..` of what is there already included."""
    path = "/" if name.startswith("/") else base
    parts = [part for part in name.split("/") if part not in ("", ".")]
    for number, part in enumerate(parts):
        if part == "..":
            path = path.rpartition("/")[0] or "/"
            continue
        step = join(path, part)
        is_last = number == len(parts) - 1
        if (follow_last or not is_last) and call.files.exists(step, follow=False):
            step = call.files.resolve(step)
        path = step
    return path


def _make_parents(call: Call, path: str, base: str) -> None:
    """Make the folders that a path is in."""
    missing: list[str] = []
    above = path.rpartition("/")[0]
    while above and above != base and not call.files.exists(above):
        missing.append(above)
        above = above.rpartition("/")[0]
    for folder in reversed(missing):
        call.files.mkdir(folder)


def _row(entry: Entry, flags: set[str]) -> str:
    link = f" -> {entry.link}" if entry.link else ""
    if "v" not in flags:
        return f"{entry.name}{link}"
    kind = tarfile.DIRTYPE if entry.is_dir else entry.kind
    mode = mode_text(entry.mode | _TYPE_BITS.get(kind, 0o100000))
    seconds = ":%S" if "full-time" in flags else ""
    at = time.strftime(f"%Y-%m-%d %H:%M{seconds}", time.gmtime(entry.mtime))
    size = 0 if entry.link else entry.size
    return f"{mode} {entry.owner or 0}/{entry.group or 0} {size:>9}  {at} {entry.name}{link}"
