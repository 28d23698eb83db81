"""Run probes of one phone: each within its own time, each row told as soon as it is there.

Not what is asked: the modules beside this one have the probes. Invariants: a probe that fails, or
that nobody answers, is a row and stops no other; after the deadline what is left is said to be
untried; a row is told once.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.devices.passport.passport import Area, Outcome, Row
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from agent.text import one_line

_log = logging.getLogger(__name__)

Ask = Callable[[], Awaitable[Sequence[Row]]]
"""Asks the phone, and returns its rows; one that says how long it took keeps that."""
OnRows = Callable[[tuple[Row, ...]], None]


@dataclass(frozen=True, slots=True)
class Probe:
    """One question, and how long its answer is waited for."""

    area: Area
    name: str
    timeout_s: float
    ask: Ask


@dataclass
class Examination:
    """Collect the rows of one phone.

    Args:
        on_rows: called with the rows of each probe as they come.
        budget_s: after so long, nothing more is begun.
    """

    on_rows: OnRows
    budget_s: float
    rows: list[Row] = field(default_factory=list)
    lost: str = ""
    """Why the phone went away; nothing is asked of it any more."""
    _began_s: float = field(default_factory=time.monotonic)

    @property
    def took_ms(self) -> int:
        return round((time.monotonic() - self._began_s) * 1000)

    def tell(self, *rows: Row) -> None:
        """Take in rows."""
        self.rows += rows
        self.on_rows(rows)

    async def side_by_side(self, probes: Sequence[Probe]) -> None:
        """Run probes that do not disturb each other."""
        await asyncio.gather(*(self.one(probe) for probe in probes))

    async def in_turn(self, probes: Sequence[Probe]) -> None:
        """Run probes one after the other: their times are to be those of one call."""
        for probe in probes:
            await self.one(probe)

    async def one(self, probe: Probe, *, beyond_budget: bool = False) -> tuple[Row, ...]:
        """Run one probe, and tell its rows.

        Args:
            beyond_budget: run it also when the time is up: it puts something back.
        """
        left_s = self.budget_s - (time.monotonic() - self._began_s)
        if beyond_budget:
            left_s = probe.timeout_s
        if self.lost or left_s <= 0:
            why = self.lost or f"{self.budget_s:.0f} s were up"
            return self._untried(probe, why)
        began_s = time.monotonic()
        try:
            async with asyncio.timeout(min(probe.timeout_s, left_s)):
                rows: Sequence[Row] = await probe.ask()
        except DeviceLostError as error:
            self.lost = error.message.rstrip(".")
            rows = (_failed(probe, Outcome.UNKNOWN, error),)
        except DeviceTimeoutError as error:
            rows = (_failed(probe, Outcome.UNKNOWN, error),)
        except DeviceError as error:
            rows = (_failed(probe, Outcome.FAILS, error),)
        except TimeoutError:
            rows = (unknown(probe.area, probe.name, f"no answer within {probe.timeout_s:g} s"),)
        except Exception as error:
            # A reader that meets what it does not expect costs its own row and no other.
            _log.exception("The probe %s of %s failed", probe.name, probe.area)
            why = f"what the phone said cannot be read ({type(error).__name__}: {error})"
            rows = (unknown(probe.area, probe.name, one_line(why, 200)),)
        took_ms = round((time.monotonic() - began_s) * 1000)
        told = tuple(row if row.took_ms else replace(row, took_ms=took_ms) for row in rows)
        self.tell(*told)
        return told

    def _untried(self, probe: Probe, why: str) -> tuple[Row, ...]:
        row = unknown(probe.area, probe.name, f"not tried: {why}")
        self.tell(row)
        return (row,)


def works(area: Area, name: str, detail: str, *, took_ms: int = 0, remedy: str = "") -> Row:
    """Make the row of what works; with a remedy where it is slow."""
    return Row(
        area=area, name=name, outcome=Outcome.WORKS, detail=detail, took_ms=took_ms, remedy=remedy
    )


def fails(area: Area, name: str, detail: str, remedy: str = "", *, took_ms: int = 0) -> Row:
    """Make the row of what was seen not to work."""
    return Row(
        area=area, name=name, outcome=Outcome.FAILS, detail=detail, remedy=remedy, took_ms=took_ms
    )


def absent(area: Area, name: str, detail: str, remedy: str = "") -> Row:
    """Make the row of what is not there to be tried."""
    return Row(area=area, name=name, outcome=Outcome.ABSENT, detail=detail, remedy=remedy)


def unknown(area: Area, name: str, detail: str, remedy: str = "") -> Row:
    """Make the row of what nobody could answer."""
    return Row(area=area, name=name, outcome=Outcome.UNKNOWN, detail=detail, remedy=remedy)


def _failed(probe: Probe, outcome: Outcome, error: DeviceError) -> Row:
    return Row(
        area=probe.area,
        name=probe.name,
        outcome=outcome,
        detail=error.message.rstrip("."),
        remedy=error.remedy,
    )
