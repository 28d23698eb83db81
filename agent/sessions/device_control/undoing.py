"""Take an effect of a session back on its phone: one act of the operator, judged like any other.

What the act is, `agent.loop.undo` finds on a screen that was just read. Invariants: the phone is
touched only while its session waits, and only if the policy allows the act or the operator approves
it by name; what is about to be done is stored before, what it came to afterwards.
"""

import asyncio
import time
from collections.abc import Sequence
from secrets import token_hex

from msgspec.structs import replace

from agent import protocol
from agent.core import ClientInfo
from agent.devices.protocols import Device
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError, WrongStateError
from agent.loop.acting.acts import stored_acts
from agent.loop.acting.guard import judge, permit
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.effects.finder import EffectFinder
from agent.loop.observe import Observer
from agent.loop.task_context import Steering
from agent.loop.timing import PACE
from agent.loop.undo.offers import UndoFinder, is_back, returned_item
from agent.records import (
    ActionOutcome,
    Autonomy,
    EffectOf,
    Ledger,
    Observation,
    SeenEffect,
    SeenEffectKind,
    Speaker,
    UndoHow,
    UndoOffer,
)
from agent.safety.approval import as_sentence
from agent.safety.capabilities import Decision
from agent.safety.effects.flow import Flow
from agent.safety.effects.verdict import Verdict
from agent.safety.effects.wording import approval_question
from agent.sessions.device_control.wheel import Wheel
from agent.sessions.device_control.wheel_reports import HINT
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.rollback import visible
from agent.text import counted, on_one_line, one_line
from agent.tools.actions import ResolvedAction, carry_out
from agent.tools.arguments import ClickElement, TypeText
from agent.tools.planned_action import clip

_FOCUS_S = 0.3


