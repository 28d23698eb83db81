"""The apps that every phone has, by package.

A new app is a module here and a line in `_MODULES`. Invariant: package names are unique.
"""

import importlib
from functools import cache
from typing import cast

import msgspec

from virtual_phone.app import App, AppIcon

_MODULES = (
    ("virtual_phone.system.launcher", "launcher"),
    ("virtual_phone.apps.settings.app", "settings"),
    ("virtual_phone.apps.notes", "notes"),
    ("virtual_phone.apps.messages", "messages"),
    ("virtual_phone.apps.contacts", "contacts"),
    ("virtual_phone.apps.dialer", "dialer"),
    ("virtual_phone.apps.clock", "clock"),
    ("virtual_phone.apps.calendar", "calendar"),
    ("virtual_phone.apps.files", "files"),
    ("virtual_phone.apps.gallery", "gallery"),
    ("virtual_phone.apps.gallery", "camera"),
    ("virtual_phone.apps.browser", "browser"),
    ("virtual_phone.apps.mail", "mail"),
    ("virtual_phone.apps.shop.app", "shop"),
    ("virtual_phone.apps.wallet", "wallet"),
    ("virtual_phone.apps.calculator", "calculator"),
    ("virtual_phone.apps.lights", "lights"),
)

PLAIN_ICON = AppIcon("apps", "#7D8AA5", "#56627C")
AnyApp = App[msgspec.Struct]


@cache
def all_apps() -> dict[str, AnyApp]:
    found: dict[str, AnyApp] = {}
    for module, name in _MODULES:
        app = cast(AnyApp, getattr(importlib.import_module(module), name))
        found[app.package] = app
    return found


def app_of(package: str) -> AnyApp | None:
    """Return the app of a package, or None for one that was installed without pages."""
    return all_apps().get(package)


def icon_of(package: str) -> AppIcon:
    """Return a package's icon."""
    app = app_of(package)
    return app.icon if app is not None else PLAIN_ICON
