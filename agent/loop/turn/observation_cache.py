"""Cache the current observation: reuse what the last action's check saw, or observe again.

`agent.loop.observe` reads the screen. Invariants: an observation serves one step, and only if the
turn has not waited for a person since; an offline phone is waited for, never treated as a blank
screen.
"""

import asyncio
from dataclasses import dataclass

from msgspec.structs import replace

from agent.devices.protocols import Dated
from agent.errors import DeviceError, DeviceLostError
from agent.knowledge.app_names import with_names
from agent.loop.conversation import prompts
from agent.loop.images.set_of_marks import MEDIA_TYPE
from agent.loop.observe import Observer, Seconds, Sleep, TimedObservation
from agent.loop.ocr.reader import INSTALL, shared_reader
from agent.loop.screen.changes import NO_CHANGE
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.support_phase import is_support_goal, phase_of
from agent.loop.screen.system_dialogs import dialog_note
from agent.loop.task_context import TaskContext
from agent.loop.timing import Pace
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop_features import Pattern
from agent.protocol import WarningEvent
from agent.records import AppInfo, Autonomy, Observation
from agent.safety.scope import is_neutral

SCREEN_OFF = "the screen is off"
"""How the note of an observation ends when nothing is shown at all
(`agent.devices.shell.missing_tree`).
"""
SWITCHED_ON = "The screen was off: it is switched on for the first look."
STILL_LOADING = "The screen is still loading: what it will show may not be there yet."
SILENT = (
    "A large part of this screen has no elements: a picture, a game, a canvas or a web page may "
    "show there what is not listed."
)
UNREAD = "The UI tree says nothing of a large part of this screen. To have the text in it read:"
_WAKE_KEY = "WAKEUP"  # Unlike POWER, it never switches a screen off.
_TRIES = 3


