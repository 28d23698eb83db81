"""Who gets which phone next: pure, so that one core and many hosts decide alike.

Not the waiting, and no lease. The order is: who was passed over too often, the oldest first; then
the account that has the fewest phones, of those the one that was served longest ago; then whoever
asked first. Invariants: a phone is given once, and only to work that it fits; no account has more
than it may; work that could have had a phone is passed over at most `PATIENCE` times and by those
that asked before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.placement.needs import Needs
from agent.placement.phone_facts import Fit, PhoneFacts, fit_of
from agent.records import DeviceInfo, DeviceState

PATIENCE = 8  # After so many phones that went to others, work is served before all that came later.
_NOTHING = Needs()


@dataclass(frozen=True, slots=True)
class Ask:
    """Work that wants a phone; a sequence of them is in the order in which they were made."""

    ask_id: str
    account: str = ""
    needs: Needs = _NOTHING
    serial: str = ""
    """The phone that it has to be, in whatever state; empty: any that fits."""
    first: str = ""
    """Of any that fit, the one that is had before the others."""
    passed: int = 0
    """How often a phone that it could have had went to somebody else."""
    unlimited: bool = False
    """Whether its account's limit does not hold it: it had its phone before a restart."""


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone as it is now."""

    info: DeviceInfo
    facts: PhoneFacts | None = None
    held: bool = False  # Whether work has been given it.
    used: int = 0  # The number of its newest grant; 0: none yet.

    @property
    def is_free(self) -> bool:
        """Whether it is online, and neither driven nor given to anybody."""
        info = self.info
        return info.state is DeviceState.ONLINE and not info.driver and not self.held


@dataclass(frozen=True, slots=True)
class Shares:
    """What accounts have, and may have."""

    busy: Mapping[str, int] = field(default_factory=dict)
    """How many phones work of each account has."""
    served: Mapping[str, int] = field(default_factory=dict)
    """The number of each account's newest grant."""
    most: int = 0
    """How many an account may have at once; 0: any number."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What is to be done now."""

    grants: tuple[tuple[str, str], ...] = ()
    """The ids of those served, each with its phone, in the order in which they were served."""
    passed: tuple[str, ...] = ()
    """The ids of those passed over, once for each time."""


def place(
    asks: Sequence[Ask], phones: Sequence[Phone], shares: Shares, taken: frozenset[str]
) -> Placed:
    """Return who gets which phone.

    Args:
        asks: who waits, in the order in which they asked.
        phones: all there are.
        shares: what accounts have.
        taken: the serials that work has, those of phones that are not there too.
    """
    waiting = list(asks)
    free = {one.info.serial: one for one in phones if one.is_free}
    place_of = {one.info.serial: at for at, one in enumerate(phones)}
    by_serial = {one.info.serial: one for one in phones}
    busy, served = dict(shares.busy), dict(shares.served)
    number = max([0, *served.values(), *(one.used for one in phones)])
    used = {one.info.serial: one.used for one in phones}
    fitting: dict[tuple[Needs, str], bool] = {}
    held = set(taken)
    passes: dict[str, int] = {}

    def fits(ask: Ask, serial: str) -> bool:
        key = (ask.needs, serial)
        if key not in fitting:
            phone = by_serial.get(serial)
            fitting[key] = phone is not None and (
                fit_of(ask.needs, phone.info, phone.facts) is Fit.YES
            )
        return fitting[key]

    def options(ask: Ask) -> list[str]:
        if shares.most and not ask.unlimited and busy.get(ask.account, 0) >= shares.most:
            return []
        if ask.serial:
            met = not ask.needs.restricts or fits(ask, ask.serial)
            return [ask.serial] if ask.serial not in held and met else []
        return [one for one in free if one not in held and fits(ask, one)]

    # Whom only one phone fits is thought of by those who have a choice.
    sole: dict[str, set[str]] = {}
    for ask in waiting:
        only = [ask.serial] if ask.serial else [one for one in by_serial if fits(ask, one)]
        if len(only) == 1:
            sole.setdefault(only[0], set()).add(ask.ask_id)

    grants: list[tuple[str, str]] = []
    while waiting:
        open_to = {ask.ask_id: found for ask in waiting if (found := options(ask))}
        able = [(at, ask) for at, ask in enumerate(waiting) if ask.ask_id in open_to]
        if not able:
            break

        def rank(one: tuple[int, Ask]) -> tuple[int, int, int, int]:
            at, ask = one
            if ask.passed + passes.get(ask.ask_id, 0) >= PATIENCE:
                return (0, 0, 0, at)
            return (1, busy.get(ask.account, 0), served.get(ask.account, 0), at)

        _, ask = min(able, key=rank)
        waiting.remove(ask)

        def cost(serial: str, ask: Ask = ask) -> tuple[bool, int, int, int]:
            others = len(sole.get(serial, set()) - {ask.ask_id} - {one for one, _ in grants})
            turn = used.get(serial, 0) if ask.needs.spread else 0
            return (serial != ask.first, others, turn, place_of.get(serial, 0))

        serial = min(open_to[ask.ask_id], key=cost)
        number += 1
        held.add(serial)
        used[serial] = number
        busy[ask.account] = busy.get(ask.account, 0) + 1
        served[ask.account] = number
        grants.append((ask.ask_id, serial))
        for other, found in open_to.items():
            if other != ask.ask_id and serial in found:
                passes[other] = passes.get(other, 0) + 1
    passed = tuple(one for one, times in passes.items() for _ in range(times))
    return Placed(tuple(grants), tuple(one for one in passed if one not in dict(grants)))
