"""Phones of a pool, for episodes, over adb: looked at by a device, prepared by their own sockets.

Invariants: what a phone says is read within a time-out and a bound; a phone that is put back is
reset by its pool; a phone is marked as driven while it is with an episode, and one that somebody
else has marked, as a console's session, is not taken, nor reset.
"""

import asyncio
import json
import os
import platform
import time
from contextlib import suppress
from secrets import token_hex
from typing import Any

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.device_lease_file import RENEW_EVERY_S, DeviceLeaseFile, LeaseResult
from agent.devices.frames.png import scaled_rgb
from agent.devices.pool.allocation import PooledPhone, PoolEmptyError
from agent.devices.pool.pool import PhonePool
from agent.devices.scrcpy.link import ScrcpySettings
from agent.episodes.actions import Given, carry_out
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phone import EpisodePhone, Look
from agent.errors import DeviceError, DeviceLostError, SwitchboardError, UsageError
from agent.exercises.exercise import Exercise, State
from agent.records import UiNode

CONTROL = "localabstract:virtual-phone-control"
TRUE_STATE = "localabstract:virtual-phone-state"
CALL_S = 15.0
LOOK_AGAIN_S = 0.2
"""How soon a phone that somebody else drives is asked for again; nobody says when it is free."""
MOST_STATE_BYTES = 64 << 20
_GZIP = b"\x1f\x8b"


class PooledPhones:
    """The phones of a pool that is open."""

    def __init__(self, pool: PhonePool) -> None:
        self.pool = pool
        self._key = token_hex(8)

    async def take(self, wait_s: float) -> "AdbPhone":
        """Return a free phone; see `PhoneSource`."""
        until_s = time.monotonic() + wait_s
        while True:
            left_s = max(0.0, until_s - time.monotonic())
            phone, driven = await self._free(left_s)
            if phone is not None:
                return phone
            if not driven or time.monotonic() >= until_s:
                who = f" {', '.join(driven)} is driven by others." if driven else ""
                raise DeviceError(
                    f"No phone came free within {wait_s:g} s.{who}",
                    "End another session, or start more phones.",
                )
            await asyncio.sleep(min(LOOK_AGAIN_S, left_s))

    async def _free(self, wait_s: float) -> "tuple[AdbPhone | None, list[str]]":
        """Return a phone that nobody drives, if one comes in time, and those that others drive."""
        driven: list[PooledPhone] = []
        try:
            while True:
                driven.append(await self.pool.get_async(0.0 if driven else wait_s))
                phone = AdbPhone(driven[-1], self._key)
                if await phone.hold():
                    driven.pop()
                    return phone, []
        except PoolEmptyError:
            return None, [one.serial for one in driven]
        finally:
            for one in driven:
                # As its driver has it.
                self.pool.put(one, reset=False)

    async def put(self, phone: EpisodePhone) -> None:
        """Put a phone back; the pool resets it."""
        assert isinstance(phone, AdbPhone)
        try:
            await phone.close()
        finally:
            self.pool.put(phone.taken)


