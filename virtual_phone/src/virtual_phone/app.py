"""How an app is declared: its state, its pages, and what a page may do.

An app is one file: a state struct, a seed, and a function for each activity that turns the state
into views. Not an app itself. Invariant: calling a page function again changes nothing more: it
reads, and what it may write (a message is read) is the same however often; callbacks do the rest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import msgspec

from virtual_phone.packages.installed import PackageInfo
from virtual_phone.state.records import FieldState, Notice, PageState
from virtual_phone.ui.patterns import alert
from virtual_phone.ui.vocabulary import button

if TYPE_CHECKING:
    from virtual_phone.activities import Activities
    from virtual_phone.display.displays import Displays
    from virtual_phone.display.rotation import Rotation
    from virtual_phone.input.clipboard import Clipboard
    from virtual_phone.input.focus import Focus
    from virtual_phone.notices import Notifications, Shade, Toasts
    from virtual_phone.packages.installed import PackageTable
    from virtual_phone.packages.permissions import Permissions
    from virtual_phone.power import Power
    from virtual_phone.state.app_data import AppData
    from virtual_phone.state.properties import Properties
    from virtual_phone.state.settings_provider import SettingsTable
    from virtual_phone.state.storage import SharedStorage
    from virtual_phone.system.prompts import Prompts
    from virtual_phone.ui.canvas import Canvas
    from virtual_phone.ui.views import Rect, View

S = TypeVar("S", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Seed:
    """What an app makes its first state from: seeded chance and the time of the reset."""

    rng: random.Random
    now: float  # Seconds since the epoch.


class Host(Protocol):
    """What pages need of the phone."""

    name: str
    settings: SettingsTable
    properties: Properties
    packages: PackageTable
    storage: SharedStorage
    app_data: AppData
    activities: Activities
    displays: Displays
    rotation: Rotation
    power: Power
    focus: Focus
    clipboard: Clipboard
    toasts: Toasts
    notifications: Notifications
    shade: Shade
    permissions: Permissions
    prompts: Prompts

    def now(self) -> float: ...
    def after(self, delay_s: float, call: Callable[[], None]) -> None: ...
    def invalidate(self) -> None: ...


class Page(Generic[S]):
    """One activity on the screen, as its page function sees it."""

    def __init__(self, host: Host, app: App[S], state: PageState, data: S) -> None:
        self.host = host
        self.app = app
        self.state = state
        self.data = data
        self.dialog: View | None = None
        self.on_dismiss: Callable[[], None] | None = None
        self.on_back: Callable[[], bool] | None = None
        self.secure = False

    @property
    def args(self) -> dict[str, str]:
        """What the activity was started with."""
        return self.state.args

    def local(self, key: str, default: str = "") -> str:
        """Return a value that belongs to this page only (an open menu, a chosen tab)."""
        return self.state.local.get(key, default)

    def set(self, key: str, value: str = "1") -> None:
        """Keep a value of this page; the empty string forgets it."""
        if value:
            self.state.local[key] = value
        else:
            self.state.local.pop(key, None)

    def setter(self, key: str, value: str = "1") -> Callable[[], None]:
        """Return a callback that keeps a value of this page."""
        return lambda: self.set(key, value)

    def field(self, key: str, default: str = "") -> str:
        """Return what stands in a text field."""
        state = self.state.fields.get(key)
        return default if state is None else state.text

    def set_field(self, key: str, text: str) -> None:
        """Replace what stands in a text field, the cursor at its end."""
        self.state.fields[key] = FieldState(text, len(text), len(text))

    def focus(self, key: str) -> None:
        """Focus a text field and show the keyboard."""
        self.host.focus.field(self.state, key)

    def open(self, activity: str, into: str = "", /, **args: str) -> None:
        """Start an activity of this app, or of the package `into`, with any arguments."""
        self.host.activities.open(self.state, into or self.app.package, activity, args)

    def opener(self, activity: str, into: str = "", /, **args: str) -> Callable[[], None]:
        """Return a callback that starts an activity; the arguments are those of `open`."""
        return lambda: self.open(activity, into, **args)

    def close(self) -> None:
        """Finish this activity, as Back does."""
        self.host.activities.close(self.state)

    def load(self, seconds: float) -> None:
        """Load for a while, as what comes over a network does."""
        self.host.activities.load(self.state, seconds)

    @property
    def loading(self) -> bool:
        """Whether what this page shows has not come yet."""
        return self.host.activities.is_loading(self.state)

    def toast(self, text: str) -> None:
        """Show a short message at the bottom of the screen."""
        self.host.toasts.show(text)

    def show_dialog(self, dialog: View, on_dismiss: Callable[[], None]) -> None:
        """Attach a dialog window; Back and a tap outside call `on_dismiss`."""
        self.dialog = dialog
        self.on_dismiss = on_dismiss

    def confirm(
        self, title: str, message: str, act: str, then: Callable[[], None], *, local: str
    ) -> None:
        """Show a dialog that asks before something is done.

        Args:
            act: what the button says that does it.
            then: what it does.
            local: the value of this page that keeps the dialog open; each way out forgets it.
        """
        cancel = self.setter(local, "")

        def go() -> None:
            cancel()
            then()

        actions = button("Cancel", cancel, look="text"), button(act, go, look="text")
        self.show_dialog(alert(title, message, *actions), cancel)

    @property
    def now(self) -> float:
        """The phone's time in seconds since the epoch."""
        return self.host.now()

    @property
    def settings(self) -> SettingsTable:
        return self.host.settings


