"""Carry out one action under guard, observe the screen after it, and return its result.

Invariants: the caller has stored the intent; nothing is sent to a phone
before the guard has ruled and the pause is over; a call that ran out of time, or a phone that went
away, has the outcome unknown; the observation that verifies is the next step's.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import assert_never

from msgspec.structs import replace

from agent.devices.protocols import Device
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    InputRefusedError,
    TreeUnavailableError,
)
from agent.loop.acting.guard import Guard
from agent.loop.acting.vault_use import Opening
from agent.loop.observe import Observer, Seconds, Sleep, TimedObservation
from agent.loop.screen import verify
from agent.loop.screen.elements import find_by_key
from agent.loop.screen.list_rows import is_editable
from agent.loop.task_context import TaskContext
from agent.loop.timing import Pace
from agent.loop_features import NOTHING, Pattern, Without
from agent.protocol import ToolCallRequested
from agent.records import ActionOutcome, Element, Foreground, Observation
from agent.safety.redacting.redaction import hidden_as_written, redact
from agent.safety.redacting.secrets import Secrets
from agent.text import on_one_line, one_line
from agent.tools import arguments as args
from agent.tools.actions import ResolvedAction, carry_out, swipe_for
from agent.tools.gestures.keypad import PressKeys, keys_for
from agent.tools.gestures.pointing import smallest_at
from agent.tools.planned_action import Anchor, PhoneTool, secret_text

APPROVED = "The operator approved it."
_FOCUS_S = 2.0


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action."""

    outcome: ActionOutcome
    text: str
    seen: TimedObservation | None = None  # The screen after it; None if none could be read.
    act_ms: int = 0
    idle_ms: int = 0
    review_ms: int = 0  # How long the reviewer was waited for.
    waited: bool = False  # Whether a person was waited for.


