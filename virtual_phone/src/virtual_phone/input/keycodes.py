"""Android key codes: their names, and the characters that a US keyboard gives for them.

Values as in android.view.KeyEvent. Invariant: a name maps to one code.
"""

HOME, BACK, CALL = 3, 4, 5
DPAD_UP, DPAD_DOWN, DPAD_LEFT, DPAD_RIGHT, DPAD_CENTER = 19, 20, 21, 22, 23
VOLUME_UP, VOLUME_DOWN, POWER, CAMERA = 24, 25, 26, 27
TAB, SPACE, EXPLORER, ENVELOPE, ENTER, DEL = 61, 62, 64, 65, 66, 67
MENU, NOTIFICATION = 82, 83
PAGE_UP, PAGE_DOWN, ESCAPE, FORWARD_DEL = 92, 93, 111, 112
MOVE_HOME, MOVE_END, NUMPAD_ENTER, VOLUME_MUTE = 122, 123, 160, 164
SETTINGS, APP_SWITCH, CONTACTS, CALENDAR, MUSIC, CALCULATOR = 176, 187, 207, 208, 209, 210
ASSIST, BRIGHTNESS_DOWN, BRIGHTNESS_UP, SLEEP, WAKEUP = 219, 220, 221, 223, 224
ALL_APPS, CUT, COPY, PASTE = 284, 277, 278, 279
META_SHIFT, META_CTRL = 0x1, 0x1000

CHARACTERS: dict[int, tuple[str, str]] = {
    **{7 + i: (str(i), ")!@#$%^&*("[i]) for i in range(10)},
    **{29 + i: (chr(97 + i), chr(65 + i)) for i in range(26)},
    **{144 + i: (str(i), str(i)) for i in range(10)},
    17: ("*", "*"),
    18: ("#", "#"),
    55: (",", "<"),
    56: (".", ">"),
    62: (" ", " "),
    68: ("`", "~"),
    69: ("-", "_"),
    70: ("=", "+"),
    71: ("[", "{"),
    72: ("]", "}"),
    73: ("\\", "|"),
    74: (";", ":"),
    75: ("'", '"'),
    76: ("/", "?"),
    77: ("@", "@"),
    81: ("+", "+"),
    154: ("/", "/"),
    155: ("*", "*"),
    156: ("-", "-"),
    157: ("+", "+"),
    158: (".", "."),
    159: (",", ","),
    161: ("=", "="),
}
"""Key code to the character without and with shift."""
