"""Look at a phone until its screen holds still, and record one observation of it.

Not the device (that is `agent.devices`). Invariants: tree, foreground and frame of an observation
belong to one span of time, whose two ends are recorded; waiting is bounded by `Pace`; a phone that
gives no tree is still observed, and the observation says why it has none.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from msgspec.structs import replace

from agent.devices.device import Capture, Device, UiTree
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    TreeUnavailableError,
)
from agent.loop.changes import fingerprint
from agent.loop.elements import number_elements, plain_texts
from agent.loop.pace import Pace
from agent.loop.patterns import NOTHING, Pattern, Without
from agent.loop.pictures import Pictures, Picturing
from agent.records import Element, Foreground, Frame, Observation, UiNode
from agent.safety.redaction import any_may_hold, redact
from agent.safety.tree_redaction import redact_tree
from agent.text import one_line

Sleep = Callable[[float], Awaitable[None]]
Seconds = Callable[[], float]
PutBlob = Callable[[bytes, str], Awaitable[str]]
_QUICK_LOOK_S = 0.25
"""A look that took longer is not repeated beside the picture."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the frame and the tree of an observation are kept."""

    frame: Frame | None
    tree_digest: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One observation, with the time it took and the picture a vision model may be shown."""

    observation: Observation
    """Without its frame and its tree as long as those are being kept."""
    observe_ms: int
    settle_ms: int
    picture: Picturing | None = None
    """The frame as a model is shown it; None for a model that does not see, and when there is no
    frame."""
    keeping: asyncio.Task[Kept] | None = None
    """Keeps them; None where that is done."""

    async def whole(self) -> Seen:
        """Give it with its frame and its tree, once these are kept. Raises StoreError."""
        if self.keeping is None:
            return self
        kept = await self.keeping
        observation = replace(self.observation, frame=kept.frame, tree_digest=kept.tree_digest)
        return dataclasses.replace(self, observation=observation, keeping=None)


@dataclass(frozen=True, slots=True)
class _Look:
    tree: UiTree | None
    note: str
    foreground: Foreground
    elements: tuple[Element, ...]
    fingerprint: str
    started_ms: int
    took_s: float


@dataclass(frozen=True, slots=True)
class _Numbered:
    nodes: tuple[UiNode, ...]
    before: tuple[Element, ...] | None
    foreground: Foreground
    elements: tuple[Element, ...]
    fingerprint: str


class Observer:
    """Look at one session's device.

    Args:
        put_blob: keeps a tree or a frame and returns its digest.
        now_ms: the wall clock, for what is recorded.
        seconds: a monotonic clock, for what is waited.
        pictures: makes them for a model that sees; None for one that does not.
        hide: takes out what was typed as a secret.
        without: patterns that are switched off.
    """

    def __init__(
        self,
        *,
        put_blob: PutBlob,
        now_ms: Callable[[], int],
        pace: Pace,
        sleep: Sleep,
        seconds: Seconds,
        pictures: Pictures | None = None,
        hide: Callable[[str], str] = str,
        without: Without = NOTHING,
    ) -> None:
        self._pictures = pictures
        self._without = without
        self._hide = hide
        self._last: _Numbered | None = None
        self._put_blob = put_blob
        self._now_ms = now_ms
        self._pace = pace
        self._sleep = sleep
        self._seconds = seconds

    async def observe(
        self, device: Device, previous: Observation | None, *, acted: bool = False
    ) -> Seen:
        """Observe once the screen is stable, or when the time for that has run out.

        Args:
            previous: the observation before; None for the first of a turn, which also waits until
                there is something to use on the screen.
            acted: whether an action has just been done, so that the old screen is not yet news.
                What is seen then is given as soon as that can be judged: frame and tree are kept
                meanwhile, and `Seen.whole` waits for them.

        Raises:
            DeviceLostError: the device is away.
            DeviceError: neither a tree nor a picture can be had.
        """
        began = self._seconds()
        if acted:
            await self._sleep(self._pace.initial_s)
        look = await self._look(device, previous)
        while Pattern.SETTLE not in self._without:
            await self._sleep(self._pace.poll_s)
            last, look = look, await self._look(device, previous)
            waited = self._seconds() - began
            if waited >= self._bound(look, previous, acted):
                break
            if look.fingerprint == last.fingerprint and self._is_ready(
                look, previous, acted, waited
            ):
                break
        settled = self._seconds()
        look, capture = await self._together(device, previous, look)
        picture = None
        if self._pictures is not None and capture is not None:
            # Now, so that it is done while the observation is stored and the action judged.
            picture = self._pictures.begin(capture.data, look.elements)
        keeping = asyncio.create_task(self._keep(capture, look), name="frame and tree to the store")
        observation = Observation(
            started_ms=look.started_ms,
            ended_ms=self._now_ms(),
            tree_started_ms=0 if look.tree is None else look.tree.started_ms,
            tree_ended_ms=0 if look.tree is None else look.tree.ended_ms,
            foreground=look.foreground,
            elements=look.elements,
            fingerprint=look.fingerprint,
            tree_note=look.note,
        )
        seen = Seen(
            observation=observation,
            observe_ms=round((self._seconds() - settled) * 1000),
            settle_ms=round((settled - began) * 1000),
            picture=picture,
            keeping=keeping,
        )
        return seen if acted else await seen.whole()

    def _bound(self, look: _Look, previous: Observation | None, acted: bool) -> float:
        if previous is None:
            return self._pace.first_s
        if acted and look.fingerprint == previous.fingerprint:
            return self._pace.react_s
        return self._pace.settle_s

    def _is_ready(
        self, look: _Look, previous: Observation | None, acted: bool, waited: float
    ) -> bool:
        if look.note:
            return waited >= self._pace.react_s
        if previous is None and Pattern.FIRST_SCREEN not in self._without:
            usable = sum(e.clickable or e.editable or e.checkable for e in look.elements)
            return usable >= self._pace.first_interactive or waited >= self._pace.settle_s
        return not (acted and previous and look.fingerprint == previous.fingerprint)

    async def _together(
        self, device: Device, previous: Observation | None, settled: _Look
    ) -> tuple[_Look, Capture | None]:
        """Take picture and tree of one span: side by side, and again when the screen changed."""
        if settled.took_s > _QUICK_LOOK_S:
            # A second dump would take seconds, in which the screen may change all the more.
            return settled, await self._picture(device, settled)
        look, capture = await asyncio.gather(
            self._look(device, previous), self._picture(device, settled)
        )
        if look.fingerprint != settled.fingerprint:
            look, capture = await asyncio.gather(
                self._look(device, previous), self._picture(device, look)
            )
        return look, capture

    async def _look(self, device: Device, previous: Observation | None) -> _Look:
        started_ms, began = self._now_ms(), self._seconds()
        (tree, note), foreground = await asyncio.gather(self._tree(device), _foreground(device))
        before = None if previous is None else previous.elements
        if foreground is None:
            package = tree.nodes[0].package if tree is not None and tree.nodes else ""
            foreground = Foreground(package=package)
        foreground = replace(
            foreground,
            package=one_line(foreground.package, 120),
            activity=one_line(foreground.activity, 200),
        )
        numbered = self._numbered(() if tree is None else tree.nodes, before, foreground)
        return _Look(
            tree=tree,
            note=note,
            foreground=foreground,
            elements=numbered.elements,
            fingerprint=numbered.fingerprint,
            started_ms=started_ms,
            took_s=self._seconds() - began,
        )

    def _numbered(
        self,
        nodes: tuple[UiNode, ...],
        before: tuple[Element, ...] | None,
        foreground: Foreground,
    ) -> _Numbered:
        """Number a tree's elements; a screen that holds still is numbered once."""
        last = self._last
        if (
            last is None
            or (last.nodes, last.foreground) != (nodes, foreground)
            or (last.before is not before and last.before != before)
        ):
            redact = self._redact if self._may_hold(nodes) else str
            elements = number_elements(nodes, redact=redact, previous=before)
            mark = fingerprint(foreground, elements)
            self._last = last = _Numbered(nodes, before, foreground, elements, mark)
        return last

    def _may_hold(self, nodes: tuple[UiNode, ...]) -> bool:
        """Tell whether any text of a tree may be another one once it is redacted."""
        texts = plain_texts(nodes)
        return texts is None or any_may_hold(texts) or any(self._hide(t) != t for t in texts)

    def _redact(self, text: str) -> str:
        return redact(self._hide(text))

    async def _tree(self, device: Device) -> tuple[UiTree | None, str]:
        try:
            return await device.tree(), ""
        except (TreeUnavailableError, DeviceTimeoutError) as error:
            return None, redact(one_line(error.message, 300))

    async def _picture(self, device: Device, look: _Look) -> Capture | None:
        try:
            return await device.capture()
        except DeviceLostError:
            raise
        except DeviceError:
            # With a tree the step can go on without a picture; with neither there is nothing.
            if look.tree is None:
                raise
            return None

    async def _keep(self, capture: Capture | None, look: _Look) -> Kept:
        return Kept(*await asyncio.gather(self._keep_frame(capture), self._keep_tree(look)))

    async def _keep_frame(self, capture: Capture | None) -> Frame | None:
        if capture is None:
            return None
        digest = await self._put_blob(capture.data, capture.frame.media_type)
        return replace(capture.frame, digest=digest)

    async def _keep_tree(self, look: _Look) -> str:
        if look.tree is None:
            return ""
        return await self._put_blob(redact_tree(look.tree.xml, self._hide), "application/xml")


async def _foreground(device: Device) -> Foreground | None:
    try:
        return await device.foreground()
    except DeviceLostError:
        raise
    except DeviceError:
        return None
