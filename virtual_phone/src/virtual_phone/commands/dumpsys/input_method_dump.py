"""`dumpsys input_method`: the keyboards, and whether one is shown.

Its lines are in the table of that name. Invariant: each value is a state that the phone really has,
but for the view's own flag, which stays set on versions that leave it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys.names import word
from virtual_phone.input import adb_keyboards

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

VISIBLE = 3  # InputMethodService.IME_ACTIVE | IME_VISIBLE


def dump_input_method(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys input_method`."""
    del words
    table = phone.form_factor.lines("input_method")
    # The window first: one that came or went may have ended the input.
    focus = phone.windows.focused
    shown = phone.focus.keyboard_shown
    chosen = adb_keyboards.current(phone)
    field = phone.keys.focused_field() is not None
    values = {
        "chosen": chosen,
        "shown": word(shown),
        "view_shown": word(shown or phone.focus.was_shown),
        "window_vis": str(VISIBLE if shown else 0),
        "interactive": word(phone.power.screen_on),
        "window": focus.token_hex if focus else "0",
        "client": "399e510",
        "token": "e9ad5ca",
        "bound": "yes" if field or shown or phone.focus.was_shown else "",
    }
    rows = table["head"].lines(values)
    for number, name in enumerate(adb_keyboards.methods(phone)):
        rows += table["method"].lines({"number": str(number), "id": name})
    return "\n".join(rows + table["state"].lines(values))
