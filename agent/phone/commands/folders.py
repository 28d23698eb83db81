"""Commands on files and directories: ls, stat, rm, mkdir, cp, mv, touch, chmod, find, df, dd …"""

from __future__ import annotations

import asyncio
import errno
import re
import stat as modes
import time

from agent.phone.commands.options import options, whole_number
from agent.phone.shell.call import Call, CommandError, FileSink, command
from agent.phone.shell.patterns import matches
from agent.phone.userland.files import GID_SDCARD, UID_ROOT, UID_SHELL, FileStat

USERS = {UID_ROOT: "root", 1000: "system", UID_SHELL: "shell", GID_SDCARD: "sdcard_rw"}
MAX_WALK = 100_000


def join(directory: str, name: str) -> str:
    """Return a path below a directory."""
    return f"{directory.rstrip('/')}/{name}" if directory else name


def mode_text(mode: int) -> str:
    """Return the ten letters of `ls -l`."""
    return modes.filemode(mode)


def _time_text(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(max(0, at)))


@command("ls")
async def ls(call: Call) -> int:
    """List directories."""
    found = options(call, "AaCFHLNRSZcdfghiklmnopqrstux1", long=("color=", "color"))
    status = 0
    plain: list[tuple[str, FileStat]] = []
    directories: list[str] = []
    for path in found.operands or ["."]:
        try:
            entry = call.files.stat(path, call.cwd, follow=False)
            if entry.is_link and "d" not in found and "l" not in found:
                entry = call.files.stat(path, call.cwd)
            is_directory = entry.is_dir or (
                entry.is_link and path.endswith("/") and call.files.stat(path, call.cwd).is_dir
            )
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
            continue
        if is_directory and "d" not in found:
            directories.append(path)
        else:
            plain.append((path, entry))
    await _ls_rows(call, plain, "", found.any("lno"), found)
    headed = len(found.operands) > 1 or "R" in found
    pending = list(directories)
    while pending:
        path = pending.pop(0)
        try:
            names = call.files.listdir(path, call.cwd)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
            continue
        if headed:
            await call.line(f"{path}:")
        if "a" in found:
            names = [".", "..", *names]
        elif "A" not in found:
            names = [name for name in names if not name.startswith(".")]
        rows = [
            (name, call.files.stat(join(path, name), call.cwd, follow="L" in found))
            for name in names
            if call.files.exists(join(path, name), call.cwd, follow="L" in found)
        ]
        if found.any("lnogs"):
            await call.line(f"total {sum((row.size + 511) // 512 for _, row in rows) // 2}")
        await _ls_rows(call, rows, path, found.any("lno"), found)
        if "R" in found:
            inner = [
                join(path, name) for name, row in rows if row.is_dir and name not in (".", "..")
            ]
            pending = inner + pending
        if headed and pending:
            await call.line()
    return status


async def _ls_rows(call, rows, directory, long, found) -> None:  # type: ignore[no-untyped-def]
    if "t" in found:
        rows = sorted(rows, key=lambda row: -row[1].mtime)
    elif "S" in found:
        rows = sorted(rows, key=lambda row: -row[1].size)
    if "r" in found:
        rows = rows[::-1]
    widths = (
        max((len(str(row.links)) for _, row in rows), default=1),
        max((len(_user(row.uid, found)) for _, row in rows), default=1),
        max((len(_user(row.gid, found)) for _, row in rows), default=1),
        max((len(_size(row.size, found)) for _, row in rows), default=1),
    )
    for name, row in rows:
        shown = name
        if "i" in found:
            shown = f"{row.inode} {shown}"
        if "p" in found or "F" in found:
            shown += "/" if row.is_dir else ("@" if row.is_link and "F" in found else "")
        if not long:
            await call.line(shown)
            continue
        if row.is_link:
            target = call.files.readlink(join(directory, name) if directory else name, call.cwd)
            shown += f" -> {target}"
        await call.line(
            f"{mode_text(row.mode)} {row.links:>{widths[0]}} {_user(row.uid, found):<{widths[1]}} "
            f"{_user(row.gid, found):<{widths[2]}} {_size(row.size, found):>{widths[3]}} "
            f"{_time_text(row.mtime)} {shown}"
        )


