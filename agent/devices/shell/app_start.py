"""Start apps: find the activity that opens a package, and start it as a launcher would.

Android is asked which activity that is (`cmd package resolve-activity`, Android 7 and later), for
the user whose screen it is, and every category that a launcher opens apps by is tried. `monkey` is
for phones that cannot tell: it needs a phone with keys unless it is told otherwise, and it turns
automatic rotation on, which is put back. Invariant: an app counts as started only if Android did
not refuse it, whatever the exit status is.
"""

import re
from dataclasses import dataclass

from agent.devices.adb.client import ShellResult
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from agent.text import one_line

PACKAGE = re.compile(r"[A-Za-z]\w*(\.\w+)*")
LAUNCHER_CATEGORIES = (
    "LAUNCHER",
    "LEANBACK_LAUNCHER",
    "CAR_LAUNCHER",
    "CAR_MODE",
    "LEANBACK_SETTINGS",
    "INFO",
    "HOME",
    "SECONDARY_HOME",
)
"""What launchers open apps by: on phones, televisions, in cars; pages of settings; packages that
only have a page about themselves; launchers (`android.content.Intent.CATEGORY_*`, PackageManager's
getLaunchIntentForPackage, getLeanbackLaunchIntentForPackage and getCarLaunchIntentForPackage).
"""
_MAIN = "android.intent.action.MAIN"
_CATEGORY = "android.intent.category."
_FLAGS = "0x10200000"
"""FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_RESET_TASK_IF_NEEDED, which bring back an open app."""
_COMPONENT = re.compile(r"\s*([A-Za-z][\w.]*)/([\w.$]+)\s*")
_NONE_FOUND = re.compile(r"^\s*No activit(?:y|ies) found", re.MULTILINE)
_REFUSED = re.compile(
    r"^\s*(?:\*\* )?(?:Error\b|Exception occurred|Security exception|java\.lang\.\w+"
    r"|Permission Denial|Activity not started because)[^\r\n]*",
    re.MULTILINE,
)
_MONKEY_FAILED = re.compile(r"No activities found to run|monkey aborted|SYS_KEYS has no physical")
_TURNING = ("accelerometer_rotation", "user_rotation")
_SETTING = re.compile(r"[0-3]|null")
_RESTORE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Launchable:
    """The activity that opens an app, and the category that it was found by."""

    component: str
    category: str


class AppStarter:
    """Start apps on one phone."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell

    async def launch(self, package: str, *, timeout_s: float) -> None:
        """Start an app on the main display. Raises DeviceError with why it did not start."""
        async with self._shell.bounded(f"starting {package}", timeout_s):
            found = await self._resolve(package, timeout_s)
            refused: DeviceError | None = None
            if found is not None:
                try:
                    await self.start(found, timeout_s=timeout_s)
                    return
                except DeviceError as error:
                    refused = error
            await self._by_monkey(package, timeout_s, refused)

    async def resolve(self, package: str, *, timeout_s: float) -> Launchable:
        """Return what opens an app. Raises DeviceError if nothing does, or nobody can tell."""
        found = await self._resolve(package, timeout_s)
        if found is None:
            raise DeviceError(
                f"{self._shell.serial} does not tell which activity opens {package}.",
                "Start the app on the main display.",
            )
        return found

    async def start(
        self, found: Launchable, *, timeout_s: float, display: int | None = None
    ) -> None:
        """Start an activity, on the main display if none is named.

        Raises DeviceError with Android's words; `am` may refuse and end with 0.
        """
        where = "" if display is None else f"--display {display} "
        command = (
            f"am start {where}-n '{found.component}' -a {_MAIN} -c {_CATEGORY}{found.category} "
            f"-f {_FLAGS}"
        )
        result = await self._shell.run(command, timeout_s)
        if result.exit_code != 0 or _REFUSED.search(result.text):
            raise self._refusal(f"am start {where}-n {found.component}", result)

    # --- below ----------

    async def _resolve(self, package: str, timeout_s: float) -> Launchable | None:
        """Ask for each category; None if the phone cannot tell.

        Raises DeviceError if nothing opens the package.
        """
        for category in LAUNCHER_CATEGORIES:
            wanted = f"--brief -a {_MAIN} -c {_CATEGORY}{category} {package}"
            said = await self._shell.run(f"cmd package resolve-activity {wanted}", timeout_s)
            component, others = _component_of(package, said)
            if not component and others:
                # Several activities open it, and Android answers with its chooser.
                listed = await self._shell.run(f"cmd package query-activities {wanted}", timeout_s)
                component, _ = _component_of(package, listed)
            if component:
                return Launchable(component, category)
            if not others and not _NONE_FOUND.search(said.text):
                return None
        raise DeviceError(
            f"{package} cannot be started on {self._shell.serial}, or is not installed for the "
            "user whose screen it is.",
            "Look for the package in the list of apps; after a restart, unlock the phone first.",
        )

    async def _by_monkey(self, package: str, timeout_s: float, refused: DeviceError | None) -> None:
        before = await self._turning(timeout_s)
        try:
            result = await self._shell.run(
                f"monkey -p {package} --pct-syskeys 0 -c {_CATEGORY}LAUNCHER 1", timeout_s
            )
        finally:
            for name, value in before.items():
                put = f"delete system {name}" if value == "null" else f"put system {name} {value}"
                await self._shell.run(f"settings {put}", _RESTORE_TIMEOUT_S)
        failed = result.exit_code != 0 or _REFUSED.search(result.text)
        if not failed and not _MONKEY_FAILED.search(result.text):
            return
        if refused is not None:
            raise refused
        if "No activities found" in result.text:
            raise DeviceError(
                f"{package} cannot be started on {self._shell.serial}, or is not installed.",
                "Look for the package in the list of apps.",
            )
        raise self._refusal(f"monkey -p {package}", result)

    async def _turning(self, timeout_s: float) -> dict[str, str]:
        """Return the settings of rotation that `monkey` changes, as far as they can be put back."""
        asked = "; ".join(f"settings get system {name}" for name in _TURNING)
        values = (await self._shell.run(asked, timeout_s)).text.split()
        if len(values) != len(_TURNING) or not all(map(_SETTING.fullmatch, values)):
            return {}
        # Automatic rotation last: it is what tells whether the other one counts.
        return dict(reversed(list(zip(_TURNING, values, strict=True))))

    def _refusal(self, command: str, result: ShellResult) -> DeviceError:
        """Make the error of a start that was refused, with the line that says why."""
        why = _REFUSED.search(result.text)
        if why is None:
            return self._shell.failure(command, result)
        return DeviceError(
            f"`{one_line(command, 80)}` was refused on {self._shell.serial}: "
            f"{one_line(why[0].strip(), 200)}.",
            "Open the app by hand, or start another activity of it.",
        )


def _component_of(package: str, said: ShellResult) -> tuple[str, bool]:
    """Return a component of the package out of the output, and whether another's is there."""
    others = False
    for line in said.text.splitlines():
        found = _COMPONENT.fullmatch(line)
        if found is not None and found[1] == package:
            return f"{found[1]}/{found[2]}", others
        others = others or found is not None
    return "", others
