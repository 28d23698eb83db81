"""Commands that show files: ls, stat, df, du."""

import re
import stat as modes
import time

from virtual_phone.commands.files.folders import USERS, join, walk
from virtual_phone.commands.options import Options, options
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.userland.file_stat import FileStat


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


async def _ls_rows(
    call: Call, rows: list[tuple[str, FileStat]], directory: str, long: bool, found: Options
) -> None:
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


def _user(number: int, found: Options) -> str:
    return str(number) if "n" in found else USERS.get(number, str(number))


def _size(size: int, found: Options) -> str:
    return human(size) if "h" in found else str(size)


def human(size: int) -> str:
    """Return a size as `1.4M`."""
    number = float(size)
    for unit in ("", "K", "M", "G", "T"):
        if number < 1000 or unit == "T":
            return f"{number:.0f}{unit}" if unit == "" or number >= 10 else f"{number:.1f}{unit}"
        number /= 1024
    return str(size)


_KINDS = {
    modes.S_IFREG: "regular file",
    modes.S_IFDIR: "directory",
    modes.S_IFLNK: "symbolic link",
    modes.S_IFCHR: "character device",
    modes.S_IFIFO: "fifo",
    modes.S_IFSOCK: "socket",
}


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
                ("Access", entry.atime),
                ("Modify", entry.mtime),
                ("Change", entry.ctime),
            )
        )
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
        "a": f"{entry.mode & 0o7777:o}",
        "A": mode_text(entry.mode),
        "n": path,
        "N": f"`{path}'",
        "s": str(entry.size),
        "b": str((entry.size + 511) // 512),
        "B": "512",
        "F": _KINDS.get(modes.S_IFMT(entry.mode), "unknown"),
        "f": f"{entry.mode:x}",
        "u": str(entry.uid),
        "U": USERS.get(entry.uid, str(entry.uid)),
        "g": str(entry.gid),
        "G": USERS.get(entry.gid, str(entry.gid)),
        "h": str(entry.links),
        "i": str(entry.inode),
        "X": str(int(entry.atime)),
        "Y": str(int(entry.mtime)),
        "Z": str(int(entry.ctime)),
        "x": _stamp(entry.atime),
        "y": _stamp(entry.mtime),
        "z": _stamp(entry.ctime),
        "d": str(entry.device),
        "%": "%",
        "o": "4096",
    }
    return re.sub(r"%(.)", lambda match: values.get(match.group(1), match.group()), template)


@command("df")
async def df(call: Call) -> int:
    """Show the space of file systems."""
    found = options(call, "HPkhit:a")
    rows = [
        ("/dev/block/dm-0", "/"),
        ("/dev/block/dm-5", "/data"),
        ("/dev/fuse", "/storage/emulated"),
    ]
    if found.operands:
        rows = []
        for path in found.operands:
            at = call.files.resolve(path, call.cwd)
            call.files.stat(at)
            if at.startswith("/storage"):
                rows.append(("/dev/fuse", "/storage/emulated"))
            else:
                on_data = at.startswith("/data")
                rows.append(
                    (
                        "/dev/block/dm-5" if on_data else "/dev/block/dm-0",
                        "/data" if on_data else "/",
                    )
                )
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
        directories = walk(call, path) if entry.is_dir else []
        sizes: dict[str, int] = {}
        for here, names in reversed(directories):
            total = 4096
            for name in names:
                inner = join(here, name)
                total += sizes.get(inner, 0) or call.files.stat(inner, call.cwd, follow=False).size
            sizes[here] = total
        rows = (
            list(sizes.items())
            if sizes and "s" not in found
            else [(path, sizes.get(path, entry.size))]
        )
        for here, size in rows:
            shown = human(size) if "h" in found else str((size + 1023) // 1024)
            await call.line(f"{shown}\t{here}")
    return 0
