"""The apps that every phone has, by package.

A new app is a module here and a line in `_MODULES`. Invariant: package names are unique.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

import msgspec

from agent.phone.app import App, AppIcon

_MODULES = (
    ("agent.phone.system.launcher", "launcher"),
    ("agent.phone.apps.settings", "settings"),
    ("agent.phone.apps.notes", "notes"),
    ("agent.phone.apps.messages", "messages"),
    ("agent.phone.apps.contacts", "contacts"),
    ("agent.phone.apps.dialer", "dialer"),
    ("agent.phone.apps.clock", "clock"),
    ("agent.phone.apps.calendar", "calendar"),
    ("agent.phone.apps.files", "files"),
    ("agent.phone.apps.gallery", "gallery"),
    ("agent.phone.apps.gallery", "camera"),
    ("agent.phone.apps.browser", "browser"),
    ("agent.phone.apps.mail", "mail"),
    ("agent.phone.apps.shop", "shop"),
    ("agent.phone.apps.wallet", "wallet"),
    ("agent.phone.apps.calculator", "calculator"),
)  # fmt: skip

PLAIN_ICON = AppIcon("apps", "#7D8AA5", "#56627C")
AnyApp = App[msgspec.Struct]


@cache
def all_apps() -> dict[str, AnyApp]:
    """Return every app by its package."""
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
