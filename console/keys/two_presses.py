"""Things that take two acts: the first arms, the second within a few seconds does it.

Pure but for the clock it is given, and when the key was pressed that is handled. Invariant: what is
done is exactly what the sentence named.
"""

from collections.abc import Callable
from time import monotonic

from widgets.base import causality

ARMED_S = 4.0


class TwoPresses:
    """At most one armed action.

    Args:
        clock_s: a clock that only goes forward, in seconds.
    """

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._armed: tuple[str, str] | None = None
        self._sentence = ""
        self._until_s = 0.0

    @property
    def sentence(self) -> str:
        """What a second act would do; empty while nothing is armed."""
        # The clock shows no more of it and forgets nothing: a key that was pressed in time may
        # still be waiting.
        return self._sentence if self._is_armed() else ""

    def confirm(self, action_id: str, subject: str, sentence: str) -> bool:
        """Arm at the first call; True at the second one for the same subject in time."""
        if self._is_armed() and self._armed == (action_id, subject):
            self.disarm()
            return True
        self._armed = (action_id, subject)
        self._sentence = sentence
        # From when it is said, not from the press: over a slow link that may be a while later.
        self._until_s = self._clock_s() + ARMED_S
        return False

    def _is_armed(self) -> bool:
        return self._armed is not None and self._now_s() < self._until_s

    def _now_s(self) -> float:
        """Return the time; in the handling of a key, that of its pressing."""
        return self._clock_s() - causality.lag_s()

    def disarm(self) -> None:
        """Forget what is armed."""
        self._armed, self._sentence = None, ""
