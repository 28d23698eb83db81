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

from agent.devices.protocols import Capture, Device, TellsToasts, UiTree
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError, TreeUnavailableError
from agent.loop.images.image_prep import Pictures, Picturing
from agent.loop.ocr.reader import TextReader
from agent.loop.ocr.region import covers, holds, silent_region
from agent.loop.screen.changes import PICTURE_DIFFERS, fingerprint, only_digits_differ
from agent.loop.screen.elements import UNLABELED, number_elements, plain_texts
from agent.loop.signals.loading import is_loading
from agent.loop.timing import Pace
from agent.loop_features import NOTHING, Pattern, Without
from agent.records import Element, Foreground, Frame, Observation, UiNode
from agent.safety.redacting.redaction import any_may_hold, redact
from agent.safety.redacting.tree_redaction import redact_tree
from agent.text import one_line

Sleep = Callable[[float], Awaitable[None]]
Seconds = Callable[[], float]
PutBlob = Callable[[bytes, str], Awaitable[str]]
_MAX_TOAST = 300
_OFF = "the screen is off"
_KEYBOARD_TOP = 0.58
"""Below this share of the height stands a keyboard that is shown, whose letters are not read."""
_QUICK_LOOK_S = 0.25  # A look that took longer is not repeated beside the picture.


@dataclass(frozen=True, slots=True)
class StoredScreen:
    """Where the frame and the tree of an observation are kept."""

    frame: Frame | None
    tree_digest: str


@dataclass(frozen=True, slots=True)
class TimedObservation:
    """One observation, with the time it took and the picture a vision model may be shown."""

    observation: Observation
    """Without its frame and its tree as long as those are being kept."""
    observe_ms: int
    settle_ms: int
    picture: Picturing | None = None
    """The frame as a model is shown it; None for a model that does not see, and when there is no
    frame."""
    keeping: asyncio.Task[StoredScreen] | None = None
    """Keeps them; None where that is done."""

    async def when_stored(self) -> TimedObservation:
        """Return it with its frame and its tree, once these are kept. Raises StoreError."""
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
    is_loading: bool
    started_ms: int
    took_s: float


