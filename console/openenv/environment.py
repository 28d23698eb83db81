"""An episode as OpenEnv's classes have it: action, observation, state, tasks and tools.

The only module beside `app` that knows `openenv`, `fastmcp` and `pydantic`. Invariant: making an
environment takes no phone, for the server makes one to ask for metadata; a reset does.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
from fastmcp import FastMCP
from fastmcp.tools import FunctionTool
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from agent.devices.frames.png import jpeg_of, scaled_rgb
from agent.episodes.actions import TOOLS, checked
from agent.episodes.episode import Episode
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phone import PhoneSource
from agent.episodes.recording import Recorder
from agent.episodes.rewards import Rewards
from agent.errors import UsageError
from agent.exercises.exercise import Exercise
from console.openenv.splits import Split, in_split
from console.openenv.variables import ImageFormat, Variables

NAME = "phone"
_CLOSE_S = 30.0


class PhoneAction(Action):
    """One of the actions: `PhoneAction(tool_name="tap", parameters={"x": 0.5, "y": 0.5})`."""

    tool_name: str = Field(description=f"One of {', '.join(TOOLS)}", max_length=80)
    parameters: dict[str, Any] = Field(default_factory=dict, description="By the action's names")

    @model_validator(mode="after")
    def _fits(self) -> PhoneAction:
        try:
            checked(self.tool_name, self.parameters)
        except UsageError as error:
            # With words alone: OpenEnv sends what an error is made of, as JSON.
            raise PydanticCustomError("phone_action", "{why}", {"why": str(error)}) from error
        return self


class PhoneReset(BaseModel):
    """What a reset may be told."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seed: int | None = Field(default=None, ge=0, description="Chooses the task where none is named")
    episode_id: str | None = Field(default=None, max_length=255, description="The episode's name")
    task: str = Field(default="", max_length=80, description="The task's name")
    split: Literal["", "train", "validation", "test"] = Field(
        default="", description="The seed chooses one of these tasks"
    )
    looks: Literal["", "pixels", "tree", "both"] = Field(
        default="", description="What observations hold; as the server was started by default"
    )
    rewards: Literal["", "sparse", "shaped"] = Field(
        default="", description="When a step pays; as the server was started by default"
    )


class PhoneObservation(Observation):
    """What is seen after an action."""

    screen_image: str = Field(default="", description="Base64 of a JPEG or PNG; empty without one")
    screen_width: int = Field(default=0, description="Pixels")
    screen_height: int = Field(default=0, description="Pixels")
    timestamp_ms: int = Field(default=0, description="When it was seen, since the epoch")
    orientation: int = Field(default=0, description="0, 90, 180 or 270")
    pixels_shape: tuple[int, int, int] = Field(default=(0, 0, 3), description="Height, width, 3")
    extras: dict[str, Any] = Field(
        default_factory=dict,
        description="goal, task, package, activity, tree (nodes with bounds from 0 to 1), "
        "error, truncated",
    )


class PhoneState(State):
    """Which episode runs on which phone."""

    task: str = Field(default="", description="The task's name")
    goal: str = Field(default="", description="What it asks for")
    serial: str = Field(default="", description="The phone")