@dataclass(slots=True)
class Executor:
    """Carries out the actions of one turn."""

    context: TaskContext
    observer: Observer
    pace: Pace
    sleep: Sleep
    seconds: Seconds
    secrets: Secrets
    without: Without = NOTHING
    guard: Guard = field(init=False)
    has_sent: bool = False
    """Whether the phone was sent something for the newest action."""

    def __post_init__(self) -> None:
        self.guard = Guard(self.context, self.secrets, self.seconds)

    async def do(
        self,
        resolved: ResolvedAction,
        screen: Observation,
        call: ToolCallRequested,
        *,
        covered: Observation | None = None,
    ) -> ActionResult:
        """Carry out an action that was resolved on a screen.

        Args:
            covered: the screen under a dialog on it, where it is known.

        Raises:
            DeviceLostError: the device went away while a person was waited for.
        """
        self.has_sent = False
        began = self.seconds()
        ruling = await self.guard.rule(resolved, screen, call)
        asked = began + ruling.review_ms / 1000
        if ruling.refusal:
            return ActionResult(
                ActionOutcome.FAILED,
                ruling.refusal,
                idle_ms=self._since(asked),
                review_ms=ruling.review_ms,
                waited=ruling.waited,
            )
        if ruling.secret is not None and isinstance(resolved.action, args.TypeText):
            resolved = replace(resolved, action=replace(resolved.action, text=ruling.secret))
        if ruling.instead is not None and isinstance(resolved.action, args.TypeText):
            resolved = replace(resolved, action=replace(resolved.action, text=ruling.instead))
        if text := secret_text(resolved):
            self.secrets.add(text)
        if ruling.secret is not None and isinstance(resolved.action, PressKeys):
            self.secrets.add(ruling.secret)
            resolved = replace(resolved, keys=keys_for(ruling.secret.strip(), screen.elements))
        act = await self.proceed(
            resolved,
            screen,
            waited=ruling.waited,
            asked=asked,
            covered=covered,
            opening=ruling.opening,
        )
        if act.outcome is not ActionOutcome.FAILED:
            self.guard.done(resolved, screen)
            if ruling.approved:
                act = dataclasses.replace(act, text=f"{act.text} {APPROVED}")
        else:
            self.guard.undone()
        return dataclasses.replace(act, review_ms=ruling.review_ms, waited=ruling.waited)

    async def proceed(
        self,
        resolved: ResolvedAction,
        screen: Observation,
        *,
        waited: bool,
        asked: float,
        covered: Observation | None = None,
        opening: Opening | None = None,
    ) -> ActionResult:
        """Carry out an action that may be done, once the session is not paused.

        Args:
            opening: the entry of the vault that is opened for it, last of all.
        """
        await self.context.checkpoint()
        idle_ms = self._since(asked)
        device = self.context.device
        if waited or self._is_old(screen):
            try:
                fresh = await self.observer.observe(device, screen)
            except DeviceLostError:
                raise
            except DeviceError as error:
                why = self._error_text(error)
                reason = f"The screen cannot be read again, so nothing was done: {why}"
                return ActionResult(ActionOutcome.FAILED, verify.failed(reason), idle_ms=idle_ms)
            found = _found_again(resolved, screen, fresh.observation, self.guard)
            if found is None:
                meanwhile = "while the operator was asked" if waited else "in the meantime"
                reason = f"The screen changed {meanwhile}, and it is not there now"
                return ActionResult(
                    ActionOutcome.FAILED, verify.failed(reason), fresh, idle_ms=idle_ms
                )
            resolved, screen = found, fresh.observation
        began = self.seconds()
        self.has_sent = True
        try:
            sent, note = await self._send(resolved, device, opening)
        except args.BadArguments as error:
            return ActionResult(
                ActionOutcome.FAILED, verify.failed(str(error)), act_ms=self._since(began)
            )
        except (DeviceTimeoutError, DeviceLostError) as error:
            text = verify.unknown(resolved.said, self._error_text(error))
            return ActionResult(
                ActionOutcome.UNKNOWN, text, act_ms=self._since(began), idle_ms=idle_ms
            )
        except DeviceError as error:
            text = verify.failed(self._error_text(error))
            if isinstance(error, InputRefusedError):
                text = verify.refused_by_phone(self._error_text(error), error.remedy)
            return ActionResult(
                ActionOutcome.FAILED, text, act_ms=self._since(began), idle_ms=idle_ms
            )
        act_ms = self._since(began)
        try:
            seen = await self.observer.observe(device, screen, acted=True)
        except DeviceError as error:
            text = verify.unknown(resolved.said, self._error_text(error))
            return ActionResult(ActionOutcome.UNKNOWN, text, act_ms=act_ms, idle_ms=idle_ms)
        checked = Pattern.VERIFICATION not in self.without
        text = f"OK: {resolved.said}."
        if checked:
            text = judge_effect(sent, screen, seen.observation, covered)
        if opening is not None:
            text = self.secrets.hide(text)
        if note:
            text = f"{text} {redact(self.secrets.hide(on_one_line(note, 300)))}"
        return ActionResult(ActionOutcome.DONE, text, seen, act_ms=act_ms, idle_ms=idle_ms)

    def _is_old(self, screen: Observation) -> bool:
        """Return whether the screen may have changed, by the time since it was seen, not since the
        model answered: dialogs open while it thinks.
        """
        if screen.ended_ms <= self.context.disturbed_ms:
            return True
        return self.context.now_ms() - screen.ended_ms > self.pace.fresh_s * 1000

    async def _send(
        self, resolved: ResolvedAction, device: Device, opening: Opening | None
    ) -> tuple[ResolvedAction, str]:
        """Do it; returns what is to be verified of it, and what is to be added to the result."""
        if isinstance(resolved.action, args.TypeText) and resolved.point is not None:
            await device.tap(resolved.point)
            await self._await_focus(resolved, device)
        if opening is None:
            return resolved, await carry_out(resolved, device, self.context.session)
        given = await self.guard.vault.give(opening, resolved, device)
        note = await carry_out(given, device, self.context.session)
        return self.guard.vault.as_shown(given), note

    async def _await_focus(self, resolved: ResolvedAction, device: Device) -> None:
        """Wait until the field has the focus, so that the text cannot land in another."""
        assert resolved.point is not None
        deadline = self.seconds() + _FOCUS_S
        elsewhere = False
        while True:
            try:
                nodes = (await device.tree()).nodes
            except TreeUnavailableError:
                nodes = ()
            focused = [node for node in nodes if node.focused and is_editable(node)]
            at = resolved.point
            if any(
                n.bounds.left <= at.x <= n.bounds.right and n.bounds.top <= at.y <= n.bounds.bottom
                for n in focused
            ):
                return
            # A keyboard that slides in moves the field; its id is the same.
            if resolved.element is not None and any(
                n.resource_id and n.resource_id == resolved.element.resource_id for n in focused
            ):
                return
            elsewhere = bool(focused)
            if self.seconds() >= deadline:
                break
            await self.sleep(self.pace.poll_s)
        if elsewhere:
            raise args.BadArguments("another field kept the focus, so nothing was typed")

    def _error_text(self, error: DeviceError) -> str:
        return redact(self.secrets.hide(one_line(error.message, 300)))

    def _since(self, began: float) -> int:
        return round((self.seconds() - began) * 1000)


