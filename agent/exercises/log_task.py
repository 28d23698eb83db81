"""Tasks that are paid by what an app logs, as android_env's are: rules and starting steps, pure.

After `android_env/proto/task.proto` of google-deepmind/android_env. Invariants: a pattern is
matched from the beginning of a message; a number that is none is passed over.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_EXTRAS = 100  # How many values of one name a step keeps, the newest.


@dataclass(frozen=True, kw_only=True)
class LogRules:
    """What log messages are worth."""

    filters: tuple[str, ...] = ()
    """The tags that are read; none: all."""
    score: re.Pattern[str] | None = None
    """Its first group is what was gained until now."""
    rewards: tuple[re.Pattern[str], ...] = ()
    """Their first group is what is gained now."""
    events: tuple[tuple[re.Pattern[str], float], ...] = ()
    """What is gained when one matches."""
    ends: tuple[re.Pattern[str], ...] = ()
    extras: tuple[re.Pattern[str], ...] = ()
    """Their groups `name` and `extra` are a value; without one, 1."""
    json_extras: tuple[re.Pattern[str], ...] = ()
    """Their group `json_extra` is an object of names and values."""
    activity: str = ""
    """The component that has to stay in front, else the episode is truncated; empty: any."""
    max_s: float = 0.0
    """How long an episode is on the phone's clock; 0: as long as it takes."""


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """One step to a starting state: a command, or a pause, and what has to be true after it."""

    line: str = ""  # A line of the phone's shell; empty: none.
    pause_s: float = 0.0
    shown: str = ""  # A component that comes to the front.
    installed: str = ""  # A package that is there.
    within_s: float = 0.0  # How long `shown` or `installed` may take.
    tries: int = 3
    where: str = ""  # The place in the task's file, for errors.


@dataclass(frozen=True)
class Gain:
    """What the messages since the last step came to."""

    reward: float = 0.0
    ended: bool = False
    extras: dict[str, list[object]] = field(default_factory=dict)


class LogScore:
    """Add up what messages are worth, over one episode."""

    def __init__(self, rules: LogRules) -> None:
        self._rules = rules
        self._score = 0.0

    def take(self, messages: Iterable[str]) -> Gain:
        """Return what new messages come to."""
        reward, ended = 0.0, False
        extras: dict[str, list[object]] = {}
        rules = self._rules
        for message in messages:
            for pattern in rules.rewards:
                reward += _number(pattern.match(message)) or 0.0
            for pattern, worth in rules.events:
                reward += worth if pattern.match(message) else 0.0
            score = _number(rules.score.match(message)) if rules.score else None
            if score is not None:
                reward, self._score = reward + score - self._score, score
            ended = ended or any(pattern.match(message) for pattern in rules.ends)
            for name, value in self._fields_of(message):
                kept = extras.setdefault(name, [])
                kept.append(value)
                del kept[:-MOST_EXTRAS]
        return Gain(reward, ended, extras)

    def _fields_of(self, message: str) -> Iterable[tuple[str, object]]:
        for pattern in self._rules.extras:
            found = (pattern.match(message) or _NOTHING).groupdict()
            if found.get("name"):
                yield found["name"], _value(found.get("extra") or "1")
        for pattern in self._rules.json_extras:
            found = (pattern.match(message) or _NOTHING).groupdict()
            value = _value(found.get("json_extra") or "")
            if isinstance(value, dict):
                yield from value.items()


_NOTHING: re.Match[str] = re.match("", "")  # type: ignore[assignment]


def _number(found: re.Match[str] | None) -> float | None:
    if found is None or not found.re.groups or found[1] is None:
        return None
    try:
        value = float(found[1])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _value(said: str) -> object:
    """Read a value as JSON; what is none is text."""
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said
