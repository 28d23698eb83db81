"""Take a session to another phone, because the operator says so.

Not the choice of a free phone (`agent.sessions.registry.device_assignment`). Invariants: a turn
that is moved ends first, so that nothing of it reaches either phone any more; what was in flight
has an unknown outcome; its display on the old phone is given back; the turn that goes on begins
with a fresh look at the new phone.
"""

from agent.core import ClientInfo
from agent.errors import WrongStateError
from agent.protocol import AbortReason, SessionAssigned
from agent.records import SessionState
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.resuming import Resuming
from agent.sessions.tree.app_targets import Targets
from agent.sessions.turns.turns import Turns


async def move(
    parts: Services,
    turns: Turns,
    targets: Targets,
    session_id: str,
    serial: str,
    submission_id: str = "",
    *,
    by: ClientInfo | None = None,
) -> str:
    """Move a session to a phone; returns the session's whole id.

    Args:
        by: who asks for it; None where the core does by itself.

    Raises:
        UsageError: no such session, or no such phone.
        WrongStateError: its children do its work, it is settled, or another client drives it.
    """
    live = await parts.registry.get(session_id)
    parts.assignment.check_known(serial)
    parts.clients.check_driver(live.session_id, by)
    _check(live)
    if live.record.serial == serial:
        return live.session_id
    was_working = False
    reason = f"moved from {live.record.serial or 'no phone'} to {serial} by the operator"
    while True:
        if live.turn is not None:
            was_working = True
            await turns.abort(
                live,
                AbortReason.REPLACED,
                SessionState.WAITING_FOR_USER,
                reason,
                submission_id=submission_id,
            )
        async with live.lock:
            if live.turn is not None:
                continue  # Somebody else has set it to work meanwhile, on the old phone.
            _check(live)
            # Before it is assigned: what it has open there would be worked on from here.
            await targets.leave(live)
            assigned = live.drafts(SessionAssigned(serial=serial), submission_id=submission_id)
            await parts.registry.append(*assigned)
            live.disturbed_ms = parts.clock_ms()
            if live.record.state is SessionState.QUEUED:
                # Left over by an earlier core, it stands in the line of its old phone.
                turns.begin(live, recovering=True)
            if was_working and live.is_idle:
                going = (
                    *live.flagging(lost=False),
                    *Resuming(parts.assignment).continuing(live, reason),
                )
                await parts.registry.append(*live.drafts(*going, submission_id=submission_id))
                turns.begin(live)
            return live.session_id


def _check(live: LiveSession) -> None:
    if live.delegates:
        raise WrongStateError(
            f"Session {live.session_id} delegates: its children have the phones.",
            "Move one of its children.",
        )
    if live.record.state.is_terminal:
        raise WrongStateError(
            f"Session {live.session_id} is {live.record.state}.", "Resume it first, then move it."
        )
