"""Commands on files and directories: ls, stat, rm, mkdir, cp, mv, touch, chmod, find, df, dd …"""

import asyncio
import errno
import re
import stat as modes
import time

from virtual_phone.commands.options import options
from virtual_phone.shell.call import Call, CommandError, FileSink, command
from virtual_phone.userland.file_stat import GID_SDCARD, UID_ROOT, UID_SHELL, FileStat

USERS = {UID_ROOT: "root", 1000: "system", UID_SHELL: "shell", GID_SDCARD: "sdcard_rw"}
MAX_WALK = 100_000


def join(directory: str, name: str) -> str:
    """Return a path below a directory."""
    return f"{directory.rstrip('/')}/{name}" if directory else name


def _each(call: Call, paths: list[str]) -> list[str]:
    if not paths:
        raise CommandError(f'{call.name}: Needs 1 argument (see "{call.name} --help")')
    return paths


@command("rm")
async def rm(call: Call) -> int:
    """Remove files, with -r directories."""
    found = options(call, "fiRrv")
    status = 0
    if not found.operands and "f" in found:
        return 0
    for path in _each(call, found.operands):
        try:
            if path.rstrip("/").rpartition("/")[2] in (".", "..") or path.strip("/") == "":
                raise OSError(errno.EINVAL, "Invalid argument")
            entry = call.files.stat(path.rstrip("/"), call.cwd, follow=False)
            if entry.is_dir and not found.any("rR"):
                raise OSError(errno.EISDIR, "Is a directory")
            await _remove(call, path.rstrip("/"), entry)
        except OSError as error:
            if error.errno == errno.ENOENT and "f" in found:
                continue
            status = await call.fail(f"{error.filename or path}: {error.strerror}")
    return status


async def _remove(call: Call, path: str, entry: FileStat) -> None:
    if not entry.is_dir:
        call.files.unlink(path, call.cwd)
        return
    for directory, names in reversed(walk(call, path)):
        for name in names:
            inner = join(directory, name)
            if not call.files.exists(inner, call.cwd, follow=False):
                continue  # a directory that went before
            call.files.unlink(inner, call.cwd)
        call.files.rmdir(directory, call.cwd)
        await asyncio.sleep(0)


def walk(call: Call, path: str) -> list[tuple[str, list[str]]]:
    """Return every directory below a path, parents first, with its names; links not followed."""
    out: list[tuple[str, list[str]]] = []
    pending = [path]
    while pending:
        here = pending.pop()
        names = call.files.listdir(here, call.cwd)
        out.append((here, names))
        if len(out) > MAX_WALK:
            raise CommandError(f"{call.name}: too many directories")
        for name in reversed(names):
            inner = join(here, name)
            if call.files.stat(inner, call.cwd, follow=False).is_dir:
                pending.append(inner)
    return out


@command("rmdir")
async def rmdir(call: Call) -> int:
    """Remove empty directories."""
    found = options(call, "p")
    status = 0
    for path in _each(call, found.operands):
        try:
            call.files.rmdir(path.rstrip("/"), call.cwd)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
    return status


@command("unlink")
async def unlink(call: Call) -> int:
    """Remove one file."""
    for path in _each(call, call.args[:1]):
        call.files.unlink(path, call.cwd)
    return 0


@command("mkdir")
async def mkdir(call: Call) -> int:
    """Make directories; -p with their parents."""
    found = options(call, "pm:v")
    said = found.text("m", "777")
    mode = int(said, 8) & 0o7777 if re.fullmatch("[0-7]{1,6}", said) else 0o777
    status = 0
    for path in _each(call, found.operands):
        try:
            if "p" not in found:
                call.files.mkdir(path, call.cwd, mode=mode)
                continue
            at = "/" if path.startswith("/") else ""
            for part in path.strip("/").split("/"):
                at = join(at, part) if at else part
                if not call.files.exists(at, call.cwd):
                    call.files.mkdir(at, call.cwd, mode=mode)
                elif not call.files.stat(at, call.cwd).is_dir:
                    raise OSError(errno.EEXIST, "File exists")
        except OSError as error:
            status = await call.fail(f"'{path}': {error.strerror}")
    return status


