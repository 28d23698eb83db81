"""Episodes as sessions in SQLite, so that replay, comparison, search, films and datasets work on
them.

Invariants: a step waits for nothing that is written: what it showed is held until the episode is
over, then stored behind the caller's back, whole or not at all; what was typed and what trees say
is redacted as a session's is; a data directory has one owner.
"""

import asyncio
import logging
import re
import time
import zlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from agent import protocol, records
from agent.episodes.observation import EpisodeObservation
from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.loop.screen.changes import fingerprint
from agent.loop.screen.elements import number_elements
from agent.protocol.events.session_events import AbortReason
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.redacting.tree_redaction import redact_tree
from agent.sessions.rules.creation import new_session_id
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import EventDraft
from agent.text import clean, one_line

MODEL = f"{records.DIRECT}episode"
TAG = "episode"
EPISODES = "episodes"  # The folder of them in the operator's data directory.
_AT_ONCE = 8  # How many episodes are written at the same time; ending one more waits.
_TITLE_CHARS = 80
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_UNTASKED = "An episode without a task"
_log = logging.getLogger(__name__)


class KeptEpisodes(StrEnum):
    """Which episodes are kept."""

    ALL = "all"
    FAILURES = "failures"  # Those whose task was not done, for whatever reason.


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """Where episodes are kept, and which."""

    folder: Path  # A separate data directory, read with `switchboard --data-dir FOLDER`.
    which: KeptEpisodes = KeptEpisodes.ALL
    share: float = 1.0  # Of these, which share, by chance that the episode's id decides.

    @classmethod
    def parse(cls, told: str | float | bool, folder: Path) -> Self | None:
        """Read `all`, `failures`, a share from 0 to 1, or a truth value; None for no recording.

        Raises UsageError for anything else.
        """
        text = str(told).strip().lower()
        if text in {"", "no", "false", "0", "none"}:
            return None
        if text in {"all", "yes", "true"}:
            return cls(folder=folder)
        if text == KeptEpisodes.FAILURES:
            return cls(folder=folder, which=KeptEpisodes.FAILURES)
        try:
            share = float(text)
        except ValueError:
            share = -1.0
        if not 0.0 < share <= 1.0:
            raise UsageError(
                f"record is {text[:80]!r}.", "Give all, failures, no, or a share such as 0.1."
            )
        return cls(folder=folder, share=share)

    def wants(self, episode_id: str) -> bool:
        return zlib.crc32(episode_id.encode()) / (1 << 32) < self.share


class Act(NamedTuple):
    """One step: what was done, when, and what was seen then."""

    tool: str
    given: Mapping[str, float | str]
    began_ms: int
    acted_ms: int
    error: str
    is_unknown: bool  # Whether nobody knows if it took effect.
    seen: EpisodeObservation


class Tape:
    """What one episode showed so far, held in memory."""

    def __init__(
        self,
        episode_id: str,
        *,
        goal: str,
        task: str,
        serial: str,
        max_steps: int,
        first: EpisodeObservation,
    ) -> None:
        self.episode_id = episode_id
        self.goal = goal
        self.task = task
        self.serial = serial
        self.max_steps = max_steps
        self.first = first
        self.began_ms = _now_ms()
        self.acts: list[Act] = []

    @property
    def last(self) -> EpisodeObservation:
        """What was seen last."""
        return self.acts[-1].seen if self.acts else self.first


