"""Input methods of the phone: the keyboard it has, and two known ones that type what adb sends.

The two are apps that have to be installed first; their code is not run, what they do is done here:
a broadcast puts text into the focused field. Not the drawn keyboard (`system.keyboard`).
Invariant: only the input method in use obeys broadcasts, as only that one is connected to a field.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from virtual_phone.well_formed import well_formed

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

LATIN = "com.android.inputmethod.latin/.LatinIME"
RESULT_OK, RESULT_NONE = -1, 0
KEYCODE = re.compile(r"\d{1,4}")

Extras = Mapping[str, str]
Reaction = Callable[["Phone", Extras], str | None]
"""Does what a broadcast asks and returns the result's data; None when it could not."""


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def _type(phone: Phone, text: str | None) -> str | None:
    return None if text is None or not phone.keys.type_text(text) else "success"


def _replace(phone: Phone, text: str | None) -> str | None:
    found = phone.keys.focused_field()
    if found is None or text is None:
        return None
    phone.keys.replace_text(*found, text)
    return "success"


def _submit(phone: Phone, extras: Extras) -> str | None:
    del extras
    found = phone.keys.focused_field()
    if found is None:
        return None
    phone.keys.submit(*found)
    return "success"


def _press(phone: Phone, extras: Extras) -> str | None:
    code = extras.get("code", "")
    return "success" if KEYCODE.fullmatch(code) and phone.keys.press_soft(int(code)) else None


def _hide(phone: Phone, extras: Extras) -> str | None:
    del extras
    phone.focus.hide_keyboard()
    return "success"


def _show(phone: Phone, extras: Extras) -> str | None:
    del extras
    found = phone.keys.focused_field()
    if found is None:
        return None
    phone.focus.view(*found, keyboard=True)
    return "success"


_UIAUTOMATOR: dict[str, Reaction] = {
    "ADB_KEYBOARD_INPUT_TEXT": lambda phone, e: _type(phone, _decoded(e.get("text", ""))),
    "ADB_KEYBOARD_SET_TEXT": lambda phone, e: _replace(phone, _decoded(e.get("text", ""))),
    "ADB_KEYBOARD_CLEAR_TEXT": lambda phone, e: _replace(phone, ""),
    "ADB_KEYBOARD_EDITOR_CODE": _submit,
    "ADB_KEYBOARD_SMART_ENTER": _submit,
    "ADB_KEYBOARD_INPUT_KEYCODE": _press,
    "ADB_KEYBOARD_HIDE": _hide,
    "ADB_KEYBOARD_SHOW": _show,
    "ADB_KEYBOARD_GET_CLIPBOARD": lambda phone, e: base64.b64encode(
        well_formed(phone.clipboard.text).encode()
    ).decode("ascii"),
}
_ADB_KEYBOARD: dict[str, Reaction] = {
    "ADB_INPUT_TEXT": lambda phone, e: _type(phone, e.get("msg")),
    "ADB_INPUT_B64": lambda phone, e: _type(phone, _decoded(e.get("msg", ""))),
    "ADB_INPUT_CODE": _press,
    "ADB_EDITOR_CODE": _submit,
    "ADB_CLEAR_TEXT": lambda phone, e: _replace(phone, ""),
}
KNOWN = {
    "com.github.uiautomator/.AdbKeyboard": _UIAUTOMATOR,
    "com.android.adbkeyboard/.AdbIME": _ADB_KEYBOARD,
}
ANSWERING = frozenset({"com.github.uiautomator/.AdbKeyboard"})
"""Those that put a result into the broadcast; the other one leaves it as it was."""


def methods(phone: Phone) -> list[str]:
    """Return the ids of the input methods that are there, the phone's own first."""
    return [LATIN, *(name for name in KNOWN if name.partition("/")[0] in phone.packages)]


def enabled(phone: Phone) -> list[str]:
    """Return the ids of those that may be chosen."""
    names = (phone.settings.get("secure", "enabled_input_methods") or "").split(":")
    return [name for name in methods(phone) if name in names]


def current(phone: Phone) -> str:
    """Return the id of the one in use; the phone's own when the chosen one is gone."""
    chosen = phone.settings.get("secure", "default_input_method")
    return chosen if chosen in methods(phone) else LATIN


def receive(phone: Phone, action: str | None, extras: Extras) -> tuple[int, str | None]:
    """Return a broadcast to the input method in use; return the result code and its data."""
    name = current(phone)
    reaction = KNOWN.get(name, {}).get(action or "")
    if reaction is None or phone.power.locked or not phone.power.screen_on:
        return RESULT_NONE, None
    data = reaction(phone, extras)
    if data is None or name not in ANSWERING:
        return RESULT_NONE, None
    return RESULT_OK, data
