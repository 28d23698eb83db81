"""Episodes for programs without an event loop: the same calls, each returning when it is done.

Invariants: the phones live on a thread of their own and end with `close`, and with the interpreter
when nobody closed them; a call that was interrupted is cancelled there too.
"""

from __future__ import annotations

import asyncio
import atexit
import tempfile
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from agent.devices.adb.address import ServerAddress
from agent.episodes.episode import Episode
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phones import EpisodePhones
from agent.episodes.recording import Recorder, Recording
from agent.episodes.rewards import Rewards
from agent.episodes.scratch import make_folder, remove_abandoned
from agent.errors import UsageError, WrongStateError
from agent.exercises.exercise import Exercise
from agent.extras import install, is_installed, missing
from agent.settings import PoolSettings

if TYPE_CHECKING:
    from agent.episodes.in_process import InProcessPhones

T = TypeVar("T")


class BlockingPhones:
    """Phones for episodes, from `open` to `close` or for the length of a `with` block.

    Args:
        wanted: which phones; so many virtual ones as a number.
        over_adb: virtual ones are programs of their own behind an adb server, as real ones are;
            else in this process, which is faster; each phone then has its own clock.
        tasks: what can be asked for; those of `read_tasks`, which need no operator.
        folder: where virtual ones live, nobody else's; a temporary one by default.
        adb: the adb program; empty: the one that is found.
        server: the operator's adb server, for emulators and real phones.
        recording: which episodes are stored, and where; None: none.
    """

    def __init__(
        self,
        wanted: PoolSettings | int = 1,
        tasks: Sequence[Exercise] = (),
        *,
        over_adb: bool = False,
        folder: Path | None = None,
        adb: str = "",
        server: ServerAddress | None = None,
        recording: Recording | None = None,
    ) -> None:
        self._wanted = PoolSettings(virtual=wanted) if isinstance(wanted, int) else wanted
        self.tasks = tuple(tasks)
        self._folder = folder
        self._adb = adb
        self._server = server or ServerAddress()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._phones: EpisodePhones | InProcessPhones | None = None
        self._over_adb = over_adb or bool(self._wanted.avds or self._wanted.serials)
        self._recording = recording
        self._recorder: Recorder | None = None

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself: who copies arguments does not mean more phones."""
        return self

    def open(self) -> Self:
        """Start the phones; nothing where they run.

        Raises AdbError, DeviceError, UsageError, StoreError.
        """
        if self._phones is not None:
            return self
        if self._folder is None:
            self._scratch = make_folder()
        folder = self._folder or Path(self._scratch.name if self._scratch else "")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="episodes", daemon=True)
        self._thread.start()
        _at_exit(weakref.WeakMethod(self.close))
        try:
            if self._scratch is not None:
                self.run(remove_abandoned())
            phones = self._made(folder)
            self.run(phones.__aenter__())
            self._phones = phones
            if self._recording is not None:
                self._recorder = self.run(Recorder(self._recording).__aenter__())
        except BaseException:
            self.close()
            raise
        return self

    def _made(self, folder: Path) -> EpisodePhones | InProcessPhones:
        if self._over_adb:
            return EpisodePhones(self._wanted, folder, adb=self._adb, server=self._server)
        if not is_installed("demo"):
            raise UsageError(missing("demo"), install("demo"))
        # The virtual phone is loaded by those who want it in their process.
        from agent.episodes.in_process import InProcessPhones

        return InProcessPhones(self._wanted.virtual, folder)

    def close(self) -> None:
        """End the phones; may be repeated."""
        phones, self._phones = self._phones, None
        recorder, self._recorder = self._recorder, None
        try:
            if self._loop is not None:
                self.run(_ended(phones, recorder))
        finally:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
            if loop is not None and thread is not None:
                loop.call_soon_threadsafe(loop.stop)
                thread.join()
                loop.close()
            scratch, self._scratch = self._scratch, None
            if scratch is not None:
                scratch.cleanup()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry work out on the phones' loop and return what it returns.

        Raises WrongStateError when the phones are not open.
        """
        if self._loop is None:
            work.close()
            raise WrongStateError("The phones are not open.", "Open them, or make others.")
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def episode(
        self,
        *,
        looks: str = "both",
        size_px: tuple[int, int] | None = None,
        max_steps: int = 0,
        wait_s: float = 5.0,
        rewards: Rewards = Rewards.SPARSE,
    ) -> BlockingEpisode:
        """Return an episode on one of these phones; arguments as `Episode`'s.

        Raises WrongStateError when the phones are not open.
        """
        if self._phones is None:
            raise WrongStateError("The phones are not open.", "Open them, or make others.")
        inner = Episode(
            self._phones.source,
            self.tasks,
            looks=looks,
            size_px=size_px,
            max_steps=max_steps,
            wait_s=wait_s,
            recorder=self._recorder,
            rewards=rewards,
        )
        return BlockingEpisode(self, inner)


async def _ended(phones: EpisodePhones | InProcessPhones | None, recorder: Recorder | None) -> None:
    """End the phones, and what episodes that nobody closed left running on this loop."""
    try:
        if phones is not None:
            await phones.__aexit__(None, None, None)
    finally:
        if recorder is not None:
            await recorder.__aexit__(None, None, None)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _at_exit(close: weakref.WeakMethod[Callable[[], None]]) -> None:
    """Have phones closed that nobody closed, while threads can still be begun.

    `atexit` comes too late: an interpreter that ends forbids new work to its pools of threads
    before it, and ending phones in order needs them. What comes earlier has no public name (CPython
    3.9 on; `concurrent.futures` uses it itself).
    """

    def at_exit() -> None:
        found = close()
        if found is not None:
            found()

    register = getattr(threading, "_register_atexit", atexit.register)
    register(at_exit)


class BlockingEpisode:
    """An `Episode` whose calls block; `inner` is for those who run several at once."""

    def __init__(self, phones: BlockingPhones, inner: Episode) -> None:
        self._phones = phones
        self.inner = inner

    def reset(
        self,
        *,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str = "",
        snapshot: bytes = b"",
        looks: str = "",
        rewards: Rewards | None = None,
    ) -> EpisodeObservation:
        """Begin an episode; see `Episode.reset`."""
        begun = self.inner.reset(
            seed=seed,
            episode_id=episode_id,
            task=task,
            snapshot=snapshot,
            looks=looks,
            rewards=rewards,
        )
        return self._phones.run(begun)

    def step(
        self, tool: str, parameters: Mapping[str, object], *, timeout_s: float | None = None
    ) -> EpisodeObservation:
        """Act and look; see `Episode.step`."""
        return self._phones.run(self.inner.step(tool, parameters, timeout_s=timeout_s))

    def save(self) -> bytes:
        """Return all that the phone holds; see `Episode.save`."""
        return self._phones.run(self.inner.save())

    def close(self) -> None:
        """Put the phone back; may be repeated, also after the phones have ended."""
        try:
            self._phones.run(self.inner.close())
        except WrongStateError:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
