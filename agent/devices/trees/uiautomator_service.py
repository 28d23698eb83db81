"""Keep uiautomator2's service running on one phone while it is used.

Not its calls (`agent.devices.trees.uiautomator_rpc`). Invariants: a service that another program
started is used and never stopped; one that we started ends when it has not been used for a while,
and by the kernel's hang-up when we die, because it runs in the terminal of a shell that we hold
open. A phone gives its UiAutomation to one program at a time, so while ours runs `uiautomator dump`
of others fails: hence the short idle time.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.devices.adb.stream import AdbStream
from agent.devices.resources.resource_ledger import ResourceKind
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.uiautomator_jar import INSTALL, find_jar, place_jar
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from agent.text import one_line

START_TIMEOUT_S = 10.0
IDLE_STOP_S = 20.0
_PING_TIMEOUT_S = 2.0
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.25
_OUTPUT_LIMIT_BYTES = 16 * 1024
_FIRST_SDK = 21  # The server is several dex files in one jar, which Android reads since 5.
_MAIN = "com.wetest.uia2.Main"


class NoServiceError(DeviceError):
    """The service cannot run on this phone now; the message says why."""


class AutomationTakenError(NoServiceError):
    """Another program holds the phone's UiAutomation."""


class UiautomatorService:
    """The service on one phone.

    Args:
        jar: finds the server's file on this computer; None when there is none.
        idle_stop_s: how long it stays when nobody asks.
    """

    def __init__(
        self,
        shell: PhoneShell,
        *,
        jar: Callable[[], Path | None] = find_jar,
        idle_stop_s: float = IDLE_STOP_S,
    ) -> None:
        self._shell = shell
        self._jar = jar
        self._idle_stop_s = idle_stop_s
        self._lock = asyncio.Lock()
        self._run: _Run | None = None
        self._is_shared = False
        self._used_at = 0.0
        self._idle: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        """Whether it was up when it was last asked."""
        return self._is_shared or (self._run is not None and not self._run.ended.is_set())

    @property
    def is_ours(self) -> bool:
        """Whether the service that is up is one that we started."""
        return self.is_up and not self._is_shared

    async def ensure(self, *, timeout_s: float = START_TIMEOUT_S) -> None:
        """Have the service up.

        Raises:
            AutomationTakenError: another program reads the phone's screen.
            NoServiceError: it cannot run there, with the reason.
            DeviceLostError: the phone is away.
        """
        self._used_at = time.monotonic()
        async with self._lock:
            if self.is_up:
                return
            if await rpc.ping(self._shell, timeout_s=min(timeout_s, _PING_TIMEOUT_S)):
                self._is_shared = True
                return
            await self._start(min(timeout_s, START_TIMEOUT_S))

    def drop(self) -> None:
        """Let go of the service at once: it does not answer, or the phone came back anew."""
        self._is_shared = False
        run, self._run = self._run, None
        if run is not None:
            run.end()
        idle, self._idle = self._idle, None
        if idle is not None and idle is not asyncio.current_task():
            idle.cancel()

    async def stop(self) -> None:
        """End the service if it is ours; the phone's UiAutomation is free afterwards."""
        if self.is_ours:
            with suppress(DeviceError):
                await rpc.stop(self._shell, timeout_s=_PING_TIMEOUT_S)
        self.drop()

    async def _start(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        profile = await self._shell.profile(timeout_s=timeout_s)
        path = ""
        # The virtual phone has the service built in, as it has its scrcpy server.
        if not profile.virtual:
            if 0 < profile.sdk < _FIRST_SDK:
                raise self._none(f"Android {profile.android} is too old for it")
            path = await self._placed()
        resources = self._shell.resources
        held = resources.take(ResourceKind.UI_AUTOMATION, _MAIN, serial=self._shell.serial)
        try:
            stream = await self._shell.client.hold(
                self._shell.serial,
                f"shell:CLASSPATH={path} app_process / {_MAIN} -p {rpc.PORT}",
                timeout_s=timeout_s,
            )
        except BaseException:
            resources.settle(held)
            raise
        run = _Run(stream, on_end=lambda: resources.settle(held))
        try:
            await self._until_ready(run, deadline)
        except BaseException:
            run.end()
            raise
        self._run = run
        self._idle = asyncio.create_task(
            self._stop_when_idle(), name=f"idle uiautomator of {self._shell.serial}"
        )

    async def _placed(self) -> str:
        jar = self._jar()
        if jar is None:
            raise self._none("its server is not on this computer", INSTALL)
        try:
            return await place_jar(self._shell, jar)
        except OSError as error:
            raise self._none(f"{jar} cannot be read ({error.strerror})", INSTALL) from error

    async def _until_ready(self, run: "_Run", deadline: float) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            if "already registered" in run.output_end or "already connected" in run.output_end:
                raise AutomationTakenError(
                    f"Another program reads the screen of {self._shell.serial}: its UiAutomation "
                    "is already registered.",
                    "End the other uiautomator, Appium or test run on the phone.",
                )
            if run.ended.is_set():
                raise self._none(
                    f"it ended with: {one_line(run.output_end[-300:], 200) or 'nothing'}"
                )
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise self._none("it was not ready in time")
            with suppress(DeviceTimeoutError):
                if await rpc.ping(self._shell, timeout_s=min(left_s, _PING_TIMEOUT_S)):
                    return
            await run.wait(min(pause_s, left_s))
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _stop_when_idle(self) -> None:
        while True:
            left_s = self._used_at + self._idle_stop_s - time.monotonic()
            if left_s <= 0:
                break
            await asyncio.sleep(left_s)
        async with self._lock:
            await self.stop()

    def _none(self, why: str, remedy: str = "") -> NoServiceError:
        return NoServiceError(
            f"uiautomator2's service does not run on {self._shell.serial}: {why}.",
            remedy or "UI trees are read by `uiautomator dump`, which is slower.",
        )


class _Run:
    """One run of the server: the shell it stands in, and the last it said."""

    def __init__(self, stream: AdbStream, *, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._output = bytearray()
        self.ended = asyncio.Event()
        self._task = asyncio.create_task(self._follow(), name="output of uiautomator")
        self._task.add_done_callback(lambda _: on_end())

    @property
    def output_end(self) -> str:
        """The end of what it wrote."""
        return self._output.decode("utf-8", "replace")

    async def wait(self, timeout_s: float) -> None:
        """Wait until it has ended, for a time at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.ended.wait()

    def end(self) -> None:
        """Close its terminal, which ends it."""
        self._task.cancel()

    async def _follow(self) -> None:
        try:
            while data := await self._stream.reader.read(4096):
                self._output += data
                del self._output[:-_OUTPUT_LIMIT_BYTES]
        except (ConnectionError, DeviceLostError):
            return
        finally:
            self.ended.set()
            self._stream.close()