class Recorder:
    """Store episodes from `__aenter__` to `__aexit__`, in one event loop."""

    def __init__(self, wanted: Recording) -> None:
        self.wanted = wanted
        self.stored = 0
        """How many episodes were stored."""
        self._opened = AsyncExitStack()
        self._store: SqliteStore | None = None
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._work: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Own the data directory. Raises StoreError: another process has it."""
        opening = SqliteStore.open(self.wanted.folder)
        self._store = await self._opened.enter_async_context(opening)
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Write what is not written yet, and let the directory go."""
        try:
            await self.settled()
        finally:
            self._store = None
            await self._opened.aclose()

    async def settled(self) -> None:
        """Wait until every episode that is over is stored."""
        while self._work:
            await asyncio.gather(*self._work)

    async def keep(self, tape: Tape) -> None:
        """Have an episode stored that is over, if it is one of those that are kept.

        A store that fails is told to the log: no episode ends because of it.
        """
        passed = tape.last.terminated
        if passed and self.wanted.which is KeptEpisodes.FAILURES:
            return
        if self._store is None or not self.wanted.wants(tape.episode_id):
            return
        await self._room.acquire()
        task = asyncio.create_task(self._write(self._store, tape), name="store an episode")
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _write(self, store: SqliteStore, tape: Tape) -> None:
        try:
            msgs = await self._messages(store, tape)
            own = tape.episode_id if _SESSION_ID.fullmatch(tape.episode_id) else new_session_id()
            try:
                await store.append(*_drafts(tape, own, msgs))
            except WrongStateError:
                # The client gave two episodes one id.
                await store.append(*_drafts(tape, new_session_id(), msgs))
            self.stored += 1
        except SwitchboardError as error:
            _log.error("an episode was not stored: %s", error)
        finally:
            self._room.release()

    async def _messages(
        self, store: SqliteStore, tape: Tape
    ) -> list[tuple[int, protocol.EventMsg]]:
        turn_id = f"turn_{token_hex(6)}"
        goal = _goal(tape)
        made: list[tuple[int, protocol.EventMsg]] = [
            (tape.began_ms, protocol.UserMessage(text=goal, message_id=f"msg_{token_hex(6)}")),
            (tape.began_ms, protocol.SessionStateChanged(state=records.SessionState.RUNNING)),
            (tape.began_ms, protocol.TaskStarted(turn_id=turn_id)),
        ]
        before, number = tape.first, 0
        for number, act in enumerate(tape.acts, 1):
            made.append((act.began_ms, protocol.StepStarted(step=number)))
            await self._look(store, made, number, before)
            call = _call(number, turn_id, act)
            ended = protocol.ToolCallFinished(
                step=number,
                call_id=call.call_id,
                outcome=_outcome(act),
                text=one_line(act.error, 500) or "Done.",
            )
            observe_ms = max(0, act.seen.at_ms - act.acted_ms)
            took = records.TimeSplit(act_ms=act.acted_ms - act.began_ms, observe_ms=observe_ms)
            made += [
                (act.began_ms, call),
                (act.acted_ms, ended),
                (
                    act.seen.at_ms,
                    protocol.StepCompleted(step=number, time=took, usage=records.Usage()),
                ),
            ]
            before = act.seen
        last = number + 1
        ended_ms = max(tape.last.at_ms, tape.began_ms)
        made.append((ended_ms, protocol.StepStarted(step=last)))
        await self._look(store, made, last, before)
        nothing = protocol.StepCompleted(
            step=last, time=records.TimeSplit(), usage=records.Usage(), counted=False
        )
        made.append((ended_ms, nothing))
        made += [(ended_ms, msg) for msg in _end(tape, turn_id)]
        return made

    async def _look(
        self,
        store: SqliteStore,
        made: list[tuple[int, protocol.EventMsg]],
        step: int,
        seen: EpisodeObservation,
    ) -> None:
        """Store what was seen, where anything was."""
        if not seen.png and not seen.xml:
            return
        frame = None
        if seen.png:
            digest = await store.blobs.put(seen.png, "image/png")
            frame = records.Frame(
                digest=digest,
                width_px=seen.width_px,
                height_px=seen.height_px,
                captured_ms=seen.at_ms,
            )
        tree_digest, observation = "", await asyncio.to_thread(_observation, seen)
        if seen.xml:
            xml = await asyncio.to_thread(redact_tree, seen.xml, redact_secrets)
            tree_digest = await store.blobs.put(xml, "application/xml")
        whole = msgspec.structs.replace(observation, frame=frame, tree_digest=tree_digest)
        made.append((seen.at_ms, protocol.ObservationRecorded(step=step, observation=whole)))


