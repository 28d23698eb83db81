"""The presses that a turn does not have read: they are known to do no more than open a page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from agent.records import Observation
from agent.safety.effects.acts import Act
from agent.safety.navigation.press_key import PressKey, press_key

KNOWN_RULE = "known to navigate"
"""The name in the audit of what lets such a press pass."""


@dataclass(frozen=True)
class KnownPresses:
    """What is known of the apps of one phone, in the versions that it has."""

    versions: Mapping[str, int] = field(default_factory=dict)
    keys: Collection[PressKey] = frozenset()

    def has(self, acts: Sequence[Act], screen: Observation) -> bool:
        """Return whether an action is a press that is known."""
        if not self.keys:
            return False
        key = press_key(acts, screen, self.versions)
        return key is not None and key in self.keys