def judge_effect(
    resolved: ResolvedAction,
    before: Observation,
    after: Observation,
    covered: Observation | None = None,
) -> str:
    """Return the effect of a sent action; `covered` is the screen under a dialog before it."""
    action = resolved.action
    match action:
        case args.ClickElement() | args.LongPressElement():
            return verify.verify_click(resolved.said, before, after, resolved.element, covered)
        case args.TypeText(text=text, clear=clear):
            shown = hidden_as_written(text, redact, 2000)
            return verify.verify_typing(
                resolved.said, shown, resolved.element, before, after, clear=clear
            )
        case args.Scroll(direction=direction):
            swipe = swipe_for(direction, resolved.element)
            return verify.verify_scroll(resolved.said, before, after, swipe)
        case args.PressButton():
            return verify.verify_button(resolved.said, before, after, covered)
        case args.LaunchApp():
            return verify.verify_launch(resolved.said, resolved.package, after)
        case PhoneTool(typed=None):
            judged = action.verify(resolved, before, after)
            return judged or verify.verify_click(
                resolved.said, before, after, resolved.element, covered
            )
        case PhoneTool():
            shown = hidden_as_written(action.typed or "", redact, 2000)
            return verify.verify_typing(resolved.said, shown, resolved.element, before, after)
        case _:
            assert_never(action)


def _found_again(
    resolved: ResolvedAction, before: Observation, now: Observation, guard: Guard
) -> ResolvedAction | None:
    """Find an action again on a newer screen; None when it would not be the same action there."""
    found = resolved
    if resolved.keys:
        keys = [find_by_key(now.elements, key.key) for key in resolved.keys]
        same_keys = tuple(
            key
            for key, was in zip(keys, resolved.keys, strict=True)
            if key is not None and key.enabled and key.label == was.label
        )
        if len(same_keys) < len(resolved.keys):
            return None
        found = replace(resolved, keys=same_keys)
    elif isinstance(resolved.action, PhoneTool) and _has_moved(
        resolved, resolved.action.anchor, before, now
    ):
        return None
    if resolved.element is not None:
        same = find_by_key(now.elements, resolved.element.key)
        if same is None or not same.enabled:
            return None
        # A key has the beginning of a label only; what was approved is the whole of it.
        if (same.label, same.package) != (resolved.element.label, resolved.element.package):
            return None
        point = same.bounds.center if resolved.point is not None else None
        if isinstance(resolved.action, args.TypeText):
            point = None if same.focused else same.bounds.center
        found = replace(resolved, element=same, point=point)
    elif isinstance(resolved.action, args.PressButton | args.TypeText) and _focus(before) != _focus(
        now
    ):
        # A key goes to whatever has the focus: elsewhere, or with other text, it does other things.
        return None
    if guard.bound(found, now) != guard.bound(resolved, before):
        # Another verb, recipient, amount or content than what was judged, and maybe approved.
        return None
    return found


def _has_moved(
    resolved: ResolvedAction, anchor: Anchor, before: Observation, now: Observation
) -> bool:
    """Return whether something else lies where a gesture touches, or has the focus."""
    if anchor is Anchor.NOTHING:
        return False
    if anchor is Anchor.FOCUS:
        return _focus(before) != _focus(now)
    points = (point for point in (resolved.point, resolved.end) if point is not None)
    return before.foreground != now.foreground or any(
        _named(smallest_at(point, before.elements)) != _named(smallest_at(point, now.elements))
        for point in points
    )


def _named(element: Element | None) -> tuple[str, str]:
    return ("", "") if element is None else (element.key, element.label)


def _focus(screen: Observation) -> tuple[Foreground, tuple[tuple[str, str], ...]]:
    return screen.foreground, tuple((e.key, e.value) for e in screen.elements if e.focused)