def _user(number: int, found: object) -> str:
    return str(number) if "n" in found else USERS.get(number, str(number))  # type: ignore[operator]


def _size(size: int, found: object) -> str:
    return human(size) if "h" in found else str(size)  # type: ignore[operator]


def human(size: int) -> str:
    """Return a size as `1.4M`."""
    number = float(size)
    for unit in ("", "K", "M", "G", "T"):
        if number < 1000 or unit == "T":
            return f"{number:.0f}{unit}" if unit == "" or number >= 10 else f"{number:.1f}{unit}"
        number /= 1024
    return str(size)


_KINDS = {
    modes.S_IFREG: "regular file", modes.S_IFDIR: "directory", modes.S_IFLNK: "symbolic link",
    modes.S_IFCHR: "character device", modes.S_IFIFO: "fifo", modes.S_IFSOCK: "socket",
}  # fmt: skip


@command("stat")
async def stat(call: Call) -> int:
    """Describe files; -c FORMAT, -t."""
    found = options(call, "c:fLt")
    if not found.operands:
        raise CommandError('stat: Needs 1 argument (see "stat --help")')
    status = 0
    for path in found.operands:
        try:
            entry = call.files.stat(path, call.cwd, follow="L" in found)
        except OSError as error:
            await call.err(f"stat: '{path}': {error.strerror}")
            status = 1
            continue
        if "c" in found:
            await call.line(_stat_format(found.text("c"), path, entry))
            continue
        kind = _KINDS.get(modes.S_IFMT(entry.mode), "unknown")
        times = "".join(
            f"\n{label}: {_stamp(at)}"
            for label, at in (
                ("Access", entry.atime), ("Modify", entry.mtime), ("Change", entry.ctime),
            )
        )  # fmt: skip
        await call.line(
            f"  File: {path}\n"
            f"  Size: {entry.size}\t Blocks: {(entry.size + 511) // 512}\t IO Blocks: 512\t{kind}\n"
            f"Device: {entry.device:x}h/{entry.device}d\t Inode: {entry.inode}\t "
            f"Links: {entry.links}\n"
            f"Access: (0{entry.mode & 0o7777:o}/{mode_text(entry.mode)})\t"
            f"Uid: ({entry.uid:>5}/{USERS.get(entry.uid, entry.uid):>8})\t"
            f"Gid: ({entry.gid:>5}/{USERS.get(entry.gid, entry.gid):>8}){times}"
        )
    return status


def _stamp(at: float) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(max(0, at)))
    return f"{stamp}.{int(at % 1 * 1e9):09d} +0000"


