"""What an episode needs of its phone, however that is reached.

Not a device of the console: an episode's phone is reset to starting states and tells its true
state. Two ways stand behind it: over adb (`agent.episodes.adb_phones`) and in this process
(`agent.episodes.in_process`).
"""

from typing import Protocol

import msgspec

from agent.episodes.actions import Given
from agent.episodes.observation import EpisodeObservation
from agent.exercises.exercise import Exercise, State


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at."""

    tree: bool = True
    xml: bool = True  # The tree as XML too, which costs more where it does not come as XML anyway.
    picture: bool = True  # The screen at its own size as a PNG.
    size_px: tuple[int, int] | None = None  # Of `EpisodeObservation.rgb`; None for none.


class EpisodePhone(Protocol):
    """A phone that was taken for episodes. Calls come one after the other, from one event loop."""

    @property
    def serial(self) -> str:
        """Its name."""

    @property
    def server(self) -> str:
        """The address of its adb server; empty for a phone without one."""

    async def begin(self, task: Exercise | None, snapshot: bytes) -> None:
        """Go to a task's starting state, or to a snapshot where one is given.

        Raises:
            UsageError: what was given is no snapshot.
            DeviceError: the phone cannot be prepared.
        """

    async def save(self) -> bytes:
        """Return all that it holds. Raises DeviceError."""

    async def state(self, *, keep: bool) -> State:
        """Return what is true of it. Raises DeviceError.

        Args:
            keep: it will be compared later; else it is read before the phone does anything more.
        """

    async def act(self, tool: str, given: Given) -> None:
        """Carry an action out; `given` is what `checked` returned.

        Raises DeviceError, UsageError; DeviceLostError when there is no phone any more.
        """

    async def look(self, wanted: Look) -> EpisodeObservation:
        """Look at it. Raises DeviceError when there is nothing to look at any more."""

    async def run(self, line: str) -> tuple[int, str]:
        """Run a line of the phone's shell; return its status and what it wrote. Raises DeviceError.

        Beside the actions: for starting steps and for what the phone logs.
        """

    async def front(self) -> tuple[str, str]:
        """Return package and full class of the activity in front. Raises DeviceError."""

    async def pause(self, seconds: float) -> None:
        """Let time pass on the phone."""

    def now_s(self) -> float:
        """Return a time of the clock that the phone's steps take, in seconds."""

    async def close(self) -> None:
        """Let go of what looking and acting needed."""


class PhoneSource(Protocol):
    """Where episodes get their phones; each is with one at a time."""

    async def take(self, wait_s: float) -> EpisodePhone:
        """Return a free phone. Raises DeviceError: none came free in time."""

    async def put(self, phone: EpisodePhone) -> None:
        """Put a phone back, which others get as it left the factory."""
