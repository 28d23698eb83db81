"""What operators do with phones beside driving them: apps, logs, rotation, waking, unlocking.

Not what a model may do. Invariants: every call ends within its time-out, a log alone follows the
phone until its reader stops; what the phone refuses is raised with its own words; a name that goes
into a shell command is checked first.
"""

import re
import shlex
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from secrets import token_hex

from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.adb.sync import push
from agent.devices.facts.fact import Fact
from agent.devices.facts.keyguard import Keyguard
from agent.devices.health.screen_lock import ScreenLock, last_words
from agent.devices.resources.resource_ledger import ResourceKind, ResourceLedger
from agent.devices.shell.rotation import rotation_commands
from agent.errors import DeviceError, UsageError
from agent.text import one_line

INSTALL_TIMEOUT_S = 300.0
FILE_TIMEOUT_S = 600.0
FILE_LIMIT_BYTES = 4 * 1024 * 1024 * 1024
_CALL_TIMEOUT_S = 20.0
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.\w+)+")
_FILTER = re.compile(r"[\w.*/-]{1,80}:[VDIWEFS]")
_LOG_LINE_LIMIT = 4000


class DeviceAdmin:
    """The extras of one phone.

    Args:
        client: the server that reaches it.
        serial: its name there.
        resources: where what is taken on the phone is written down.
    """

    def __init__(
        self, client: AdbClient, serial: str, *, resources: ResourceLedger | None = None
    ) -> None:
        self._client = client
        self._serial = serial
        self._resources = resources or ResourceLedger()
        self._features: frozenset[str] | None = None
        self._lock = ScreenLock(serial, self.shell)

    # --- apps ----------

    async def install(self, apk: Path, *, progress: Callable[[int], None] | None = None) -> None:
        """Install an app from a file, replacing an older one.

        Raises UsageError for what is no APK, DeviceError with the package manager's reason.
        """
        data = read_apk(apk)
        place = f"/data/local/tmp/switchboard-{token_hex(6)}.apk"
        file = self._resources.take(ResourceKind.FILE, place, serial=self._serial)
        try:
            await push(
                self._client, self._serial, data, place, timeout_s=FILE_TIMEOUT_S, progress=progress
            )
            said = await self.shell(f"pm install -r -t {place}", timeout_s=INSTALL_TIMEOUT_S)
        finally:
            try:
                await self.shell(f"rm -f {place}")
            except BaseException:
                self._resources.abandon(file)
                raise
            self._resources.settle(file)
        if "Success" not in said.text:
            raise DeviceError(
                f"{self._serial} did not install {apk.name}: {last_words(said)}.",
                "INSTALL_FAILED_* codes are explained in Android's PackageManager reference.",
            )

    async def uninstall(self, package: str) -> None:
        """Remove an app with its data. Raises DeviceError with the package manager's reason."""
        await self._package_call(f"pm uninstall {checked_package(package)}", "uninstall", package)

    async def clear(self, package: str) -> None:
        """Delete an app's data. Raises DeviceError with the package manager's reason."""
        await self._package_call(f"pm clear {checked_package(package)}", "clear", package)

    async def _package_call(self, command: str, doing: str, package: str) -> None:
        said = await self.shell(command, timeout_s=60.0)
        if "Success" not in said.text:
            raise DeviceError(
                f"{self._serial} did not {doing} {package}: {last_words(said)}.",
                f"See which apps there are: switchboard devices apps {self._serial}",
            )

    # --- the log ----------

    async def log(
        self, *, filters: tuple[str, ...] = (), last: int = 0, follow: bool = True
    ) -> AsyncGenerator[str, None]:
        """Follow the phone's log, one line at a time, cleaned.

        Args:
            filters: such as `ActivityManager:I`; with any, everything else is left out.
            last: begin so many lines back; 0 = with all there is.
            follow: whether to wait for more at the end.
        """
        for one in filters:
            if not _FILTER.fullmatch(one):
                raise UsageError(
                    f"{one_line(one, 60)!r} is not a log filter.",
                    "Write TAG:PRIORITY with one of V D I W E F S, such as ActivityManager:I.",
                )
        words = ["logcat", "-v", "threadtime", *([] if follow else ["-d"])]
        words += ["-T" if follow else "-t", str(last)] if last else []
        words += [*filters, "*:S"] if filters else []
        stream = await self._client.hold(
            self._serial, "exec:" + shlex.join(words), timeout_s=_CALL_TIMEOUT_S
        )
        try:
            pending = b""
            while chunk := await stream.reader.read(1 << 16):
                *lines, pending = (pending + chunk).split(b"\n")
                pending = pending[:_LOG_LINE_LIMIT]
                for line in lines:
                    yield one_line(line.decode("utf-8", "replace").rstrip("\r"), _LOG_LINE_LIMIT)
            if pending:
                yield one_line(pending.decode("utf-8", "replace"), _LOG_LINE_LIMIT)
        finally:
            stream.close()

    # --- the screen ----------

    async def rotate(self, how: str) -> None:
        """Turn the screen: portrait, landscape, upside-down, seascape, or auto."""
        for line in rotation_commands(how):
            await self._checked(line)

    async def wake(self) -> None:
        """Switch the screen on. Raises DeviceError when it stays off, or does not say."""
        await self._lock.wake()

    async def unlock(self, pin: str = "") -> None:
        """Wake the phone and put its lock screen away; with the PIN where there is one.

        Raises DeviceError when it stays locked, or does not say: a pattern or a fingerprint takes
        a hand.
        """
        await self._lock.unlock(pin)

    async def is_awake(self) -> Fact[bool]:
        """Return whether the screen is on."""
        return await self._lock.is_awake()

    async def keyguard(self) -> Fact[Keyguard]:
        """Return the lock screen, which an app may cover."""
        return await self._lock.keyguard()

    # --- below ----------

    async def shell(self, command: str, *, timeout_s: float = _CALL_TIMEOUT_S) -> ShellResult:
        """Run a command, whatever its exit code."""
        if self._features is None:
            self._features = await self._client.features(self._serial)
        return await self._client.shell(
            self._serial, command, features=self._features, timeout_s=timeout_s
        )

    async def _checked(self, command: str) -> None:
        said = await self.shell(command)
        if said.exit_code != 0:
            raise DeviceError(
                f"`{command.split(' ')[0]}` failed on {self._serial}: {last_words(said)}.",
                "Some manufacturers block it over adb: do it on the phone.",
            )


def checked_package(package: str) -> str:
    """Return a checked package name. Raises UsageError if it is not one."""
    if not _PACKAGE.fullmatch(package):
        raise UsageError(
            f"{one_line(package, 80)!r} is not the name of a package.",
            "Name an app by its package, such as com.android.settings.",
        )
    return package


def read_apk(apk: Path) -> bytes:
    """Read a file that can be installed. Raises UsageError if it is not one."""
    try:
        data = apk.read_bytes()
    except OSError as error:
        raise UsageError(f"{apk} cannot be read: {error.strerror}.", "Name an APK file.") from error
    if not data.startswith(b"PK"):
        raise UsageError(f"{apk} is not an APK.", "An APK is a ZIP archive; name one.")
    return data
