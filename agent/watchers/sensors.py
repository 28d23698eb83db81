"""Look at what watchers watch: the notifications, calls and screens of phones, pages, the clock.

Not what counts as a match (`agent.watchers.matching`). Invariants: looking takes no lease and does
nothing to a phone; a phone that is away is no failure, for it comes back.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol, TypeVar, assert_never, runtime_checkable

from msgspec.structs import replace

from agent.devices.facts.notifications import Shade
from agent.devices.protocols import Device, Fleet
from agent.devices.shell.call_log import Call
from agent.errors import DeviceError, DeviceLostError, SwitchboardError
from agent.records import DeviceState, Evaluator, UiNode, Usage, Watcher, WatcherType
from agent.watchers.call_matching import calls_look
from agent.watchers.matching import (
    Look,
    is_as_before,
    page_look,
    screen_look,
    shade_look,
    time_look,
)
from agent.watchers.reading import condition_of
from agent.watchers.semantic_match import Judge, NoJudgementError
from agent.watchers.web import Page, fetch

LOOK_TIMEOUT_S = 15.0
T = TypeVar("T")
_log = logging.getLogger(__name__)


@runtime_checkable
class TellsNotifications(Protocol):
    """A device whose notifications can be listed."""

    async def notifications(self, *, timeout_s: float = 10.0) -> Shade:
        """Read what is in the notification shade. Raises DeviceError."""


@runtime_checkable
class TellsCalls(Protocol):
    """A device whose call log can be read."""

    async def calls(self, *, timeout_s: float = 10.0) -> tuple[Call, ...]:
        """List the newest calls. Raises DeviceError."""


class Sensors:
    """The sensors of the watchers of one core.

    Args:
        judge: finds what a text means.
        allow_private: whether pages of the local network may be watched.
        destinations: hosts beside its own to which a page may redirect.
    """

    def __init__(
        self, fleet: Fleet, judge: Judge, *, allow_private: bool, destinations: Collection[str] = ()
    ) -> None:
        self._fleet = fleet
        self._judge = judge
        self._allow_private = allow_private
        self._destinations = destinations

    async def look(self, watcher: Watcher, now_ms: int) -> Look:
        """Look once; a look that could not be judged says so itself.

        Raises:
            WebError, UsageError: the page could not be fetched.
            DeviceError: no phone that is online told anything.
        """
        match watcher.type:
            case WatcherType.TIME:
                return time_look(watcher, now_ms)
            case WatcherType.WEB_CHANGE:
                url = condition_of(watcher).url
                page = await fetch(
                    url, allow_private=self._allow_private, destinations=self._destinations
                )
                return await self._read_page(watcher, page)
            case WatcherType.NOTIFICATION | WatcherType.MESSAGE_REPLY:
                look = await self._look_at_phones(watcher, shade_of, shade_look)
                return await self._judged(watcher, look)
            case WatcherType.CALL_BACK:
                return await self._look_at_phones(
                    watcher,
                    _calls,
                    lambda known, serial, calls: calls_look(known, serial, calls, now_ms),
                )
            case WatcherType.SCREEN_TEXT:
                return await self._look_at_phones(watcher, _nodes, screen_look)
            case _:
                assert_never(watcher.type)

    async def _read_page(self, watcher: Watcher, page: Page) -> Look:
        """Match a page; a judge reads it only when it is another than before."""
        condition = condition_of(watcher)
        if condition.evaluator is not Evaluator.SEMANTIC_MATCH:
            return page_look(watcher, page)
        if is_as_before(watcher, page):
            return Look()
        try:
            verdict = await self._judge.judge(condition.meaning, page.text)
        except SwitchboardError as error:
            return _failed_look(error, Usage())
        return page_look(watcher, page, verdict)

    async def _judged(self, watcher: Watcher, look: Look) -> Look:
        """Keep the matches that mean what is waited for; the others count as seen."""
        condition = condition_of(watcher)
        if condition.evaluator is not Evaluator.SEMANTIC_MATCH:
            return look
        kept, usage = [], look.usage
        for match in look.matches:
            said = f"{match.event.get('title', '')}\n{match.event.get('text', '')}"
            try:
                verdict = await self._judge.judge(condition.meaning, said)
            except SwitchboardError as error:
                return _failed_look(error, usage)
            usage = usage.plus(verdict.usage)
            if verdict.holds:
                kept.append(match)
        return replace(look, matches=tuple(kept), usage=usage)

    async def _look_at_phones(
        self,
        watcher: Watcher,
        read: Callable[[Device], Awaitable[T]],
        judge: Callable[[Watcher, str, T], Look],
    ) -> Look:
        serial = condition_of(watcher).serial
        online = [
            info.serial
            for info in self._fleet.devices()
            if info.state is DeviceState.ONLINE and serial in ("", info.serial)
        ]
        told = await asyncio.gather(
            *(self._read(one, read) for one in online), return_exceptions=True
        )
        look = Look(marks=watcher.marks)
        failure: BaseException | None = None
        for one, said in zip(online, told, strict=True):
            if isinstance(said, DeviceLostError):
                continue
            if isinstance(said, BaseException):
                failure = said
                continue
            known = replace(watcher, marks=look.marks if look.marks is not None else {})
            new = judge(known, one, said)
            look = Look(
                matches=look.matches + new.matches,
                marks=new.marks,
                heard=(*look.heard, one),
                lost=look.lost + new.lost,
                has_come=look.has_come or new.has_come,
            )
        if failure is not None and not (look.heard and isinstance(failure, DeviceError)):
            raise failure
        if failure is not None:
            _log.info("Watcher %d could not look at every phone: %s", watcher.id, failure)
        return look

    async def _read(self, serial: str, read: Callable[[Device], Awaitable[T]]) -> T:
        return await read(await self._fleet.device(serial))


def _failed_look(error: SwitchboardError, used: Usage) -> Look:
    """Return the look that somebody failed to judge, with what that and those before it took."""
    more = error.usage if isinstance(error, NoJudgementError) else Usage()
    return Look(usage=used.plus(more), failure=str(error))


async def shade_of(device: Device) -> Shade:
    """Read what is in the shade of a phone. Raises DeviceError."""
    if not isinstance(device, TellsNotifications):
        raise DeviceError(f"{device.serial} cannot report its notifications.")
    return await device.notifications(timeout_s=LOOK_TIMEOUT_S)


async def _calls(device: Device) -> Sequence[Call]:
    if not isinstance(device, TellsCalls):
        raise DeviceError(f"{device.serial} cannot report its calls.")
    return await device.calls(timeout_s=LOOK_TIMEOUT_S)


async def _nodes(device: Device) -> Sequence[UiNode]:
    return (await device.tree(timeout_s=LOOK_TIMEOUT_S)).nodes
