"""Follow the live pictures of many phones at once: one subscription each, the newest frame only.

Invariants: nothing is asked of a phone that nobody sees; streams are begun a few at a time, so that
opening a wall of sixty-four phones does not start sixty-four at the same moment.
"""

import asyncio
from collections.abc import Mapping

from agent.core import Core
from agent.records import LiveFrame
from console.frames.frame_feed import FeedTarget, FrameFeed

WALL_HZ = 10.0
"""The most pictures a second of each phone on the Wall: what is seen of many is not watched."""
_BEGIN_AT_ONCE = 4
_BEGIN_EVERY_S = 0.05


class WallFeeds:
    """The newest frames of what is wanted.

    Args:
        core: who gives frames.
        max_hz: the most frames a second of each phone.
    """

    def __init__(self, core: Core, *, max_hz: float) -> None:
        self._core = core
        self._max_hz = max_hz
        self._feeds: dict[str, FrameFeed] = {}
        self._seen: dict[str, int] = {}
        self._wanted: dict[str, FeedTarget] = {}
        self._beginning: asyncio.Task[None] | None = None

    @property
    def followed(self) -> frozenset[str]:
        """The phones that are followed now."""
        return frozenset(self._feeds)

    def want(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        """Follow exactly these phones, each at a size in pixels."""
        self._wanted = {serial: FeedTarget(serial, *size) for serial, size in sizes.items()}
        for serial in self._feeds.keys() - self._wanted.keys():
            self._feeds.pop(serial).want(None)
            self._seen.pop(serial, None)
        for serial, feed in self._feeds.items():
            feed.want(self._wanted[serial])
        if self._begin_some() and (self._beginning is None or self._beginning.done()):
            self._beginning = asyncio.create_task(self._begin_rest(), name="wall feeds")

    def newest(self) -> dict[str, LiveFrame]:
        """Return the newest frame of each phone that has one."""
        frames = ((serial, feed.newest) for serial, feed in self._feeds.items())
        return {serial: frame for serial, frame in frames if frame is not None}

    def take_news(self) -> dict[str, LiveFrame]:
        """Return the frames that came since this was last asked."""
        news: dict[str, LiveFrame] = {}
        for serial, feed in self._feeds.items():
            if self._seen.get(serial) != feed.version:
                self._seen[serial] = feed.version
                if feed.newest is not None:
                    news[serial] = feed.newest
        return news

    async def close(self) -> None:
        """Stop following."""
        beginning, self._beginning = self._beginning, None
        if beginning is not None:
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
        feeds, self._feeds, self._wanted = list(self._feeds.values()), {}, {}
        for feed in feeds:
            await feed.close()

    def _begin_some(self) -> bool:
        """Begin a few of those that are missing; returns whether more are."""
        missing = [one for serial, one in self._wanted.items() if serial not in self._feeds]
        for one in missing[:_BEGIN_AT_ONCE]:
            feed = self._feeds[one.serial] = FrameFeed(self._core, max_hz=self._max_hz)
            feed.want(one)
        return len(missing) > _BEGIN_AT_ONCE

    async def _begin_rest(self) -> None:
        while True:
            await asyncio.sleep(_BEGIN_EVERY_S)
            if not self._begin_some():
                return
