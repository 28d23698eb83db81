"""One phone as a Gymnasium environment: `gymnasium.make("switchboard/Phone-v0")`.

Invariant: phones that it started end with `close`; phones that it was given are their owner's.
"""

from typing import Any, ClassVar, Unpack

import gymnasium
import numpy as np

from agent.episodes.blocking import BlockingEpisode, BlockingPhones
from agent.episodes.observation import EpisodeObservation
from agent.errors import UsageError
from console.gymnasium import spaces
from console.gymnasium.arguments import ArgumentFields, Arguments, step_info


class PhoneEnv(gymnasium.Env):
    """A phone that is reset to tasks and paid by its true state.

    Args:
        suite: the tasks, by name or file.
        task: the task of a reset that names none; empty: by its seed.
        looks: what is seen: `pixels`, `tree` or `both`.
        size_px: width and height of the pixels.
        max_steps: how long an episode is at most; 0: as its task says.
        record: which episodes become sessions: `True` or `all`, `failures`, or a share such as 0.1;
            with `phones` it is they that record.
        record_to: the data directory of these sessions; `episodes` in the operator's by default.
        avd: an emulator, without tasks and rewards; empty: a virtual phone.
        over_adb: the virtual phone is a program of its own behind an adb server, not in this
            process.
        phones: share these, which are open, instead of starting one.
        wait_s: how long a reset waits for a free phone of `phones`.
        render_mode: `rgb_array`, unless only trees are looked at; or None.

    Raises:
        UsageError: an argument, by name.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 2}

    def __init__(
        self,
        *,
        phones: BlockingPhones | None = None,
        render_mode: str | None = None,
        **given: Unpack[ArgumentFields],
    ) -> None:
        self._arguments = Arguments(**given)
        self._arguments.check()
        if render_mode not in (None, "rgb_array"):
            raise UsageError(f"render_mode is {render_mode!r}.", "Give rgb_array, or nothing.")
        self.render_mode = render_mode
        # What is rendered is the picture of the last look.
        looks = self._arguments.looks
        self._looks = "both" if render_mode and looks == "tree" else looks
        self.action_space = spaces.action_space()
        self.observation_space = spaces.observation_space(looks, self._arguments.size_px)
        self._given = phones
        self._phones = phones
        self._episode: BlockingEpisode | None = None
        self._last = EpisodeObservation()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; the first one starts the phone.

        Args:
            seed: chooses the task where none is named.
            options: `task`, a name; `snapshot`, what `save` returned or a file of it: begin there;
                `episode_id`, a name.

        Raises:
            UsageError: the options, an unknown task, what is no snapshot.
            DeviceError: no phone is free, or it cannot be prepared.
        """
        super().reset(seed=seed)
        begun = self._arguments.reset_arguments(options)
        number = int(self.np_random.integers(1 << 31)) if seed is None else seed
        episode = self._running()
        self._last = episode.reset(seed=number, **begun)
        return self._observed(), {**self._step_info(), "episode_id": episode.inner.episode_id}

    def step(
        self, action: dict[str, Any]
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act and look: observation, reward, terminated, truncated, info.

        A phone that refuses is said in `info["error"]`; one that is lost truncates the episode.

        Raises:
            UsageError: the action is not within its space.
            WrongStateError: no episode runs.
        """
        tool, parameters = spaces.called(action, self.action_space)
        self._last = seen = self._running().step(tool, parameters)
        return self._observed(), seen.reward, seen.terminated, seen.truncated, self._step_info()

    def render(self) -> Any:
        """Return the last picture, height × width × 3; None without a render mode."""
        if self.render_mode is None:
            return None
        width, height = self._arguments.size_px
        if not self._last.rgb:
            return np.zeros((height, width, 3), np.uint8)
        return np.frombuffer(self._last.rgb, np.uint8).reshape(height, width, 3).copy()

    def save(self) -> bytes:
        """Return all that the phone holds, for `options={"snapshot": …}`. Raises DeviceError."""
        return self._running().save()

    def close(self) -> None:
        """End the episode and what was started for it; may be repeated."""
        episode, self._episode = self._episode, None
        try:
            if episode is not None:
                episode.close()
        finally:
            phones, self._phones = self._phones, self._given
            if phones is not None and self._given is None:
                phones.close()

    def _running(self) -> BlockingEpisode:
        if self._phones is None:
            self._phones = self._arguments.phones(1).open()
        if self._episode is None:
            self._episode = self._arguments.episode(self._phones, self._looks)
        return self._episode

    def _observed(self) -> dict[str, Any]:
        task = self._running().inner.task
        goal = task.goal if task else ""
        arguments = self._arguments
        return spaces.observed(self._last, goal, arguments.looks, arguments.size_px)

    def _step_info(self) -> dict[str, Any]:
        return step_info(self._running().inner, self._last.error)