class PhoneEnvironment(Environment[PhoneAction, PhoneObservation, PhoneState]):
    """One phone for one client.

    Args:
        phones: open.
        tasks: what can be asked for.
        variables: how pictures are encoded, what is seen.
        recorder: stores the episodes; None: nobody does.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        phones: PhoneSource,
        tasks: Sequence[Exercise],
        variables: Variables,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__()
        self._tasks = tasks
        self._variables = variables
        self._episode = Episode(
            phones, tasks, looks=variables.looks, recorder=recorder, rewards=variables.rewards
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._one_at_a_time = asyncio.Lock()

    # --- Gym's calls ----------

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> PhoneObservation:
        """Refuse: phones are driven from an event loop. Raises NotImplementedError."""
        raise NotImplementedError("Call reset_async.")

    def step(
        self, action: PhoneAction, timeout_s: float | None = None, **kwargs: Any
    ) -> PhoneObservation:
        """Refuse: phones are driven from an event loop. Raises NotImplementedError."""
        raise NotImplementedError("Call step_async.")

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> PhoneObservation:
        """Begin an episode; takes the fields of `PhoneReset`.

        Raises:
            ValidationError: something else was given.
            UsageError: there is no such task, or it cannot be judged.
            DeviceError: no phone is free.
        """
        given = PhoneReset.model_validate({"seed": seed, "episode_id": episode_id, **kwargs})
        task = given.task or self._variables.task
        if given.split and not given.task:
            offered = in_split(self._tasks, Split(given.split))
            if not offered:
                raise UsageError(
                    f"The split {given.split} has no task.", "Name another, or a task."
                )
            task = offered[(given.seed or 0) % len(offered)].name
        self._loop = asyncio.get_running_loop()
        async with self._one_at_a_time:
            seen = await self._episode.reset(
                seed=given.seed,
                episode_id=given.episode_id,
                task=task,
                looks=given.looks,
                rewards=Rewards(given.rewards) if given.rewards else None,
            )
        return await self._observation(seen, reward=None)

    async def step_async(
        self, action: PhoneAction, timeout_s: float | None = None, **kwargs: Any
    ) -> PhoneObservation:
        """Act and look.

        Raises:
            ValidationError: an action of another kind, such as one of OpenEnv's for tools of MCP.
            WrongStateError: no episode runs.
        """
        # Over a wire OpenEnv may give another kind of action than the one it was promised.
        given: object = action
        if not isinstance(given, PhoneAction):
            action = PhoneAction.model_validate(action.model_dump())
        async with self._one_at_a_time:
            seen = await self._episode.step(
                action.tool_name, action.parameters, timeout_s=timeout_s
            )
        return await self._observation(seen, reward=seen.reward)

    @property
    def state(self) -> PhoneState:
        """Which episode runs."""
        task = self._episode.task
        return PhoneState(
            episode_id=self._episode.episode_id or None,
            step_count=self._episode.steps,
            task=task.name if task else "",
            goal=task.goal if task else "",
            serial=self._episode.serial,
        )

    def close(self) -> None:
        """Put the phone back; from any thread."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return
        closing = asyncio.run_coroutine_threadsafe(self._episode.close(), loop)
        try:
            on_loop = asyncio.get_running_loop() is loop
        except RuntimeError:
            on_loop = False
        if not on_loop:
            closing.result(_CLOSE_S)

    async def end(self) -> None:
        """Put the phone back, on the loop that it was used on."""
        self._loop = None
        await self._episode.close()

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(
            name=NAME,
            description="Android phones driven by touch, text and buttons, judged by their state.",
            version="1",
            author="The Switchboard authors",
        )

    async def _observation(
        self, seen: EpisodeObservation, *, reward: float | None
    ) -> PhoneObservation:
        task = self._episode.task
        tree = [msgspec.to_builtins(node) for node in seen.nodes]
        return PhoneObservation(
            screen_image=await asyncio.to_thread(self._encoded, seen),
            screen_width=seen.width_px,
            screen_height=seen.height_px,
            timestamp_ms=seen.at_ms,
            orientation=seen.orientation,
            pixels_shape=(seen.height_px, seen.width_px, 3),
            extras={
                "task": task.name if task else "",
                "goal": task.goal if task else "",
                "package": seen.package,
                "activity": seen.activity,
                "tree": tree,
                "error": seen.error,
                "truncated": seen.truncated,
                **({"log": seen.extras} if seen.extras else {}),
            },
            done=seen.done,
            reward=reward,
        )

    def _encoded(self, seen: EpisodeObservation) -> str:
        if not seen.png:
            return ""
        data = seen.png
        if self._variables.image_format is ImageFormat.JPEG:
            size = (seen.width_px, seen.height_px)
            [rgb] = scaled_rgb(self._episode.serial, seen.png, (size,))
            data = jpeg_of(rgb, size, quality=self._variables.image_quality)
        return base64.b64encode(data).decode()

    # --- the Task API ----------

    def list_splits(self) -> list[dict[str, str]]:
        """List the three of them; a task is in one, by its name alone."""
        return [{"name": one, "type": one} for one in Split]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """List the tasks of a split. Raises IndexError for an unknown one."""
        return [_task(one) for one in self._of(split)]

    def num_tasks(self, split: str) -> int:
        """Count the tasks of a split. Raises IndexError for an unknown one."""
        return len(self._of(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return a task by its place. Raises IndexError."""
        if index < 0:
            raise IndexError(index)
        return _task(self._of(split)[index])

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return tasks by their places. Raises IndexError for an unknown split."""
        return [_task(one) for one in self._of(split)[start:stop]]

    def _of(self, split: str) -> Sequence[Exercise]:
        if split not in set(Split):
            raise IndexError(f"There is no split {split[:80]!r}; there are {', '.join(Split)}.")
        return in_split(self._tasks, Split(split))

    # --- MCP ----------

    @cached_property
    def mcp_server(self) -> FastMCP[None]:
        """The actions as MCP tools; the first call begins an episode where none runs."""
        server: FastMCP[None] = FastMCP(NAME)
        for tool in TOOLS.values():
            server.add_tool(
                FunctionTool(
                    name=tool.name,
                    description=tool.description,
                    parameters=tool.schema,
                    fn=self._caller(tool.name),
                )
            )
        return server

    def _caller(self, tool: str) -> Any:
        async def call(**parameters: Any) -> dict[str, Any]:
            if not self._episode.serial:
                await self.reset_async()
            seen = await self.step_async(PhoneAction(tool_name=tool, parameters=parameters))
            return seen.model_dump(mode="json")

        return call


def _task(one: Exercise) -> dict[str, Any]:
    return {
        "id": one.name,
        "goal": one.goal,
        "tags": [str(tag) for tag in one.tags],
        "max_steps": one.max_steps,
    }
