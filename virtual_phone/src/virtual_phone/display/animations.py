"""What moves on the screen, and for how long: transitions between pages and content that glides.

Not what is drawn meanwhile. Invariant: a phone is idle exactly when nothing moves.
"""

from collections.abc import Callable

from virtual_phone.state.settings_provider import SettingsTable
from virtual_phone.timing import Timing

TRANSITION_S = 0.2
MOVING_HZ = 30
MOVE_STEP_S = 1 / 60


class Animations:
    """Time the animations of one phone.

    Args:
        settings: the phone's, which scale how long a transition takes.
        timing: the phone's time.
        glides: whether content still moves after a swipe.
    """

    def __init__(self, settings: SettingsTable, timing: Timing, glides: Callable[[], bool]) -> None:
        self._settings = settings
        self._timing = timing
        self._glides = glides
        self._busy_until = 0.0
        self._since = self._length_s = 0.0
        self._step = 0

    @property
    def scale(self) -> float:
        """The factor of a transition's length, from 0 to 2."""
        return min(
            max(self._settings.number("global", "transition_animation_scale", 1.0), 0.0), 2.0
        )

    @property
    def idle(self) -> bool:
        """Whether nothing is moving on the screen."""
        return self._timing.monotonic() >= self._busy_until and not self._glides()

    async def wait_idle(self, timeout_s: float = 10.0) -> bool:
        """Wait until nothing moves; return False when that took too long."""
        monotonic = self._timing.monotonic
        deadline = monotonic() + timeout_s
        while not self.idle:
            left = min(self._busy_until, deadline) - monotonic()
            if self._glides():
                left = MOVE_STEP_S
            if monotonic() >= deadline:
                return False
            await self._timing.sleep(max(left, 0.001))
        return True

    def busy_for(self, seconds: float) -> None:
        """Keep the screen from being idle for a while, as an animation does."""
        self._busy_until = max(self._busy_until, self._timing.monotonic() + seconds)

    def begin(self) -> None:
        """Show the change as one that takes a moment: the screen is not idle until then."""
        length_s = TRANSITION_S * self.scale
        self.busy_for(length_s)
        self._since, self._length_s, self._step = self._timing.monotonic(), length_s, 0

    def stop(self) -> None:
        """End every animation at once."""
        self._busy_until = self._length_s = 0.0

    @property
    def in_transition(self) -> bool:
        """Whether a transition was not over when a frame was last asked for."""
        return self._length_s > 0

    @property
    def part(self) -> float:
        """How much of the transition is over, from 0 to 1."""
        return min(self._passed_s() / self._length_s, 1.0) if self._length_s else 1.0

    def new_frames(self) -> int:
        """Return how many frames a transition has brought since this was last asked."""
        if not self._length_s:
            return 0
        passed_s = self._passed_s()
        step = int(passed_s * MOVING_HZ)
        count = int(step != self._step)
        self._step = step
        if passed_s >= self._length_s:
            self._length_s = 0.0
            count += 1
        return count

    def _passed_s(self) -> float:
        return self._timing.monotonic() - self._since
