"""What a phone has beyond what it is known by: its apps and their versions, its language.

Not the asking (`agent.placement.fact_cache`). Invariant: what a phone does not say is unknown, with
its answer; it is never taken for "no".
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from agent.devices.facts.fact import Fact, Known, Unknown
from agent.placement.needs import AppNeed, Bound, Needs, version_of
from agent.records import DeviceInfo

T = TypeVar("T")
NOT_ASKED = Unknown(reason="it was not asked")


@dataclass(frozen=True, slots=True)
class PhoneFacts:
    """What one phone said."""

    sdk: Fact[int] = NOT_ASKED
    locale: Fact[str] = NOT_ASKED
    """As `de-DE`."""
    packages: Fact[frozenset[str]] = NOT_ASKED
    named: Mapping[str, Fact[frozenset[str]]] = field(default_factory=dict)
    """The packages of the apps that were asked for by name, by the name as it was asked for."""
    versions: Mapping[str, Fact[str]] = field(default_factory=dict)
    """The version's name of each package that was asked for."""

    def answers(self, needs: Needs) -> bool:
        """Return whether enough was asked to judge by."""
        for one in needs.apps:
            if one.name not in self.named:
                return False
            if one.bounds and any(each not in self.versions for each in self._packages_of(one)):
                return False
        return True

    def unsaid(self, needs: Needs) -> tuple[str, ...]:
        """Return why it cannot be judged whether the phone is what work needs."""
        asked = [
            *([self.sdk] if needs.sdk else []),
            *([self.locale] if needs.locale else []),
            *(self.has(one) for one in needs.apps),
        ]
        return tuple(dict.fromkeys(one.reason for one in asked if isinstance(one, Unknown)))

    def has(self, need: AppNeed) -> Fact[bool]:
        """Return whether the phone has an app in the range of versions that is needed."""
        found = self.named.get(need.name, NOT_ASKED)
        if isinstance(found, Unknown):
            return found
        if not need.bounds:
            return found.map(bool)
        unsaid: Unknown | None = None
        for package in found.value:
            version = self.versions.get(package, NOT_ASKED)
            if isinstance(version, Unknown):
                unsaid = version
            elif _holds(need.bounds, version.value):
                return version.map(lambda _: True)
        return unsaid or found.map(lambda _: False)

    def _packages_of(self, need: AppNeed) -> frozenset[str]:
        found = self.named[need.name]
        return found.value if isinstance(found, Known) else frozenset()


class Fit(StrEnum):
    """Whether a phone is what work needs."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # It has to be asked.
    UNSAID = "unsaid"  # It was asked, and does not say.


def fit_of(needs: Needs, info: DeviceInfo, facts: PhoneFacts | None) -> Fit:
    """Return whether a phone is what work needs, on line or not.

    Args:
        facts: what the phone said when it was asked; None: it was not.
    """
    if not set(needs.tags) <= set(info.tags):
        return Fit.NO
    judged = _seen_fits(needs, info)
    if Fit.NO in judged:
        return Fit.NO
    if not needs.asks_phone:
        return Fit.UNSAID if Fit.UNSAID in judged else Fit.YES
    if facts is None or not facts.answers(needs):
        return Fit.UNKNOWN
    judged += [
        *([_judged(facts.sdk, lambda sdk: _all_hold(needs.sdk, sdk))] if needs.sdk else []),
        *([_judged(facts.locale, lambda it: _speaks(it, needs.locale))] if needs.locale else []),
        *(_judged(facts.has(one), bool) for one in needs.apps),
    ]
    return next((fit for fit in (Fit.NO, Fit.UNSAID) if fit in judged), Fit.YES)


def _seen_fits(needs: Needs, info: DeviceInfo) -> list[Fit]:
    """Judge by what is known of a phone without asking it for this work."""
    fits = []
    if needs.android:
        holds = _holds(needs.android, info.android)
        fits.append(Fit.YES if holds else Fit.NO if info.android else Fit.UNSAID)
    for bound in needs.screen:
        allows = bound.allows_screen(info.width_px, info.height_px)
        fits.append(Fit.UNSAID if not info.width_px else Fit.YES if allows else Fit.NO)
    return fits


def _judged(fact: Fact[T], holds: Callable[[T], bool]) -> Fit:
    if isinstance(fact, Unknown):
        return Fit.UNSAID
    return Fit.YES if holds(fact.value) else Fit.NO


def _all_hold(bounds: Iterable[Bound], sdk: int) -> bool:
    return all(one.holds((sdk,)) for one in bounds)


def _holds(bounds: Iterable[Bound], said: str) -> bool:
    found = version_of(said)
    return bool(found) and all(one.holds(found) for one in bounds)


def _speaks(locale: str, wanted: str) -> bool:
    have = locale.replace("_", "-").casefold().split("-")
    want = wanted.casefold().split("-")
    return have[:1] == want[:1] and set(want[1:]) <= set(have[1:])
