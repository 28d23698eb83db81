"""A chain of lines in files: each names the hash of the one before it.

Not what is written in them (that is `agent.audit.audit_writer`). Format after OpenPhone's audit
log: one JSON object a line with `seq` from 1, `boot_id`, `timestamp_wall_ms`, `prev_hash` (64 zeros
in the first) and `hash`, the sha256 of the line's JSON without it, keys sorted, no spaces. Files
are cut at 256 KiB and all of them are kept. `head.json` beside them holds the newest seq and hash,
so that a tail that was cut off is missed. Invariant: a line that was written is never changed; what
a crash left half-written was never in the head and is taken off.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from typing import Any

GENESIS = "0" * 64
CUT_BYTES = 256 * 1024
_HEAD = "head.json"
_FILES = "audit-*.jsonl"
_MAX_LINE_BYTES = 1024 * 1024  # A line that names ten thousand deleted sessions has a sixth of it.


class Flaw(StrEnum):
    """What is wrong with a chain."""

    MALFORMED = "malformed"
    HASH_MISMATCH = "hash_mismatch"
    """The line was edited."""
    PREV_HASH_MISMATCH = "prev_hash_mismatch"
    """The line before it is not the one that was written before it."""
    SEQ_GAP = "seq_gap"
    """Lines were deleted, or stand in another order."""
    TRUNCATED = "truncated"
    """The chain ends before the line that its head, or the operator, knows."""
    HEAD_MISSING = "head_missing"
    CHAIN_MISSING = "chain_missing"
    """Not a line is there, though something is stored."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One flaw and where it is."""

    flaw: Flaw
    where: str
    detail: str


@dataclass(slots=True)
class Report:
    """What a check of a chain found."""

    lines: int = 0
    seq: int = 0
    hash: str = GENESIS
    """Of the newest line: write it down elsewhere, and `verify --expect` proves the whole chain."""
    findings: list[Finding] = field(default_factory=list)


def line_hash(line: Mapping[str, object]) -> str:
    """Hash a line without its own hash."""
    body = {name: value for name, value in line.items() if name != "hash"}
    # A line that was edited may hold what no text can; whatever that hashes to, it is another.
    return hashlib.sha256(_canonical(body).encode("utf-8", "replace")).hexdigest()


class Chain:
    """The chain in one directory, for the one process that owns it. Everything blocks.

    Raises:
        OSError: the directory cannot be read or written.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._boot_id = token_hex(8)
        self._seq, self._hash = 0, GENESIS
        self.newest: tuple[dict[str, Any], ...] = ()
        """The lines of the newest file, as they were when the chain was opened."""

    @property
    def is_empty(self) -> bool:
        return self._seq == 0

    def open(self) -> None:
        """Find the end of the chain, and take off what a crash left half-written."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = files_of(self._directory)
        if files:
            _take_off_torn_end(files[-1])
            self.newest = tuple(line for _, line in _lines(files[-1]) if line is not None)
        last = self.newest[-1] if self.newest else {}
        self._seq, self._hash = _int(last.get("seq")), str(last.get("hash") or GENESIS)
        head = read_head(self._directory)
        if head is not None and head[0] > self._seq:
            # The tail is gone. Going on from the head leaves a gap that every check finds.
            self._seq, self._hash = head

    def append(self, facts: Sequence[Mapping[str, object]]) -> None:
        """Write lines, durably, then the head."""
        written: list[str] = []
        seq, previous = self._seq, self._hash
        for fact in facts:
            seq += 1
            line: dict[str, object] = {
                "seq": seq,
                "boot_id": self._boot_id,
                "timestamp_wall_ms": time.time_ns() // 1_000_000,
                **fact,
                "prev_hash": previous,
            }
            previous = line_hash(line)
            written.append(_canonical({**line, "hash": previous}) + "\n")
        if not written:
            return
        path = self._file()
        with path.open("a", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write("".join(written))
            file.flush()
            os.fsync(file.fileno())
        self._seq, self._hash = seq, previous
        self._write_head()

    def _file(self) -> Path:
        files = files_of(self._directory)
        if files and files[-1].stat().st_size < CUT_BYTES:
            return files[-1]
        number = int(files[-1].stem.rpartition("-")[2]) + 1 if files else 1
        return self._directory / f"audit-{number:06d}.jsonl"

    def _write_head(self) -> None:
        new = self._directory / f"{_HEAD}.new"
        with new.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"seq": self._seq, "hash": self._hash}))
            file.flush()
            os.fsync(file.fileno())
        new.chmod(0o600)
        new.replace(self._directory / _HEAD)


