"""What `dumpsys window` keeps of the last app that did not respond.

As WindowManagerService.saveANRStateLocked: the dump of that moment, kept for two hours and printed
before anything else. Not the dialog (`virtual_phone.system.prompts`). Invariant: a phone that
starts anew knows of none.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys.names import focused_app, top_name, window_name
from virtual_phone.commands.dumpsys.window_sections import (
    displays,
    focused_window,
    windows_without_head,
)

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

KEPT_S = 2 * 3600.0
"""LAST_ANR_LIFETIME_DURATION_MSECS of WindowManagerService."""


def keep(phone: Phone, package: str) -> None:
    """Keep what the windows are like while an app does not respond."""
    table = phone.form_factor.lines("window")
    focuses: list[str] = []
    for entry in phone.displays.stacked():
        focus = focused_window(phone, entry.id)
        focuses += table["kept_display"].lines(
            {
                "id": str(entry.id),
                "focus": window_name(focus) if focus else "null",
                "app_record": focused_app(phone, entry.id),
            }
        )
    values = {
        "at": time.strftime("%b %d, %Y %I:%M:%S %p", time.gmtime(phone.now())),
        "app_record": top_name(phone, 0) or package,
        "reason": f"Input dispatching timed out ({package} is not responding. Waited 5000ms)",
        "windows": "\n".join(windows_without_head(phone)),
        "displays": "\n".join(displays(phone)),
        "focuses": "\n".join(focuses),
    }
    phone.prompts.last_anr = (phone.now(), "\n".join(table["kept"].lines(values)))


def section(phone: Phone) -> list[str]:
    """Return `dumpsys window lastanr`."""
    at, text = phone.prompts.last_anr
    fresh = text if phone.now() - at < KEPT_S else ""
    return phone.form_factor.lines("window")["anr"].lines({"anr": fresh})