@command("touch")
async def touch(call: Call) -> int:
    """Make files or set their times."""
    found = options(call, "acd:mr:t:h")
    at = call.userland.now()
    if "r" in found:
        at = call.files.stat(found.text("r"), call.cwd).mtime
    if "t" in found or "d" in found:
        at = _parse_time(call, found.text("t") or found.text("d"))
    status = 0
    for path in _each(call, found.operands):
        try:
            if not call.files.exists(path, call.cwd):
                if "c" in found:
                    continue
                call.files.open_write(path, call.cwd, truncate=False).close()
            call.files.set_times(path, at, call.cwd)
        except OSError as error:
            status = await call.fail(f"'{path}': {error.strerror}")
    return status


def _parse_time(call: Call, text: str) -> float:
    if re.fullmatch(r"@\d+", text):
        return float(text[1:])
    for template in (
        "%Y%m%d%H%M.%S",
        "%Y%m%d%H%M",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%d",
    ):
        try:
            import calendar

            return float(calendar.timegm(time.strptime(text, template)))
        except ValueError:
            continue
    raise CommandError(f"{call.name}: bad time '{text}'")


@command("cp", "mv")
async def cp(call: Call) -> int:
    """Copy (cp) or move (mv) files; -r with what is below."""
    found = options(call, "adfilnPprRtTuvs")
    *sources, target = found.operands or [""]
    if not sources:
        raise CommandError(f'{call.name}: Needs 2 arguments (see "{call.name} --help")')
    into = False
    if call.files.exists(target, call.cwd):
        into = call.files.stat(target, call.cwd).is_dir
    elif len(sources) > 1:
        raise CommandError(f"{call.name}: '{target}': No such file or directory")
    status = 0
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2]
        end = join(target, name) if into else target
        try:
            if call.name == "cp" and not call.is_stream(end) and _are_one(call, source, end):
                raise CommandError(f"{call.name}: '{source}' and '{end}' are the same file")
            if call.name == "mv":
                await _move(call, source, end)
            else:
                await _copy(call, source, end, found.any("rRa"), found.any("pa"))
        except OSError as error:
            status = await call.fail(f"bad '{error.filename or source}': {error.strerror}")
    return status


def _are_one(call: Call, source: str, target: str) -> bool:
    return call.files.resolve(source, call.cwd) == call.files.resolve(target, call.cwd)


async def _move(call: Call, source: str, target: str) -> None:
    try:
        call.files.rename(source, target, call.cwd)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        await _copy(call, source, target, True, True)
        await _remove(call, source, call.files.stat(source, call.cwd, follow=False))


async def _copy(call: Call, source: str, target: str, deep: bool, keep: bool) -> None:
    if call.is_stream(source) or call.is_stream(target):
        await _copy_stream(call, source, target)
        return
    entry = call.files.stat(source, call.cwd)
    if not entry.is_dir:
        with (
            call.files.open_read(source, call.cwd) as reading,
            call.files.open_write(target, call.cwd, mode=entry.mode & 0o777) as writing,
        ):
            sink = FileSink(writing, call.files)
            while data := reading.read(1024 * 1024):
                await sink.write(data)
    elif not deep:
        raise OSError(errno.EISDIR, "Is a directory", source)
    else:
        start, end = call.files.resolve(source, call.cwd), call.files.resolve(target, call.cwd)
        if end.startswith(start.rstrip("/") + "/"):
            raise OSError(errno.EINVAL, "Invalid argument", target)
        if not call.files.exists(target, call.cwd):
            call.files.mkdir(target, call.cwd)
        for name in call.files.listdir(source, call.cwd):
            await _copy(call, join(source, name), join(target, name), deep, keep)
    if keep:
        call.files.set_times(target, entry.mtime, call.cwd)


async def _copy_stream(call: Call, source: str, target: str) -> None:
    """Copy from or to a device, or one of the command's own streams, as `cat source > target`."""
    if not call.is_stream(source) and call.files.stat(source, call.cwd).is_dir:
        raise OSError(errno.EISDIR, "Is a directory", source)
    reading = call.open_source(source)
    writing = call.open_sink(target)
    while data := await reading.read(256 * 1024):
        await writing.write(data)
        await asyncio.sleep(0)


