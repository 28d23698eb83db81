"""Follow one session tree without a screen until it settles; narrate it, return the exit code.

It uses only the Core protocol, so the core may be embedded or behind the socket. Invariant: what it
prints on stdout is stored, in order, without gap; the core never waits for the reader.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from agent import protocol
from agent.errors import RuntimeDiedError
from agent.records import GoalVerdict, Question, Session, SessionState
from agent.state.event_text import UNVERIFIED
from agent.state.reducer import fold_session
from agent.text import ELLIPSIS, clean, one_line
from console.cli_support.exits import ExitCode, say
from console.core.command_settings import to_run
from console.core.host import Host
from console.runs.narration import narrate
from console.runs.prompts import QuestionPrompts
from console.runs.result_file import MAX_RESULT_CHARS, write_result
from console.terminal.signals import StopRequest

STOP_BOUND_S = 20.0
LOOK_S = 1.0
TROUBLE_S = 3.0  # How long the store may refuse what the core has to store.
MOVES_S = 30.0  # How long a session may rest between the turn that a move ended and the next.
_GOING = frozenset({SessionState.QUEUED, SessionState.RUNNING})


class FollowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a headless run prints and how long it waits."""

    json_lines: bool = False
    quiet: bool = False
    silent: bool = False
    """Whether the result is not printed: the caller prints something else."""
    trust_model: bool = False
    """Whether a session that only its own model calls done counts as done."""
    output: str = ""
    """The file that a result as data is written to; empty: stdout."""
    answers: tuple[str, ...] = ()
    """Answers given beforehand, used in the order in which questions come."""
    answer_timeout_s: float = 600.0
    timeout_s: float = 0.0
    """Seconds for the whole run; 0 = none."""


