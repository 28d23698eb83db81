"""Which device a turn works on: the one its session names, or one that fits and nobody wants.

Who is served next is decided in `agent.placement.placing`; here is the waiting for it. Not the
lease on a device (the fleet's), which also keeps the operator and other programs apart. Invariants:
a device is promised to one turn at a time, but for turns that the dispatcher has called already;
why a turn waits is known at every moment, and told when it has changed.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from agent.devices.protocols import Fleet
from agent.errors import UsageError
from agent.placement.fact_cache import FactCache
from agent.placement.needs import Needs
from agent.placement.phone_facts import Fit, fit_of
from agent.placement.placing import Ask, Phone, Shares, place
from agent.placement.reasons import why_waiting
from agent.records import DeviceInfo, DeviceState
from agent.text import one_line

_ANY = Needs()
_RETRY_S = 5.0  # How often a phone that did not answer is thought of again while somebody waits.


@dataclass(eq=False)
class _WaitingRequest:
    ask: Ask
    session_id: str
    granted: asyncio.Future[str]


@dataclass(frozen=True)
class _Held:
    serial: str
    session_id: str
    account: str


@dataclass(frozen=True)
class DeviceRequest:
    """What a turn wants.

    Attributes:
        session_id: whose turn it is, for those who wait for the same phone.
        account: whom it is counted to.
        serial: the device that must be had, away or not; empty: any that fits.
        first: of any that fit, the one that is had before the others.
        needs: what the device has to be.
    """

    session_id: str = ""
    account: str = ""
    serial: str = ""
    first: str = ""
    needs: Needs = field(default=_ANY)


class Assignment:
    """Promises devices to turns.

    Args:
        fleet: the devices.
        called: gives the packages of the apps that people call by a name, casefolded.
        most: how many devices each account may have at once; 0: any number.
        clock: seconds that only rise.
    """

    def __init__(
        self,
        fleet: Fleet,
        *,
        called: Callable[[str], frozenset[str]] = lambda _: frozenset(),
        most: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fleet = fleet
        self._most = most
        self._held: dict[str, _Held] = {}
        self._wants: list[_WaitingRequest] = []
        self._called_on: set[str] = set()
        self._changed = asyncio.Event()
        self._facts = FactCache(fleet, called, clock)
        self._used: dict[str, int] = {}
        self._served: dict[str, int] = {}
        self._grants = 0
        self._to_ask = asyncio.Event()
        self.on_reasons: Callable[[], None] = lambda: None
        """Called when why turns wait may have changed."""

    async def place(self, holder: str, wish: DeviceRequest) -> str:
        """Return the device that a turn works on; it is reserved until `release`.

        Args:
            holder: the turn it is for.
            wish: what it wants.

        Returns:
            The serial.
        """
        granted: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        ask = Ask(
            ask_id=holder,
            account=wish.account,
            needs=wish.needs,
            serial=wish.serial,
            first=wish.first,
        )
        want = _WaitingRequest(ask, wish.session_id, granted)
        self._wants.append(want)
        if holder in self._called_on:
            self.let_pass(holder)
        self.consider()
        try:
            return await want.granted
        except asyncio.CancelledError:
            if want in self._wants:
                self._wants.remove(want)
            self.release(holder)
            raise

    def let_pass(self, holder: str) -> None:
        """Let a turn have the phone that it names, whoever has it: the dispatcher has called it.

        It stands before the others there, so whoever waits here for it would wait for ever.
        """
        self._called_on.add(holder)
        for want in tuple(self._wants):
            if want.ask.ask_id == holder and want.ask.serial and not want.granted.done():
                self._grant(want, want.ask.serial)

    async def until_online(self, serial: str) -> None:
        """Wait until a device is online."""
        while not self.is_online(serial):
            await self._changed.wait()

    def is_online(self, serial: str) -> bool:
        return any(
            info.serial == serial and info.state is DeviceState.ONLINE
            for info in self._fleet.devices()
        )

    def release(self, holder: str) -> None:
        """Take a promise back."""
        held = self._held.pop(holder, None)
        self._called_on.discard(holder)
        if held is not None:
            # It may have installed something.
            self._facts.forget(held.serial)
        self.consider()

    def device_changed(self, info: DeviceInfo) -> None:
        """Look again who can be served, and forget what a phone had that went away."""
        if info.state is not DeviceState.ONLINE:
            self._facts.forget(info.serial)
        self.consider()

    def consider(self) -> None:
        """Look again who can be served; call when a device has changed."""
        self._changed.set()
        self._changed = asyncio.Event()
        self._wants = [want for want in self._wants if not want.granted.done()]
        if not self._wants:
            return
        wants = {want.ask.ask_id: want for want in self._wants}
        asks = [want.ask for want in self._wants]
        taken = frozenset(held.serial for held in self._held.values())
        placed = place(asks, self._phones(), self._shares(), taken)
        for ask_id in placed.passed:
            want = wants[ask_id]
            want.ask = replace(want.ask, passed=want.ask.passed + 1)
        for ask_id, serial in placed.grants:
            self._grant(wants[ask_id], serial)
        if any(want.ask.needs.asks_phone for want in self._wants):
            self._to_ask.set()
        self.on_reasons()

    def _grant(self, want: _WaitingRequest, serial: str) -> None:
        self._grants += 1
        self._used[serial] = self._served[want.ask.account] = self._grants
        self._held[want.ask.ask_id] = _Held(serial, want.session_id, want.ask.account)
        self._wants.remove(want)
        want.granted.set_result(serial)

    async def run(self) -> None:
        """Ask phones what they have while somebody waits for it, for ever."""
        while True:
            await self._to_ask.wait()
            self._to_ask.clear()
            needs = [want.ask.needs for want in self._wants if want.ask.needs.asks_phone]
            asking = self._not_asked(needs)
            if asking:
                async with asyncio.TaskGroup() as group:
                    for serial in asking:
                        group.create_task(self._ask(serial, needs))
            elif self._may_say_more(needs):
                await asyncio.sleep(_RETRY_S)
                self._to_ask.set()

    def _may_say_more(self, needs: Iterable[Needs]) -> bool:
        """Return whether a phone that has not said what somebody waits for is asked again later."""
        return any(
            self._facts.is_let_be(info.serial)
            or any(fit_of(one, info, self._facts.of(info.serial)) is Fit.UNSAID for one in needs)
            for info in self._online()
        )

    async def _ask(self, serial: str, needs: Iterable[Needs]) -> None:
        await self._facts.ask(serial, needs)
        self.consider()

    def _not_asked(self, needs: Iterable[Needs]) -> list[str]:
        needs = list(dict.fromkeys(needs))
        return [
            info.serial
            for info in self._online()
            if not self._facts.is_let_be(info.serial)
            and any(self._is_to_be_asked(info, one) for one in needs)
        ]

    def _is_to_be_asked(self, info: DeviceInfo, needs: Needs) -> bool:
        fit = fit_of(needs, info, self._facts.of(info.serial))
        again = needs.asks_phone and self._facts.may_say_more(info.serial)
        return fit is Fit.UNKNOWN or (fit is Fit.UNSAID and again)

    async def fitting(self, needs: Needs) -> tuple[DeviceInfo, ...]:
        """Return the phones that are online and fit, free ones first; asks those that it has to."""
        for serial in self._not_asked([needs]):
            await self._facts.ask(serial, [needs])
        found = [
            info
            for info in self._online()
            if fit_of(needs, info, self._facts.of(info.serial)) is Fit.YES
        ]
        return tuple(sorted(found, key=lambda one: not self.is_free(one)))

    def check_known(self, serial: str) -> None:
        """Refuse a serial that no device has.

        Raises:
            UsageError: unknown; the remedy names the serials that are known.
        """
        known = [info.serial for info in self._fleet.devices()]
        if serial in known:
            return
        remedy = (
            f"Known devices: {', '.join(known)}; or use a virtual one (run --virtual)."
            if known
            else "No device is connected; connect one, or use a virtual one (run --virtual)."
        )
        raise UsageError(f"There is no device {one_line(serial, 80)!r}.", remedy)

    def why_waiting(self, wish: DeviceRequest) -> str:
        return self._why(Ask(ask_id="", account=wish.account, needs=wish.needs, serial=wish.serial))

    def reasons(self) -> dict[str, str]:
        """Return why each turn that waits does so, by its session."""
        return {want.session_id: self._why(want.ask) for want in self._wants if want.session_id}

    def _why(self, ask: Ask) -> str:
        holders = {held.serial: held.session_id for held in self._held.values()}
        return why_waiting(ask, self._phones(), self._shares(), holders)

    def _phones(self) -> list[Phone]:
        taken = {held.serial for held in self._held.values()}
        return [
            Phone(
                info,
                facts=self._facts.of(info.serial),
                held=info.serial in taken,
                used=self._used.get(info.serial, 0),
            )
            for info in self._fleet.devices()
        ]

    def _shares(self) -> Shares:
        busy: dict[str, int] = {}
        for held in self._held.values():
            busy[held.account] = busy.get(held.account, 0) + 1
        return Shares(busy=busy, served=self._served, most=self._most)

    def _online(self) -> list[DeviceInfo]:
        return [info for info in self._fleet.devices() if info.state is DeviceState.ONLINE]

    def is_free(self, info: DeviceInfo) -> bool:
        """Return whether a device is online, and neither driven nor promised."""
        here = info.state is DeviceState.ONLINE and not info.driver
        return here and all(info.serial != held.serial for held in self._held.values())
