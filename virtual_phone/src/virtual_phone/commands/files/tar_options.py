"""What a call of `tar` is asked to do: its flags, names and patterns, as toybox reads them.

Not the archive. Invariant: what says which files are meant is bounded, however it was given.
"""

from __future__ import annotations

import fnmatch
import getopt
from dataclasses import dataclass, field

from virtual_phone.commands.files.folders import join
from virtual_phone.numbers import is_number
from virtual_phone.server.pipes import read_all
from virtual_phone.shell.call import Call, CommandError, decode

LETTERS = "opkchxtvJjzSOmX:T:C:f:"
LONG = (
    "create",
    "extract",
    "list",
    "verbose",
    "gzip",
    "to-stdout",
    "touch",
    "file=",
    "directory=",
    "exclude=",
    "exclude-from=",
    "files-from=",
    "full-time",
    "no-recursion",
    "numeric-owner",
    "overwrite",
    "dereference",
    "keep-old",
    "no-same-owner",
    "no-same-permissions",
    "same-permissions",
    "strip-components=",
    "xz",
    "bzip2",
)
_SHORT = {
    "create": "c",
    "extract": "x",
    "list": "t",
    "verbose": "v",
    "gzip": "z",
    "to-stdout": "O",
    "touch": "m",
    "file": "f",
    "directory": "C",
    "dereference": "h",
    "keep-old": "k",
    "xz": "J",
    "bzip2": "j",
}
MOST_LIST_BYTES = 1024 * 1024
MOST_DEPTH = 100


@dataclass(slots=True)
class TarJob:
    """What one tar is to do: its flags, names and patterns."""

    call: Call
    flags: set[str] = field(default_factory=set)
    archive: str = "-"
    folder: str = ""
    names: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    strip: int = 0
    status: int = 0
    seen: set[str] = field(default_factory=set)
    """The names that were found in an archive."""
    other_names: dict[tuple[int, int], str] = field(default_factory=dict)
    """What files with several names are called in the archive, by device and inode."""

    async def complain(self, text: str) -> None:
        """Write a complaint; the status is 1 from now on."""
        self.status = await self.call.fail(text)

    def wants(self, name: str) -> bool:
        """Whether an entry of an archive is named, and not excluded."""
        if any(covers(pattern, name) for pattern in self.excluded):
            return False
        named = [pattern for pattern in self.names if covers(pattern, name)]
        self.seen.update(named)
        return bool(named) or not self.names


def covers(pattern: str, name: str) -> bool:
    """Whether a pattern means a name, or a folder that the name is in."""
    parts = name.rstrip("/").split("/")
    if pattern.count("*") > MOST_DEPTH or len(parts) > 4 * MOST_DEPTH:
        return False
    return any(
        fnmatch.fnmatchcase("/".join(parts[:count]), pattern) for count in range(1, len(parts) + 1)
    )


async def tar_job(call: Call) -> TarJob:
    """Return what the words of a call ask for; raise CommandError, or OSError for a list."""
    words = list(call.args)
    if words and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    try:
        pairs, operands = getopt.gnu_getopt(words, LETTERS, list(LONG))
    except getopt.GetoptError as error:
        raise CommandError(f"tar: Unknown option '{error.opt}' (see \"tar --help\")") from error
    job = TarJob(call)
    for name, value in pairs:
        plain = name.lstrip("-")
        match _SHORT.get(plain, plain):
            case "f":
                job.archive = value
            case "C":
                job.folder = join(job.folder, value) if job.folder else value
            case "exclude":
                job.excluded.append(value.rstrip("/"))
            case "X" | "exclude-from":
                job.excluded += await _listed(call, value)
            case "T" | "files-from":
                job.names += await _listed(call, value)
            case "strip-components":
                if not is_number(value):
                    raise CommandError(f"tar: not integer: {value}")
                job.strip = int(value)
            case flag:
                job.flags.add(flag)
    job.names += [word.rstrip("/") or word for word in operands]
    return job


async def _listed(call: Call, path: str) -> list[str]:
    data = await read_all(call.open_source(path), MOST_LIST_BYTES)
    return [decode(row).rstrip("/") for row in data.splitlines() if row]


def base_of(job: TarJob) -> str:
    """Return the directory that the names are in."""
    base = job.call.files.resolve(job.folder or ".", job.call.cwd)
    if not job.call.files.stat(base).is_dir:
        raise CommandError(f"tar: chdir '{job.folder}': Not a directory")
    return base
