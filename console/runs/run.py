"""Pursue a session to its end from a headless command, across the death of the core that runs it.

Invariants: what is printed is every event of the session from the command's own op on, once; a
session is judged by what happened after the op was carried out, never by the state it was found in;
when the process that owned the store ends, this one takes over and the session goes on.
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
from console.terminal.signals import StopRequest

Begin = Callable[[Host], Awaitable[str]]  # Create a session and give its id.


async def pursue_new(
    settings: Settings,
    choose: Choose,
    begin: Begin,
    stop: StopRequest,
    manner: FollowOptions,
    *,
    request_id: str,
) -> ExitCode:
    """Begin a session and follow it until it settles.

    Args:
        request_id: by which `begin` asks each time: a core that ended before it answered leaves a
            session that is gone on with, or none.
    """
    follower = Follower(manner)
    is_others, operator = False, ""
    for attempts_left in range(ATTEMPTS - 1, -1, -1):
        try:
            async with reach(settings, choose) as host:
                is_others, operator = not host.owned, host.operator
                async with host.core.events() as feed:
                    follower.take_up(host, await begin(host))
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
    """Return the session that a request began although nobody heard of it; empty if none."""
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
    manner: FollowOptions,
) -> ExitCode:
    """Carry out an op that sets a stored session going, and follow it until it settles."""
    before = await host.core.overview()
    root = await host.core.session(session_id)
    follower = Follower(manner)
    follower.take_up(host, root.session_id)
    follower.begin_with((root, *before.sessions), before.questions)
    try:
        async with host.core.events(after=before.event_id) as feed:
            await host.core.request(op)
            follower.judge_from((await host.core.overview()).event_id)
            return await follower.follow(feed, stop)
    except RuntimeDiedError:
        if host.owned or stop.asked.is_set():
            raise
    return await _take_over(settings, follower, stop, session_id)


async def _take_over(
    settings: Settings, follower: Follower, stop: StopRequest, session_id: str
) -> ExitCode:
    """Go on with a session whose core has ended: here, or in whoever took over first."""

    async def choose(store: Store) -> Devices:
        return await devices_for(store, settings, session_id)

    for attempt in range(ATTEMPTS):
        say("The process that ran the session has ended; continuing here.")
        owned = False
        try:
            async with reach(settings, choose) as host:
                owned = host.owned
                follower.take_up(host, session_id)
                async with host.core.events(after=follower.seen_id) as feed:
                    await _set_going(host.core, session_id)
                    follower.judge_from((await host.core.overview()).event_id)
                    return await follower.follow(feed, stop)
        except RuntimeDiedError:
            if owned or stop.asked.is_set() or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


async def _set_going(core: Core, session_id: str) -> None:
    if (await core.session(session_id)).state.is_terminal:
        return
    try:
        await core.request(SessionResume(session_id=session_id))
    except WrongStateError:
        # Somebody else was faster: it is at work already.
        return
