"""Fold the core's events into the console's view state; post one message a tick.

Every event is folded; of text deltas only the newest counts. Invariants: at most one `Tick` is
under way; nothing here touches a widget; a listener that breaks is reported to the operator and
restarted after the last folded event.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

from textual.message import Message

from agent.core import Core, Overview, TextDelta
from agent.errors import RuntimeDiedError, StoreError, SwitchboardError, UsageError
from agent.protocol import Event, ListHosts, SessionStateChanged
from agent.records import HostInfo
from agent.state.commit import Commit
from agent.state.reducer import (
    State,
    StepItem,
    from_overview,
    reduce_commit,
    with_history,
    with_session,
    without_old_transcripts,
)
from console.core.connection import NO_ANSWER, NO_DATABASE, RECONNECTING, ModelRefusals
from console.core.remote_text import RemoteText
from console.latency_stats import LatencyStats

_log = logging.getLogger(__name__)
TICK_HZ = 30
_RETRY_S = 1.0
_REACHED_S = 5.0  # How long an event may take from the core to the state.
_FOLDED_AT_ONCE = 500
KEPT_TRANSCRIPTS = 20
"""How many settled sessions keep what they did at hand; older ones are read when looked at."""
_LOOKED_AT = 8


class Tick(Message):
    """The state changed since the last tick."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class Lost(Message):
    """The listener broke, or the core has gone."""

    def __init__(self, text: str, *, final: bool) -> None:
        super().__init__()
        self.text = text
        self.final = final


