"""What the operator calls devices: names, tags and notes, kept in a file of the data directory.

Not what a device says of itself. Invariants: a label outlives restarts and is written whole or not
at all; a phone on a new wireless port keeps its label by its own serial.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from agent.errors import ConfigError, StoreError, UsageError
from agent.records import identifies
from agent.text import clean, one_line

NAME_LIMIT = 60
NOTES_LIMIT = 2000
TAGS_LIMIT = 20
_TAG = re.compile(r"[\w][\w.:+-]{0,39}")


class Label(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the operator says of one device."""

    name: str = ""
    tags: tuple[str, ...] = ()
    notes: str = ""
    hardware_serial: str = ""


class Labels:
    """The labels of one data directory.

    Args:
        path: the file; None keeps them in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._by_serial = {} if path is None else _read(path)

    def of(self, serial: str, hardware_serial: str = "") -> Label:
        """Return a device's label, by its name or, on a new wireless port, by its own serial."""
        known = self._by_serial.get(serial)
        if known is not None:
            return known
        if identifies(hardware_serial):
            same = [
                label
                for label in self._by_serial.values()
                if label.hardware_serial == hardware_serial
            ]
            if len(same) == 1:
                return same[0]
        return Label()

    def set(self, serial: str, label: Label) -> None:
        """Keep a label. Raises StoreError when it cannot be written; then it is as before."""
        changed = {**self._by_serial, serial: label}
        if label == Label(hardware_serial=label.hardware_serial):
            del changed[serial]
        if self._path is not None:
            _write(self._path, changed)
        self._by_serial = changed


def checked(name: str, tags: Iterable[str], notes: str) -> Label:
    """Make a label of what an operator typed. Raises UsageError for what no label can be."""
    tags = checked_tags(tags, "device")
    if len(name) > NAME_LIMIT or len(notes) > NOTES_LIMIT:
        raise UsageError(
            "The name or the notes are too long.",
            f"A name has {NAME_LIMIT} letters at most, notes have {NOTES_LIMIT}.",
        )
    return Label(name=one_line(name, NAME_LIMIT).strip(), tags=tags, notes=clean(notes).strip())


def checked_tags(tags: Iterable[str], what: str) -> tuple[str, ...]:
    """Return each tag once, in order. Raises UsageError for what cannot be a tag.

    Args:
        what: what bears the tags, for the error.
    """
    tags = tuple(dict.fromkeys(tag.strip() for tag in tags))
    wrong = [tag for tag in tags if not _TAG.fullmatch(tag)]
    if wrong:
        raise UsageError(
            f"{one_line(wrong[0], 60)!r} cannot be a tag.",
            "Use letters, digits and . _ : + - without spaces; at most 40.",
        )
    if len(tags) > TAGS_LIMIT:
        raise UsageError(f"A {what} cannot have {len(tags)} tags.", f"Give {TAGS_LIMIT} at most.")
    return tags


def _read(path: Path) -> dict[str, Label]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Label])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, OSError) as error:
        raise ConfigError(
            f"The devices' names in {path} cannot be read: {error}.",
            "Correct the file, or move it away to start without names.",
        ) from error


def _write(path: Path, labels: dict[str, Label]) -> None:
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with new.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(labels), indent=2))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}.",
            "Free space in the data directory or correct its permissions.",
        ) from error
