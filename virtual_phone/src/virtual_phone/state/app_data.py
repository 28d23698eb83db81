"""The states of a phone's apps, each decoded or made from its seed when it is first looked at."""

from collections.abc import Callable, Mapping
from typing import cast

import msgspec

from virtual_phone.app import App, S, Seed
from virtual_phone.apps import app_of
from virtual_phone.state.factory import seed_for
from virtual_phone.well_formed import json_of


class AppData:
    """Keep what the apps of one phone remember.

    Args:
        seed: the phone's.
        now: returns its time, seconds since the epoch.
    """

    def __init__(self, seed: int, now: Callable[[], float]) -> None:
        self._seed = seed
        self._now = now
        self._states: dict[str, msgspec.Struct] = {}
        self._unread: Mapping[str, bytes] = {}
        """States that nobody has looked at, as JSON; shared by phones made alike."""

    def of(self, app: App[S]) -> S:
        data = self._states.get(app.package)
        if data is None:
            raw = self._unread.get(app.package)
            data = self._states[app.package] = (
                app.seed(self._seed_for(app.package))
                if raw is None
                else msgspec.json.decode(raw, type=app.state)
            )
        return cast("S", data)

    def of_package(self, package: str) -> msgspec.Struct | None:
        """Return the state of a package's app, or None where it has none."""
        app = app_of(package)
        return None if app is None else self.of(app)

    def plain(self, app: App[msgspec.Struct]) -> object:
        """Return an app's state as JSON values, without keeping one that nobody changed."""
        if app.package not in self._states and app.package in self._unread:
            return msgspec.json.decode(self._unread[app.package])
        return msgspec.to_builtins(self.of(app))

    def renew(self, package: str) -> None:
        """Put a package's state back to what the seed makes."""
        app = app_of(package)
        if app is not None:
            self._states[package] = app.seed(self._seed_for(package))

    def drop(self, package: str) -> None:
        """Forget a package's state."""
        self._states.pop(package, None)

    def load(self, states: dict[str, msgspec.Struct], unread: Mapping[str, bytes]) -> None:
        self._states, self._unread = states, unread

    def raw(self) -> dict[str, msgspec.Raw]:
        """Return all states as JSON, by package."""
        unread = {package: msgspec.Raw(data) for package, data in self._unread.items()}
        known = {package: msgspec.Raw(json_of(data)) for package, data in self._states.items()}
        return unread | known

    def _seed_for(self, package: str) -> Seed:
        return seed_for(self._seed, package, self._now())
