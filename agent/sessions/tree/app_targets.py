"""Move the apps of sessions between the main display and displays of their own, by typed calls.

Not the rules (`agent.sessions.rules.presentation`) and not what opens a display (`agent.devices`).
Invariants: what is told of a target was observed on its phone; a target that was lost is recovered
by hiding it anew, once, never by starting its app on the main display (CONTRACTS A2, 1.6); the
display of a session ends with it when it is cancelled, deleted or pruned or its end is taken as
read, and every display with the core.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable

from agent import protocol
from agent.devices.frames.target_capture import MEDIA_TYPE, small_picture
from agent.devices.protocols import Device, Display
from agent.errors import (
    DeviceError,
    DeviceLostError,
    StoreError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.records import (
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
)
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.presentation import derived_runtime, summary_line
from agent.store.leases import Lease

_RECOVERS = frozenset(
    {TargetAction.SHOW, TargetAction.HIDE, TargetAction.ATTACH, TargetAction.CAPTURE}
)
_HIDDEN = TargetPresentation.DETACHED_HIDDEN
_SHOWN = TargetPresentation.DETACHED_SHOWN
_ATTACHED = TargetPresentation.ATTACHED
_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class Targets:
    """The detached apps of one core's sessions."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts
        self._displays: dict[str, Display] = {}
        self._moving: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """One call about a session's app at a time."""
        self._over: dict[str, None] = {}
        """Sessions whose displays are to be closed."""
        self._ring = asyncio.Event()

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Note which sessions need their displays no more (CONTRACTS 1.15)."""
        for event in events:
            match event.msg:
                case (
                    protocol.SessionStateChanged(state=SessionState.CANCELLED)
                    | protocol.SessionPruned()
                ):
                    self.release(event.session_id)
                case protocol.SessionsDeleted(session_ids=session_ids):
                    self.release(*session_ids)
                case _:
                    pass

    @property
    def has_displays(self) -> bool:
        """Whether any session has a display of its own open."""
        return bool(self._displays)

    def release(self, *session_ids: str) -> None:
        """Have the displays of sessions closed, unless those work again by then."""
        held = [one for one in session_ids if one in self._displays or one in self._moving]
        self._over.update(dict.fromkeys(held))
        if held:
            self._ring.set()

    async def run(self) -> None:
        """Close what is noted, for ever."""
        while True:
            await self._ring.wait()
            self._ring.clear()
            while self._over:
                session_id = next(iter(self._over))
                del self._over[session_id]
                try:
                    await self._release(session_id)
                except StoreError as error:
                    _log.warning("Displays of %s are closed later: %s", session_id, error)
                    self._over[session_id] = None
                    await asyncio.sleep(_RETRY_S)

    async def _release(self, session_id: str) -> None:
        async with self._moving[session_id]:
            display = self._displays.get(session_id)
            try:
                live = await self._parts.registry.get(session_id)
            except UsageError:
                live = None
            if live is not None and not live.record.state.is_terminal:
                return
            if display is not None:
                try:
                    del self._displays[session_id]
                    await display.close()
                except SwitchboardError as error:
                    _log.warning("The display of session %s did not close: %s", session_id, error)
                if live is not None:
                    closed = _result(TargetStatus.OK, TargetRuntime.NONE)
                    try:
                        await self._observe(live, TargetAction.CLOSE, closed, under=None)
                    except StoreError as error:
                        _log.warning("That a display was closed is not stored: %s", error)
        if live is None:
            self._moving.pop(session_id, None)

    async def control(self, op: protocol.TargetControl) -> TargetResult:
        """Carry out what the operator asks for.

        Raises:
            UsageError: there is no such session.
            WrongStateError: it has no app of its own, or no phone yet.
        """
        live = await self._parts.registry.get(op.session_id)
        if not (live.record.target_package and live.record.serial):
            raise WrongStateError(
                f"Session {live.session_id} has no app of its own on a phone.",
                "Only a session that belongs to one app can show or hide it.",
            )
        result = await self.move(live, op.action)
        # What a turn of it saw before was another screen.
        live.disturbed_ms = self._parts.clock_ms()
        return result

    async def move(self, live: LiveSession, action: TargetAction) -> TargetResult:
        """Do one thing, recovering a lost target once where that may help; store what is seen."""
        async with self._moving[live.session_id]:
            return await self._move(live, action)

    async def _move(self, live: LiveSession, action: TargetAction) -> TargetResult:
        result = await self._once(live, action)
        if result.needs_recovery and action in _RECOVERS:
            hidden = await self._once(live, TargetAction.ENSURE_HIDDEN)
            if hidden.status is TargetStatus.OK:
                result = await self._once(live, action)
        await self._observe(live, action, result, under=live.lease)
        return result

    async def place(self, live: LiveSession, device: Device) -> Device:
        """Return the screen that a session works on: its phone's, or that of its app's own display.

        Raises:
            DeviceError: the app has to be detached, and cannot be.
        """
        record = live.record
        detached = record.required_presentation.is_detached or record.presentation.is_detached
        if not detached or not record.target_package:
            return device
        result = await self.move(live, TargetAction.ENSURE_HIDDEN)
        display = self._displays.get(live.session_id)
        if result.status is not TargetStatus.OK or display is None:
            raise DeviceError(
                f"{live.record.target_package} cannot work detached on {device.serial}: "
                f"{result.message}",
                "Let it work attached: create the session without a required presentation.",
            )
        return display.device

    def screen(self, live: LiveSession, main: Device) -> Device:
        """Return the screen that a session's app is on now; the operator may have moved it.

        Raises:
            DeviceLostError: the app is detached, and its display is gone.
        """
        display = self._displays.get(live.session_id)
        if display is not None and display.is_open:
            return display.device
        if live.record.presentation.is_detached and live.record.target_package:
            raise DeviceLostError(
                f"The display of {live.record.target_package} on {main.serial} is gone.",
                "It is reopened; or attach the app: switchboard sessions attach-target.",
            )
        return main

    async def arrange(self, live: LiveSession) -> None:
        """Bring an app that is done to where it has to be in the end, as far as it goes."""
        required = live.record.required_presentation
        if required is _SHOWN and live.record.presentation is _HIDDEN:
            await self.move(live, TargetAction.SHOW)
        elif required is _ATTACHED and live.record.presentation.is_detached:
            await self.move(live, TargetAction.ATTACH)

    async def leave(self, live: LiveSession) -> None:
        """Close the display of a session that goes to another phone; it gets one there."""
        async with self._moving[live.session_id]:
            display = self._displays.pop(live.session_id, None)
            if display is None:
                return
            try:
                await display.close()
            except SwitchboardError as error:
                _log.warning("The display of session %s did not close: %s", live.session_id, error)
            gone = _result(TargetStatus.OK, TargetRuntime.MISSING)
            await self._observe(live, TargetAction.CLOSE, gone, under=None)

    async def close(self) -> None:
        """Close every display; called when the core ends."""
        while self._displays:
            session_id, display = self._displays.popitem()
            try:
                await display.close()
            except SwitchboardError as error:
                _log.warning("The display of session %s did not close: %s", session_id, error)

    # --- the calls ----------

    async def _once(self, live: LiveSession, action: TargetAction) -> TargetResult:
        display = self._displays.get(live.session_id)
        if display is not None and not display.is_open:
            del self._displays[live.session_id]
            display = None
        try:
            match action:
                case TargetAction.ENSURE_HIDDEN:
                    return await self._ensure_hidden(live, display)
                case TargetAction.CLOSE:
                    return await self._close(live, display)
                case TargetAction.ATTACH if display is None and not _was_detached(live):
                    return _result(TargetStatus.OK, TargetRuntime.ATTACHED)
                case _ if display is None:
                    runtime = TargetRuntime.MISSING if _was_detached(live) else _runtime(live)
                    message = "It has no display of its own."
                    return _result(TargetStatus.NO_DETACHED_DISPLAY, runtime, message=message)
                case TargetAction.SHOW:
                    return _result(TargetStatus.OK, TargetRuntime.DETACHED_SHOWN, display)
                case TargetAction.HIDE:
                    return _result(TargetStatus.OK, TargetRuntime.DETACHED_HIDDEN, display)
                case TargetAction.ATTACH:
                    await display.attach(live.record.target_package)
                    await self._drop(live, display)
                    return _result(TargetStatus.OK, TargetRuntime.ATTACHED)
                case TargetAction.CAPTURE:
                    return await self._capture(live, display)
        except (DeviceError, UsageError) as error:
            failed = {
                TargetAction.ENSURE_HIDDEN: TargetStatus.LAUNCH_FAILED,
                TargetAction.CAPTURE: TargetStatus.CAPTURE_FAILED,
            }
            status = failed.get(action, TargetStatus.INTERNAL_ERROR)
            return _result(status, _runtime(live), display, message=str(error))

    async def _ensure_hidden(self, live: LiveSession, display: Display | None) -> TargetResult:
        if display is None:
            device = await self._parts.fleet.device(live.record.serial)
            display = await device.displays.open()
            try:
                await display.start_app(live.record.target_package)
            except BaseException:
                await display.close()
                raise
            self._displays[live.session_id] = display
        return _result(TargetStatus.OK, TargetRuntime.DETACHED_HIDDEN, display)

    async def _capture(self, live: LiveSession, display: Display) -> TargetResult:
        capture = await display.capture()
        small = await asyncio.to_thread(small_picture, capture.data)
        digest = await self._parts.store.blobs.put(small, MEDIA_TYPE)
        return _result(TargetStatus.OK, _runtime(live), display, digest=digest)

    async def _close(self, live: LiveSession, display: Display | None) -> TargetResult:
        if display is None:
            return _result(TargetStatus.NO_DETACHED_DISPLAY, TargetRuntime.NONE)
        await self._drop(live, display)
        return _result(TargetStatus.OK, TargetRuntime.NONE)

    async def _drop(self, live: LiveSession, display: Display) -> None:
        del self._displays[live.session_id]
        await display.close()

    async def _observe(
        self, live: LiveSession, action: TargetAction, result: TargetResult, *, under: Lease | None
    ) -> None:
        """Store where the app is, when that is news; `under` is the lease of who moved it."""
        presentation = {
            TargetRuntime.DETACHED_HIDDEN: _HIDDEN,
            TargetRuntime.DETACHED_SHOWN: _SHOWN,
            TargetRuntime.ATTACHED: _ATTACHED,
            TargetRuntime.NONE: _ATTACHED,
        }.get(result.runtime, live.record.presentation)
        now = (presentation, result.runtime, result.display)
        record = live.record
        if now == (record.presentation, record.target_runtime, record.target_display):
            return
        observed = protocol.TargetObserved(
            presentation=presentation,
            runtime=result.runtime,
            display=result.display,
            message=summary_line(action, result),
        )
        await self._parts.registry.append(*live.drafts(observed), under=under)


def _result(
    status: TargetStatus,
    runtime: TargetRuntime,
    display: Display | None = None,
    *,
    message: str = "",
    digest: str = "",
) -> TargetResult:
    number = 0 if display is None else display.number
    return TargetResult(
        status=status, runtime=runtime, display=number, message=message, digest=digest
    )


def _was_detached(live: LiveSession) -> bool:
    return live.record.presentation.is_detached


def _runtime(live: LiveSession) -> TargetRuntime:
    if live.record.target_runtime is not TargetRuntime.NONE:
        return live.record.target_runtime
    return derived_runtime(
        live.record.presentation, detached=False, package=live.record.target_package
    )
