"""Android's key codes by name (`android.view.KeyEvent`), and the buttons that a model may press.

Invariant: a name stands for one code, a lone digit for the key of that digit; a name that is not
known is refused with the nearest ones.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import count

from agent.devices.protocols import Button
from agent.errors import UsageError

HIGHEST_CODE = 1000  # Android had 320 codes in version 15; what is far beyond is a mistake.

_RUNS = """
1 SOFT_LEFT SOFT_RIGHT HOME BACK CALL ENDCALL 0 1 2 3 4 5 6 7 8 9 STAR POUND DPAD_UP DPAD_DOWN
    DPAD_LEFT DPAD_RIGHT DPAD_CENTER VOLUME_UP VOLUME_DOWN POWER CAMERA CLEAR A B C D E F G H I
    J K L M N O P Q R S T U V W X Y Z COMMA PERIOD ALT_LEFT ALT_RIGHT SHIFT_LEFT SHIFT_RIGHT TAB
    SPACE SYM EXPLORER ENVELOPE ENTER DEL GRAVE MINUS EQUALS LEFT_BRACKET RIGHT_BRACKET
    BACKSLASH SEMICOLON APOSTROPHE SLASH AT
79 HEADSETHOOK FOCUS PLUS MENU NOTIFICATION SEARCH MEDIA_PLAY_PAUSE MEDIA_STOP MEDIA_NEXT
    MEDIA_PREVIOUS MEDIA_REWIND MEDIA_FAST_FORWARD MUTE PAGE_UP PAGE_DOWN
111 ESCAPE FORWARD_DEL CTRL_LEFT CTRL_RIGHT CAPS_LOCK
122 MOVE_HOME MOVE_END INSERT
131 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 NUM_LOCK
164 VOLUME_MUTE
187 APP_SWITCH
219 ASSIST BRIGHTNESS_DOWN BRIGHTNESS_UP
223 SLEEP WAKEUP
277 CUT COPY PASTE
"""
"""Runs of codes: the first code, then the names of it and of those that follow."""


def _codes(runs: str) -> Iterator[tuple[str, int]]:
    for run in re.split(r"\n(?! )", runs.strip()):
        first, *names = run.split()
        yield from zip(names, count(int(first)))


KEY_CODES = dict(_codes(_RUNS))

_BUTTONS = {
    Button.DELETE: "DEL",
    Button.RECENTS: "APP_SWITCH",
    Button.NOTIFICATIONS: "NOTIFICATION",
}


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
