"""Let the operator edit what a session's goal requires, while it runs or before it goes on.

Not the making of the list (`agent.loop.turn`). Invariants: the list is stored
before the session is told; a requirement is withdrawn, never deleted.
"""

from collections.abc import Sequence

from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.protocol import EditRequirements, RequirementsUpdate
from agent.records import Session, SessionState
from agent.records.requirements import wanted, with_edits
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import checked_requirements


async def edit_requirements(
    parts: Services, op: EditRequirements, submission_id: str = "", *, by: ClientInfo | None = None
) -> tuple[str, str]:
    """Store an edited list; return the session's id, and what its running turn is to be told.

    Raises:
        UsageError: there is no such session, a number that is not in its list, or an empty text.
        WrongStateError: it was cancelled, or another client drives it.
    """
    live = await parts.registry.get(op.session_id)
    async with live.lock:
        parts.clients.check_driver(live.session_id, by)
        record = live.record
        if record.state is SessionState.CANCELLED:
            raise WrongStateError(
                f"Session {live.session_id} is cancelled.", "Begin a new session with --require."
            )
        texts = checked_requirements(op.add)
        _check_numbers(record, op.withdraw)
        edited = with_edits(record.requirements, add=texts, withdraw=op.withdraw, person=op.person)
        if edited == record.requirements:
            return live.session_id, ""
        msg = RequirementsUpdate(requirements=edited, reason="edited by the operator")
        await parts.registry.append(*live.drafts(msg, submission_id=submission_id))
        gone = [one.text for one in record.requirements if one.number in op.withdraw]
        return live.session_id, _edit_words(texts, gone) if live.turn is not None else ""


def _check_numbers(record: Session, numbers: Sequence[int]) -> None:
    known = {one.number for one in wanted(record.requirements)}
    for number in numbers:
        if number not in known:
            listed = ", ".join(map(str, sorted(known))) or "none"
            raise UsageError(
                f"withdraw: there is no requirement {number}.", f"Those that count: {listed}."
            )


def _edit_words(added: Sequence[str], gone: Sequence[str]) -> str:
    said = [f"Also required: {text}" for text in added]
    return "\n".join([*said, *(f"No longer required: {text}" for text in gone)])
