"""The parts of one phone that are tried one by one, each by itself and without its replacements.

Not the probes. Sessions compose the same parts in `agent.devices.adb_device`, where one stands in
for another; here a part that fails has to be seen to fail.
"""

from agent.devices.adb.client import AdbClient
from agent.devices.frames.display_size import DisplaySize
from agent.devices.frames.screencap import Screencap
from agent.devices.gestures import Gesture
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.input.input_channel import ShellInput
from agent.devices.protocols import UiTree
from agent.devices.resources.resource_ledger import ResourceLedger
from agent.devices.scrcpy.control_input import WarmInput
from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.dump import treeless
from agent.devices.trees.tree_provider import WarmTrees
from agent.devices.trees.tree_source import DumpTrees
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import DeviceError
from agent.records import Point


class PhoneParts:
    """The parts of one phone.

    Args:
        scrcpy: which server is used; its control socket is opened when a probe wants it.
    """

    def __init__(
        self,
        client: AdbClient,
        serial: str,
        *,
        scrcpy: ScrcpySettings,
        resources: ResourceLedger | None = None,
    ) -> None:
        self.shell = PhoneShell(client, serial, keeps_shells=True, resources=resources)
        self.display = DisplaySize(self.shell)
        self.screencap = Screencap(self.shell, self.display)
        self.service = UiautomatorService(self.shell)
        self.dump = DumpTrees(self.shell, self.display)
        self.service_trees = WarmTrees(
            self.shell, self.display, service=self.service, cold=NoDump(serial)
        )
        self.trees = WarmTrees(self.shell, self.display, service=self.service, cold=self.dump)
        """What the effects of acts are read from: the quickest source that works."""
        self.link = ScrcpyLink(self.shell, scrcpy)
        self.cold_input = ShellInput(self.shell, self.display)
        self.control_input = WarmInput(self.link, self.display, NoInput(serial))
        self.keyboard = Keyboard(serial, self.shell.run, resources=resources)

    @property
    def serial(self) -> str:
        return self.shell.serial

    async def close(self) -> None:
        """Let go of everything that is held on the phone."""
        await self.control_input.close_socket()
        await self.trees.close()
        self.shell.close()


class NoInput:
    """No second way of touching: what the control socket does not do is not done."""

    def __init__(self, serial: str) -> None:
        self._serial = serial

    async def perform(self, gesture: Gesture, *, timeout_s: float) -> None:
        """Raise DeviceError."""
        raise self._refusal()

    async def scroll(
        self, at: Point, *, horizontal: float, vertical: float, timeout_s: float
    ) -> None:
        """Raise DeviceError."""
        raise self._refusal()

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Raise DeviceError."""
        raise self._refusal()

    def _refusal(self) -> DeviceError:
        return DeviceError(f"The control socket of {self._serial} did not take it.", "")


class NoDump:
    """No second source of trees."""

    def __init__(self, serial: str) -> None:
        self._serial = serial

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Raise TreeUnavailableError."""
        raise treeless(self._serial, "only the service was asked")

    def forget(self) -> None:
        """Hold nothing."""

    async def close(self) -> None:
        """Hold nothing."""
