"""The timer of watchers and commitments: look at what is due, and store what came of it.

Not the looking (`agent.watchers.sensors`) and not the rules. Invariants: a match and the job that
it starts are stored together or not at all, so a crash neither loses nor doubles one; a watcher
looks once at a time; a look that finds nothing new stores nothing; one that was stopped meanwhile
stays stopped.
"""

import asyncio
import logging
from collections.abc import Iterable
from secrets import token_hex

from msgspec.structs import replace

from agent import records
from agent.errors import StoreError, SwitchboardError
from agent.jobs.job_service import JobService
from agent.notices.notice_service import NoticeService
from agent.protocol import CommitmentChanged, DeviceChanged, Event, WatcherChanged
from agent.sessions.registry.services import Services
from agent.store.store import EventDraft
from agent.text import one_line
from agent.wake_timer import WakeTimer
from agent.watchers import rules
from agent.watchers.call_matching import deadline_look
from agent.watchers.commitments import EXPIRED, come_due, wakes_at_ms
from agent.watchers.matching import Look, Match
from agent.watchers.reaction import job_of, notice_words
from agent.watchers.sensors import Sensors
from agent.watchers.watcher_cache import WatcherCache

LOOKS_AT_ONCE = 8  # CONTRACTS 2.2: how many one wake begins.
LOOK_LIMIT_S = 60.0
RETRY_MS = 15_000
HAS_COME = {
    records.WatcherType.MESSAGE_REPLY: "a reply has come",
    records.WatcherType.CALL_BACK: "a call has come",
}
_NOTHING = records.Usage()
_log = logging.getLogger(__name__)


