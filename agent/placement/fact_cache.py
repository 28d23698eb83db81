"""Ask phones what they have, when somebody waits for such a phone, and remember it for a while.

Invariants: a phone is asked when there is no answer, not at every look; one that did not answer is
let be for a while; what was remembered is forgotten when the phone went away or was worked on.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from agent.devices.protocols import Fleet
from agent.devices.shell.capabilities import Capabilities, is_package
from agent.errors import SwitchboardError
from agent.placement.needs import Needs
from agent.placement.phone_facts import PhoneFacts

KEPT_S = 300.0
LET_BE_S = 10.0
_log = logging.getLogger(__name__)


@runtime_checkable
class TellsCapabilities(Protocol):
    """A phone that says what it has."""

    async def capabilities(
        self, packages: Iterable[str] = (), *, timeout_s: float = 15.0
    ) -> Capabilities:
        """Return what it has, and the versions of these packages. Raises DeviceError."""


@dataclass(frozen=True, slots=True)
class _Known:
    facts: PhoneFacts | None
    until: float  # None and a time: it is let be until then.


class FactCache:
    """What the phones of one core have.

    Args:
        fleet: the phones.
        called: gives the packages of the apps that people call by a name, casefolded.
        clock: seconds that only rise.
    """

    def __init__(
        self, fleet: Fleet, called: Callable[[str], frozenset[str]], clock: Callable[[], float]
    ) -> None:
        self._fleet = fleet
        self._called = called
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def of(self, serial: str) -> PhoneFacts | None:
        """Return what a phone has; None where it has to be asked, or did not answer."""
        known = self._known.get(serial)
        return None if known is None or known.until <= self._clock() else known.facts

    def is_let_be(self, serial: str) -> bool:
        """Return whether a phone did not answer a moment ago, and is not asked again yet."""
        known = self._known.get(serial)
        return known is not None and known.facts is None and known.until > self._clock()

    def forget(self, serial: str) -> None:
        """Let a phone be asked again: it went away, or was worked on."""
        self._known.pop(serial, None)

    async def ask(self, serial: str, needs: Iterable[Needs]) -> None:
        """Ask a phone for all that these needs are about; one that does not answer is let be."""
        names = {one.name: bool(one.bounds) for each in needs for one in each.apps}
        for each in needs:
            names.update({one.name: True for one in each.apps if one.bounds})
        try:
            facts = await self._read_facts(serial, names)
        except SwitchboardError as error:
            _log.info("%s does not say what it has: %s", serial, error)
            self._known[serial] = _Known(None, self._clock() + LET_BE_S)
            return
        before = self.of(serial)
        if before is not None:
            named = {**before.named, **facts.named}
            facts = replace(facts, named=named, versions={**before.versions, **facts.versions})
        self._known[serial] = _Known(facts, self._clock() + KEPT_S)

    async def _read_facts(self, serial: str, names: dict[str, bool]) -> PhoneFacts:
        device = await self._fleet.device(serial)
        labels: dict[str, set[str]] = {}
        if any(not is_package(name) for name in names):
            for app in await device.apps():
                labels.setdefault(app.label.casefold(), set()).add(app.package)
        if not isinstance(device, TellsCapabilities):
            packages = frozenset([one.package for one in await device.apps()])
            named = {name: self._matching(name, packages, labels) for name in names}
            return PhoneFacts(packages=packages, named=named, versions=_empty(named))
        said = await device.capabilities([n for n, ranged in names.items() if ranged])
        named = {name: self._matching(name, said.packages, labels) for name in names}
        wanted = {one for name, ranged in names.items() if ranged for one in named[name]}
        versions = dict(said.versions)
        if more := sorted(wanted - set(versions)):
            versions |= (await device.capabilities(more)).versions
        return PhoneFacts(
            sdk=said.sdk,
            locale=said.locale,
            packages=said.packages,
            named=named,
            versions={**_empty(named), **versions},
        )

    def _matching(
        self, name: str, packages: frozenset[str], labels: dict[str, set[str]]
    ) -> frozenset[str]:
        wanted = {name.casefold(), *self._called(name)}
        found = {one for one in packages if one.casefold() in wanted}
        return frozenset(found | (labels.get(name.casefold(), set()) & packages))


def _empty(named: dict[str, frozenset[str]]) -> dict[str, str]:
    return dict.fromkeys([one for found in named.values() for one in found], "")
