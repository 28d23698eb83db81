"""Collect the recording of one phone: ask it everything, and take out what tells of its owner.

Invariants: nothing is changed on the phone; a command that hangs or fails is an entry that says so;
what is returned holds stand-ins already, and what they stand for is kept nowhere.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec.structs import replace

from agent.devices.recordings.questions import QUESTIONS
from agent.devices.recordings.recording import Entry, Recording
from agent.devices.recordings.redaction import Redaction
from agent.devices.recordings.stand_ins import Personal, StandIns
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from agent.text import one_line

TIMEOUT_S = 15.0
"""`dumpsys` gives up a service after ten seconds by itself, and says so."""
LIMIT_CHARS = 2_000_000
_AT_ONCE = 3
_ALONE = ("tree", "tree-windows")
"""A phone gives its UiAutomation to one program at a time."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A recording, and what was replaced in it: a few samples for whoever decides to keep it."""

    recording: Recording
    samples: Mapping[Personal, list[tuple[str, str]]]


async def collect(
    shell: PhoneShell,
    *,
    serials: tuple[str, ...] = (),
    questions: Mapping[str, str] = QUESTIONS,
    on_entry: Callable[[Entry], None] = lambda _entry: None,
) -> Collected:
    """Ask a phone everything. Raises DeviceError when it does not answer at all.

    Args:
        serials: what else the phone is called.
        on_entry: called with each answer as it comes, before anything is replaced.
    """
    profile = await shell.profile()
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(name: str, command: str) -> Entry:
        async with turns:
            entry = await _answer_to(shell, name, command)
        on_entry(entry)
        return entry

    together = [name for name in questions if name not in _ALONE]
    entries = list(await asyncio.gather(*(ask(name, questions[name]) for name in together)))
    for name in _ALONE:
        if name in questions:
            entries.append(await ask(name, questions[name]))
    stand_ins = StandIns()
    own = (shell.serial, profile.phone, *serials)
    told = await asyncio.to_thread(_redacted, entries, stand_ins, own)
    recording = Recording(
        made_on=f"{datetime.now(tz=UTC):%Y-%m-%d}",
        maker=profile.maker,
        model=profile.model,
        android=profile.android,
        sdk=profile.sdk,
        build=profile.fingerprint,
        replaced={kind.value: count for kind, count in sorted(stand_ins.counts.items())},
        entries=told,
    )
    return Collected(recording, stand_ins.samples)


def _redacted(
    entries: list[Entry], stand_ins: StandIns, serials: tuple[str, ...]
) -> tuple[Entry, ...]:
    redaction = Redaction(stand_ins, [serial for serial in serials if serial])
    outputs = {entry.name: entry.text for entry in entries}
    errors = {f"{entry.name} errors": entry.errors for entry in entries if entry.errors}
    told = redaction.redact({**outputs, **errors})
    return tuple(
        replace(entry, text=told[entry.name], errors=told.get(f"{entry.name} errors", ""))
        for entry in entries
    )


async def _answer_to(shell: PhoneShell, name: str, command: str) -> Entry:
    began_s = time.monotonic()
    try:
        result = await shell.run(command, TIMEOUT_S)
    except DeviceLostError:
        raise
    except DeviceTimeoutError:
        return _cut(name, command, began_s, f"no answer within {TIMEOUT_S:g} s")
    except DeviceError as error:
        return _cut(name, command, began_s, one_line(error.message, 200))
    text = result.stdout.decode("utf-8", "surrogateescape")
    return Entry(
        name=name,
        command=command,
        exit_code=result.exit_code,
        took_ms=_ms(began_s),
        cut=f"it has {len(text)} characters" if len(text) > LIMIT_CHARS else "",
        text=text[:LIMIT_CHARS],
        errors=result.stderr.decode("utf-8", "surrogateescape")[:LIMIT_CHARS],
    )


def _cut(name: str, command: str, began_s: float, why: str) -> Entry:
    return Entry(name=name, command=command, took_ms=_ms(began_s), cut=why)


def _ms(began_s: float) -> int:
    return max(1, round((time.monotonic() - began_s) * 1000))
