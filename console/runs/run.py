"""Run a session to its end for a headless command, even if the core that runs it dies.

Invariants: every event of the session from the command's own op on is printed once; a session is
judged by what happened after the op, never by the state it was found in; when the process that
owned the store ends, this one takes over and resumes the session.
"""

import asyncio
from collections.abc import Awaitable, Callable

from agent.config import Settings
from agent.core import Core
from agent.errors import RuntimeDiedError, UsageError, WrongStateError
from agent.operators.admission import own_request
from agent.protocol import Op, SessionResume
from agent.records import SessionState
from agent.sessions.rules.creation import requested_id
from agent.store.store import Store
from console.cli_support.exits import ExitCode, say
from console.core.device_setup import Devices, devices_for
from console.core.host import AGAIN_S, ATTEMPTS, Choose, Host, reach, reading
from console.runs.run_follower import Follower, FollowOptions
from console.runs.unlocking import request
from console.terminal.signals import StopRequest

Begin = Callable[[Host], Awaitable[str]]  # Creates a session and returns its id.


async def pursue_new(
    settings: Settings,
    choose: Choose,
    begin: Begin,
    stop: StopRequest,
    options: FollowOptions,
    *,
    request_id: str,
) -> ExitCode:
    """Begin a session and follow it until it settles.

    Args:
        request_id: what `begin` sends each time; if a core ended before it answered, a session that
            it had begun is found by it.
    """
    follower = Follower(options)
    is_others, operator = False, ""
    for attempts_left in range(ATTEMPTS - 1, -1, -1):
        try:
            async with reach(settings, choose) as host:
                is_others, operator = not host.owned, host.operator
                async with host.core.events() as feed:
                    follower.use(host, await begin(host))
                    return await follower.follow(feed, stop)
        except RuntimeDiedError:
            if not is_others or stop.asked.is_set() or not (follower.root_id or attempts_left):
                raise
        if follower.root_id:
            return await _take_over(settings, follower, stop, follower.root_id)
        say("The core ended before it answered; asking again.")
        await asyncio.sleep(AGAIN_S)
        if session_id := await session_begun_by(settings, own_request(operator, request_id)):
            return await _take_over(settings, follower, stop, session_id)
    raise AssertionError("the last attempt returns or raises")


async def session_begun_by(settings: Settings, request_id: str) -> str:
    """Return the session that a request began before its core ended; empty if none."""
    session_id = requested_id(request_id)
    async with reading(settings) as records:
        try:
            session = await records.session(session_id)
        except UsageError:
            return ""
    return "" if session.state is SessionState.CREATED else session_id


async def pursue_stored(
    settings: Settings,
    host: Host,
    session_id: str,
    op: Op,
    stop: StopRequest,
    options: FollowOptions,
) -> ExitCode:
    """Request an op that starts a stored session, and follow it until it settles."""
    before = await host.core.overview()
    root = await host.core.session(session_id)
    follower = Follower(options)
    follower.use(host, root.session_id)
    follower.load((root, *before.sessions), before.questions)
    try:
        async with host.core.events(after=before.event_id) as feed:
            await request(host, op)
            follower.judge_from((await host.core.overview()).event_id)
            return await follower.follow(feed, stop)
    except RuntimeDiedError:
        if host.owned or stop.asked.is_set():
            raise
    return await _take_over(settings, follower, stop, session_id)


async def _take_over(
    settings: Settings, follower: Follower, stop: StopRequest, session_id: str
) -> ExitCode:
    """Continue a session whose core has ended: here, or in the process that took over first."""

    async def choose(store: Store) -> Devices:
        return await devices_for(store, settings, session_id)

    for attempt in range(ATTEMPTS):
        say("The process that ran the session has ended; continuing here.")
        owned = False
        try:
            async with reach(settings, choose) as host:
                owned = host.owned
                follower.use(host, session_id)
                async with host.core.events(after=follower.seen_id) as feed:
                    await _resume(host.core, session_id)
                    follower.judge_from((await host.core.overview()).event_id)
                    return await follower.follow(feed, stop)
        except RuntimeDiedError:
            if owned or stop.asked.is_set() or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


async def _resume(core: Core, session_id: str) -> None:
    if (await core.session(session_id)).state.is_terminal:
        return
    try:
        await core.request(SessionResume(session_id=session_id))
    except WrongStateError:
        # Another process was faster.
        return
