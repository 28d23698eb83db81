"""Take what tells of a person out of a phone's outputs, and leave the rest as it was printed.

What is kept is named where texts may stand (a notification, a window's title, a tree's attributes):
everything else there gets a stand-in. Patterns of addresses and numbers are replaced everywhere,
and so is what was found to be personal in another output. Invariants: lines stay lines, and what
readers read besides texts stays the same; a value that is replaced once is replaced everywhere.
"""

import re
from collections.abc import Iterable, Mapping

from agent.devices.recordings.notification_redaction import NotificationRedaction
from agent.devices.recordings.patterns import redact_patterns
from agent.devices.recordings.questions import KEPT_PROPERTIES
from agent.devices.recordings.stand_ins import Personal, StandIns
from agent.devices.recordings.tree_redaction import redact_trees

_LEAST_SERIAL = 6
LEAST_SECRET = 4
"""A shorter value is not looked for elsewhere: it would be found in Android's own words."""
_USER_NAME = re.compile(r"(UserInfo\{\d{1,6}:)(.*)(:[0-9a-fA-F]{1,8}\})")
_PROPERTY = re.compile(r"\[([^\]]{1,200})\]: \[")
_WINDOW = re.compile(r"(Window\{[0-9a-fA-F]+ (?:(?:u\d+|\d+|u) ){0,2})([^\r\n]*?)(\}(?=[\s,:}]|$))")
_ENDS = re.compile(r"(?: (?:paused=\w+|EXITING|SURFACE))+$")
_KEPT_TITLES = re.compile(
    r"[A-Za-z][\w.]*/[\w.$]+|[a-z]\w*(?:\.[a-z]\w*){2,}|null|StatusBar|NavigationBar\d?|NotificationShade|InputMethod|Keyguard"
    r"|Taskbar|Toast|ScreenDecor\w+|EdgeBackGestureHandler\d?|pip-dismiss-overlay|ShellDropTarget"
    r"|DockedStackDivider|AssistPreviewPanel|VolumeDialogImpl|ImageWallpaper|PointerLocation"
    r"|(?:Application Not Responding|Application Error|Splash ?[Ss]creen):? [\w.]+"
    r"|PopupWindow:[0-9a-f]+|[\w.]+\.ImageWallpaper|SecondaryHomeHandle\d*|Leaf:\d+:\d+"
)
_FIELDS = re.compile(
    r"((?<!\w)(?:hintText|label|actionLabel|fieldName|mLabel|title|mTitle|text|mText|"
    r"surroundingText|mInitialSurroundingText|contentDescription|description|mDescription|"
    r"deviceName|mDeviceName|userName|mUserName|accountName|owner|mOwner)=)"
    r"(?!null\b|true\b|false\b|-?\d+\b|0x)([^\r\n,})\]]{1,400})"
)
_QUOTED = re.compile(r'"([^"\r\n]{1,400})"')
_LINKS = re.compile(r"((?<!\w)dat=)(\S+)")
_ACCOUNT = re.compile(r"(Account ?\{name=)([^,}\r\n]{1,200})")
_NETWORK = re.compile(r"((?<!\w)(?:SSID|ssid|mWifiSsid)[:=] ?\"?)([^\",\r\n]{1,64})")
_LONG = re.compile(r"\d{7}")
_REMEMBERED = frozenset(
    {Personal.SERIAL, Personal.NAME, Personal.NETWORK, Personal.TITLE, Personal.TAG}
)
"""What is looked for in every output; texts of the screen are replaced where they stand."""
_DEFAULT_NAMES = frozenset({"Owner", "Guest", "Work profile", "Secure Folder", "User", "Primary"})
_PLAIN = frozenset({"properties", "packages", "launchable", "size", "storage", "current-user"})
"""Outputs in which no text of a person can stand; only patterns and secrets are looked for."""