@dataclass(slots=True)
class ObservationCache:
    """One turn's view of its phone."""

    context: TaskContext
    observer: Observer
    recorder: TurnRecorder
    pace: Pace
    sleep: Sleep
    seconds: Seconds
    _waiting: TimedObservation | None = None  # The newest observation, when no step has used it.
    _shown: TimedObservation | None = None
    _held_at: float = 0.0
    in_zones: bool = False
    """Whether the screen of this step is written in zones, for a support goal."""
    _told_of_silence: bool = False
    _hides_picture: bool = False
    """Whether the newest screen showed nothing in its picture, which is said once."""
    _looked: bool = False  # Whether the first look of the turn is over.

    def hold(self, seen: TimedObservation) -> None:
        """Store an observation for the next step, and its duration for this one."""
        self._waiting, self._held_at = seen, self.seconds()
        self.recorder.spent(observe_ms=seen.observe_ms, settle_ms=seen.settle_ms)

    @property
    def newest(self) -> Observation | None:
        """The screen that the last action's check saw, or else this step's."""
        seen = self._waiting or self._shown
        return None if seen is None else seen.observation

    @property
    def screen(self) -> Observation | None:
        return None if self._shown is None else self._shown.observation

    def keep(self) -> None:
        """Let this step's screen serve the next one too, because nothing was touched."""
        self._waiting = self._shown

    async def close(self) -> None:
        """Wait until unused observations are stored, so that nothing outlives the turn."""
        keeping = None if self._waiting is None else self._waiting.keeping
        if keeping is not None:
            await asyncio.gather(keeping, return_exceptions=True)

    async def look(self, step: int) -> Observation:
        """Take the cached observation, or a new one, and store it as this step's.

        Raises:
            DeviceError: the phone returns neither a tree nor a picture, or stays away.
        """
        memory = self.recorder.memory
        seen, self._waiting = self._waiting, None
        if seen is not None:
            seen = await seen.when_stored()
        if seen is not None and (
            self.seconds() - self._held_at > self.pace.stale_s
            or seen.observation.ended_ms <= self.context.disturbed_ms
        ):
            # Somebody was waited for in between: paused, asked, or at the wheel.
            seen = None
        if seen is None:
            await self.recorder.emit()
            seen = await self.observe(memory.last_seen)
            if not self._looked and self._may_switch_on(seen.observation):
                seen = await self._switch_on(seen)
        self._looked = True
        again, self._shown = seen is self._shown, seen
        # The very observation of the step before, after a plan: no news, and no failure either.
        again = again or Pattern.CHANGES in memory.without
        change = "" if again else memory.change_to(seen.observation)
        if change == NO_CHANGE and not memory.has_acted:
            # Nothing was tried since: a plan, an answer or a wait changes no screen.
            change = ""
        observation = replace(seen.observation, change=change)
        stray = memory.other_app_warning(observation.foreground)
        helped = is_support_goal(memory.goal) and not is_neutral(observation.foreground.package)
        # A dialog is no page: where the case stands is seen when it has closed.
        asks = dialog_title(observation.elements) is not None
        phase = phase_of(observation.elements) if helped and not asks else None
        self.in_zones = phase is not None
        loading = STILL_LOADING if observation.is_loading else ""
        silent = await self._tell_of_silence(observation)
        notes = filter(None, (stray, dialog_note(observation), loading, silent))
        warnings = (*memory.warnings(observation), *notes)
        picture, note = await self._picture(seen, observation)
        observation = replace(
            observation,
            screen_text=prompts.observation_text(
                replace(
                    observation, change=memory.change_beyond_result(observation) if change else ""
                ),
                steps_left=self.context.limits.max_steps
                + self.recorder.more_steps
                - self.context.session.steps,
                plan=() if Pattern.TRACKER in memory.without else memory.plan,
                facts=memory.facts,
                warnings=warnings,
                bans=memory.trail.bans,
                phase=phase,
                may_collapse=Pattern.NAVIGATION_FIRST not in memory.without,
                picture_note=note,
            ),
        )
        await self.recorder.observed(step, observation)
        if picture is not None:
            memory.show(picture, MEDIA_TYPE)
        return observation

    async def _picture(
        self, seen: TimedObservation, observation: Observation
    ) -> tuple[bytes | None, str]:
        """Return the numbered frame for a vision model; the note says why there is none."""
        if seen.picture is None:
            return None, ""
        picture = await asyncio.shield(seen.picture)
        hides = picture.is_black and bool(observation.elements)
        told, self._hides_picture = self._hides_picture, hides
        if hides:
            return None, "" if told else prompts.NO_PICTURE
        return picture.data, ""

    async def _tell_of_silence(self, seen: Observation) -> str:
        """Return that part of a screen exists only in the picture; tell the operator once how
        to enable reading it.
        """
        if not seen.is_silent:
            return ""
        if shared_reader() is None and not self._told_of_silence:
            self._told_of_silence = True
            await self.recorder.emit(WarningEvent(message=f"{UNREAD} {INSTALL}"))
        return SILENT

    async def observe(self, previous: Observation | None) -> TimedObservation:
        """Observe; wait for an offline device, and retry transient errors."""
        tries = 0
        while True:
            try:
                seen = await self.observer.observe(self.context.device, previous)
            except DeviceLostError:
                await self._await_device()
            except DeviceError:
                tries += 1
                if tries >= _TRIES:
                    raise
                await self.sleep(self.pace.poll_s)
            else:
                self.recorder.spent(observe_ms=seen.observe_ms, settle_ms=seen.settle_ms)
                return seen

    def _may_switch_on(self, seen: Observation) -> bool:
        """Return whether the screen is off in a session that may touch the phone.

        Only at the start: later the screen may be off because that was the goal.
        """
        session = self.context.session
        looks_only = session.dry_run or session.autonomy is Autonomy.OBSERVE_ONLY
        return SCREEN_OFF in seen.tree_note and not looks_only and not self.context.background

    async def _switch_on(self, dark: TimedObservation) -> TimedObservation:
        """Switch the screen on and observe again; if that fails, return the screen as it is."""
        await self.context.checkpoint()
        await self.recorder.emit(WarningEvent(message=SWITCHED_ON))
        try:
            await self.context.device.key(_WAKE_KEY)
        except DeviceLostError:
            await self._await_device()
        except DeviceError as error:
            message = f"The screen could not be switched on: {error.message}"
            await self.recorder.emit(WarningEvent(message=message))
            return dark
        return await self.observe(None)

    async def installed(self) -> tuple[AppInfo, ...]:
        """List the apps; without a list a model can still find them on the screen."""
        for _ in range(_TRIES):
            try:
                return with_names(await self.context.device.apps(), self.context.library)
            except DeviceLostError:
                await self._await_device()
            except DeviceError:
                break
        return ()

    async def local_time(self) -> str:
        """Return the phone's date, time and language; empty if it does not report them."""
        try:
            device = self.context.device
            return await device.local_time() if isinstance(device, Dated) else ""
        except DeviceError:
            return ""

    async def _await_device(self) -> None:
        began = self.seconds()
        await self.context.wait_for_device()
        self.recorder.spent(idle_ms=self.recorder.since(began))
