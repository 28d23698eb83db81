"""Injected touches and keys that the phone refuses, as makers' phones do by default.

MIUI and HyperOS want "USB debugging (Security settings)", vivo "USB simulated click", ColorOS
"Disable permission monitoring". Not the touches. What is printed: AOSP `InputManagerService`
(`injectInputEventToTarget` since 13, `injectInputEventInternal` before), `ShellCommand.exec` since
12, and the public reports Genymobile/scrcpy #4352 (MIUI 14) and kkevsekk1/AutoX #1216 (exit 255).
"""

from typing import TYPE_CHECKING

from virtual_phone.server.faults import FaultKind

if TYPE_CHECKING:
    from virtual_phone.userland.userland import Userland

_FIRST_CHECKED_AT_ONCE_SDK = 33
_FIRST_SHELL_COMMAND_SDK = 31
_BEFORE_13 = "Injecting to another application requires INJECT_EVENTS permission"
_SINCE_13 = (
    "Injecting input events requires the caller (or the source of the instrumentation, if any) to "
    "have the INJECT_EVENTS permission."
)


def is_refused(userland: "Userland") -> bool:
    """Return whether the phone takes no touches and keys from adb now."""
    return userland.phone.refuses_injection or FaultKind.REFUSED_INPUT in userland.faults


def reason(userland: "Userland") -> str:
    """Return the SecurityException's message in this Android's words."""
    return _SINCE_13 if _sdk(userland) >= _FIRST_CHECKED_AT_ONCE_SDK else _BEFORE_13


def shell_words(userland: "Userland", verb: str) -> tuple[str, int]:
    """Return what `input` prints to stderr, and its exit status."""
    sdk = _sdk(userland)
    head = f"java.lang.SecurityException: {reason(userland)}\n"
    if sdk < _FIRST_SHELL_COMMAND_SDK:
        # A program of its own then: its uncaught exception, with the service's stack below it.
        return (
            head + "\tat android.os.Parcel.createExceptionOrNull(Parcel.java:2373)\n"
            "\tat android.os.Parcel.readException(Parcel.java:2340)\n"
            "\tat android.hardware.input.InputManager.injectInputEvent(InputManager.java:907)\n"
            "\tat com.android.commands.input.Input.main(Input.java:71)",
            1,
        )
    place = "Internal" if sdk < _FIRST_CHECKED_AT_ONCE_SDK else "ToTarget"
    return (
        f"\nException occurred while executing '{verb}':\n{head}"
        f"\tat com.android.server.input.InputManagerService.injectInputEvent{place}"
        "(InputManagerService.java:1060)\n"
        "\tat com.android.server.input.InputShellCommand.onCommand(InputShellCommand.java:236)\n"
        "\tat android.os.ShellCommand.exec(ShellCommand.java:38)",
        255,
    )


def server_words(userland: "Userland", *, is_short: bool) -> tuple[str, ...]:
    """Return the lines that a scrcpy server logs for one event.

    Args:
        is_short: as servers of 3.3 and newer say it, in `InputManager.injectInputEvent`; older ones
            print the exception with its stack.
    """
    why = reason(userland)
    if is_short:
        return (
            f"[server] ERROR: {why}",
            '[server] ERROR: Make sure you have enabled "USB debugging (Security Settings)" and '
            "then rebooted your device.",
        )
    return (
        "[server] ERROR: Could not invoke method",
        "java.lang.reflect.InvocationTargetException",
        "\tat java.lang.reflect.Method.invoke(Native Method)",
        "\tat com.genymobile.scrcpy.wrappers.InputManager.injectInputEvent(InputManager.java:37)",
        "\tat com.genymobile.scrcpy.Controller.handleEvent(Controller.java:138)",
        "\tat java.lang.Thread.run(Thread.java:1012)",
        f"Caused by: java.lang.SecurityException: {why}",
        "\tat android.os.Parcel.createExceptionOrNull(Parcel.java:3011)",
        "\t... 10 more",
    )


def _sdk(userland: "Userland") -> int:
    said = userland.phone.properties.get("ro.build.version.sdk", "")
    return int(said) if said.isdecimal() else 0
