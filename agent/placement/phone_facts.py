"""What a phone has beyond what it is known by: its apps and their versions, its language.

Not the asking (`agent.placement.fact_cache`). Invariant: what a phone does not say is empty or 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agent.placement.needs import AppNeed, Bound, Needs, version_of
from agent.records import DeviceInfo


@dataclass(frozen=True, slots=True)
class PhoneFacts:
    """What one phone said."""

    sdk: int = 0
    locale: str = ""
    """As `de-DE`."""
    packages: frozenset[str] = frozenset()
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The packages of the apps that were asked for by name, by the name as it was asked for."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The version's name of each package that was asked for; empty: it has none."""

    def answers(self, needs: Needs) -> bool:
        """Return whether enough was asked to judge by."""
        for one in needs.apps:
            if one.name not in self.named:
                return False
            if one.bounds and any(each not in self.versions for each in self.named[one.name]):
                return False
        return True


class Fit(StrEnum):
    """Whether a phone is what work needs."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # It has to be asked.


def fit_of(needs: Needs, info: DeviceInfo, facts: PhoneFacts | None) -> Fit:
    """Return whether a phone is what work needs, on line or not.

    Args:
        facts: what the phone said when it was asked; None: it was not.
    """
    if not set(needs.tags) <= set(info.tags):
        return Fit.NO
    if needs.android and not _holds(needs.android, info.android):
        return Fit.NO
    for bound in needs.screen:
        if not info.width_px or not bound.allows_screen(info.width_px, info.height_px):
            return Fit.NO
    if not needs.asks_phone:
        return Fit.YES
    if facts is None or not facts.answers(needs):
        return Fit.UNKNOWN
    if needs.sdk and not (facts.sdk and all(one.holds((facts.sdk,)) for one in needs.sdk)):
        return Fit.NO
    if needs.locale and not _speaks(facts.locale, needs.locale):
        return Fit.NO
    return Fit.YES if all(_has(facts, one) for one in needs.apps) else Fit.NO


def _holds(bounds: Iterable[Bound], said: str) -> bool:
    found = version_of(said)
    return bool(found) and all(one.holds(found) for one in bounds)


def _speaks(locale: str, wanted: str) -> bool:
    have = locale.replace("_", "-").casefold().split("-")
    want = wanted.casefold().split("-")
    return have[:1] == want[:1] and set(want[1:]) <= set(have[1:])


def _has(facts: PhoneFacts, need: AppNeed) -> bool:
    return any(
        not need.bounds or _holds(need.bounds, facts.versions.get(package, ""))
        for package in facts.named.get(need.name, ())
    )