class WatcherScheduler:
    """The one timer of a core's watchers and commitments, and what happens when it rings."""

    def __init__(
        self,
        parts: Services,
        cache: WatcherCache,
        sight: Sensors,
        jobs: JobService,
        notices: NoticeService,
    ) -> None:
        self._parts = parts
        self._cache = cache
        self._sight = sight
        self._jobs = jobs
        self._notices = notices
        self._next_ms: dict[int, int] = {}
        """When each active watcher looks next; quiet looks are not stored."""
        self._looking: set[int] = set()
        self._online: dict[str, bool] = {}
        self._not_before_ms = 0
        self.timer = WakeTimer(parts.clock_ms, self.next_ms, self._on_set_back)

    def load(self) -> None:
        """Take up the watchers of the cache, as they were stored."""
        self._next_ms = {one.id: one.next_run_at for one in self._cache.watchers.values()}

    def on_commit(self, events: Iterable[Event]) -> None:
        """Follow the store, after the cache has."""
        for event in events:
            match event.msg:
                case WatcherChanged(watcher=watcher):
                    self._next_ms.pop(watcher.id, None)
                    if watcher.id in self._cache.watchers:
                        self._next_ms[watcher.id] = watcher.next_run_at
                    self.timer.changed()
                case CommitmentChanged():
                    self.timer.changed()
                case DeviceChanged(device=device):
                    was_online = self._online.get(device.serial, False)
                    is_online = self._online[device.serial] = (
                        device.state is records.DeviceState.ONLINE
                    )
                    if is_online and not was_online:
                        self._look_soon()
                case _:
                    pass

    def _look_soon(self) -> None:
        """Look at phones at once: one has come."""
        now_ms = self._parts.clock_ms()
        for one in self._cache.watchers.values():
            if one.type.is_on_a_phone and not one.failure_count:
                self._next_ms[one.id] = min(self._next_ms.get(one.id, now_ms), now_ms)
        self.timer.changed()

    async def run(self) -> None:
        """Look at whatever is due, for ever."""
        while True:
            try:
                await self.ring()
            except StoreError as error:
                _log.warning("The scheduler of watchers failed: %s", error)
                self._not_before_ms = self._parts.clock_ms() + RETRY_MS
            await self.timer.wait()

    async def ring(self) -> None:
        """Begin what is due now. Raises StoreError."""
        now_ms = self._parts.clock_ms()
        if now_ms < self._not_before_ms:
            return
        for commitment in list(self._cache.commitments.values()):
            if come_due(commitment, now_ms) is not None:
                await self._fire(commitment.id, now_ms)
        for watcher_id in self._due(now_ms):
            self._looking.add(watcher_id)
            self._parts.supervisor.start(self._look(watcher_id), f"look of watcher {watcher_id}")

    def _due(self, now_ms: int) -> list[int]:
        """Name the watchers that may begin to look, the longest overdue first."""
        waiting = [
            (at_ms, watcher_id)
            for watcher_id, at_ms in self._next_ms.items()
            if at_ms <= now_ms and watcher_id not in self._looking
        ]
        room = max(0, LOOKS_AT_ONCE - len(self._looking))
        return [watcher_id for _, watcher_id in sorted(waiting)[:room]]

    def next_ms(self) -> int | None:
        """Return when the timer rings next by what is known now; None when nothing is awaited."""
        times = [at for c in self._cache.commitments.values() if (at := wakes_at_ms(c))]
        if len(self._looking) < LOOKS_AT_ONCE:
            # Else there is no room: a look that ends makes some, and has the timer ask anew.
            times += [at for one, at in self._next_ms.items() if one not in self._looking]
        return max(min(times), self._not_before_ms) if times else None

    def _on_set_back(self) -> None:
        """Have nothing wait longer than it would have by the clock as it is now."""
        now_ms = self._parts.clock_ms()
        self._not_before_ms = min(self._not_before_ms, now_ms + RETRY_MS)
        for one in self._cache.watchers.values():
            if one.id in self._next_ms:
                latest_ms = rules.next_look_ms(one, now_ms)
                self._next_ms[one.id] = min(self._next_ms[one.id], latest_ms)

    # --- commitments ----------

    async def _fire(self, commitment_id: int, now_ms: int) -> None:
        def rule(stored: records.Commitment) -> records.Commitment | None:
            return come_due(stored, now_ms)

        expires = 0 < self._cache.commitments[commitment_id].expires_at <= now_ms
        changed = await self._cache.change_commitment(
            commitment_id, rule, EXPIRED if expires else "due"
        )
        if changed.status is records.CommitmentStatus.FIRED:
            self._tell(f"commitment-{changed.id}", changed.title, changed.description, "", now_ms)

    # --- watchers ----------

    async def _look(self, watcher_id: int) -> None:
        try:
            watcher = self._cache.watchers.get(watcher_id)
            if watcher is not None:
                await self._look_once(watcher)
        except StoreError as error:
            _log.warning("What watcher %d saw could not be stored: %s", watcher_id, error)
            if watcher_id in self._next_ms:
                self._next_ms[watcher_id] = self._parts.clock_ms() + RETRY_MS
        finally:
            self._looking.discard(watcher_id)
            self.timer.changed()

    async def _look_once(self, watcher: records.Watcher) -> None:
        look, failure = Look(), ""
        try:
            async with asyncio.timeout(LOOK_LIMIT_S):
                look = await self._sight.look(watcher, self._parts.clock_ms())
                failure = look.failure
        except TimeoutError:
            failure = f"A look took more than {LOOK_LIMIT_S:g} s."
        except StoreError:
            raise
        except SwitchboardError as error:
            failure = str(error)
        except Exception as error:
            _log.exception("Watcher %d broke", watcher.id)
            failure = f"{type(error).__name__}: {error}"
        async with self._cache.changing:
            await self._settle(watcher.id, look, one_line(failure, 400))

    async def _settle(self, watcher_id: int, look: Look, failure: str) -> None:
        """Store what a look came to, from the record as it is now. Raises StoreError."""
        watcher = self._cache.watchers.get(watcher_id)
        now_ms = self._parts.clock_ms()
        if watcher is None:
            if look.usage.calls:
                # It was stopped meanwhile, but the judge was asked.
                gone = await self._cache.watcher(watcher_id)
                await self._put(rules.charged(gone, look.usage), "judged", look.usage)
            return
        if look.has_come:
            why = HAS_COME.get(watcher.type, "it has come")
            await self._put(rules.stopped(watcher, now_ms, why), why)
            return
        gives_up = rules.has_given_up(watcher, now_ms)
        if gives_up and not look.matches:
            look, failure = replace(deadline_look(watcher, look), usage=look.usage), ""
            if not look.matches:
                charged = rules.charged(watcher, look.usage)
                end = rules.stopped(charged, now_ms, rules.DEADLINE_PASSED)
                await self._put(end, rules.DEADLINE_PASSED, look.usage)
                return
        if failure:
            charged = rules.charged(watcher, look.usage)
            await self._put(rules.failed(charged, failure, now_ms), "failed", look.usage)
            return
        for done, match in enumerate(look.matches, start=1):
            so_far = look.after(done)
            changed = rules.matched(watcher, match, so_far, now_ms)
            if not await self._react(watcher, changed, match, now_ms, so_far.usage):
                return
            still = self._cache.watchers.get(watcher_id)
            if still is None:
                return
            watcher = still
        if look.matches:
            return
        remembered = rules.looked(watcher, look, now_ms)
        if remembered is not None:
            await self._put(remembered, "looked", look.usage)
        else:
            self._next_ms[watcher_id] = rules.next_look_ms(watcher, now_ms)

    async def _put(
        self, watcher: records.Watcher | None, reason: str, used: records.Usage = _NOTHING
    ) -> None:
        if watcher is not None:
            changed = WatcherChanged(watcher=watcher, reason=reason, usage=used)
            await self._parts.store.append(EventDraft("", changed))

    async def _react(
        self,
        before: records.Watcher,
        fired: records.Watcher,
        match: Match,
        now_ms: int,
        used: records.Usage,
    ) -> bool:
        """Store a match with the job that it starts; False when that job cannot be had."""
        op = job_of(before, match, now_ms)
        if op is None:
            await self._put(fired, "matched", used)
        else:

            def beside(job: records.Job) -> tuple[EventDraft, ...]:
                linked = replace(fired, job_id=job.id)
                changed = WatcherChanged(watcher=linked, reason="matched", usage=used)
                return (EventDraft("", changed),)

            try:
                await self._jobs.create(op, beside=beside)
            except StoreError:
                raise
            except SwitchboardError as error:
                failure = one_line(f"its job could not be started: {error}", 400)
                charged = rules.charged(before, used)
                await self._put(rules.failed(charged, failure, now_ms), "failed", used)
                return False
        title, text = notice_words(before, match)
        # The job gives a notice of its own.
        if title and op is None:
            serial = match.event.get("serial", "")
            is_shown = "title" in match.event and match.what in text
            wrote = records.Speaker.PHONE if is_shown else records.Speaker.PRODUCT
            self._tell(f"watcher-{before.id}", title, text, serial, now_ms, wrote)
        return True

    def _tell(
        self,
        tag: str,
        title: str,
        text: str,
        serial: str,
        now_ms: int,
        speaker: records.Speaker = records.Speaker.PRODUCT,
    ) -> None:
        notice = records.Notice(
            token=f"{tag}-{token_hex(4)}",
            session_id="",
            kind=records.NoticeKind.REMINDER,
            title=one_line(title, 200),
            text=one_line(records.attributed(text, speaker), 400),
            speaker=speaker,
            serial=serial,
            posted_ms=now_ms,
        )
        self._notices.remind(notice)
