"""Host virtual phones: one process, one event loop, one TCP port each on the loopback interface.

Not the phone and not adbd. Invariant: nothing listens beyond loopback, nothing is written outside
the home directory it was given, and closing the host ends everything it started.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from virtual_phone.adbd.gate import KeyGate, ListedKeys
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.server.channel import Channel
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.served_phone import EMULATOR_PORTS, ServedPhone
from virtual_phone.state import checkpoint
from virtual_phone.state.checkpoint import Checkpoint
from virtual_phone.state.home_lock import Claim, claim

LAST_PORT = 65535


class PhoneHost:
    """Serve phones while it is entered.

    Args:
        home: directory below which each phone has its own; made when missing.
        count: how many phones.
        port: TCP port of the first; the others follow it. 0: any free ports.
        secure: whether the phones ask before they trust a computer (see `KeyGate`).
        keys: file with the only keys that are let in, without a question (see `ListedKeys`).
        profile: what kind of phones (`virtual_phone.state.profiles`); what they were by default.
        android: which version; the one they had, or their kind has, by default.
        clock: their time, seconds since the epoch; the computer's by default.
    """

    def __init__(
        self,
        home: Path,
        *,
        count: int = 1,
        port: int = 0,
        secure: bool = False,
        keys: Path | None = None,
        profile: str | None = None,
        android: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if count < 1:
            raise PhoneError(f"{count} phones cannot be served", "Ask for at least one.")
        if port and not 0 < port <= LAST_PORT - count + 1:
            raise PhoneError(f"port {port} is out of range", "Use a port from 1024 to 65535.")
        if port and any(one in EMULATOR_PORTS for one in range(port, port + count)):
            raise PhoneError(
                f"ports {port} to {port + count - 1} meet 5554 to 5585, which adb servers adopt "
                "as emulators",
                "Choose a port outside of that range.",
            )
        self._home = home
        self._count = count
        self._port = port
        self._secure = secure
        self._keys = keys
        self._profile = profile
        self._android = android
        self._clock = clock
        self._phones: dict[str, ServedPhone] = {}
        self._channel = Channel(self, home)
        self._claims: list[Claim] = []

    async def start(self) -> list[tuple[str, Phone]]:
        """Start every phone; return (serial, phone) pairs.

        Raises:
            PhoneError: a port cannot be used, the home directory cannot be written, or another
                process serves the phones in it.
        """
        try:
            for index in range(self._count):
                served = await self._make(index)
                await served.listen(self._port + index if self._port else 0)
                self._phones[served.serial] = served
            await self._channel.open()
        except BaseException:
            await self.close()
            raise
        return [(serial, served.phone) for serial, served in self._phones.items()]

    async def _make(self, index: int) -> ServedPhone:
        name = f"virtual-{index + 1}"
        home = self._home / name
        self._claims.append(await claim(home))
        return ServedPhone(
            home,
            name,
            gate=self._gate(home),
            profile=self._profile,
            android=self._android,
            clock=self._clock,
        )

    def _gate(self, home: Path) -> KeyGate | ListedKeys | None:
        if self._keys is not None:
            return ListedKeys(self._keys)
        return KeyGate(home) if self._secure else None

    async def close(self) -> None:
        phones = list(self._phones.values())
        self._phones.clear()
        for served in phones:
            await served.close()
        await self._channel.close()
        while self._claims:
            self._claims.pop().release()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def serials(self) -> list[str]:
        """The serials, in order."""
        return list(self._phones)

    @property
    def phones(self) -> list[Phone]:
        """The phones, in order."""
        return [served.phone for served in self._phones.values()]

    def served(self, serial: str) -> ServedPhone:
        """Return a phone with its port and faults; raise PhoneError for an unknown serial."""
        try:
            return self._phones[serial]
        except KeyError:
            known = ", ".join(self._phones) or "none"
            raise PhoneError(f"no phone {serial} is served", f"Served now: {known}.") from None

    def reset(self, serial: str) -> None:
        """Put a phone back to how it left the factory, its files too; raise PhoneError."""
        self.served(serial).reset()

    async def swipe(
        self,
        serial: str,
        x1: float,
        y1: float,
        x2: float | None = None,
        y2: float | None = None,
        *,
        duration_ms: int = 80,
    ) -> None:
        """Touch a phone as a person does: `getevent` shows it. Without an end it is a tap.

        Raises:
            PhoneError: no such serial.
        """
        end = (x1 if x2 is None else x2, y1 if y2 is None else y2)
        await self.served(serial).touch((x1, y1), end, duration_ms)

    def turn(self, serial: str, degrees: int) -> None:
        """Turn a phone as a hand does, by 0, 90, 180 or 270 degrees; raise PhoneError."""
        self.served(serial).turn(degrees)

    def snapshot(self, serial: str) -> Checkpoint:
        """Return all that a phone holds, apps and files, to go back to; raise PhoneError."""
        return checkpoint.take(self.served(serial).phone)

    def restore(self, serial: str, to: Checkpoint) -> None:
        """Put a phone back to what it held; raise PhoneError."""
        checkpoint.go_back(self.served(serial).phone, to)

    def fault(
        self, serial: str, kind: FaultKind, *, value: float = 0.0, duration_s: float | None = None
    ) -> None:
        """Begin a fault on a phone; raise PhoneError for an unknown serial."""
        self.served(serial).userland.faults.begin(kind, value=value, duration_s=duration_s)


async def serve_forever(
    home: Path,
    count: int,
    port: int,
    announce: Callable[[str, Phone], None],
    *,
    profile: str | None = None,
    android: int | None = None,
    keys: Path | None = None,
) -> None:
    """Serve phones until cancelled; `announce` is called once for each that is ready.

    They end whole however often it is cancelled: a parent ends its input and sends SIGTERM.
    """
    host = PhoneHost(home, count=count, port=port, profile=profile, android=android, keys=keys)
    try:
        for serial, phone in await host.start():
            announce(serial, phone)
        await asyncio.Event().wait()
    finally:
        closing = asyncio.ensure_future(host.close())
        while not closing.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(closing)
        closing.result()
