"""What both environments, the single and the vectorised one, are told, read and held together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from agent.config import load_settings
from agent.episodes.blocking import BlockingEpisode, BlockingPhones
from agent.episodes.episode import Episode
from agent.episodes.recording import EPISODES, Recording
from agent.episodes.rewards import Rewards
from agent.errors import UsageError
from agent.exercises.exercise import Exercise
from agent.settings import PoolSettings
from console.evaluation.suites import BUILT_IN, read_tasks

SIZE_PX = (256, 512)
LARGEST_PX = 4_096
LOOKS = ("pixels", "tree", "both")


class ArgumentFields(TypedDict, total=False):
    """The fields of `Arguments`, as an environment takes them."""

    suite: str
    task: str
    looks: str
    size_px: tuple[int, int]
    max_steps: int
    record: str | float | bool
    record_to: str | Path
    avd: str
    over_adb: bool
    wait_s: float
    rewards: str


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """How phones are looked at and which tasks there are."""

    suite: str = BUILT_IN
    task: str = ""
    looks: str = "both"
    size_px: tuple[int, int] = SIZE_PX
    max_steps: int = 0
    record: str | float | bool = False
    record_to: str | Path = ""
    avd: str = ""
    over_adb: bool = False
    wait_s: float = 5.0
    rewards: str = Rewards.SPARSE

    def check(self) -> None:
        """Raise UsageError, naming the argument that is wrong."""
        if self.looks not in LOOKS:
            raise UsageError(f"looks is {self.looks!r}.", f"Give one of {', '.join(LOOKS)}.")
        if len(self.size_px) != 2 or not all(
            isinstance(one, int) and 1 <= one <= LARGEST_PX for one in self.size_px
        ):
            raise UsageError(
                f"size_px is {self.size_px!r}.", f"Give width and height, 1 to {LARGEST_PX}."
            )

        if self.rewards not in set(Rewards):
            raise UsageError(f"rewards is {self.rewards!r}.", f"Give one of {', '.join(Rewards)}.")
        self.recording(Path())
        if self.max_steps < 0:
            raise UsageError(f"max_steps is {self.max_steps}.", "Give 1 or more, or 0.")

    def recording(self, data_dir: Path) -> Recording | None:
        """Return which episodes are stored, and where. Raises UsageError."""
        return Recording.parse(self.record, Path(self.record_to or data_dir / EPISODES))

    def episode(self, phones: BlockingPhones, looks: str) -> BlockingEpisode:
        """Return an episode on one of the phones, which are open."""
        return phones.episode(
            looks=looks,
            size_px=None if looks == "tree" else self.size_px,
            max_steps=self.max_steps,
            wait_s=self.wait_s,
            rewards=Rewards(self.rewards),
        )

    def phones(self, count: int) -> BlockingPhones:
        """Return phones that are not started. Raises UsageError, ConfigError."""
        tasks: tuple[Exercise, ...] = ()
        if self.avd:
            # Starting states and checkers are the virtual phone's own.
            wanted = PoolSettings(avds=(self.avd,) * count)
        else:
            wanted, tasks = PoolSettings(virtual=count), read_tasks(self.suite)
        if self.task and self.task not in {one.name for one in tasks}:
            raise UsageError(
                f"task names none of {self.suite}: {self.task!r}.",
                f"List them: switchboard eval exercises {self.suite}",
            )
        settings = load_settings()
        recording = self.recording(settings.data_dir)
        return BlockingPhones(
            wanted, tasks, over_adb=self.over_adb, adb=settings.adb.path, recording=recording
        )

    def reset_arguments(self, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what `Episode.reset` takes of a reset's options. Raises UsageError."""
        given = dict(options or {})
        task, snapshot = given.pop("task", self.task), given.pop("snapshot", b"")
        episode_id = given.pop("episode_id", None)
        if given:
            raise UsageError(
                f"options has {', '.join(map(repr, given))}.",
                "The options are task, snapshot and episode_id.",
            )
        if not isinstance(task, str):
            raise UsageError("options['task'] is not text.", "Give a task's name.")
        if isinstance(snapshot, str | Path):
            try:
                snapshot = Path(snapshot).read_bytes()
            except OSError as error:
                raise UsageError(
                    f"options['snapshot'] cannot be read: {error}.",
                    "Name a file of what `save` returned.",
                ) from error
        if not isinstance(snapshot, bytes):
            raise UsageError(
                "options['snapshot'] is not bytes or a path.", "Give the bytes, or a file's path."
            )
        if episode_id is not None and not isinstance(episode_id, str):
            raise UsageError("options['episode_id'] is not text.", "Give a name.")
        return {"task": task, "snapshot": snapshot, "episode_id": episode_id}


def step_info(episode: Episode, error: str) -> dict[str, Any]:
    """Return the info of a step: what the same seed and acts on the same phone have again."""
    return {
        "task": episode.task.name if episode.task else "",
        "serial": episode.serial,
        "steps": episode.steps,
        "error": error,
    }
