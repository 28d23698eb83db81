"""How long each phone took to be looked at: the newest readings of its screen, session's or ours.

Not a measurement of its own: nothing is sent to a phone for it. Invariant: a phone keeps the newest
KEPT times and no more, and one that has gone keeps none.
"""

from collections import deque

from agent.protocol import DeviceChanged, Event, ObservationRecorded
from agent.records import DeviceState
from agent.state.reducer import State

KEPT = 60  # Times of one phone: what a line of a terminal can show.


class LatencyStats:
    """The newest looking times of every phone, in milliseconds."""

    def __init__(self) -> None:
        self._took_ms: dict[str, deque[int]] = {}

    def of(self, serial: str) -> tuple[int, ...]:
        """Return the times of a phone, the oldest first."""
        return tuple(self._took_ms.get(serial, ()))

    def note(self, serial: str, took_ms: int) -> None:
        """Note how long a look took."""
        if serial and took_ms >= 0:
            self._took_ms.setdefault(serial, deque(maxlen=KEPT)).append(took_ms)

    def follow(self, event: Event, state: State) -> None:
        """Note what an event tells of a phone.

        Args:
            state: the picture, for which phone a session works on.
        """
        match event.msg:
            case ObservationRecorded(observation=seen):
                view = state.sessions.get(event.session_id)
                if view is not None:
                    self.note(view.session.serial, seen.ended_ms - seen.started_ms)
            case DeviceChanged(device=device) if device.state is DeviceState.GONE:
                self._took_ms.pop(device.serial, None)
            case _:
                pass