class Redaction:
    """Redact the outputs of one phone.

    Args:
        serials: how the phone is called, by adb and by itself.
    """

    def __init__(self, stand_ins: StandIns, serials: Iterable[str]) -> None:
        self._stand_ins = stand_ins
        self._secrets: dict[str, tuple[Personal, str]] = {}
        self._notifications = NotificationRedaction(self._replaced)
        for serial in serials:
            if len(serial) >= _LEAST_SERIAL and any(map(str.isdecimal, serial)):
                self._remember(Personal.SERIAL, serial)

    def redact(self, outputs: Mapping[str, str]) -> dict[str, str]:
        """Return the outputs without what tells of a person, under the same names."""
        first = sorted(outputs, key=lambda name: name != "notifications")
        told = {name: self._by_kind(name, outputs[name]) for name in first}
        return {name: self._everywhere(told[name]) for name in outputs}

    def _by_kind(self, name: str, text: str) -> str:
        match name:
            case "properties":
                return _kept_properties(text)
            case "users":
                return _USER_NAME.sub(lambda it: self._group(Personal.NAME, it), text)
            case "notifications":
                return self._notifications.dump(text)
            case "notification-keys":
                return self._notifications.listing(text)
            case "tree" | "tree-windows":
                return redact_trees(text, self._replaced)
            case _ if name in _PLAIN:
                return text
            case _:
                return self._dump(text)

    def _dump(self, text: str) -> str:
        """Redact a dump of a service: titles of windows, texts of fields, links and accounts."""
        text = _WINDOW.sub(self._window, text)
        text = _ACCOUNT.sub(lambda it: self._group(Personal.NAME, it), text)
        text = _NETWORK.sub(lambda it: self._group(Personal.NETWORK, it), text)
        text = _LINKS.sub(lambda it: self._group(Personal.LINK, it), text)
        text = _FIELDS.sub(lambda it: self._group(Personal.FIELD, it), text)
        return _QUOTED.sub(lambda it: f'"{self._quoted(it[1])}"', text)

    def _window(self, found: re.Match[str]) -> str:
        title = found[2]
        bare = _ENDS.sub("", title)
        if not bare or _KEPT_TITLES.fullmatch(bare):
            return found[0]
        return f"{found[1]}{self._replaced(Personal.TITLE, bare)}{title[len(bare) :]}{found[3]}"

    def _quoted(self, said: str) -> str:
        """Return what stands in quotes: a name of code, without blanks, is kept."""
        is_code = re.fullmatch(r"[\w.$/:-]*[._/:][\w.$/:-]*|[A-Z_]+|\d+", said)
        return said if is_code else self._replaced(Personal.FIELD, said)

    def _group(self, kind: Personal, found: re.Match[str]) -> str:
        rest = found[3] if found.lastindex == 3 else ""
        return f"{found[1]}{self._replaced(kind, found[2])}{rest}"

    def _replaced(self, kind: Personal, said: str) -> str:
        """Return the stand-in of a value, and have it replaced wherever else it stands."""
        made = self._stand_ins.text(kind, said)
        if made != said:
            self._remember(kind, said.strip(), made.strip())
        return made

    def _remember(self, kind: Personal, said: str, made: str = "") -> None:
        """Have a value replaced in every output, where it cannot be one of Android's own words."""
        if kind not in _REMEMBERED or len(said) < LEAST_SECRET or said in _DEFAULT_NAMES:
            return
        is_telling = any(character.isspace() or ord(character) > 126 for character in said)
        if kind is Personal.SERIAL or is_telling or kind is Personal.NAME or _LONG.search(said):
            self._secrets.setdefault(said, (kind, made))

    def _everywhere(self, text: str) -> str:
        """Replace addresses and numbers, and what was found to be personal in any output."""
        for said, (kind, made) in sorted(self._secrets.items(), key=lambda it: -len(it[0])):
            if said in text:
                stand_in = made or self._stand_ins.text(kind, said)
                text = stand_in.join(_as_a_word(said).split(text))
        return redact_patterns(text, self._stand_ins)


def _as_a_word(said: str) -> re.Pattern[str]:
    """Return the pattern of a value that is no part of a longer word."""
    return re.compile(rf"(?<!\w){re.escape(said)}(?!\w)")


def _kept_properties(text: str) -> str:
    """Return the properties that say what kind of phone it is; numbers of phones are left out."""
    kept = []
    for line in text.splitlines(keepends=True):
        found = _PROPERTY.match(line)
        name = found[1] if found is not None else ""
        if name.startswith(KEPT_PROPERTIES) and "serial" not in name and "imei" not in name:
            kept.append(line)
    return "".join(kept)