def _stat_format(template: str, path: str, entry: FileStat) -> str:
    values = {
        "a": f"{entry.mode & 0o7777:o}", "A": mode_text(entry.mode), "n": path, "N": f"`{path}'",
        "s": str(entry.size), "b": str((entry.size + 511) // 512), "B": "512",
        "F": _KINDS.get(modes.S_IFMT(entry.mode), "unknown"), "f": f"{entry.mode:x}",
        "u": str(entry.uid), "U": USERS.get(entry.uid, str(entry.uid)), "g": str(entry.gid),
        "G": USERS.get(entry.gid, str(entry.gid)), "h": str(entry.links), "i": str(entry.inode),
        "X": str(int(entry.atime)), "Y": str(int(entry.mtime)), "Z": str(int(entry.ctime)),
        "x": _stamp(entry.atime), "y": _stamp(entry.mtime), "z": _stamp(entry.ctime),
        "d": str(entry.device), "%": "%", "o": "4096",
    }  # fmt: skip
    return re.sub(r"%(.)", lambda match: values.get(match.group(1), match.group()), template)


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
    for directory, names in reversed(_walk(call, path)):
        for name in names:
            inner = join(directory, name)
            if not call.files.stat(inner, call.cwd, follow=False).is_dir:
                call.files.unlink(inner, call.cwd)
        call.files.rmdir(directory, call.cwd)
        await asyncio.sleep(0)


def _walk(call: Call, path: str) -> list[tuple[str, list[str]]]:
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
    mode = int(found.text("m", "777"), 8) if re.fullmatch("[0-7]*", found.text("m")) else 0o777
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
    for template in ("%Y%m%d%H%M.%S", "%Y%m%d%H%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                     "%Y-%m-%d"):  # fmt: skip
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
            if call.files.resolve(source, call.cwd) == call.files.resolve(end, call.cwd):
                raise CommandError(f"{call.name}: '{source}' and '{end}' are the same file")
            if call.name == "mv":
                await _move(call, source, end)
            else:
                await _copy(call, source, end, found.any("rRa"), found.any("pa"))
        except OSError as error:
            status = await call.fail(f"bad '{error.filename or source}': {error.strerror}")
    return status


async def _move(call: Call, source: str, target: str) -> None:
    try:
        call.files.rename(source, target, call.cwd)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        await _copy(call, source, target, True, True)
        await _remove(call, source, call.files.stat(source, call.cwd, follow=False))


async def _copy(call: Call, source: str, target: str, deep: bool, keep: bool) -> None:
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
    found = options(call, "RvfT:", leading=True) if not call.args[:1] or not re.match(
        r"-[rwxX]", call.args[0]
    ) else None  # fmt: skip
    words = found.operands if found else call.args
    if len(words) < 2:
        raise CommandError('chmod: Needs 2 arguments (see "chmod --help")')
    status = 0
    for path in words[1:]:
        try:
            paths = [path]
            if found is not None and "R" in found and call.files.stat(path, call.cwd).is_dir:
                paths = [
                    one for here, names in _walk(call, path)
                    for one in (here, *(join(here, name) for name in names))
                ]  # fmt: skip
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


@command("chown", "chgrp", "chcon", "restorecon")
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


@command("mktemp")
async def mktemp(call: Call) -> int:
    """Make a file or directory with a new name."""
    found = options(call, "dp:qtu")
    template = found.operands[0] if found.operands else "tmp.XXXXXXXXXX"
    if not template.endswith("XXXXXX"):
        raise CommandError("mktemp: need XXXXXX in template")
    stem = template.rstrip("X")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    name = stem + "".join(
        call.userland.random.choice(letters) for _ in range(len(template) - len(stem))
    )
    if "/" not in name:
        name = join(found.text("p") or call.environment.get("TMPDIR", "/data/local/tmp"), name)
    if "d" in found:
        call.files.mkdir(name, call.cwd, mode=0o700)
    elif "u" not in found:
        call.files.open_write(name, call.cwd, mode=0o600).close()
    await call.line(name)
    return 0


@command("df")
async def df(call: Call) -> int:
    """Show the space of file systems."""
    found = options(call, "HPkhit:a")
    rows = [("/dev/block/dm-0", "/"), ("/dev/block/dm-5", "/data"),
            ("/dev/fuse", "/storage/emulated")]  # fmt: skip
    if found.operands:
        rows = []
        for path in found.operands:
            at = call.files.resolve(path, call.cwd)
            call.files.stat(at)
            if at.startswith("/storage"):
                rows.append(("/dev/fuse", "/storage/emulated"))
            else:
                on_data = at.startswith("/data")
                rows.append(("/dev/block/dm-5" if on_data else "/dev/block/dm-0",
                             "/data" if on_data else "/"))  # fmt: skip
    scaled = "h" in found or "H" in found
    head = "Size  Used Avail" if scaled else "1K-blocks     Used Available"
    await call.line(f"{'Filesystem':<15} {head:>30} Use% Mounted on")
    for device, mount in rows:
        place = "/" if mount == "/" else "/storage/emulated/0"
        total, free = call.files.usage(place)
        used = total - free
        if scaled:
            sizes = f"{human(total):>4} {human(used):>5} {human(free):>5}"
        else:
            sizes = f"{total // 1024:>9} {used // 1024:>8} {free // 1024:>9}"
        await call.line(f"{device:<15} {sizes:>30} {used * 100 // total:>3}% {mount}")
    return 0


@command("du")
async def du(call: Call) -> int:
    """Add up sizes below directories."""
    found = options(call, "achkmsd:xHL")
    for path in found.operands or ["."]:
        entry = call.files.stat(path, call.cwd, follow=False)
        directories = _walk(call, path) if entry.is_dir else []
        sizes: dict[str, int] = {}
        for here, names in reversed(directories):
            total = 4096
            for name in names:
                inner = join(here, name)
                total += sizes.get(inner, 0) or call.files.stat(inner, call.cwd, follow=False).size
            sizes[here] = total
        rows = list(sizes.items()) if sizes and "s" not in found else [
            (path, sizes.get(path, entry.size))
        ]  # fmt: skip
        for here, size in rows:
            shown = human(size) if "h" in found else str((size + 1023) // 1024)
            await call.line(f"{shown}\t{here}")
    return 0


@command("find")
async def find(call: Call) -> int:
    """Find files by name, type, depth and size; -delete, -exec, -print0."""
    words = list(call.args)
    starts: list[str] = []
    while words and not words[0].startswith(("-", "!", "(")):
        starts.append(words.pop(0))
    tests: list[tuple[str, str]] = []
    execute: list[str] = []
    depth = (0, 2**31)
    while words:
        word = words.pop(0)
        if word == "-exec":
            while words and words[0] not in (";", "+"):
                execute.append(words.pop(0))
            words = words[1:]
        elif word in ("-name", "-iname", "-type", "-path", "-size", "-maxdepth", "-mindepth"):
            if not words:
                raise CommandError(f"find: '{word}' needs 1 arg")
            value = words.pop(0)
            if word == "-maxdepth":
                depth = (depth[0], whole_number(call, value))
            elif word == "-mindepth":
                depth = (whole_number(call, value), depth[1])
            else:
                tests.append((word, value))
        elif word in ("-print", "-print0", "-delete", "-o", "-a", "!"):
            tests.append((word, ""))
        else:
            raise CommandError(f"find: bad arg '{word}'")
    status = 0
    for start in starts or ["."]:
        try:
            status |= await _find_below(call, start, tests, execute, depth)
        except OSError as error:
            status = await call.fail(f"'{start}': {error.strerror}")
    return status


async def _find_below(
    call: Call,
    start: str,
    tests: list[tuple[str, str]],
    execute: list[str],
    depth: tuple[int, int],
) -> int:
    status = 0
    pending = [(start, 0)]
    hits: list[str] = []
    while pending:
        path, level = pending.pop()
        entry = call.files.stat(path, call.cwd, follow=False)
        if level >= depth[0] and _found(path, entry, tests):
            hits.append(path)
        if entry.is_dir and level < depth[1]:
            try:
                names = call.files.listdir(path, call.cwd)
            except OSError as error:
                status = await call.fail(f"{path}: {error.strerror}")
                continue
            pending.extend((join(path, name), level + 1) for name in reversed(names))
        await asyncio.sleep(0)
    names_of_tests = [name for name, _ in tests]
    streams = call.streams
    for path in reversed(hits) if "-delete" in names_of_tests else hits:
        if "-delete" in names_of_tests:
            if call.files.stat(path, call.cwd, follow=False).is_dir:
                call.files.rmdir(path, call.cwd)
            else:
                call.files.unlink(path, call.cwd)
        elif execute:
            argv = [part.replace("{}", path) for part in execute]
            await call.shell.run_argv(argv, streams, functions=False)
        else:
            await call.out(path + ("\0" if "-print0" in names_of_tests else "\n"))
    return status


def _found(path: str, entry: FileStat, tests: list[tuple[str, str]]) -> bool:
    groups: list[bool] = []
    result, negated = True, False
    for name, value in tests:
        if name == "!":
            negated = True
            continue
        if name == "-o":
            groups.append(result)
            result = True
            continue
        base = path.rstrip("/").rpartition("/")[2] or path
        match name:
            case "-name":
                hit = matches([(value, False)], base)
            case "-iname":
                hit = matches([(value.lower(), False)], base.lower())
            case "-path":
                hit = matches([(value, False)], path)
            case "-type":
                kind = {"f": entry.is_file, "d": entry.is_dir, "l": entry.is_link}
                hit = kind.get(value, False)
            case "-size":
                hit = _size_matches(value, entry.size)
            case _:
                hit = True
        result = result and (hit != negated)
        negated = False
    return result or any(groups)


def _size_matches(text: str, size: int) -> bool:
    match = re.fullmatch(r"([-+]?)(\d{1,12})([ckMG]?)", text)
    if match is None:
        raise CommandError(f"find: bad size '{text}'")
    sign, digits, unit = match.groups()
    scale = {"c": 1, "k": 1024, "M": 1024**2, "G": 1024**3}.get(unit, 512)
    units = -(-size // scale)
    wanted = int(digits)
    return units > wanted if sign == "+" else units < wanted if sign == "-" else units == wanted


@command("cmp", "diff")
async def cmp(call: Call) -> int:
    """Compare two files."""
    found = options(call, "slquN")
    if len(found.operands) < 2:
        raise CommandError(f'{call.name}: Needs 2 arguments (see "{call.name} --help")')
    one, two = (call.open_source(path) for path in found.operands[:2])
    at, line = 0, 1
    while True:
        left, right = await one.read(65536), await two.read(65536)
        if left != right:
            short = min(len(left), len(right))
            index = next((i for i in range(short) if left[i] != right[i]), short)
            line += left[:index].count(b"\n")
            if call.name == "diff":
                await call.line(f"Files {found.operands[0]} and {found.operands[1]} differ")
            elif "s" not in found and "q" not in found:
                await call.line(
                    f"{found.operands[0]} {found.operands[1]} differ: char {at + index + 1}, "
                    f"line {line}"
                )
            return 1
        if not left:
            return 0
        at += len(left)
        line += left.count(b"\n")


@command("dd")
async def dd(call: Call) -> int:
    """Copy blocks."""
    values = dict(word.partition("=")[::2] for word in call.args)
    unknown = set(values) - {"if", "of", "bs", "count", "skip", "seek", "conv", "status", "ibs",
                             "obs", "iflag", "oflag"}  # fmt: skip
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


@command("truncate")
async def truncate(call: Call) -> int:
    """Set the size of files."""
    found = options(call, "s:c")
    size = found.number(call, "s", 0)
    for path in _each(call, found.operands):
        call.files.check_room(size)
        with call.files.open_write(path, call.cwd, truncate=False) as file:
            file.truncate(size)
    return 0


@command("sync", "fsync", "mount", "umount", "getenforce", inline=True)
async def sync(call: Call) -> int:
    """Answer commands that have nothing to do here."""
    if call.name == "getenforce":
        await call.line("Enforcing")
    elif call.name == "mount" and not call.args:
        await call.line("/dev/block/dm-0 on / type ext4 (ro,seclabel,relatime)")
        await call.line("/dev/block/dm-5 on /data type f2fs (rw,seclabel,nosuid,nodev,noatime)")
        await call.line("/dev/fuse on /storage/emulated type fuse (rw,nosuid,nodev,noexec,noatime)")
    elif call.name in ("mount", "umount") and call.args:
        raise CommandError(f"{call.name}: '{call.args[-1]}': Operation not permitted")
    return 0
