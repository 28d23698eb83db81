"""Notice when a session is getting nowhere (CONTRACTS 5.4), from what it did and saw.

Warnings for the model and one refusal; nothing here touches a phone. Invariant: everything is
decided from stored facts, so a resumed session is warned as the interrupted one would have been.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.loop_features import NOTHING, Pattern, Without
from agent.safety.scope import is_neutral

WINDOW = 6
MIN_TRACKED = 4
STAGNATION = 3
SCROLL_BUDGET = 8
REPLAN = 5  # Screens on the way to support, after each so many of which to plan anew.
DUPLICATES = 3
TYPING = "type_text "  # What the name of an action that types begins with.
TROUBLED = 4  # Warned actions in a row, after which the operator is asked, or the turn ends.
FRUITLESS = 2  # An element that was opened and left again so often is not opened once more.


@dataclass(slots=True)
class RecentActions:
    """The newest fingerprints and actions of a session."""

    fingerprints: deque[str] = field(default_factory=lambda: deque(maxlen=WINDOW))
    actions: deque[tuple[str, bool]] = field(default_factory=lambda: deque(maxlen=10))
    """What was done, and whether the screen changed."""
    scrolls: int = 0
    unchanged: int = 0
    strays: int = 0
    """Screens of another app than the session's, in a row."""
    searched: int = 0
    """Screens in a row from which a support case saw no way on."""
    misled: bool = False
    """Whether the newest screen leads away from support."""
    troubled: int = 0
    """Actions in a row after which there was something to warn of."""
    bans: dict[str, str] = field(default_factory=dict)
    """Elements that led nowhere, by stable key: why."""
    without: Without = NOTHING
    _clicked: str = ""
    """The element that the newest action pressed, while nothing has been done since."""
    _left_again: Counter[str] = field(default_factory=Counter)
    """How often an element was pressed and what it opened was left again at once."""

    def copy(self) -> "RecentActions":
        """Return a trail that can be followed further without this one's knowing."""
        return replace(
            self,
            fingerprints=self.fingerprints.copy(),
            actions=self.actions.copy(),
            bans=dict(self.bans),
            _left_again=self._left_again.copy(),
        )

    def saw(self, fingerprint: str, *, after_action: bool) -> None:
        """Take in an observation."""
        same = bool(self.fingerprints) and self.fingerprints[-1] == fingerprint
        if same and not after_action:
            # Looking again, after a plan or an answer, is no sign of being stuck.
            return
        self.fingerprints.append(fingerprint)
        if after_action:
            self.unchanged = self.unchanged + 1 if same else 0
            stuck = bool(self._stuck()) or self._scrolls_on()
            self.troubled = self.troubled + 1 if stuck else 0

    def did(self, action: str, *, scroll: bool, changed: bool) -> None:
        """Take in an action that was carried out."""
        self.actions.append((action, changed))
        self.scrolls = self.scrolls + 1 if scroll else 0

    def on_refused(self) -> None:
        """Take in a call that was refused or not carried out: nothing came of it either."""
        self.troubled += 1

    def pressed(self, key: str) -> None:
        """Take in that an element was pressed; an empty key is any other action but going back."""
        self._clicked = key

    def went_back(self) -> None:
        """Take in that the phone was sent back: what was pressed just before led nowhere."""
        key, self._clicked = self._clicked, ""
        if not key or Pattern.BANS in self.without:
            return
        self._left_again[key] += 1
        if self._left_again[key] >= FRUITLESS:
            self.bans[key] = f"it was opened and left again {FRUITLESS} times"

    def on_other_app(self, package: str) -> None:
        """Take in that another app came in front of the session's own."""
        self.strays += 1
        key, self._clicked = self._clicked, ""
        if key and Pattern.BANS not in self.without:
            self.bans[key] = f"it led out of the app, to {package}"

    def looked_for_support(self, *, found: bool, misleads: bool) -> None:
        """Take in what a support case saw: a way on, or a page that leads away from it."""
        self.searched = 0 if found else self.searched + 1
        self.misled = misleads and Pattern.BANS not in self.without
        if self.misled and self._clicked:
            key, self._clicked = self._clicked, ""
            self.bans[key] = "it led to what is sold or paid here, not to support"

    def is_duplicate(self, action: str) -> bool:
        """Return whether an action would be the third that is the same and changes nothing.

        The same text typed a third time is one whatever the screen shows: it only grows longer.
        """
        last = list(self.actions)[-(DUPLICATES - 1) :]
        if Pattern.DUPLICATES in self.without or len(last) < DUPLICATES - 1:
            return False
        heeds_change = not action.startswith(TYPING)
        return all(done == action and not (changed and heeds_change) for done, changed in last)

    def warnings(self) -> tuple[str, ...]:
        """Return what the model should know before it chooses again."""
        said = self._stuck()
        if self.troubled >= TROUBLED - 1:
            said.append(
                "WARNING: If the next action leads nowhere as well, the work stops here. Ask with "
                "ask_user, or call finish with success=false and say why."
            )
        if self.misled:
            said.append(
                "WARNING: This page sells or pays, and leads to no support. Go back and look for "
                "account, orders or help."
            )
        lost = self.searched > 0 and self.searched % REPLAN == 0
        if lost and Pattern.NAVIGATION_FIRST not in self.without:
            said.append(
                f"WARNING: {self.searched} screens in a row showed no way to support. "
                "Plan another way with update_plan."
            )
        if self._scrolls_on():
            said.append(
                f"WARNING: You have scrolled {self.scrolls} times in a row. "
                "What you look for may be somewhere else."
            )
        return tuple(said)

    def _scrolls_on(self) -> bool:
        return self.scrolls >= SCROLL_BUDGET and Pattern.SCROLL_BUDGET not in self.without

    def _stuck(self) -> list[str]:
        said = []
        if oscillates(self.fingerprints) and Pattern.OSCILLATION not in self.without:
            stays = self.fingerprints[-1] == self.fingerprints[-2]
            said.append(
                "WARNING: The screen has stayed the same. Choose something that you have not tried."
                if stays
                else "WARNING: You are going back and forth between the same screens. "
                "Choose something that you have not tried."
            )
        if self.unchanged >= STAGNATION and Pattern.STAGNATION not in self.without:
            said.append(
                f"WARNING: The last {self.unchanged} actions changed nothing. "
                "Try another element, scroll, or go back."
            )
        return said


def oscillates(fingerprints: Sequence[str]) -> bool:
    """Return whether the newest screens are A B A B, or three times the same, of at least four."""
    tracked = list(fingerprints)[-WINDOW:]
    if len(tracked) < MIN_TRACKED:
        return False
    a, b, c, d = tracked[-4:]
    return (a == c and b == d and a != b) or b == c == d


def wrong_app(package: str, target: str, activity: str = "") -> str:
    """Warn when a session that belongs to one app finds another in front."""
    if not target or package == target or is_neutral(package, activity):
        return ""
    return (
        f"WARNING: {package} is in front, but this session works in {target}. "
        f"Go back or launch {target}."
    )