PageFunction = Callable[[Page[S]], "View"]


@dataclass(frozen=True, slots=True)
class AppIcon:
    """A launcher icon: two colors of a gradient and a drawing on it, or a painter of its own."""

    drawing: str
    top: str
    bottom: str
    ink: str = "#FFFFFF"
    paint: Callable[[Canvas, Rect], None] | None = None


@dataclass(eq=False)
class App(Generic[S]):
    """Declare an app."""

    package: str
    label: str
    icon: AppIcon
    state: type[S]
    seed: Callable[[Seed], S]
    version_name: str = "14"
    version_code: int = 34
    permissions: tuple[str, ...] = ()
    system: bool = True
    hidden: bool = False
    """Without an icon in the launcher."""
    pages: dict[str, PageFunction[S]] = field(default_factory=dict)
    launcher_activity: str | None = None
    intents: dict[str, str] = field(default_factory=dict)
    first_notices: Callable[[S], list[Notice]] | None = None
    """What stands in the shade of a new phone because of this app's seed."""

    def full_name(self, activity: str) -> str:
        """Return an activity's class name with the package in front of a leading dot."""
        return self.package + activity if activity.startswith(".") else activity

    def page(
        self, activity: str, *, launcher: bool = False, actions: Iterable[str] = ()
    ) -> Callable[[PageFunction[S]], PageFunction[S]]:
        """Register a page function as the activity of that name."""

        def register(function: PageFunction[S]) -> PageFunction[S]:
            name = self.full_name(activity)
            self.pages[name] = function
            if launcher:
                self.launcher_activity = name
            for action in actions:
                self.intents[action] = name
            return function

        return register

    def info(self, uid: int) -> PackageInfo:
        """Return what `pm` says of this app."""
        folder = "/system/app" if self.system else "/data/app"
        short = "".join(c for c in self.label if c.isalnum()) or "App"
        return PackageInfo(
            package=self.package,
            label=self.label,
            version_name=self.version_name,
            version_code=self.version_code,
            system=self.system,
            path=f"{folder}/{short}/{short}.apk",
            launcher_activity=None if self.hidden else self.launcher_activity,
            activities=tuple(self.pages),
            permissions=self.permissions,
            uid=uid,
            actions=dict(self.intents),
        )


class NoState(msgspec.Struct):
    """The state of an app that has none of its own."""


def no_state(_seed: Seed) -> NoState:
    """Return the empty state."""
    return NoState()
