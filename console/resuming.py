"""Go on with a stored session and follow it: what `sessions resume` and `sessions answer` share.

Invariant: what is printed begins with the first event after the stored picture, and the session is
judged only by what happened after the op was carried out, never by the state it was found in.
"""

from __future__ import annotations

from agent.core import Core
from agent.errors import UsageError
from agent.protocol import Op
from agent.records import Question
from console.exits import ExitCode
from console.headless import Follower, Manner
from console.stopping import StopRequest


async def carry_on(
    core: Core, session_id: str, op: Op, stop: StopRequest, manner: Manner
) -> ExitCode:
    """Submit an op that sets a session going, and follow its tree until it settles."""
    before = await core.overview()
    root = await core.session(session_id)
    follower = Follower(core, root.session_id, manner)
    follower.begin_with((root, *before.sessions), before.questions)
    async with core.events(after=before.event_id) as feed:
        await core.request(op)
        follower.judge_from((await core.overview()).event_id)
        return await follower.follow(feed, stop)


async def find_question(core: Core, wanted: str) -> Question:
    """Find the open question of a session, or of the first of its children that asks, or by id.

    Raises:
        UsageError: there is no such session, or nothing is asked in it.
    """
    overview = await core.overview()
    for question in overview.questions:
        if question.question_id == wanted:
            return question
    root = await core.session(wanted)
    tree = {root.session_id}
    for session in sorted(overview.sessions, key=lambda s: s.created_ms):
        if session.parent_id in tree:
            tree.add(session.session_id)
    asked = [q for q in overview.questions if q.session_id in tree]
    if not asked:
        raise UsageError(
            f"Session {root.session_id} asks nothing.",
            "Steer a running session from the console; see: switchboard sessions show "
            + root.session_id,
        )
    # A parent's own question comes before those of its children (CONTRACTS 1.11).
    return min(asked, key=lambda q: (q.session_id != root.session_id, q.asked_ms))
