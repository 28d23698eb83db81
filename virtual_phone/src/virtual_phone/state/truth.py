"""What is true of a phone, whatever its screen shows, as JSON values that are made when looked up.

Invariant: it tells what the phone is now, so whoever wants to compare takes a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from virtual_phone.apps import all_apps

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Truth(Mapping[str, object]):
    """The true state of a phone by name."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def __getitem__(self, name: str) -> object:
        return _PARTS[name](self._phone)

    def __iter__(self) -> Iterator[str]:
        return iter(_PARTS)

    def __len__(self) -> int:
        return len(_PARTS)


class _Apps(Mapping[str, object]):
    """The states of the apps that have one, by package."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def __getitem__(self, package: str) -> object:
        app = all_apps()[package]
        if not app.state.__struct_fields__:
            raise KeyError(package)
        return self._phone.app_data.plain(app)

    def __iter__(self) -> Iterator[str]:
        return (p for p, app in all_apps().items() if app.state.__struct_fields__)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _part(package: str, name: str) -> Callable[[Phone], object]:
    """Return one field of an app's state that checkers ask for often."""

    def part(phone: Phone) -> object:
        data = _Apps(phone).get(package)
        return data.get(name) if isinstance(data, dict) else None

    return part


def _focused_window(phone: Phone) -> str | None:
    focused = phone.windows.focused
    return focused.title if focused is not None else None


_PARTS: dict[str, Callable[[Phone], object]] = {
    "name": lambda phone: phone.name,
    "time": lambda phone: phone.now(),
    "foreground": lambda phone: phone.windows.focused_app,
    "focused_window": _focused_window,
    "screen_on": lambda phone: phone.power.screen_on,
    "locked": lambda phone: phone.power.locked,
    "rotation": lambda phone: phone.rotation.quarters,
    "keyboard_shown": lambda phone: phone.focus.keyboard_shown,
    "clipboard": lambda phone: phone.clipboard.text,
    "wifi": lambda phone: phone.settings.flag("global", "wifi_on"),
    "bluetooth": lambda phone: phone.settings.flag("global", "bluetooth_on"),
    "airplane_mode": lambda phone: phone.settings.flag("global", "airplane_mode_on"),
    "dark_theme": lambda phone: phone.settings.dark,
    "settings": lambda phone: {
        ns: phone.settings.list(ns) for ns in ("system", "secure", "global")
    },
    "packages": lambda phone: [p.package for p in phone.packages],
    "tasks": lambda phone: msgspec.to_builtins(phone.tasks.front_to_back()),
    "notifications": lambda phone: msgspec.to_builtins(phone.state_record.notices),
    "granted": lambda phone: msgspec.to_builtins(phone.state_record.granted),
    "battery": lambda phone: {
        "level": phone.state_record.battery_level,
        "charging": phone.state_record.battery_charging,
    },
    "notes": _part("com.android.notes", "notes"),
    "messages": _part("com.android.messaging", "threads"),
    "apps": _Apps,
    "files": lambda phone: [[f.path, f.size] for f in phone.storage.walk() if not f.folder],
}
