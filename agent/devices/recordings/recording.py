"""A recording: the outputs of one phone, each with its command, as a folder or a ZIP file.

`manifest.json` lists what was asked, in order: the command, its exit status, how long it took, and
the files of both outputs. Invariants: a name in a manifest is a plain file name, so that nothing
outside the recording is read; sizes are bounded; what is loaded is what was kept, byte for byte.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from agent.errors import UsageError
from agent.records.record import Record

MANIFEST = "manifest.json"
VERSION = 1
FILE_LIMIT_BYTES = 16 * 1024 * 1024
_MOST_ENTRIES = 200
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class Entry(Record, frozen=True, kw_only=True):
    """One command and what it printed.

    Attributes:
        name: what readers find it by, such as `displays`.
        exit_code: None where the phone gave none, or was not waited for any longer.
        cut: why the output is not whole; empty when it is.
    """

    name: str
    command: str
    exit_code: int | None = None
    took_ms: int = 0
    cut: str = ""
    text: str = ""
    errors: str = ""


class Recording(Record, frozen=True, kw_only=True):
    """The outputs of one phone.

    Attributes:
        replaced: how often something personal was replaced, by kind.
    """

    version: int = VERSION
    made_on: str = ""
    maker: str = ""
    model: str = ""
    android: str = ""
    sdk: int = 0
    build: str = ""
    replaced: Mapping[str, int] = {}
    entries: tuple[Entry, ...] = ()

    @property
    def answers(self) -> dict[str, str]:
        """What the commands printed, by name."""
        return {entry.name: entry.text for entry in self.entries}

    def text(self, name: str) -> str:
        """Return what a command printed; empty where it was not asked."""
        return next((entry.text for entry in self.entries if entry.name == name), "")


def keep(recording: Recording, place: Path) -> None:
    """Write a recording to a new folder, or to a new file that ends in .zip. Blocking.

    Raises UsageError when something is there, or it cannot be written.
    """
    if place.exists():
        raise UsageError(f"{place} already exists.", "Choose another name, or remove it.")
    files = _files(recording)
    try:
        if place.suffix == ".zip":
            with zipfile.ZipFile(place, "x", zipfile.ZIP_DEFLATED) as packed:
                for name, data in files.items():
                    packed.writestr(name, data)
            return
        place.mkdir(mode=0o700, parents=True)
        for name, data in files.items():
            (place / name).write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{place} cannot be written: {error.strerror or error}.", "Choose another place."
        ) from error


def load(place: Path) -> Recording:
    """Read a recording from a folder or a ZIP file. Blocking.

    Raises UsageError for what is none.
    """
    try:
        with _opened(place) as read:
            manifest = msgspec.json.decode(read(MANIFEST), type=Recording)
            if manifest.version != VERSION or len(manifest.entries) > _MOST_ENTRIES:
                raise ValueError(f"version {manifest.version}, {len(manifest.entries)} entries")
            entries = tuple(_loaded(entry, read) for entry in manifest.entries)
    except (OSError, KeyError, ValueError, msgspec.DecodeError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"{place} is no recording: {error}.", "Name its folder or file."
        ) from error
    return msgspec.structs.replace(manifest, entries=entries)


def file_of(name: str, output: str = "txt") -> str:
    """Return the name of the file of an entry's output. Raises ValueError for a bad name."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:80]!r} is not the name of an entry")
    return f"{name}.{output}"


def _files(recording: Recording) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    bare: list[Entry] = []
    for entry in recording.entries:
        files[file_of(entry.name)] = entry.text.encode("utf-8", "surrogateescape")
        if entry.errors:
            files[file_of(entry.name, "err")] = entry.errors.encode("utf-8", "surrogateescape")
        bare.append(msgspec.structs.replace(entry, text="", errors=""))
    manifest = msgspec.structs.replace(recording, entries=tuple(bare))
    listed = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    return {MANIFEST: listed, **files}


def _loaded(entry: Entry, read: "Read") -> Entry:
    text = read(file_of(entry.name)).decode("utf-8", "surrogateescape")
    try:
        errors = read(file_of(entry.name, "err")).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, KeyError):
        errors = ""
    return msgspec.structs.replace(entry, text=text, errors=errors)


class Read:
    """Reads a file of a recording by its name, bounded."""

    def __init__(self, place: Path, packed: zipfile.ZipFile | None) -> None:
        self._place = place
        self._packed = packed

    def __call__(self, name: str) -> bytes:
        """Return the bytes. Raises OSError or KeyError where there is none, ValueError."""
        opened = self._packed.open(name) if self._packed else (self._place / name).open("rb")
        with opened as file:
            data = file.read(FILE_LIMIT_BYTES + 1)
        if len(data) > FILE_LIMIT_BYTES:
            raise ValueError(f"{name} is larger than {FILE_LIMIT_BYTES >> 20} MiB")
        return data


@contextmanager
def _opened(place: Path) -> Iterator[Read]:
    if place.is_dir():
        yield Read(place, None)
        return
    with zipfile.ZipFile(place) as packed:
        yield Read(place, packed)