class Undoing:
    """Takes effects back for the operator.

    Args:
        parts: of the core.
        wheel: lends a phone while its session waits.
    """

    def __init__(self, parts: Services, wheel: Wheel) -> None:
        self._parts = parts
        self._wheel = wheel

    async def offers(self, session_id: str) -> tuple[UndoOffer, ...]:
        """Return what can be taken back, by the newest screen that the session has stored.

        What an app has taken its button away for by now is left out. Raises UsageError.
        """
        live = await self._parts.registry.get(session_id)
        history = tuple(visible(await self._parts.registry.events(live.session_id)))
        finder = UndoFinder.of(history)
        screen = finder.newest
        if screen is None:
            return ()
        now_ms = self._parts.clock_ms()
        found: list[UndoOffer] = []
        for offer in finder.offers(screen):
            verdict = self._judged(offer, screen, live, history)
            if verdict.decision is Decision.BLOCK or 0 < offer.until_ms <= now_ms:
                continue
            found.append(replace(offer, asks=_question(offer, verdict)))
        return tuple(found)

    async def undo(
        self, op: protocol.UndoEffect, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> str:
        """Take one effect back; return the session's id.

        Raises:
            UsageError: no such session.
            WrongStateError: the session is at work, nothing of the step can be taken back from
                here, or the act needs approval.
            DeviceError: it failed, or its outcome is unknown; that is stored too.
        """
        live = await self._parts.registry.get(op.session_id)
        self._parts.clients.check_driver(live.session_id, by)
        if not live.record.serial:
            raise WrongStateError(f"Session {live.session_id} has no phone.")
        async with self._wheel.borrow(live) as device:
            history = tuple(visible(await self._parts.registry.events(live.session_id)))
            finder = UndoFinder.of(history)
            observer = self._observer()
            before = (await observer.observe(device, finder.newest)).observation
            offer = _chosen(finder, op, before, live.session_id)
            _check(offer, self._judged(offer, before, live, history), live, approved=op.approved)
            started = protocol.UndoStarted(serial=live.record.serial, offer=offer)
            await self._store(live, started, submission_id=submission_id)
            act = _Act(device, observer, before, live)
            failure = await act.do(offer)
            found: tuple[SeenEffect, ...] = ()
            if act.after is not None:
                found = _effects(history, live, before, act.after, started)
                found += _returned(finder.ledger.with_effects(found), offer, before, act.after)
            ledger = finder.ledger.with_effects(found)
            done = protocol.UndoFinished(
                serial=live.record.serial,
                step=offer.step,
                effect=offer.effect,
                said=_act_words(offer),
                outcome=act.outcome,
                is_back=is_back(offer, ledger, act.after),
                detail=act.detail,
            )
            await self._tell(live, done, found, submission_id=submission_id)
        if failure is not None:
            raise failure
        return live.session_id

    def _observer(self) -> Observer:
        blobs = self._parts.store.blobs
        return Observer(
            put_blob=blobs.put,
            now_ms=self._parts.clock_ms,
            pace=PACE,
            sleep=asyncio.sleep,
            seconds=time.monotonic,
        )

    def _judged(
        self,
        offer: UndoOffer,
        screen: Observation,
        live: LiveSession,
        history: Sequence[protocol.Event],
    ) -> Verdict:
        """Judge the act as an agent's is judged."""
        safety = self._parts.settings.safety
        words = OperatorWords(live.record.goal, [event.msg for event in history])
        verdict = judge(
            _resolved(offer),
            screen,
            Flow.of(history, stored_acts),
            destinations=safety.destinations,
            phone=live.record.serial,
            goal="\n".join(words.texts),
        )
        package = offer.element.package or screen.foreground.package
        return permit(verdict, package, Autonomy.TRUSTED_ACTIONS, safety.apps)

    async def _store(
        self, live: LiveSession, *msgs: protocol.EventMsg, submission_id: str = ""
    ) -> None:
        drafts = live.drafts(*msgs, submission_id=submission_id)
        await self._parts.registry.append(*drafts)

    async def _tell(
        self,
        live: LiveSession,
        done: protocol.UndoFinished,
        found: tuple[SeenEffect, ...],
        *,
        submission_id: str,
    ) -> None:
        """Store what was done; a turn that waits is told, and will see the effects itself."""
        async with live.lock:
            if live.turn is None:
                seen = protocol.EffectsSeen(step=live.record.last_step, effects=found)
                more = (seen,) if found else ()
                await self._store(live, done, *more, submission_id=submission_id)
                return
            told = protocol.UserMessage(
                text=f"The operator took back on the phone what step {done.step} did: {done.said} "
                "Look at the screen as it is now, and do not do it again unless you are told to.",
                message_id=f"{HINT}{token_hex(6)}",
                speaker=Speaker.PRODUCT,
                steer=True,
            )
            live.steering.append(
                Steering(message_id=told.message_id, text=told.text, speaker=told.speaker)
            )
            await self._store(live, done, told, submission_id=submission_id)


class _Act:
    """One act on the phone, and what was seen after it."""

    def __init__(
        self, device: Device, observer: Observer, before: Observation, live: LiveSession
    ) -> None:
        self._device = device
        self._observer = observer
        self._before = before
        self._live = live
        self.after: Observation | None = None
        self.outcome = ActionOutcome.DONE
        self.detail = ""

    async def do(self, offer: UndoOffer) -> DeviceError | None:
        """Do it and look; return what went wrong."""
        try:
            await self._send(_resolved(offer))
            await self._look()
            if offer.how is UndoHow.CHOOSE and self.after is not None:
                await self._choose(offer.text)
        except (DeviceTimeoutError, DeviceLostError) as error:
            self.outcome, self.detail = ActionOutcome.UNKNOWN, one_line(error.message, 300)
            return error
        except DeviceError as error:
            self.outcome, self.detail = ActionOutcome.FAILED, one_line(error.message, 300)
            return error
        return None

    async def _send(self, resolved: ResolvedAction) -> None:
        if isinstance(resolved.action, TypeText) and resolved.point is not None:
            await self._device.tap(resolved.point)
            await asyncio.sleep(_FOCUS_S)
        await carry_out(resolved, self._device, self._live.record)

    async def _look(self) -> None:
        seen = await self._observer.observe(self._device, self._before, acted=True)
        self.after = (await seen.when_stored()).observation

    async def _choose(self, label: str) -> None:
        """Press the old choice in the dialog that the row has opened."""
        assert self.after is not None, "the dialog was looked at"
        choices = [
            e for e in self.after.elements if e.label == label and (e.clickable or e.checkable)
        ]
        if len(choices) != 1:
            self.outcome = ActionOutcome.FAILED
            named = on_one_line(label, 80)
            self.detail = (
                f'The page shows {counted(len(choices), "choice")} "{named}"; nothing was chosen.'
            )
            return
        await self._device.tap(clip(choices[0].bounds.center))
        await self._look()


def _chosen(
    finder: UndoFinder, op: protocol.UndoEffect, screen: Observation, session_id: str
) -> UndoOffer:
    """Return the offer that an op means. Raises WrongStateError with the reason if none does."""
    remedy = f"See what was done: switchboard sessions show {session_id}"
    if not op.step:
        offers = finder.offers(screen)
        if offers:
            return offers[0]
        raise WrongStateError(
            f"Nothing that session {session_id} did can be taken back from the screen in front.",
            remedy,
        )
    effects = finder.of_step(op.step)
    if not effects:
        raise WrongStateError(f"Step {op.step} of session {session_id} changed nothing.", remedy)
    reasons = []
    for effect in effects:
        offer = finder.offer(effect, screen)
        if isinstance(offer, UndoOffer):
            return offer
        reasons.append(offer)
    raise WrongStateError(
        f"Step {op.step} cannot be taken back from here: {'; '.join(dict.fromkeys(reasons))}.",
        "Bring its page to the front, or ask the session for it in words: "
        f"switchboard sessions say {session_id}",
    )


def _question(offer: UndoOffer, verdict: Verdict) -> str:
    """Return what the operator has to approve; empty where the act needs no approval."""
    if verdict.decision is not Decision.ASK:
        return ""
    if verdict.effect is None:
        return as_sentence(verdict.reason)
    return approval_question(verdict.effect, offer.says, verdict.reason)


def _check(offer: UndoOffer, verdict: Verdict, live: LiveSession, *, approved: bool) -> None:
    """Refuse what is not allowed, or not approved. Raises WrongStateError."""
    if verdict.decision is Decision.BLOCK:
        raise WrongStateError(f"This is not allowed: {verdict.reason}.")
    asked = _question(offer, verdict)
    if asked and not approved:
        raise WrongStateError(
            f"Taking it back needs your approval. {one_line(asked, 600)}",
            f"Approve it: switchboard sessions undo {live.session_id} --step {offer.step} --yes",
        )


def _resolved(offer: UndoOffer) -> ResolvedAction:
    """Return the act of an offer, as a model's call would be resolved."""
    element = offer.element
    point = clip(element.bounds.center)
    if offer.how is UndoHow.TYPE:
        return ResolvedAction(
            action=TypeText(text=offer.text, element=element.number, clear=True),
            said=offer.says,
            element=element,
            point=None if element.focused else point,
        )
    return ResolvedAction(
        action=ClickElement(element=element.number), said=offer.says, element=element, point=point
    )


def _act_words(offer: UndoOffer) -> str:
    return f"{offer.what}. {offer.says}"


def _effects(
    history: Sequence[protocol.Event],
    live: LiveSession,
    before: Observation,
    after: Observation,
    started: protocol.UndoStarted,
) -> tuple[SeenEffect, ...]:
    """Return what the act has changed, as a turn's own acts are seen to."""
    finder = EffectFinder(live.record.serial)
    for event in history:
        finder.fold(event.msg)
    step = live.record.last_step
    finder.fold(protocol.ObservationRecorded(step=step, observation=before))
    finder.fold(started)
    found = finder.find(step, after)
    # The screens are not stored, so nothing points to their elements.
    return tuple(replace(one, element_step=0, element=0) for one in found)


def _returned(
    ledger: Ledger, offer: UndoOffer, before: Observation, after: Observation
) -> tuple[SeenEffect, ...]:
    """Return the effect of an item that came back, where its list does not tell of it."""
    gone = ledger.numbered(offer.effect)
    if gone is None or gone.undone_by or not returned_item(gone, before, after):
        return ()
    return (
        replace(
            gone,
            number=ledger.next_number,
            step=0,
            call_id="",
            by=EffectOf.OPERATOR,
            kind=SeenEffectKind.ITEM_ADDED,
            element_step=0,
            element=0,
            element_key="",
        ),
    )
