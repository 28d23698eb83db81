"""Ask phones what they have, when somebody waits for such a phone, and remember it for a while.

Invariants: a phone is asked when there is no answer, not at every look; one that did not answer is
let be for a while; what a phone did not say is asked again sooner; what was remembered is forgotten
when the phone went away or was worked on.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.protocols import Device, Fleet
from agent.devices.shell.capabilities import Capabilities, is_package
from agent.errors import DeviceError, DeviceLostError, SwitchboardError
from agent.placement.needs import Needs
from agent.placement.phone_facts import PhoneFacts
from agent.records import AppInfo

KEPT_S = 300.0
LET_BE_S = 10.0
ASKED_AGAIN_S = 30.0
"""For what a phone did not say: one that has just booted says it in a moment."""
_NO_LABELS = Unknown(reason="its apps were not asked for their names")
_NO_VERSION = Unknown(reason="it names no version of it")
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
    again: float = 0.0  # From when it is asked again for what it did not say.


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

    def may_say_more(self, serial: str) -> bool:
        """Return whether it is time to ask a phone again for what it did not say."""
        known = self._known.get(serial)
        return known is not None and known.facts is not None and known.again <= self._clock()

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
        now_s = self._clock()
        self._known[serial] = _Known(facts, now_s + KEPT_S, again=now_s + ASKED_AGAIN_S)

    async def _read_facts(self, serial: str, names: dict[str, bool]) -> PhoneFacts:
        device = await self._fleet.device(serial)
        apps: Fact[tuple[AppInfo, ...]] = _NO_LABELS
        tells = isinstance(device, TellsCapabilities)
        if not tells or any(not is_package(name) for name in names):
            apps = await _apps_of(device)
        if not isinstance(device, TellsCapabilities):
            packages = _packages_of(apps)
            named = {name: self._matching(name, packages, apps) for name in names}
            return PhoneFacts(packages=packages, named=named, versions=_without(named))
        said = await device.capabilities([n for n, ranged in names.items() if ranged])
        named = {name: self._matching(name, said.packages, apps) for name in names}
        ranged = {name: its for name, its in named.items() if names[name]}
        versions = dict(said.versions)
        if more := sorted(set(_without(ranged)) - set(versions)):
            versions |= (await device.capabilities(more)).versions
        return PhoneFacts(
            sdk=said.sdk,
            locale=said.locale,
            packages=said.packages,
            named=named,
            versions={**_without(ranged), **versions},
        )

    def _matching(
        self, name: str, packages: Fact[frozenset[str]], apps: Fact[tuple[AppInfo, ...]]
    ) -> Fact[frozenset[str]]:
        if isinstance(packages, Unknown):
            return packages
        wanted = {name.casefold(), *self._called(name)}
        found = {one for one in packages.value if one.casefold() in wanted}
        if isinstance(apps, Known):
            labelled = {one.package for one in apps.value if one.label.casefold() in wanted}
            found |= labelled & packages.value
        elif not found and not is_package(name):
            return apps
        return packages.map(lambda _: frozenset(found))


async def _apps_of(device: Device) -> Fact[tuple[AppInfo, ...]]:
    try:
        apps = await device.apps()
    except DeviceLostError:
        raise
    except DeviceError as error:
        return Unknown(reason=error.message.rstrip("."))
    return known(apps, f"{len(apps)} apps that can be started")


def _packages_of(apps: Fact[tuple[AppInfo, ...]]) -> Fact[frozenset[str]]:
    if isinstance(apps, Unknown):
        return apps
    return apps.map(lambda its: frozenset([one.package for one in its]))


def _without(named: Mapping[str, Fact[frozenset[str]]]) -> dict[str, Fact[str]]:
    """Return the packages that were found, as without a version."""
    found = [one for its in named.values() if isinstance(its, Known) for one in its.value]
    return dict.fromkeys(found, _NO_VERSION)