class Bridge:
    """Follows a core and keeps the state that the console shows.

    Args:
        core: the core to follow.
        post: `App.post_message`.
    """

    def __init__(self, core: Core, post: Callable[[Message], bool]) -> None:
        self.core = core
        self.state = State()
        self.is_opening = True
        """Whether the core's overview has not arrived: what the state lacks may still exist."""
        self.trouble = ""
        """Why the state is out of date; empty while it is not."""
        self.refusals = ModelRefusals()
        """What the model refused last, while no answer followed."""
        self.ended_why = ""
        """Why the core has ended; empty while it has not."""
        self._has_died = False
        self._is_reading_hosts = False
        self.saying: dict[str, str] = {}
        """The text that each session's model is writing."""
        self.latencies = LatencyStats()
        """How long observing phones took, since the console started."""
        self.hosts: tuple[HostInfo, ...] = ()
        """The hosts of a fleet, as last read."""
        self._remote_text = RemoteText(core, self._hear)
        self._post = post
        self._is_dirty = False
        self._folded = asyncio.Event()
        self._opened = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: set[str] = set()
        self._looked_at: deque[str] = deque(maxlen=_LOOKED_AT)

    @property
    def has_ended(self) -> bool:
        """Whether the core is gone for good: the state stays as it was."""
        return self._has_died or self.state.closed

    @property
    def hosts_by_name(self) -> dict[str, HostInfo]:
        """The hosts of a fleet, by name."""
        return {one.name: one for one in self.hosts}

    def look_ahead(self, stored: Overview) -> None:
        """Show what is stored until the core's overview arrives."""
        if self.is_opening:
            self.state = from_overview(stored)
            self._is_dirty = True

    async def start(self) -> None:
        """Read the overview and begin to follow. Raises what the core raises."""
        try:
            overview = await self.core.overview()
            self.state = from_overview(overview)
            self.hosts = overview.hosts
        except Exception:
            self.trouble = NO_ANSWER
            raise
        finally:
            self.is_opening = False
            self._opened.set()
            self._is_dirty = True
        self._tasks = [
            asyncio.create_task(self._follow_events(), name="console events"),
            asyncio.create_task(self._follow_deltas(), name="console deltas"),
        ]

    async def close(self) -> None:
        """Stop following."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._remote_text.close()

    def tick(self) -> None:
        """Post what changed; called by the app's timer."""
        if self._is_dirty:
            self._is_dirty = False
            self._post(Tick(self.state))

    def touch(self) -> None:
        """Make the next tick post even when no event came."""
        self._is_dirty = True

    async def opened(self) -> None:
        """Wait for the core's overview, or for the failure to read it."""
        await self._opened.wait()

    async def reached(self, event_id: int) -> None:
        """Wait until an event is folded, for a bounded time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REACHED_S):
                while self.state.event_id < event_id:
                    self._folded.clear()
                    await self._folded.wait()

    def said_now(self, session_id: str) -> str:
        """Return what a session's model is writing, until the event of its reply is folded.

        Text and events arrive on separate ways, and the text may be late.
        """
        text = self.saying.get(session_id, "")
        view = self.state.sessions.get(session_id)
        items = view.transcript.items if text and view is not None else ()
        newest = next((item for item in reversed(items) if isinstance(item, StepItem)), None)
        if newest is None or not (newest.thought or newest.actions):
            return text
        is_told = not newest.done or newest.thought.startswith(text.strip())
        return "" if is_told else text

    # --- following ----------

    async def _follow_events(self) -> None:
        while True:
            try:
                async with self.core.commits(after=self.state.event_id) as commits:
                    self._clear(RECONNECTING)
                    folded = 0
                    async for commit in commits:
                        await self._take(commit)
                        folded += len(commit.events)
                        if folded >= _FOLDED_AT_ONCE:
                            # A long backlog must not keep keys waiting.
                            folded = 0
                            await asyncio.sleep(0)
                if self.state.closed:
                    self._end("The core was stopped. Start it again, then this console.")
                    return
            except RuntimeDiedError as error:
                self._end(str(error))
                return
            except SwitchboardError as error:
                self._post(Lost(str(error), final=False))
            except Exception as error:
                _log.exception("The event listener broke")
                self._post(Lost(f"The event listener broke: {error}", final=False))
            self.trouble, self._is_dirty = RECONNECTING, True
            await asyncio.sleep(_RETRY_S)

    def _clear(self, trouble: str) -> None:
        if self.trouble == trouble:
            self.trouble, self._is_dirty = "", True

    def _end(self, why: str) -> None:
        self._has_died = self._is_dirty = True
        self.ended_why = why
        self._post(Lost(why, final=True))

    async def _take(self, commit: Commit) -> None:
        for event in {event.session_id: event for event in reversed(commit.events)}.values():
            await self._load_unknown(event)
        self.state = reduce_commit(self.state, commit)
        for event in commit.events:
            self.latencies.follow(event, self.state)
            self.refusals.follow(event)
            self._drop_transcripts_after(event)
            if getattr(event.msg, "text", None) is not None or event.session_id:
                self.saying.pop(event.session_id, None)
        self._is_dirty = True
        self._folded.set()

    def _drop_transcripts_after(self, event: Event) -> None:
        """Drop old transcripts, so that a console that is open for weeks does not grow."""
        if isinstance(event.msg, SessionStateChanged) and event.msg.state.is_terminal:
            self.state = without_old_transcripts(
                self.state, keep=self._looked_at, most=KEPT_TRANSCRIPTS
            )

    async def _load_unknown(self, event: Event) -> None:
        """Read the past of a session that is not in the state and is active again."""
        if not event.session_id or event.session_id in self.state.sessions or event.seq <= 1:
            return
        past: list[Event] = []
        try:
            while page := await self.core.history(
                event.session_id, after_seq=past[-1].seq if past else 0, limit=_FOLDED_AT_ONCE
            ):
                past += [one for one in page if one.seq < event.seq]
                if page[-1].seq >= event.seq - 1:
                    break
        except UsageError:
            # It was deleted after this event; the event that says so is still to come.
            return
        self.state = with_session(self.state, past)

    async def _follow_deltas(self) -> None:
        while True:
            try:
                async with self.core.deltas() as deltas:
                    async for delta in deltas:
                        self._hear(delta)
            except RuntimeDiedError:
                return
            except Exception:
                # Only the text that a model is writing is missing.
                _log.exception("The delta listener broke")
            await asyncio.sleep(_RETRY_S)

    def _hear(self, delta: TextDelta) -> None:
        self.saying[delta.session_id] = delta.text
        self._is_dirty = True

    def look_at(self, session_id: str) -> None:
        """Follow the model's text of the session on screen, if another host runs it."""
        view = self.state.sessions.get(session_id)
        host = "" if view is None or view.session.state.is_terminal else view.session.host
        own = next((one.name for one in self.hosts if one.is_here), "")
        self._remote_text.want(session_id, host if own and host != own else "")

    async def read_hosts(self) -> None:
        """Read the hosts of a fleet from their database, or note that it is unreachable."""
        if not self.hosts or self._is_reading_hosts:
            return
        self._is_reading_hosts = True
        try:
            self.hosts = await self.core.look_up(ListHosts())
        except StoreError:
            self.trouble = self.trouble or NO_DATABASE
        except SwitchboardError:
            # Its events show whether the core is there at all.
            return
        else:
            self._clear(NO_DATABASE)
        finally:
            self._is_reading_hosts = False
        self._is_dirty = True

    # --- history ----------

    async def read_history(self, session_id: str) -> None:
        """Fill the transcript of a session from the store, until nothing is missing."""
        if session_id in self._looked_at:
            self._looked_at.remove(session_id)
        self._looked_at.append(session_id)
        if session_id in self._reading:
            return
        self._reading.add(session_id)
        try:
            await self._fill(session_id)
        finally:
            self._reading.discard(session_id)

    async def read_behind(self, session_ids: Iterable[str]) -> None:
        """Complete the transcripts of sessions, also of those that are not on screen.

        Call it before deciding anything from a transcript: the state begins without any.
        """
        for session_id in session_ids:
            view = self.state.sessions.get(session_id)
            if view is not None and view.is_behind:
                await self._fill(session_id)

    async def _fill(self, session_id: str) -> None:
        """Read what a transcript lacks; reading the same twice at once does no harm."""
        while True:
            view = self.state.sessions.get(session_id)
            if view is None:
                return
            events = await self.core.history(session_id, after_seq=view.transcript.seq)
            if not events:
                return
            self.state = with_history(self.state, session_id, events)
            self._is_dirty = True
            view = self.state.sessions.get(session_id)
            # It may have been deleted meanwhile.
            if view is None or not view.is_behind:
                return
