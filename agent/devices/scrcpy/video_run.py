"""One stream's pictures: received, decoded elsewhere, given at every reader's size.

Invariants: one decode serves all readers; what is not decoded yet is bounded and given up, for a
fresh key frame, rather than shown late; a reader is given the newest picture, and no sooner than it
asked for; a decoder that is lost is said and begun anew, without another run of the server.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping

from agent.devices.frames.capture_feed import IsSecure
from agent.devices.frames.subscribers import Readers, Size
from agent.devices.protocols import Capture
from agent.devices.scrcpy.backlog import EARLY, Backlog
from agent.devices.scrcpy.decoding.pictures import DecoderLostError, Decoding, Pictures
from agent.devices.scrcpy.packets import VideoItem, VideoSize, read_video
from agent.devices.scrcpy.session import ScrcpySession
from agent.devices.scrcpy.video_watch import Probe, Watch
from agent.errors import DeviceError, DeviceLostError
from agent.extras import install, is_installed, missing
from agent.records import Frame, FrameSource

_LONGEST_PAUSE_S = 1.0


def need_decoder() -> None:
    """Raise DeviceError where nothing is installed that decodes video."""
    if not is_installed("video"):
        raise DeviceError(missing("video"), install("video"))


async def open_decoded(
    opening: Awaitable[ScrcpySession], decoding: Decoding
) -> tuple[ScrcpySession, Pictures]:
    """Open a session while what decodes it is made ready. Raises DeviceError."""
    ready = asyncio.ensure_future(decoding.ready())
    try:
        session = await opening
        try:
            await ready
            return session, decoding.pictures(session.serial)
        except BaseException:
            await session.close()
            raise
    finally:
        ready.cancel()


class VideoRun:
    """Serve readers from one session."""

    def __init__(
        self,
        session: ScrcpySession,
        pictures: Pictures,
        readers: Readers,
        probe: Probe,
        is_secure: IsSecure,
        on_size: Callable[[int, int], None] | None,
    ) -> None:
        self._session = session
        self._readers = readers
        self._on_size = on_size
        self._pictures = pictures
        self._size: Size | None = None
        self._backlog = Backlog()
        self._arrived_ms = 0
        self._capturing = 0
        """How many wait for a picture that none of the readers asked for."""
        self._fresh = asyncio.Event()
        self._failure: DeviceError | None = None
        self._watch = Watch(session, readers, probe, is_secure)
        self._receiving = asyncio.create_task(self._receive(), name=f"video of {session.serial}")
        self._watching = asyncio.create_task(self._watch.run(), name=f"watch {session.serial}")
        for reader in readers.all:
            # It counts the pictures of this stream from now on.
            reader.picture = 0

    async def close(self) -> None:
        """Stop, and end the session."""
        tasks = {self._receiving, self._watching}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._pictures.close()
        await self._session.close()

    async def serve(self, until: Callable[[], bool]) -> None:
        """Yield pictures until `until` says that another stream is wanted.

        Raises DeviceError when the stream ended, or the watch gave it up.
        """
        while not until():
            self._readers.wake.clear()
            if self._receiving.done() or self._watching.done():
                raise self._why()
            try:
                if self._wait_s() <= 0:
                    await self._decode()
                await self._give_behind()
            except DecoderLostError as error:
                await self._begin_anew(error)
            if self._watch.take_news():
                self._readers.set_status(self._watch.picture_status())
            await self._pause()

    @property
    def can_capture(self) -> bool:
        """Whether a picture can be asked for: there is one, and the server sends key frames."""
        return (
            not self._receiving.done()
            and self._pictures.size is not None
            and self._session.control is not None
            and self._session.ways.has_reset_video
        )

    @property
    def side_px(self) -> int:
        """The longer side of its pictures; 0 before the first."""
        return max(self._pictures.size or (0,))

    @property
    def is_full_size(self) -> bool:
        """Whether its pictures are as large as the display."""
        return self._session.options.max_size_px == 0

    async def capture(self) -> Capture:
        """Return a whole picture that was encoded after this was asked for.

        Waits as long as the encoder takes; needs a server that can send a key frame when asked.
        """
        asked_ms = time.time_ns() // 1_000_000
        number = self._watch.key_frames
        self._watch.ask_key_frame()
        self._capturing += 1
        try:
            while self._watch.key_frames == number:
                if self._receiving.done():
                    raise self._why()
                self._fresh.clear()
                await self._fresh.wait()
        finally:
            self._capturing -= 1
        if self._pictures.size is None:
            raise self._why()
        arrived_ms = self._arrived_ms
        size, data = await self._pictures.as_png()
        frame = Frame(
            digest=hashlib.sha256(data).hexdigest(),
            width_px=size[0],
            height_px=size[1],
            captured_ms=asked_ms,
            ended_ms=max(arrived_ms, asked_ms),
            source=FrameSource.SCRCPY,
        )
        return Capture(frame=frame, data=data)

    # --- receiving ----------

    async def _receive(self) -> None:
        stream = self._session.video
        if stream is None:
            raise DeviceError("The session was opened without video.", "")
        try:
            async for item in read_video(self._session.ways, stream.exactly):
                self._take(item)
        except DeviceError as error:
            self._failure = error
        finally:
            self._readers.wake.set()
            self._fresh.set()

    def _take(self, item: VideoItem) -> None:
        if isinstance(item, VideoSize):
            # The pictures themselves say their size, in every version.
            return
        self._backlog.put(item, time.monotonic())
        self._arrived_ms = time.time_ns() // 1_000_000
        self._readers.wake.set()

    def _why(self) -> DeviceError:
        """Return why the stream ended; a fault of ours is raised as it is."""
        for task in (self._watching, self._receiving):
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                if isinstance(error, DeviceError):
                    return error
                raise error
        said = (
            f" Its server said: {self._session.last_output()}." if self._session.has_words else ""
        )
        why = self._failure
        if why is not None and not isinstance(why, DeviceLostError):
            caution = self._session.ways.caution
            return type(why)(why.message, f"{why.remedy} {caution}".strip()) if caution else why
        return DeviceLostError(
            f"The video of {self._session.serial} ended.{said}", "It restarts automatically."
        )

    # --- giving ----------

    async def _decode(self) -> None:
        packets, left_out = self._backlog.take()
        arrived_ms = self._arrived_ms
        decoded = await self._pictures.decode(
            packets,
            left_out=left_out,
            compare=self._watch.asked_for_key,
            boxes=self._due_boxes(),
            arrived_ms=arrived_ms,
        )
        if self._pictures.awaits_key:
            self._watch.want_key_frame()
        if decoded.pictures:
            self._tell_size()
            has_key = any(one.is_key for one in packets)
            self._watch.saw_picture(
                arrived_ms, moved=decoded.moved, black=decoded.black, has_key=has_key
            )
            self._fresh.set()
            self._give(decoded.scaled)

    async def _begin_anew(self, lost: DecoderLostError) -> None:
        """Go on with another decoder. Raises DeviceError when this stream cannot."""
        if self._session.control is None or not self._session.ways.has_reset_video:
            # No key frame can be asked for: a run of its own begins with one.
            raise lost
        self._watch.lose_decoder(str(lost))
        self._readers.set_status(self._watch.picture_status())
        await self._pictures.renew()
        self._backlog.miss()
        self._watch.ask_key_frame()

    def _tell_size(self) -> None:
        """Report a new size of the pictures; before version 4 no packet of its own says it."""
        size = self._pictures.size
        if size is not None and size != self._size:
            self._size = size
            if self._on_size is not None:
                self._on_size(*size)

    def _due_boxes(self) -> tuple[Size, ...]:
        # A picture that comes a little early is made now, and waits for its reader: to ask the
        # decoder twice for each costs more.
        now = time.monotonic()
        return tuple(
            {one.box for one in self._readers.all if one.due_s <= now + one.interval_s * EARLY}
        )

    async def _give_behind(self) -> None:
        """Serve readers whose time came after the picture did, or that came themselves."""
        size, number, now = self._pictures.size, self._pictures.pictures, time.monotonic()
        if size is None:
            return
        behind = [one for one in self._readers.all if one.picture != number and one.due_s <= now]
        if behind:
            self._give(await self._pictures.scaled(tuple({one.box for one in behind})))

    def _give(self, scaled: Mapping[Size, bytes]) -> None:
        size = self._pictures.size
        if size is None:
            return
        told = self._watch.picture_status()
        for reader in self._readers.all:
            if self._readers.tell_reader(reader, size, scaled, told):
                reader.picture = self._pictures.pictures

    def _wait_s(self) -> float:
        """Return in how many seconds it is time to decode."""
        if self._capturing and self._backlog:
            return 0.0
        return self._backlog.wait_s(self._readers.all, time.monotonic())

    async def _pause(self) -> None:
        """Wait for a packet, a reader, news of the watch, or the time of a reader that waits."""
        number, now = self._pictures.pictures, time.monotonic()
        waits = [one.due_s - now for one in self._readers.all if one.picture != number and number]
        pause_s = min([_LONGEST_PAUSE_S, self._watch.next_news_s(), self._wait_s(), *waits])
        wake = self._readers.wake
        if pause_s <= 0 or wake.is_set():
            return
        # Not a time-out around it, which costs several times as much: the next turn looks anyway.
        timer = asyncio.get_running_loop().call_later(pause_s, wake.set)
        try:
            await wake.wait()
        finally:
            timer.cancel()