def _observation(seen: EpisodeObservation) -> records.Observation:
    front = records.Foreground(
        package=seen.package, activity=seen.activity, keyboard_shown=seen.keyboard_shown
    )
    elements = number_elements(seen.nodes, redact=redact_secrets)
    return records.Observation(
        started_ms=seen.at_ms,
        ended_ms=seen.at_ms,
        foreground=front,
        elements=elements,
        fingerprint=fingerprint(front, elements),
        tree_note="" if seen.xml else one_line(seen.error, 300) or "No tree was looked at.",
    )


def _drafts(
    tape: Tape, session_id: str, msgs: list[tuple[int, protocol.EventMsg]]
) -> tuple[EventDraft, ...]:
    head = (tape.began_ms, protocol.SessionConfigured(session=_session(tape, session_id)))
    return tuple(EventDraft(session_id, msg, "", at_ms) for at_ms, msg in (head, *msgs))


def _goal(tape: Tape) -> str:
    return clean(tape.goal, 10_000) or _UNTASKED


def _session(tape: Tape, session_id: str) -> records.Session:
    goal = _goal(tape)
    return records.Session(
        session_id=session_id,
        goal=goal,
        created_ms=tape.began_ms,
        title=one_line(goal, _TITLE_CHARS),
        serial=tape.serial,
        model=MODEL,
        max_steps=tape.max_steps,
        tags=tuple(filter(None, (TAG, tape.task))),
    )


def _call(number: int, turn_id: str, act: Act) -> protocol.ToolCallRequested:
    given = act.given
    path: tuple[records.Point, ...] = ()
    point = None
    if "x1" in given:
        path = tuple(
            records.Point(x=float(given[f"x{end}"]), y=float(given[f"y{end}"]))
            for end in ("1", "2")
        )
    elif "x" in given and "y" in given:
        point = records.Point(x=float(given["x"]), y=float(given["y"]))
    return protocol.ToolCallRequested(
        step=number,
        call_id=f"call_{turn_id[-8:]}_{number}",
        tool=act.tool,
        arguments=redact_secrets(msgspec.json.encode(given).decode()),
        point=point,
        path=path,
    )


def _outcome(act: Act) -> records.ActionOutcome:
    if act.is_unknown:
        return records.ActionOutcome.UNKNOWN
    return records.ActionOutcome.FAILED if act.error else records.ActionOutcome.DONE


def _end(tape: Tape, turn_id: str) -> tuple[protocol.EventMsg, ...]:
    last = tape.last
    if not last.done:
        return (
            protocol.TurnAborted(turn_id=turn_id, reason=AbortReason.CANCELLED),
            protocol.SessionStateChanged(
                state=records.SessionState.CANCELLED, reason="another episode was begun"
            ),
        )
    if last.terminated:
        said = "The phone is as the task asks."
        verdict = records.GoalVerdict.MET
    else:
        said = one_line(last.error, 500) or "The steps of the task are used up."
        verdict = records.GoalVerdict.NOT_MET
    checked = records.Verification(
        verified_by=records.VerifiedBy.CHECKER, verdict=verdict, reason=said
    )
    judged = (protocol.VerificationRecorded(verification=checked),) if tape.task else ()
    if last.terminated:
        return (
            protocol.ResultPublished(text=said),
            *judged,
            protocol.TaskComplete(turn_id=turn_id, last_agent_message=said),
            protocol.SessionStateChanged(state=records.SessionState.COMPLETED),
        )
    return (
        protocol.ErrorEvent(message=said),
        *judged,
        protocol.TurnAborted(turn_id=turn_id, reason=AbortReason.BUDGET_LIMITED),
        protocol.SessionStateChanged(state=records.SessionState.FAILED, reason=said),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