@dataclass(frozen=True, slots=True)
class _View:
    """A look, and the picture that was taken beside it."""

    look: _Look
    capture: Capture | None = None
    """None for a model that does not see, and where the phone gave none."""


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
        reader: reads text in pictures where the tree says nothing; None where that is not here.
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
        reader: TextReader | None = None,
        hide: Callable[[str], str] = str,
        without: Without = NOTHING,
    ) -> None:
        self._reader = reader
        self._read_marks = "", ""
        """Fingerprints of the newest screen whose picture was read: with that text, and without."""
        self._pictures = pictures
        self._frames = pictures or Pictures()
        self._frame: bytes | None = None
        """The newest observation's."""
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
    ) -> TimedObservation:
        """Observe once the screen is stable, or when the time for that has run out.

        Args:
            previous: the observation before; None for the first of a turn, which also waits until
                there is something to use on the screen.
            acted: whether an action has just been done, so that the old screen is not yet news.
                What is seen then is given as soon as that can be judged: frame and tree are kept
                meanwhile, and `TimedObservation.when_stored` waits for them.

        Raises:
            DeviceLostError: the device is away.
            DeviceError: neither a tree nor a picture can be had.
        """
        began = self._seconds()
        if acted:
            await self._sleep(self._pace.initial_s)
        view = await self._view(device, previous)
        rested: float | None = None
        while Pattern.SETTLE not in self._without:
            await self._sleep(self._pace.poll_s)
            last, view = view, await self._view(device, previous)
            waited = self._seconds() - began
            if waited >= self._bound(view.look, previous, acted):
                break
            if not _rests(last.look, view.look):
                rested = None
                continue
            if not self._is_ready(view.look, previous, acted, waited):
                continue
            rested = waited if rested is None else rested
            if waited - rested >= self._pace.picture_s or await self._picture_rests(last, view):
                break
        settled = self._seconds()
        (look, capture), toast = await asyncio.gather(
            self._together(device, previous, view), _toast(device) if acted else _no_toast()
        )
        look, is_silent = await self._read_picture(previous, look, capture)
        change = await self._picture_change(previous, look, capture) if acted else 0.0
        self._frame = None if capture is None else capture.data
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
            toast=self._redact(one_line(toast, _MAX_TOAST)) if toast else "",
            picture_change=change,
            is_loading=look.is_loading,
            is_silent=is_silent,
        )
        seen = TimedObservation(
            observation=observation,
            observe_ms=round((self._seconds() - settled) * 1000),
            settle_ms=round((settled - began) * 1000),
            picture=picture,
            keeping=keeping,
        )
        return seen if acted else await seen.when_stored()

    def _bound(self, look: _Look, previous: Observation | None, acted: bool) -> float:
        if look.is_loading and not (previous is not None and previous.is_loading):
            return max(self._pace.loading_s, self._pace.settle_s)
        if previous is None:
            return self._pace.first_s
        if acted and look.fingerprint == self._mark(previous):
            return self._pace.react_s
        return self._pace.settle_s

    def _is_ready(
        self, look: _Look, previous: Observation | None, acted: bool, waited: float
    ) -> bool:
        if look.is_loading and not (previous is not None and previous.is_loading):
            return False
        if look.note:
            return waited >= self._pace.react_s
        if previous is None and Pattern.FIRST_SCREEN not in self._without:
            usable = sum(e.clickable or e.editable or e.checkable for e in look.elements)
            return usable >= self._pace.first_interactive or waited >= self._pace.settle_s
        return not (acted and previous and look.fingerprint == self._mark(previous))

    async def _view(self, device: Device, previous: Observation | None) -> _View:
        """Look, and for a model that sees take the picture beside it."""
        if self._pictures is None:
            return _View(await self._look(device, previous))
        look, capture = await asyncio.gather(
            self._look(device, previous), _caught(device.capture())
        )
        return _View(look, capture)

    async def _picture_rests(self, last: _View, view: _View) -> bool:
        """Return whether the picture stands still too, and is one of these elements."""
        if self._pictures is None or view.capture is None:
            return True
        if last.capture is None:
            return False
        now = view.capture.data
        if (
            await self._frames.distance(last.capture.data, now, view.look.elements)
            >= PICTURE_DIFFERS
        ):
            return False
        return await self._frames.shows(now, view.look.elements)

    async def _read_picture(
        self, previous: Observation | None, look: _Look, capture: Capture | None
    ) -> tuple[_Look, bool]:
        """Add the text in the picture where the tree says nothing.

        Returns:
            The look, and whether a part of the screen stays that nothing is known of.
        """
        nodes = () if look.tree is None else look.tree.nodes
        region = silent_region(nodes, look.elements)
        if region is None or capture is None or _OFF in look.note:
            return look, False
        if look.foreground.keyboard_shown:
            # Where nobody knows, the letters of a keyboard are less harm than text that is missed.
            region = replace(region, bottom=min(region.bottom, _KEYBOARD_TOP))
        named = tuple(e for e in look.elements if e.label != UNLABELED and not covers(e, region))
        if not await self._frames.is_drawn(capture.data, region, named):
            return look, False
        if self._reader is None:
            return look, True
        texts = await self._reader.read(capture.data)
        if texts is None:
            return look, True
        package = look.foreground.package
        seen = [text.node(package) for text in texts]
        seen = [
            node
            for node in seen
            if region.left <= node.bounds.center_x <= region.right
            and region.top <= node.bounds.center_y <= region.bottom
            and not any(holds(node.bounds, element) for element in named)
        ]
        if not seen:
            return look, True
        before = None if previous is None else previous.elements
        numbered = self._numbered((*nodes, *seen), before, look.foreground)
        self._read_marks = numbered.fingerprint, look.fingerprint
        elements, mark = numbered.elements, numbered.fingerprint
        return dataclasses.replace(look, elements=elements, fingerprint=mark), False

    def _mark(self, previous: Observation) -> str:
        """Return the fingerprint of an observation's tree alone, to compare a look with."""
        read, tree = self._read_marks
        return tree if previous.fingerprint == read else previous.fingerprint

    async def _picture_change(
        self, previous: Observation | None, look: _Look, capture: Capture | None
    ) -> float:
        """Measure how far the picture is from the last one, where no element says anything."""
        if previous is None or look.fingerprint != previous.fingerprint:
            return 0.0
        if self._frame is None or capture is None:
            return 0.0
        return await self._frames.distance(self._frame, capture.data, look.elements)

    async def _together(
        self, device: Device, previous: Observation | None, settled: _View
    ) -> tuple[_Look, Capture | None]:
        """Return picture and tree of one span: side by side, and again when the screen changed."""
        if settled.capture is not None:
            return settled.look, settled.capture
        if settled.look.took_s > _QUICK_LOOK_S:
            # A second dump would take seconds, in which the screen may change all the more.
            return settled.look, await self._picture(device, settled.look)
        look, capture = await asyncio.gather(
            self._look(device, previous), self._picture(device, settled.look)
        )
        if look.fingerprint != settled.look.fingerprint:
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
            is_loading=tree is not None and is_loading(tree.nodes),
            started_ms=started_ms,
            took_s=self._seconds() - began,
        )

    def _numbered(
        self, nodes: tuple[UiNode, ...], before: tuple[Element, ...] | None, foreground: Foreground
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
        """Return whether any text of a tree may be another one once it is redacted."""
        texts = plain_texts(nodes)
        return texts is None or any_may_hold(texts) or any([self._hide(t) != t for t in texts])

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

    async def _keep(self, capture: Capture | None, look: _Look) -> StoredScreen:
        return StoredScreen(*await asyncio.gather(self._keep_frame(capture), self._keep_tree(look)))

    async def _keep_frame(self, capture: Capture | None) -> Frame | None:
        if capture is None:
            return None
        digest = await self._put_blob(capture.data, capture.frame.media_type)
        return replace(capture.frame, digest=digest)

    async def _keep_tree(self, look: _Look) -> str:
        if look.tree is None:
            return ""
        return await self._put_blob(redact_tree(look.tree.xml, self._hide), "application/xml")


def _rests(last: _Look, look: _Look) -> bool:
    """Return whether a screen holds still; a clock that runs on it does not count."""
    if last.fingerprint == look.fingerprint:
        return True
    return last.foreground == look.foreground and only_digits_differ(last.elements, look.elements)


async def _caught(capture: Awaitable[Capture]) -> Capture | None:
    """Return a picture, or None where the phone gives none now; it is asked for again later."""
    try:
        return await capture
    except DeviceLostError:
        raise
    except DeviceError:
        return None


async def _toast(device: Device) -> str:
    return await device.toast() if isinstance(device, TellsToasts) else ""


async def _no_toast() -> str:
    return ""


async def _foreground(device: Device) -> Foreground | None:
    try:
        return await device.foreground()
    except DeviceLostError:
        raise
    except DeviceError:
        return None