class AdbPhone:
    """A phone of a pool.

    Args:
        taken: the phone.
        key: tells whose mark it bears while it is driven.
    """

    def __init__(self, taken: PooledPhone, key: str = "") -> None:
        self.taken = taken
        self._mark = DeviceLeaseFile(
            AdbClient(ServerAddress.parse(taken.server)),
            taken.serial,
            owner=f"environment@{platform.node()}:{os.getpid()}",
            key=key or token_hex(8),
        )
        self._keeping: asyncio.Task[None] | None = None
        # A virtual phone has a scrcpy server of its own; only several fingers open it.
        self.device: AdbDevice = taken.device(ScrcpySettings(video=False))
        self._size_px = (0, 0)
        self._is_virtual = not taken.tags & {"real", "emulator"}

    @property
    def serial(self) -> str:
        return self.taken.serial

    @property
    def server(self) -> str:
        return self.taken.server

    async def hold(self) -> bool:
        """Mark the phone as driven until `close`; return False where somebody else drives it."""
        try:
            marked = await self._mark.take()
        except DeviceError:
            # A phone that cannot be marked is looked at by the reset, which says what is wrong.
            return True
        if marked.standing is LeaseResult.THEIRS:
            return False
        self._keeping = asyncio.create_task(self._keep(), name=f"mark of {self.serial}")
        return True

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY_S)
            with suppress(DeviceError):
                await self._mark.take()

    async def begin(self, task: Exercise | None, snapshot: bytes) -> None:
        """Go to a starting state; see `EpisodePhone`."""
        if self._is_virtual or snapshot or (task is not None and task.scenario):
            # An emulator is reset by its pool, when it is put back.
            await self._ask("reset")
        if self._keeping is not None:
            # The reset removed it with all files.
            with suppress(DeviceError):
                await self._mark.take()
        if snapshot:
            await self._restore(snapshot)
        elif task is not None:
            await self._prepare(task)

    async def save(self) -> bytes:
        """Return all that it holds; see `EpisodePhone`."""
        said = await self._exchange(CONTROL, b"snapshot\n")
        if not said.startswith(_GZIP):
            raise DeviceError(
                f"{self.serial} gave no snapshot: {_words(said) or 'no answer'}.",
                "Only virtual phones can be saved.",
            )
        return said

    async def state(self, *, keep: bool) -> State:
        """Return what is true of it; see `EpisodePhone`."""
        said = await self._exchange(TRUE_STATE, b"")
        try:
            state: Any = json.loads(said)
        except ValueError as error:
            raise DeviceError(
                f"The state of {self.serial} cannot be read.", "Tasks need virtual phones."
            ) from error
        return state if isinstance(state, dict) else {}

    async def act(self, tool: str, given: Given) -> None:
        """Carry an action out; see `EpisodePhone`."""
        await carry_out(self.device, tool, given)

    async def look(self, wanted: Look) -> EpisodeObservation:
        """Look at it; see `EpisodePhone`."""
        device = self.device
        error, nodes, xml = "", tuple[UiNode, ...](), b""
        if wanted.tree:
            try:
                tree = await device.tree()
                nodes, xml = tree.nodes, tree.xml
            except DeviceLostError:
                raise
            except SwitchboardError as failed:
                error = str(failed)
        front = await device.foreground()
        png = rgb = b""
        if wanted.picture or wanted.size_px is not None:
            capture = await device.capture()
            png = capture.data
            if wanted.size_px is not None:
                sizes = (wanted.size_px,)
                [rgb] = await asyncio.to_thread(scaled_rgb, device.serial, png, sizes)
            self._size_px = (capture.frame.width_px, capture.frame.height_px)
        elif self._size_px == (0, 0):
            info = await device.info()
            self._size_px = (info.width_px, info.height_px)
        return EpisodeObservation(
            png=png,
            rgb=rgb,
            width_px=self._size_px[0],
            height_px=self._size_px[1],
            orientation=_rotation(xml),
            at_ms=time.time_ns() // 1_000_000,
            nodes=nodes,
            xml=xml,
            package=front.package,
            activity=front.activity,
            keyboard_shown=front.keyboard_shown,
            error=error,
        )

    async def run(self, line: str) -> tuple[int, str]:
        """Run a line of the phone's shell; see `EpisodePhone`."""
        client = self._client()
        features = await client.features(self.serial)
        said = await client.shell(self.serial, line, features=features, timeout_s=CALL_S)
        return said.exit_code or 0, said.text

    async def front(self) -> tuple[str, str]:
        """Return what is in front; see `EpisodePhone`."""
        seen = await self.device.foreground()
        return seen.package, seen.activity

    async def pause(self, seconds: float) -> None:
        """Let time pass; see `EpisodePhone`."""
        await asyncio.sleep(seconds)

    def now_s(self) -> float:
        """Return this computer's time."""
        return time.monotonic()

    async def close(self) -> None:
        """Let go of what is held on the phone.

        The mark stays until it runs out, or a reset removes it: the pool resets the phone first.
        """
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            keeping.cancel()
        await self.device.close()

    async def _ask(self, line: str) -> None:
        said = _words(await self._exchange(CONTROL, f"{line}\n".encode()))
        if said != "done":
            raise DeviceError(
                f"{self.serial} did not carry out {line!r}: {said or 'no answer'}.",
                "Tasks with a starting state need virtual phones.",
            )

    async def _prepare(self, task: Exercise) -> None:
        if task.scenario:
            await self._ask(f"scenario {task.scenario}")
        for command in task.shell:
            await self.run(command)

    async def _restore(self, snapshot: bytes) -> None:
        if not snapshot.startswith(_GZIP) or len(snapshot) > MOST_STATE_BYTES:
            raise UsageError(
                "`snapshot` is not a saved state of a phone.",
                "Pass the bytes that `save` returned.",
            )
        line = f"restore {len(snapshot)}\n".encode()
        said = _words(await self._exchange(CONTROL, line + snapshot))
        if said != "done":
            raise UsageError(
                f"`snapshot` cannot be restored: {said or 'no answer'}.",
                "Give the bytes that `save` returned on a phone of this version.",
            )

    def _client(self) -> AdbClient:
        return AdbClient(ServerAddress.parse(self.taken.server))

    async def _exchange(self, service: str, line: bytes) -> bytes:
        async with self._client().open(self.serial, service, timeout_s=CALL_S) as stream:
            if line:
                stream.writer.write(line)
                await stream.writer.drain()
            return await stream.rest(MOST_STATE_BYTES)


def _words(said: bytes) -> str:
    return said[:200].decode("utf-8", "replace").strip()


def _rotation(xml: bytes) -> int:
    """Return the display's rotation in degrees, from the head of a dump."""
    head = xml[:400].partition(b'rotation="')[2][:1]
    return int(head) * 90 if head in (b"1", b"2", b"3") else 0