class Follower:
    """Follows one session tree, across cores."""

    def __init__(self, options: FollowOptions) -> None:
        self.root_id = ""
        self.seen_id = 0
        """The newest event that was handled."""
        self._host: Host | None = None
        self._options = options
        self._prompts = QuestionPrompts(options.answers, timeout_s=options.answer_timeout_s)
        self._members: dict[str, Session] = {}
        self._stopping_until = 0.0
        self._deadline = time.monotonic() + options.timeout_s if options.timeout_s else 0.0
        self._timed_out = False
        self._trouble_since = 0.0
        self._judged_after_id = 0
        self._broken: set[str] = set()
        """Sessions whose newest turn could not go on."""
        self._moving: dict[str, float] = {}
        """Sessions that are being moved, and until when the next turn is waited for."""
        self._withheld = ""
        """The root's last error, held back while it may be what the tree fails with."""

    @property
    def _resume(self) -> str:
        """The command that resumes the tree."""
        return to_run(f"sessions resume {self.root_id}")

    def use(self, host: Host, root_id: str) -> None:
        """Set the tree to follow and its core; again when another core takes over."""
        self._host = host
        self.root_id = root_id
        self._prompts.use(host)

    def load(self, sessions: tuple[Session, ...], questions: tuple[Question, ...]) -> None:
        """Start from what is stored: the members of the tree, and their open questions."""
        for session in sorted(sessions, key=lambda s: s.created_ms):
            if session.session_id == self.root_id or session.parent_id in self._members:
                self._members[session.session_id] = session
        for question in questions:
            if question.session_id in self._members:
                self._prompts.open(question)

    def judge_from(self, event_id: int) -> None:
        """Judge what has settled, and ask, only once this event was handled."""
        self._judged_after_id = event_id

    async def follow(self, feed: AsyncIterator[protocol.Event], stop: StopRequest) -> ExitCode:
        """Follow until the tree settles, a signal stops it, or an answer does not come."""
        coming: asyncio.Future[protocol.Event] | None = None
        asked = asyncio.ensure_future(stop.asked.wait())
        try:
            with stop.graceful():
                while True:
                    code = await self._attend(stop)
                    if code is not None:
                        return code
                    if coming is None:
                        coming = asyncio.ensure_future(anext(feed))
                    watched: list[asyncio.Future[Any]] = [coming, *self._prompts.waits_for()]
                    if not self._stopping_until:
                        watched.append(asked)
                    await asyncio.wait(
                        watched, timeout=self._wait_s(), return_when=asyncio.FIRST_COMPLETED
                    )
                    if coming.done():
                        event, coming = self._received(coming), None
                        await self._take(event)
        finally:
            self._prompts.put_away()
            left = [task for task in (asked, coming) if task is not None]
            for task in left:
                task.cancel()
            # The feed cannot be closed while somebody still waits for its next event.
            await asyncio.gather(*left, return_exceptions=True)

    def _received(self, coming: asyncio.Future[protocol.Event]) -> protocol.Event:
        try:
            return coming.result()
        except StopAsyncIteration:
            raise RuntimeDiedError(
                f"The core ended while session {self.root_id} was at work.",
                f"Resume with: {self._resume}",
            ) from None

    async def _take(self, event: protocol.Event) -> None:
        self.seen_id = event.event_id
        msg = event.msg
        if isinstance(msg, protocol.SessionConfigured) and msg.session.parent_id in self._members:
            self._members[event.session_id] = msg.session
        if event.session_id != self.root_id and event.session_id not in self._members:
            return
        before = self._members.get(event.session_id)
        folded = fold_session(before, event)
        if folded is not None:
            self._members[event.session_id] = folded
        match msg:
            case protocol.TurnAborted(reason=protocol.AbortReason.FAILED):
                self._broken.add(event.session_id)
            case (
                protocol.TurnAborted(reason=protocol.AbortReason.REPLACED)
                | protocol.SessionHosted(goes_on=True)
            ):
                self._moving[event.session_id] = time.monotonic() + MOVES_S
            case protocol.SessionStateChanged(
                state=SessionState.WAITING_FOR_USER, stopped=False
            ) if before is not None and before.state is SessionState.QUEUED:
                # Its turn had not begun, and no stop ended it: it waits in another line next.
                self._moving[event.session_id] = time.monotonic() + MOVES_S
            case protocol.TurnAborted():
                self._moving.pop(event.session_id, None)
            case protocol.TaskStarted():
                self._broken.discard(event.session_id)
                self._moving.pop(event.session_id, None)
            case protocol.RequestUserInput(question=question):
                self._prompts.open(question)
            case protocol.QuestionAnswered(question_id=question_id):
                self._prompts.close(question_id)
            case protocol.QuestionClosed(question_id=question_id):
                self._prompts.close(question_id, unanswered=True)
            case _:
                pass
        await self._tell(event)

    async def _tell(self, event: protocol.Event) -> None:
        if self._options.json_lines:
            # In a thread: a reader that does not read must not stop the core in this process.
            await asyncio.to_thread(_write_line, protocol.encode(event))
        if not self._options.quiet:
            said = narrate(event)
            if event.session_id == self.root_id and isinstance(event.msg, protocol.ErrorEvent):
                said, self._withheld = self._withheld, said
            elif self._withheld and isinstance(
                event.msg, protocol.TaskStarted | protocol.StepStarted
            ):
                await asyncio.to_thread(say, self._withheld)
                self._withheld = ""
            if said:
                name = "" if event.session_id == self.root_id else f"{event.session_id} "
                await asyncio.to_thread(say, name + said)

    async def _attend(self, stop: StopRequest) -> ExitCode | None:
        """Do what is due now; return the exit code once there is nothing left to wait for."""
        settled = self._settled(stop)
        if settled is not None:
            return settled
        now = time.monotonic()
        self._check_store(now)
        if self._stopping_until:
            if now >= self._stopping_until:
                say("switchboard: the core did not confirm the stop in time")
                return self._interrupted(stop)
            return None
        if self._deadline and now >= self._deadline:
            say(f"switchboard: not done within {self._options.timeout_s:g} s; stopping")
            self._timed_out = True
        if stop.asked.is_set() or self._timed_out:
            self._stopping_until = now + STOP_BOUND_S
            self._prompts.put_away()
            await self._request_stop()
            return None
        if not self._is_caught_up:
            return None
        if self._rests() and self._prompts.leave_to_others():
            return ExitCode.NEEDS_ANSWER
        return ExitCode.NEEDS_ANSWER if await self._prompts.attend() else None

    @property
    def _is_caught_up(self) -> bool:
        return self.seen_id >= self._judged_after_id

    def _settled(self, stop: StopRequest) -> ExitCode | None:
        root = self._members.get(self.root_id)
        if root is None or not self._is_caught_up:
            return None
        match root.state:
            case SessionState.COMPLETED:
                return self._done(root)
            case SessionState.FAILED:
                self._say_failed(root)
                return ExitCode.NEEDS_ANSWER if self._prompts.went_unanswered else ExitCode.FAILED
            case SessionState.CANCELLED:
                say(f"switchboard: session {root.session_id} was cancelled")
                return ExitCode.FAILED
            case _:
                pass
        if not self._rests() or self._prompts.due_at():
            return None
        if self._broken and not stop.asked.is_set() and not self._timed_out:
            self._say_failed(root)
            say(f"Resume with: {self._resume}")
            return ExitCode.FAILED
        if self.root_id in self._moving and not stop.asked.is_set() and not self._timed_out:
            where = f" It is at host {root.host} now." if root.host else ""
            say(f"switchboard: session {self.root_id} was moved but not resumed.{where}")
            say(f"Resume with: {self._resume}")
            return ExitCode.FAILED
        return self._interrupted(stop)

    def _done(self, root: Session) -> ExitCode:
        """Print the result, and say so if only the model confirms it."""
        if root.result_json and self._options.output:
            write_result(self._options.output, root.result_json)
        if not (self._options.json_lines or self._options.silent):
            data = "" if self._options.output else root.result_json
            _write_line(clean(data or root.latest_result or "Done.", MAX_RESULT_CHARS).encode())
        if root.is_verified or root.dry_run or self._options.trust_model:
            return ExitCode.DONE
        denied = root.verdict is GoalVerdict.NOT_MET
        why = "the goal is not met" if denied else UNVERIFIED
        say(f"switchboard: unverified: {why}")
        say(f"Confirm it with: {to_run(f'sessions confirm {root.session_id}')}")
        return ExitCode.UNVERIFIED

    def _say_failed(self, root: Session) -> None:
        """Print what the root failed with, once, and what to do about it."""
        errors = (self._members[member].latest_error for member in sorted(self._broken))
        why = root.latest_error or next(filter(None, errors), "the session failed")
        told = self._withheld.removeprefix("error: ")
        self._withheld = ""
        short = one_line(why, 60).removesuffix(ELLIPSIS)
        say(f"switchboard: failed: {told if told.startswith(short) else one_line(why, 2000)}")

    def _rests(self) -> bool:
        """Return whether no session of the tree works or is about to."""
        root = self._members.get(self.root_id)
        # Children that are started again are queued before their parent is rolled up from them.
        at_work = any(
            m.state in _GOING or (m.turn_id and not m.state.is_terminal)
            for m in self._members.values()
        )
        waits = root is not None and root.state is SessionState.WAITING_FOR_USER
        now = time.monotonic()
        moves = any(now < until for until in self._moving.values()) and not self._stopping_until
        return waits and not at_work and not moves

    def _interrupted(self, stop: StopRequest) -> ExitCode:
        if self._withheld:
            say(self._withheld)
        say(f"Stopped. Resume with: {self._resume}")
        return ExitCode.FAILED if self._timed_out else stop.code

    async def _request_stop(self) -> None:
        assert self._host is not None, "a tree is loaded before it is followed"
        core = self._host.core
        try:
            async with asyncio.timeout(STOP_BOUND_S):
                await core.request(protocol.Interrupt(session_id=self.root_id))
                self.judge_from((await core.overview()).event_id)
        except TimeoutError:
            return

    def _check_store(self, now: float) -> None:
        """Give up on a store that stores nothing any more. Raises StoreError."""
        trouble = self._host.trouble() if self._host is not None else None
        if trouble is None:
            self._trouble_since = 0.0
        elif not self._trouble_since:
            self._trouble_since = now
        elif now - self._trouble_since >= TROUBLE_S:
            say(f"Resume later with: {self._resume}")
            raise trouble

    def _wait_s(self) -> float:
        """Return the seconds until something is due, even if no event comes."""
        if self._stopping_until:
            due = self._stopping_until
        else:
            moments = (self._deadline, self._prompts.due_at())
            due = min((moment for moment in moments if moment), default=0.0)
        left = due - time.monotonic() if due else LOOK_S
        return min(max(0.0, left), LOOK_S)


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
