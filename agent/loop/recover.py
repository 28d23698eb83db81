"""Notice when a session is getting nowhere (CONTRACTS 5.4), from what it did and saw.

Warnings for the model and one refusal; nothing here touches a phone. Invariant: everything is
decided from stored facts, so a resumed session is warned as the interrupted one would have been.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

WINDOW = 6
MIN_TRACKED = 4
STAGNATION = 3
SCROLL_BUDGET = 8
DUPLICATES = 3
_NEUTRAL_APPS = ("systemui", "permissioncontroller", "packageinstaller", "launcher")


@dataclass(slots=True)
class Trail:
    """The newest fingerprints and actions of a session."""

    fingerprints: deque[str] = field(default_factory=lambda: deque(maxlen=WINDOW))
    actions: deque[tuple[str, bool]] = field(default_factory=lambda: deque(maxlen=10))
    """What was done, and whether the screen changed."""
    scrolls: int = 0
    unchanged: int = 0

    def saw(self, fingerprint: str, *, after_action: bool) -> None:
        """Take in an observation."""
        same = bool(self.fingerprints) and self.fingerprints[-1] == fingerprint
        if same and not after_action:
            # Looking again, after a plan or an answer, is no sign of being stuck.
            return
        self.fingerprints.append(fingerprint)
        if after_action:
            self.unchanged = self.unchanged + 1 if same else 0

    def did(self, action: str, *, scroll: bool, changed: bool) -> None:
        """Take in an action that was carried out."""
        self.actions.append((action, changed))
        self.scrolls = self.scrolls + 1 if scroll else 0

    def is_duplicate(self, action: str) -> bool:
        """Tell whether an action would be the third that is the same and changes nothing."""
        last = list(self.actions)[-(DUPLICATES - 1) :]
        return len(last) == DUPLICATES - 1 and all(done == (action, False) for done in last)

    def warnings(self) -> tuple[str, ...]:
        """Say what the model should know before it chooses again."""
        said = []
        if oscillates(self.fingerprints):
            said.append(
                "WARNING: You are going back and forth between the same screens. "
                "Choose something that you have not tried."
            )
        if self.unchanged >= STAGNATION:
            said.append(
                f"WARNING: The last {self.unchanged} actions changed nothing. "
                "Try another element, scroll, or go back."
            )
        if self.scrolls >= SCROLL_BUDGET:
            said.append(
                f"WARNING: You have scrolled {self.scrolls} times in a row. "
                "What you look for may be somewhere else."
            )
        return tuple(said)


def oscillates(fingerprints: Sequence[str]) -> bool:
    """Tell whether the newest screens are A B A B, or three times the same, of at least four."""
    tracked = list(fingerprints)[-WINDOW:]
    if len(tracked) < MIN_TRACKED:
        return False
    a, b, c, d = tracked[-4:]
    return (a == c and b == d and a != b) or b == c == d


def wrong_app(package: str, target: str) -> str:
    """Warn when a session that belongs to one app finds another in front."""
    if not target or not package or package == target:
        return ""
    if any(word in package for word in _NEUTRAL_APPS):
        return ""
    return (
        f"WARNING: {package} is in front, but this session works in {target}. "
        f"Go back or launch {target}."
    )
