"""One episode on a phone: a task's starting state, actions, what is seen, what it is worth.

Knows none of its callers: OpenEnv, Gymnasium, plain Python. Invariants: a refused action is
reported in the observation and ends nothing; a lost phone, or one that can no longer be observed,
truncates the episode and is put back, so that the next reset gets another; an episode pays 1 once
the task's checker passes on the phone's true state (`agent.episodes.rewards`); a phone is put back
once, however an episode ends.
"""

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from agent.episodes.actions import checked
from agent.episodes.log_tasks import LogTail, set_up
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phone import EpisodePhone, Look, PhoneSource
from agent.episodes.recording import Act, Recorder, Tape
from agent.episodes.rewards import Progress, Rewards, check_checker, is_done
from agent.errors import DeviceError, DeviceLostError, SwitchboardError, UsageError, WrongStateError
from agent.exercises.exercise import Exercise, State

MOST_STEPS = 100


class Episode:
    """A phone from the first reset until `close`; one episode after the other on it.

    Args:
        phones: open; they are virtual ones where a task has a starting state or a checker.
        tasks: what can be asked for; by name, or by seed.
        looks: what an observation holds: `pixels`, `tree` or `both`.
        size_px: width and height of `EpisodeObservation.rgb`; None leaves `rgb` empty.
        max_steps: how long an episode is at most; 0: as its task says.
        wait_s: how long a reset waits for a free phone.
        recorder: stores the episodes; None: nobody does.
        rewards: when a step pays.
    """

    def __init__(
        self,
        phones: PhoneSource,
        tasks: Sequence[Exercise],
        *,
        looks: str = "both",
        size_px: tuple[int, int] | None = None,
        max_steps: int = 0,
        wait_s: float = 5.0,
        recorder: Recorder | None = None,
        rewards: Rewards = Rewards.SPARSE,
    ) -> None:
        self._phones = phones
        self._tasks = tasks
        self._looks = looks
        self._pixels = size_px
        self._rewards = rewards
        self._progress: Progress | None = None
        self._look = _look(looks, size_px, is_recorded=recorder is not None)
        self._max_steps = max_steps
        self._wait_s = wait_s
        self._taken: EpisodePhone | None = None
        self._before: State = {}
        self._size_px = (0, 0)
        self._over = True
        self._is_lost = False
        self._recorder = recorder
        self._tape: Tape | None = None
        self._tail: LogTail | None = None
        self.task: Exercise | None = None
        self.episode_id = ""
        self.steps = 0
        self.seed: int | None = None

    @property
    def serial(self) -> str:
        """The phone; empty before the first reset."""
        return self._taken.serial if self._taken else ""

    @property
    def server(self) -> str:
        """The adb server of the phone; empty before the first reset."""
        return self._taken.server if self._taken else ""

    @property
    def phone(self) -> EpisodePhone:
        """The phone, to look at beside the steps. Raises WrongStateError before the first reset."""
        if self._taken is None:
            raise WrongStateError("There is no phone.", "Call reset first.")
        return self._taken

    async def reset(
        self,
        *,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str = "",
        snapshot: bytes = b"",
        looks: str = "",
        rewards: Rewards | None = None,
    ) -> EpisodeObservation:
        """Begin an episode: the phone as a task has it.

        Args:
            seed: chooses the task where none is named; the same seed, the same episode.
            episode_id: its name; a new one by default.
            task: a task's name.
            snapshot: what `save` returned, on any phone of this kind: begin there instead of in
                the task's starting state, whose goal and checker stay.
            looks, rewards: of this episode; as the constructor was told by default.

        Raises:
            UsageError: no such task, what was given is no snapshot, or the task's checker reads
                what the phone does not have; the phone stays.
            DeviceError: no phone is free, or it cannot be prepared.
        """
        chosen = self._chosen(seed, task)
        await self._keep()
        if self._taken is None:
            self._taken = await self._phones.take(self._wait_s)
        taken = self._taken
        is_recorded = self._recorder is not None
        self._look = _look(looks or self._looks, self._pixels, is_recorded=is_recorded)
        self._progress, self._over = None, True
        try:
            await taken.begin(chosen, snapshot)
            self._tail = await self._prepare(taken, chosen, is_saved=bool(snapshot))
            if self._tail is None:
                self._before = await self._state(taken, keep=True)
                if chosen is not None:
                    if not snapshot:
                        check_checker(chosen, self._before)
                    if (rewards or self._rewards) is Rewards.SHAPED:
                        self._progress = Progress(chosen, self._before)
            seen = await self._observe(taken)
        except DeviceError:
            # The next reset takes another phone; this one is looked at and replaced by the pool.
            await self.close()
            raise
        self.task, self.seed = chosen, seed
        self.episode_id = episode_id or str(uuid.uuid4())
        self.steps = 0
        self._over = False
        if self._recorder is not None:
            self._tape = Tape(
                self.episode_id,
                goal=chosen.goal if chosen else "",
                task=chosen.name if chosen else "",
                serial=taken.serial,
                max_steps=self._most,
                first=seen,
            )
        return seen

    async def _prepare(
        self, taken: EpisodePhone, task: Exercise | None, *, is_saved: bool
    ) -> LogTail | None:
        """Carry a task's own starting steps out, and begin to read its log if that pays."""
        if task is None:
            return None
        if not is_saved:
            await set_up(taken, task.steps)
        if task.log is None:
            return None
        tail = LogTail(taken, task.log)
        await tail.begin()
        return tail

    @property
    def _most(self) -> int:
        return self._max_steps or (self.task.max_steps if self.task else MOST_STEPS)

    async def save(self) -> bytes:
        """Return all that the phone holds now, for a later `reset` of this or another phone.

        Raises:
            WrongStateError: no phone is held: nothing was reset yet.
            DeviceError: it cannot be had.
        """
        if self._taken is None:
            raise WrongStateError("There is no phone to save.", "Call reset first.")
        return await self._taken.save()

    def _chosen(self, seed: int | None, name: str) -> Exercise | None:
        if name:
            found = next((one for one in self._tasks if one.name == name), None)
            if found is None:
                raise UsageError(
                    f"There is no task {name[:80]!r}.", "The Task API lists the available ones."
                )
            return found
        return self._tasks[(seed or 0) % len(self._tasks)] if self._tasks else None

    async def step(
        self, tool: str, parameters: Mapping[str, object], *, timeout_s: float | None = None
    ) -> EpisodeObservation:
        """Act and look.

        Raises:
            UsageError: the tool or its parameters.
            WrongStateError: no episode runs.
        """
        given = checked(tool, parameters)
        if self._over or self._taken is None:
            raise WrongStateError("No episode runs.", "Call reset first.")
        self.steps += 1
        began_ms, error, is_unknown = _now_ms(), "", False
        try:
            async with asyncio.timeout(timeout_s):
                await self._taken.act(tool, given)
        except TimeoutError:
            error = f"{tool} did not end within {timeout_s:g} s; whether it took effect is unknown."
            is_unknown = True
        except DeviceLostError as lost:
            error = str(lost)
            self._over = is_unknown = True
        except SwitchboardError as refused:
            error = str(refused)
        acted_ms = _now_ms()
        seen = self._lost(error) if self._over else await self._judged(error)
        if self._tape is not None:
            self._tape.acts.append(Act(tool, given, began_ms, acted_ms, error, is_unknown, seen))
        if self._over:
            await self._keep()
        if self._is_lost:
            with suppress(SwitchboardError):
                await self.close()
        return seen

    async def _judged(self, error: str) -> EpisodeObservation:
        """Look, and say what it is worth."""
        assert self._taken is not None
        try:
            seen = await self._observe(self._taken)
            if self._tail is not None:
                return await self._logged(seen, self._tail, error)
            after = await self._state(self._taken, keep=False) if self.task else {}
        except DeviceError as failed:
            # A phone that cannot be looked at is of no use, lost or not: the pool looks after it.
            self._over = True
            return self._lost(str(failed))
        passed = self.task is not None and is_done(self.task, self._before, after)
        paid = float(passed)
        if self._progress is not None:
            paid = self._progress.reward(after, done=passed)
        self._over = passed or self.steps >= self._most
        return msgspec.structs.replace(
            seen,
            error=error or seen.error,
            reward=paid,
            terminated=passed,
            truncated=not passed and self._over,
        )

    async def _logged(
        self, seen: EpisodeObservation, tail: LogTail, error: str
    ) -> EpisodeObservation:
        gain = await tail.gained()
        why = "" if gain.ended else tail.why_over((seen.package, seen.activity))
        self._over = gain.ended or bool(why) or self.steps >= self._most
        return msgspec.structs.replace(
            seen,
            error=error or seen.error or why,
            reward=gain.reward,
            extras=gain.extras,
            terminated=gain.ended,
            truncated=not gain.ended and self._over,
        )

    def _lost(self, why: str) -> EpisodeObservation:
        self._is_lost = True
        return EpisodeObservation(
            error=why,
            truncated=True,
            at_ms=_now_ms(),
            width_px=self._size_px[0],
            height_px=self._size_px[1],
        )

    async def _keep(self) -> None:
        """Have the episode stored that is over, or is given up now."""
        tape, self._tape = self._tape, None
        if tape is not None and self._recorder is not None:
            await self._recorder.keep(tape)

    async def close(self) -> None:
        """Put the phone back, which resets it; may be repeated."""
        self._is_lost = False
        taken, self._taken = self._taken, None
        self._over = True
        try:
            if taken is not None:
                await self._phones.put(taken)
        finally:
            await self._keep()

    # --- the phone ----------

    async def _observe(self, taken: EpisodePhone) -> EpisodeObservation:
        seen = await taken.look(self._look)
        self._size_px = (seen.width_px, seen.height_px)
        return seen

    async def _state(self, taken: EpisodePhone, *, keep: bool) -> State:
        if self.task is None and not self._tasks:
            return {}
        return await taken.state(keep=keep)


def _look(looks: str, size_px: tuple[int, int] | None, *, is_recorded: bool) -> Look:
    """Return what has to be read of a phone for what is to be seen, and for the record."""
    with_picture = looks != "tree"
    return Look(
        tree=looks != "pixels",
        xml=looks != "pixels" and is_recorded,
        picture=with_picture and (size_px is None or is_recorded),
        size_px=size_px if with_picture else None,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
