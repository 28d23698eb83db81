"""One phone as android_env's environment: actions by name, pictures as base64 or shared memory.

After `android_env` of meta-pytorch/OpenEnv (docs/contracts.md, 3), and as docs/environment.md says.
Invariants: what the phone refuses is said in `extras["error"]` and ends nothing; reward and done
are on the observation itself; a segment of shared memory is removed with its environment.
"""

import base64
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from agent.devices.frames.png import jpeg_of, png_of
from agent.devices.frames.raw_segment import RawSegment
from agent.episodes.blocking import BlockingEpisode, BlockingPhones
from agent.episodes.observation import EpisodeObservation
from agent.errors import UsageError, WrongStateError
from agent.settings import PoolSettings
from console.evaluation.suites import BUILT_IN, read_tasks

VIRTUAL = "virtual"
FORMATS = ("JPEG", "PNG")
SIZE_PX = (1080, 2400)  # Width and height of the virtual phone's own screen.


@dataclass(frozen=True)
class AndroidAction:
    """One of the actions: `AndroidAction("tap", {"x": 0.5, "y": 0.5})`."""

    tool_name: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AndroidObservation:
    """What is seen after a reset or a step."""

    screen_image: str  # Base64 of a JPEG or PNG, or `shm://NAME`.
    screen_width: int
    screen_height: int
    timestamp_ms: int
    orientation: int
    pixels_shape: tuple[int, int, int]  # Height, width, 3.
    extras: dict[str, Any]  # `goal`, `task`, `package`, `activity`, `tree`, `error`, `truncated`.
    done: bool = False
    reward: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)  # `serial` and `episode_id`.


@dataclass(frozen=True)
class AndroidState:
    """Which episode runs."""

    episode_id: str
    step_count: int


class AndroidEnvironment:
    """A phone with tasks; an emulator's has none, and pays nothing.

    Args:
        task_path: a suite of tasks, by name or file; its task is chosen by a reset's seed or name.
        avd_name: `virtual`, or an emulator's.
        image_format: `JPEG` or `PNG`.
        image_quality: of a JPEG, 1 to 100.
        use_shared_memory: pictures are written to shared memory, height × width × 3 from offset 0.
        shared_memory_name: its name; a new one by default.
        size_px: width and height of pictures.
        max_steps: how long an episode is at most; 0: as its task says.
        over_adb: see `BlockingPhones`.
        phones: have a phone of these, which are open, instead of an own one.

    Raises:
        UsageError: an argument, by name.
        DeviceError: shared memory cannot be had.
    """

    def __init__(
        self,
        task_path: str = BUILT_IN,
        avd_name: str = VIRTUAL,
        *,
        image_format: str = "JPEG",
        image_quality: int = 85,
        use_shared_memory: bool = False,
        shared_memory_name: str = "",
        size_px: tuple[int, int] = SIZE_PX,
        max_steps: int = 0,
        over_adb: bool = False,
        phones: BlockingPhones | None = None,
    ) -> None:
        if image_format not in FORMATS:
            raise UsageError(f"image_format is {image_format!r}.", "Give JPEG or PNG.")
        if not 1 <= image_quality <= 100:
            raise UsageError(f"image_quality is {image_quality}.", "Give 1 to 100.")
        self._format, self._quality, self._size_px = image_format, image_quality, size_px
        self._max_steps = max_steps
        self._own = None if phones else make_phones(1, task_path, avd_name, over_adb=over_adb)
        self._phones = phones or self._own
        self._episode: BlockingEpisode | None = None
        self._segment = RawSegment(*size_px, name=shared_memory_name) if use_shared_memory else None

    def reset(
        self,
        *,
        seed: int | None = None,
        task: str = "",
        episode_id: str | None = None,
        snapshot: bytes = b"",
    ) -> AndroidObservation:
        """Begin an episode; the first one starts the phone.

        Raises:
            UsageError: no such task, or what was given is no snapshot.
            DeviceError: no phone is free, or it cannot be prepared.
            WrongStateError: the environment is closed.
        """
        episode = self._running()
        seen = episode.reset(seed=seed, task=task, episode_id=episode_id, snapshot=snapshot)
        return self._observation(seen)

    def step(self, action: AndroidAction, *, timeout_s: float | None = None) -> AndroidObservation:
        """Act and look.

        Raises:
            UsageError: the tool or its parameters.
            WrongStateError: no episode runs.
        """
        seen = self._running().step(action.tool_name, action.parameters, timeout_s=timeout_s)
        return self._observation(seen)

    @property
    def state(self) -> AndroidState:
        """Which episode runs; empty before the first reset."""
        if self._episode is None:
            return AndroidState("", 0)
        return AndroidState(self._episode.inner.episode_id, self._episode.inner.steps)

    def save(self) -> bytes:
        """Return all that the phone holds, for a `reset`. Raises WrongStateError, DeviceError."""
        return self._running().save()

    def close(self) -> None:
        """End the episode, the phone that was started for it, and the shared memory."""
        episode, self._episode = self._episode, None
        self._phones = None
        try:
            if episode is not None:
                episode.close()
        finally:
            if self._segment is not None:
                self._segment.close()
            own, self._own = self._own, None
            if own is not None:
                own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _running(self) -> BlockingEpisode:
        if self._phones is None:
            raise WrongStateError("The environment is closed.", "Make another one.")
        if self._own is not None:
            self._own.open()
        if self._episode is None:
            self._episode = self._phones.episode(size_px=self._size_px, max_steps=self._max_steps)
        return self._episode

    def _observation(self, seen: EpisodeObservation) -> AndroidObservation:
        inner = self._running().inner
        task = inner.task
        width, height = self._size_px
        return AndroidObservation(
            screen_image=self._image(seen),
            screen_width=width,
            screen_height=height,
            timestamp_ms=seen.at_ms,
            orientation=seen.orientation,
            pixels_shape=(height, width, 3),
            extras={
                "goal": task.goal if task else "",
                "task": task.name if task else "",
                "package": seen.package,
                "activity": seen.activity,
                "tree": [msgspec.to_builtins(node) for node in seen.nodes],
                "error": seen.error,
                "truncated": seen.truncated,
                **({"log": seen.extras} if seen.extras else {}),
            },
            done=seen.done,
            reward=seen.reward,
            metadata={"serial": inner.serial, "episode_id": inner.episode_id},
        )

    def _image(self, seen: EpisodeObservation) -> str:
        if not seen.rgb:
            # A phone that was lost shows nothing.
            return ""
        if self._segment is not None:
            self._segment.write(seen.rgb)
            return self._segment.url
        if self._format == "PNG":
            data = png_of(seen.rgb, self._size_px)
        else:
            data = jpeg_of(seen.rgb, self._size_px, quality=self._quality)
        return base64.b64encode(data).decode()


def make_phones(count: int, task_path: str, avd_name: str, *, over_adb: bool) -> BlockingPhones:
    """Return phones that are not started. Raises UsageError: no such suite."""
    if avd_name == VIRTUAL:
        return BlockingPhones(count, read_tasks(task_path), over_adb=over_adb)
    # Starting states and checkers are the virtual phone's own.
    return BlockingPhones(PoolSettings(avds=(avd_name,) * count))
