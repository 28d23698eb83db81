"""Read a stored watcher's three `_json` fields as what they mean.

Not the checking of a new one (`agent.watchers.creation`). Invariant: whatever another program has
written there, reading gives something: what cannot be used is as if it were not there.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from agent.records import Condition, Reaction, Watcher, WatchSchedule

T = TypeVar("T", bound=msgspec.Struct)


def condition_of(watcher: Watcher) -> Condition:
    return _lenient(watcher.condition_json, Condition)


def schedule_of(watcher: Watcher) -> WatchSchedule:
    return _lenient(watcher.schedule_json, WatchSchedule)


def reaction_of(watcher: Watcher) -> Reaction:
    """Return what a match leads to."""
    return _lenient(watcher.delivery_json, Reaction)


def _lenient(raw: Mapping[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(dict(raw), kind)
    except msgspec.ValidationError:
        usable = {}
        for name, value in raw.items():
            try:
                msgspec.convert({name: value}, kind)
            except msgspec.ValidationError:
                continue
            usable[name] = value
        return msgspec.convert(usable, kind)
