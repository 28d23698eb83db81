"""What a phone is asked for a recording: the commands whose text Switchboard reads.

Each is asked by itself, so that one that hangs or fails costs no other. What tells of a person and
is read by nothing here (messages, calls, contacts, accounts, locations, logs) is not asked.
"""

from collections.abc import Mapping

from agent.devices.facts.battery import BATTERY
from agent.devices.facts.input_methods import INPUT_METHODS
from agent.devices.facts.keyboard import KEYBOARD
from agent.devices.facts.keyguard import KEYGUARD_OF_ACTIVITIES
from agent.devices.facts.packages import launchable_command, packages_command
from agent.devices.facts.power import POWER
from agent.devices.facts.storage import STORAGE
from agent.devices.facts.thermal import THERMAL
from agent.devices.facts.users import CURRENT_USER, USERS

_TREE = "/data/local/tmp/switchboard-recording.xml"


def _dump(option: str) -> str:
    return f"uiautomator dump {option}{_TREE}; cat {_TREE}; rm -f {_TREE}"


QUESTIONS: Mapping[str, str] = {
    "properties": "getprop",
    "size": "wm size; wm density",
    "displays": "dumpsys window displays",
    "windows": "dumpsys window windows",
    "policy": "dumpsys window policy",
    "window": "dumpsys window",
    "activities": KEYGUARD_OF_ACTIVITIES,
    "display": "dumpsys display",
    "input-method": KEYBOARD,
    "power": POWER,
    "battery": BATTERY,
    "thermal": THERMAL,
    "storage": STORAGE,
    "notifications": "dumpsys notification --noredact",
    "notification-keys": "cmd notification list",
    "users": USERS,
    "current-user": CURRENT_USER,
    "packages": packages_command(versions=True),
    "launchable": launchable_command(),
    "input-methods": INPUT_METHODS,
    "tree": _dump(""),
    "tree-windows": _dump("--windows "),
}
"""By the name of the entry."""

KEPT_PROPERTIES = (
    *("ro.product.", "ro.build.", "ro.system.build.", "ro.vendor.build.", "ro.hardware"),
    *("ro.board.platform", "ro.sf.lcd_density", "ro.surface_flinger.", "ro.miui.", "ro.mi."),
    *("ro.oplus.", "ro.vivo.", "ro.config.", "ro.characteristics", "ro.com.google.clientidbase"),
    *(
        "ro.boot.qemu",
        "ro.kernel.qemu",
        "sys.boot_completed",
        "persist.sys.locale",
        "ro.debuggable",
    ),
    *("ro.secure", "ro.adb.secure", "init.svc.adbd", "ro.zygote", "ro.treble.enabled"),
)
"""The beginnings of the properties that a recording has; all others are left out."""