@command("ln")
async def ln(call: Call) -> int:
    """Make links."""
    found = options(call, "sfnvt:rT")
    if not found.operands:
        raise CommandError('ln: Needs 1 argument (see "ln --help")')
    source = found.operands[0]
    target = found.operands[1] if len(found.operands) > 1 else source.rpartition("/")[2]
    if call.files.exists(target, call.cwd) and call.files.stat(target, call.cwd).is_dir:
        target = join(target, source.rpartition("/")[2])
    if "f" in found and call.files.exists(target, call.cwd, follow=False):
        call.files.unlink(target, call.cwd)
    try:
        if "s" in found:
            call.files.symlink(source, target, call.cwd)
        else:
            call.files.link(source, target, call.cwd)
    except OSError as error:
        raise CommandError(
            f"ln: cannot create {'symbolic' if 's' in found else 'hard'} link from '{source}' to "
            f"'{target}': {error.strerror}"
        ) from error
    return 0


@command("chmod")
async def chmod(call: Call) -> int:
    """Set permission bits, octal or symbolic."""
    found = (
        options(call, "RvfT:", leading=True)
        if not call.args[:1] or not re.match(r"-[rwxX]", call.args[0])
        else None
    )
    words = found.operands if found else call.args
    if len(words) < 2:
        raise CommandError('chmod: Needs 2 arguments (see "chmod --help")')
    status = 0
    for path in words[1:]:
        try:
            paths = [path]
            if found is not None and "R" in found and call.files.stat(path, call.cwd).is_dir:
                paths = [
                    one
                    for here, names in walk(call, path)
                    for one in (here, *(join(here, name) for name in names))
                ]
            for one in dict.fromkeys(paths):
                mode = call.files.stat(one, call.cwd).mode
                call.files.chmod(one, _new_mode(call, words[0], mode), call.cwd)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
    return status


def _new_mode(call: Call, text: str, mode: int) -> int:
    if re.fullmatch(r"[0-7]{1,5}", text):
        return int(text, 8) & 0o7777
    bits = mode & 0o7777
    for clause in text.split(","):
        match = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", clause)
        if match is None:
            raise CommandError(f"{call.name}: bad mode '{text}'")
        who, operator, what = match.groups()
        mask = 0
        for letter in what:
            one = {"r": 0o444, "w": 0o222, "x": 0o111, "X": 0o111}.get(letter, 0)
            if letter == "X" and not (modes.S_ISDIR(mode) or bits & 0o111):
                one = 0
            mask |= one
        allowed = 0
        for letter in who or "a":
            allowed |= {"u": 0o700, "g": 0o070, "o": 0o007, "a": 0o777}[letter]
        if operator == "+":
            bits |= mask & allowed
        elif operator == "-":
            bits &= ~(mask & allowed)
        else:
            bits = (bits & ~allowed) | (mask & allowed)
    return bits


@command("chown", "chgrp")
async def chown(call: Call) -> int:
    """Refuse: the shell user owns nothing it could give away."""
    found = options(call, "RhHLPvf")
    status = 0
    for path in found.operands[1:]:
        entry = call.files.stat(path, call.cwd)
        wanted = found.operands[0].partition(":")[0]
        if wanted not in (str(entry.uid), USERS.get(entry.uid, "")):
            status = await call.fail(f"'{path}' to '{found.operands[0]}': Operation not permitted")
    return status


@command("readlink")
async def readlink(call: Call) -> int:
    """Show where a link leads; -f the whole way."""
    found = options(call, "emnfqz")
    status = 0
    for path in _each(call, found.operands):
        try:
            if found.any("fem"):
                text = call.files.resolve(path, call.cwd)
            else:
                text = call.files.readlink(path, call.cwd)
        except OSError:
            status = 1
            continue
        await call.out(text + ("" if "n" in found else "\n"))
    return status


@command("realpath")
async def realpath(call: Call) -> int:
    """Show the path without links."""
    status = 0
    for path in _each(call, call.args):
        try:
            call.files.stat(path, call.cwd)
            await call.line(call.files.resolve(path, call.cwd))
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
    return status
