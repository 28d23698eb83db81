"""Name apps whose phone tells only their packages, as adb does.

Pure. In this order: what the phone says, the app's card, the names of widely used packages, the
package itself. Invariant: a name that was made from a package is marked as a guess.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from agent.knowledge.library import Library
from agent.records import AppInfo
from agent.text import one_line

GUESSED = "~"
"""What stands before a name that was made from a package."""
_NAME_CHARS = 60
_WIDELY_USED = {
    "com.android.chrome": "Chrome",
    "com.android.phone": "Phone",
    "com.android.vending": "Play Store",
    "com.facebook.katana": "Facebook",
    "com.facebook.orca": "Messenger",
    "com.google.android.apps.docs": "Google Drive",
    "com.google.android.apps.maps": "Google Maps",
    "com.google.android.apps.messaging": "Messages",
    "com.google.android.apps.nbu.files": "Files by Google",
    "com.google.android.apps.photos": "Google Photos",
    "com.google.android.apps.tachyon": "Google Meet",
    "com.google.android.apps.walletnfcrel": "Google Wallet",
    "com.google.android.apps.youtube.music": "YouTube Music",
    "com.google.android.calculator": "Calculator",
    "com.google.android.calendar": "Google Calendar",
    "com.google.android.contacts": "Contacts",
    "com.google.android.deskclock": "Clock",
    "com.google.android.dialer": "Phone",
    "com.google.android.gm": "Gmail",
    "com.google.android.googlequicksearchbox": "Google",
    "com.google.android.keep": "Google Keep",
    "com.google.android.videos": "Google TV",
    "com.google.android.youtube": "YouTube",
    "com.instagram.android": "Instagram",
    "com.microsoft.office.outlook": "Outlook",
    "com.microsoft.teams": "Teams",
    "com.samsung.android.app.notes": "Samsung Notes",
    "com.samsung.android.calendar": "Calendar",
    "com.samsung.android.dialer": "Phone",
    "com.samsung.android.messaging": "Messages",
    "com.sec.android.app.camera": "Camera",
    "com.sec.android.app.clockpackage": "Clock",
    "com.sec.android.app.myfiles": "My Files",
    "com.sec.android.app.popupcalculator": "Calculator",
    "com.sec.android.app.sbrowser": "Samsung Internet",
    "com.sec.android.gallery3d": "Gallery",
    "com.twitter.android": "X",
    "com.whatsapp": "WhatsApp",
    "com.zhiliaoapp.musically": "TikTok",
    "org.mozilla.firefox": "Firefox",
    "org.telegram.messenger": "Telegram",
    "org.thoughtcrime.securesms": "Signal",
}
"""Apps whose packages say little of what people call them."""
_SAY_NOTHING = frozenset(
    (
        *("android", "app", "apps", "application", "client", "com", "company", "example"),
        *("google", "io", "mobile", "main", "net", "org", "phone", "prod", "release"),
        *("samsung", "sec", "ui", "www"),
    )
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def with_names(apps: Sequence[AppInfo], library: Library) -> tuple[AppInfo, ...]:
    """Return apps with the labels that are known of them; the rest keep none."""
    return tuple(
        app if app.label else replace(app, label=known_name(app.package, library)) for app in apps
    )


def known_name(package: str, library: Library) -> str:
    """Return what people call an app, by its card or its package; empty: not known.

    Nothing that the phone says is in it: an app may call itself anything.
    """
    card = library.of(package)
    return card.app_name if card is not None else _WIDELY_USED.get(package.casefold(), "")


def app_line(app: AppInfo) -> str:
    """Return an app as lists show it: name and package."""
    name = one_line(app.label, _NAME_CHARS) or f"{GUESSED}{name_of_package(app.package)}"
    return f"- {name} ({app.package})"


def name_of_package(package: str) -> str:
    """Return a readable name made of the last part of a package that says anything."""
    parts = [part for part in package.split(".") if part]
    telling = [part for part in parts[1:] or parts if part.casefold() not in _SAY_NOTHING]
    last = (telling or parts or ["unknown"])[-1]
    found = [word for word in _WORD.findall(last) if not word.isdigit()] or [last]
    return one_line(" ".join([found[0].capitalize(), *found[1:]]), _NAME_CHARS)
