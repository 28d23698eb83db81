"""`dumpsys window`: its sections, in the order and under the words that Android has for them.

What stands in a section is `window_sections`; what an ANR left is `last_anr`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys import last_anr
from virtual_phone.commands.dumpsys.window_sections import displays, one_window, policy, windows

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


def dump_window(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys window [WORD]`; without a word all sections, the last ANR's first."""
    match next((word for word in words if not word.startswith("-")), ""):
        case "" | "all":
            rows = _all(phone)
        case "lastanr" | "l":
            rows = last_anr.section(phone)
        case "policy" | "p":
            rows = policy(phone)
        case "animator" | "a":
            rows = phone.form_factor.lines("window")["animator"].lines({})
        case "sessions" | "s":
            rows = phone.form_factor.lines("window")["sessions"].lines({})
        case "displays" | "d":
            rows = displays(phone)
        case "tokens" | "t":
            rows = phone.form_factor.lines("window")["tokens"].lines({})
        case "windows" | "w" | "visible" | "v" | "visible-apps":
            rows = windows(phone)
        case word:
            rows = one_window(phone, word)
            if not rows:
                rows = phone.form_factor.lines("window")["unknown"].lines({"word": word})
    return "\n".join(rows)


def _all(phone: Phone) -> list[str]:
    table = phone.form_factor.lines("window")
    return [
        *last_anr.section(phone),
        "",
        *policy(phone),
        "",
        *table["animator"].lines({}),
        "",
        *table["sessions"].lines({}),
        "",
        *displays(phone),
        "",
        *table["tokens"].lines({}),
        "",
        *windows(phone),
    ]
