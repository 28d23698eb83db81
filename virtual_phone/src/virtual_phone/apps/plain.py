"""The page of an app that was installed without pages of its own: its icon and its name.

A stand-in for code that the phone cannot run. Invariant: it never claims to be more.
"""

import msgspec

from virtual_phone.app import App, AppIcon, Page
from virtual_phone.ui.patterns import empty, screen, title_bar
from virtual_phone.ui.views import View


def _nothing(_seed: object) -> msgspec.Struct:
    return msgspec.Struct()


plain: App[msgspec.Struct] = App(
    "", "App", AppIcon("apps", "#7D8AA5", "#56627C"), msgspec.Struct, _nothing
)


def plain_page(page: Page[msgspec.Struct], package: str) -> View:
    """Show an installed package's name, and that its code does not run here."""
    info = page.host.packages.get(package)
    label = info.label if info is not None else package
    return screen(
        title_bar(label),
        empty("apps", label, "This app is installed, but its code does not run on this phone."),
    )
