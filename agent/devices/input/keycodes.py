"""Android's key codes by name (`android.view.KeyEvent`), and the buttons that a model may press.

Invariant: a name stands for one code, a lone digit for the key of that digit; a name that is not
known is refused with the nearest ones.
"""

from difflib import get_close_matches

from agent.devices.protocols import Button
from agent.errors import UsageError

HIGHEST_CODE = 1000  # Android had 320 codes in version 15; what is far beyond is a mistake.

KEY_CODES = {
    "SOFT_LEFT": 1, "SOFT_RIGHT": 2, "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6,
    **{str(digit): 7 + digit for digit in range(10)},
    "STAR": 17, "POUND": 18, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22,
    "DPAD_CENTER": 23, "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "CAMERA": 27, "CLEAR": 28,
    **{chr(ord("A") + letter): 29 + letter for letter in range(26)},
    "COMMA": 55, "PERIOD": 56, "ALT_LEFT": 57, "ALT_RIGHT": 58, "SHIFT_LEFT": 59,
    "SHIFT_RIGHT": 60, "TAB": 61, "SPACE": 62, "SYM": 63, "EXPLORER": 64, "ENVELOPE": 65,
    "ENTER": 66, "DEL": 67, "GRAVE": 68, "MINUS": 69, "EQUALS": 70, "LEFT_BRACKET": 71,
    "RIGHT_BRACKET": 72, "BACKSLASH": 73, "SEMICOLON": 74, "APOSTROPHE": 75, "SLASH": 76,
    "AT": 77, "HEADSETHOOK": 79, "FOCUS": 80, "PLUS": 81, "MENU": 82, "NOTIFICATION": 83,
    "SEARCH": 84, "MEDIA_PLAY_PAUSE": 85, "MEDIA_STOP": 86, "MEDIA_NEXT": 87,
    "MEDIA_PREVIOUS": 88, "MEDIA_REWIND": 89, "MEDIA_FAST_FORWARD": 90, "MUTE": 91,
    "PAGE_UP": 92, "PAGE_DOWN": 93, "ESCAPE": 111, "FORWARD_DEL": 112, "CTRL_LEFT": 113,
    "CTRL_RIGHT": 114, "CAPS_LOCK": 115, "MOVE_HOME": 122, "MOVE_END": 123, "INSERT": 124,
    **{f"F{number}": 130 + number for number in range(1, 13)},
    "NUM_LOCK": 143, "VOLUME_MUTE": 164, "APP_SWITCH": 187, "ASSIST": 219, "BRIGHTNESS_DOWN": 220,
    "BRIGHTNESS_UP": 221, "SLEEP": 223, "WAKEUP": 224, "CUT": 277, "COPY": 278, "PASTE": 279,
}  # fmt: skip

_BUTTONS = {Button.DELETE: "DEL", Button.RECENTS: "APP_SWITCH"}


def button_code(button: Button) -> int:
    """Return Android's key code of a button that a model may press."""
    return KEY_CODES[_BUTTONS.get(button, button.value)]


def key_code(name: str) -> int:
    """Return the code of a key by its name, with or without KEYCODE_, or of its number.

    Raises UsageError for a name that is not known.
    """
    word = name.strip().upper().removeprefix("KEYCODE_")
    if word in KEY_CODES:
        return KEY_CODES[word]
    if word.isascii() and word.isdigit() and 0 < int(word[:9]) <= HIGHEST_CODE:
        return int(word)
    near = get_close_matches(word, KEY_CODES, n=3)
    raise UsageError(
        f"There is no key called {name[:40]!r}.",
        f"Did you mean {' or '.join(near)}?" if near else "Name it as Android's KeyEvent does.",
    )
