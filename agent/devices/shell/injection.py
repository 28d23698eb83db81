"""A phone that takes no touches and keys from adb: how that is said, and what its owner can do.

Not the sending. Invariant: a phone counts as refusing because it said so, in the words below, never
because nothing happened.

Both `input` and the scrcpy server pass on Android's SecurityException: "Injecting input events
requires the caller … to have the INJECT_EVENTS permission" (AOSP `InputManagerService`, since 13),
"Injecting to another application requires INJECT_EVENTS permission" (before). The switches are
those of Genymobile/scrcpy's FAQ (Xiaomi), openstf/stf #603 (account), RikkaApps/Shizuku #374 and
joaomgcd/Tasker-Permissions #21 (OPPO, OnePlus, realme), openatx/uiautomator2 #330 (vivo).
"""

import re

from agent.devices.shell.profile import Profile
from agent.errors import InputRefusedError
from agent.text import one_line

_REFUSED = re.compile(r"INJECT_EVENTS|SecurityException: Inject")
_XIAOMI = (
    'On the phone, switch on "USB debugging (Security settings)" in Settings > Additional settings '
    "> Developer options, for which it wants a SIM card, a Xiaomi account and a network; then "
    "restart the phone."
)
_OPPO = (
    'On the phone, switch on "Disable permission monitoring" near the end of the developer options '
    '("Disable system optimization" since ColorOS 15); then switch USB debugging off and on.'
)
_VIVO = (
    'On the phone, switch on "USB simulated click" or "USB debugging (Security settings)" in the '
    "developer options; then connect it again."
)
_MEIZU = (
    'On the phone, switch off "Flyme payment protection" in the settings of its security app; then '
    "connect it again."
)
_ANY = (
    "Look in the phone's developer options for the switch by which USB debugging may simulate "
    'input, such as "USB debugging (Security settings)" or "Disable permission monitoring"; then '
    "restart the phone."
)
_BY_MAKER = {
    **dict.fromkeys(("xiaomi", "redmi", "poco", "blackshark"), _XIAOMI),
    **dict.fromkeys(("oppo", "realme", "oneplus"), _OPPO),
    **dict.fromkeys(("vivo", "iqoo"), _VIVO),
    "meizu": _MEIZU,
}


def refusal_in(text: str) -> str:
    """Return the line by which a phone says that it takes no injected input; empty if none does."""
    if _REFUSED.search(text) is None:
        return ""
    line = next(line for line in text.splitlines() if _REFUSED.search(line))
    # Before the words of Android stand the log's level and the exception's class.
    return one_line(re.sub(r"^.*?(?=Inject|[^\s:]*INJECT_EVENTS)", "", line), 200)


def refused(serial: str, said: str, profile: Profile | None) -> InputRefusedError:
    """Return the error of a phone that refuses injected input.

    Args:
        said: the phone's own words, one line.
        profile: names the phone's maker; None where it was not read.
    """
    maker = "" if profile is None else f"{profile.maker} {profile.brand}"
    return InputRefusedError(
        f"{serial} refuses touches and keys that come by adb: {said.rstrip('.')}.", remedy(maker)
    )


def remedy(maker: str) -> str:
    """Return what the owner of such a phone can do; `maker` holds its manufacturer and brand."""
    words = re.findall(r"[a-z]+", maker.casefold())
    return next((_BY_MAKER[word] for word in words if word in _BY_MAKER), _ANY)