def files_of(directory: Path) -> list[Path]:
    """List the files of a chain, oldest first."""
    return sorted(p for p in directory.glob(_FILES) if p.stem.rpartition("-")[2].isdigit())


def read_lines(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a chain that can be read, oldest first."""
    for path in files_of(directory):
        yield from (line for _, line in _lines(path) if line is not None)


def read_head(directory: Path) -> tuple[int, str] | None:
    """Read the newest seq and hash; None when the head is missing or unreadable."""
    try:
        head = json.loads((directory / _HEAD).read_text(encoding="utf-8"))
        return int(head["seq"]), str(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def verify(
    directory: Path, expect: tuple[int, str] | None = None, *, is_needed: bool = False
) -> Report:
    """Check a whole chain: edits, deletions, another order, and a tail that was cut off.

    Args:
        is_needed: whether anything is stored, so that there must be lines.
        expect: a seq and its hash that the operator wrote down; they must stand in the chain.
    """
    report = Report()
    hashes: dict[int, str] = {}
    for path in files_of(directory):
        for number, line in _lines(path):
            _check(report, f"{path.name}:{number}", line, hashes)
    head = read_head(directory)
    if head is None and report.lines:
        report.findings.append(
            Finding(Flaw.HEAD_MISSING, _HEAD, "without it a cut-off tail goes unnoticed")
        )
    if is_needed and not report.lines:
        detail = "sessions are stored, and not a line about them is there"
        report.findings.append(Finding(Flaw.CHAIN_MISSING, directory.name, detail))
    for known, whose in ((head, "the head"), (expect, "what was expected")):
        if known is not None and hashes.get(known[0]) != known[1]:
            detail = f"{whose} is line {known[0]} with hash {known[1][:12]}…"
            report.findings.append(Finding(Flaw.TRUNCATED, f"seq {known[0]}", detail))
    return report


def _check(report: Report, where: str, line: dict[str, Any] | None, hashes: dict[int, str]) -> None:
    def find(flaw: Flaw, detail: str) -> None:
        report.findings.append(Finding(flaw, where, detail))

    report.lines += 1
    if line is None:
        find(Flaw.MALFORMED, "it is not a JSON object")
        return
    seq, said = _int(line.get("seq")), str(line.get("hash"))
    if line_hash(line) != said:
        find(Flaw.HASH_MISMATCH, "it is not what was written")
    if seq != report.seq + 1:
        find(Flaw.SEQ_GAP, f"line {seq} comes after line {report.seq}")
    elif line.get("prev_hash") != report.hash:
        find(Flaw.PREV_HASH_MISMATCH, "the line before it is not the one it was written after")
    hashes[seq] = said
    report.seq, report.hash = seq, said


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(_MAX_LINE_BYTES):
            number += 1
            if not raw.endswith(b"\n") and len(raw) < _MAX_LINE_BYTES:
                # Still being written, or torn by a crash; a line of the chain the head would miss.
                return
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                line = None
            yield number, line if isinstance(line, dict) else None


def _take_off_torn_end(path: Path) -> None:
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        back = min(size, _MAX_LINE_BYTES)
        file.seek(size - back)
        tail = file.read(back)
        if tail and not tail.endswith(b"\n"):
            file.truncate(size - back + tail.rfind(b"\n") + 1)


def _canonical(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
