"""Many phones of a pool as one vectorised environment: all act at once, each on its own phone.

Invariants: an episode that ended is begun anew by the next step (`AutoresetMode.NEXT_STEP`), whose
action counts for nothing there; what fails on one phone ends that phone's episode and no other's.
"""

import asyncio
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from agent.episodes.blocking import BlockingPhones
from agent.episodes.episode import Episode
from agent.episodes.observation import EpisodeObservation
from agent.errors import DeviceError, UsageError
from console.gymnasium import spaces
from console.gymnasium.arguments import ArgumentFields, Arguments, step_info


class PhoneVectorEnv(VectorEnv):
    """As many phones as environments; arguments as `PhoneEnv`'s."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        phones: BlockingPhones | None = None,
        **given: Unpack[ArgumentFields],
    ) -> None:
        self._arguments = Arguments(**given)
        self._arguments.check()
        if num_envs < 1:
            raise UsageError(f"num_envs is {num_envs}.", "Give 1 or more.")
        self.num_envs = num_envs
        self.single_action_space = spaces.action_space()
        seen = self._arguments.looks, self._arguments.size_px
        self.single_observation_space = spaces.observation_space(*seen)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._given = phones
        self._phones = phones
        self._episodes: list[Episode] = []
        self._over = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on every phone; the first call starts them.

        Args:
            seed: of the first; the others have those after it. Or one for each.
            options: as `PhoneEnv.reset` takes them, the same for all; `episode_id` is refused.

        Raises:
            UsageError: the options, or as many seeds as there are phones were not given.
            DeviceError: too few phones are free, or one cannot be prepared.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        begun = self._arguments.reset_arguments(options)
        if begun.pop("episode_id") is not None:
            raise UsageError(
                "options has 'episode_id'.", "With many phones each episode gets its own."
            )
        if isinstance(seed, list):
            if len(seed) != self.num_envs:
                raise UsageError(
                    f"There are {len(seed)} seeds.", f"Give {self.num_envs}, or one number."
                )
            seeds = [self._number() if one is None else one for one in seed]
        elif seed is None:
            seeds = [self._number() for _ in range(self.num_envs)]
        else:
            seeds = [seed + place for place in range(self.num_envs)]

        async def all_begin() -> list[EpisodeObservation]:
            pairs = zip(self._episodes, seeds, strict=True)
            work = (one.reset(seed=number, **begun) for one, number in pairs)
            return await _all(list(work))

        self._start()
        seen = self._run(all_begin())
        self._over[:] = False
        return self._observed(seen), self._step_infos(seen)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Act on every phone at once: observations, rewards, terminated, truncated, infos.

        Raises:
            UsageError: an action is not within its space; nothing was done.
            WrongStateError: nothing was reset yet.
        """
        space = self.single_action_space
        calls = [spaces.called(one, space) for one in iterate(self.action_space, actions)]
        begins = self._over.copy()
        seeds = [self._number() if over else 0 for over in begins]

        async def one_acts(place: int) -> EpisodeObservation:
            episode = self._episodes[place]
            if begins[place]:
                try:
                    return await episode.reset(seed=seeds[place], task=self._arguments.task)
                except DeviceError as error:
                    # The next step tries again; the other phones go on meanwhile.
                    return EpisodeObservation(error=str(error), truncated=True)
            return await episode.step(*calls[place])

        async def all_act() -> list[EpisodeObservation]:
            return await _all([one_acts(place) for place in range(len(self._episodes))])

        self._start()
        seen = self._run(all_act())
        rewards = np.array([one.reward for one in seen], dtype=np.float64)
        terminated = np.array([one.terminated for one in seen], dtype=np.bool_)
        truncated = np.array([one.truncated for one in seen], dtype=np.bool_)
        self._over = terminated | truncated
        return self._observed(seen), rewards, terminated, truncated, self._step_infos(seen)

    def close_extras(self, **_kwargs: Any) -> None:
        """End the episodes and what was started for them."""
        episodes, self._episodes = self._episodes, []
        phones, self._phones = self._phones, self._given

        async def all_end() -> None:
            await asyncio.gather(*(one.close() for one in episodes))

        if phones is None:
            return
        try:
            if episodes:
                phones.run(all_end())
        finally:
            if self._given is None:
                phones.close()

    def _number(self) -> int:
        return int(self.np_random.integers(1 << 31))

    def _start(self) -> None:
        if self._phones is None:
            self._phones = self._arguments.phones(self.num_envs).open()
        if not self._episodes:
            arguments, phones = self._arguments, self._phones
            self._episodes = [
                arguments.episode(phones, arguments.looks).inner for _ in range(self.num_envs)
            ]

    def _run(self, work: Any) -> list[EpisodeObservation]:
        assert self._phones is not None
        seen: list[EpisodeObservation] = self._phones.run(work)
        return seen

    def _observed(self, seen: list[EpisodeObservation]) -> dict[str, Any]:
        arguments = self._arguments
        made = []
        for episode, one in zip(self._episodes, seen, strict=True):
            goal = episode.task.goal if episode.task else ""
            made.append(spaces.observed(one, goal, arguments.looks, arguments.size_px))
        space = self.single_observation_space
        out = create_empty_array(space, self.num_envs)
        batched: dict[str, Any] = concatenate(space, made, out)
        return batched

    def _step_infos(self, seen: list[EpisodeObservation]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for place, (episode, one) in enumerate(zip(self._episodes, seen, strict=True)):
            infos = self._add_info(infos, step_info(episode, one.error), place)
        return infos


async def _all(work: list[Any]) -> list[EpisodeObservation]:
    """Wait for all, then raise the first that failed: none is left running behind the caller."""
    seen = []
    for one in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        seen.append(one)
    return seen
