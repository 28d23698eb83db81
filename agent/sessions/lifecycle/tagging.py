"""Apply operators' labels to devices and sessions: names, tags, titles, dismissals.

A device's labels are stored by `agent.devices.fleet.labels`, a session's tags in its record.
Invariant: only ended sessions are dismissed.
"""

from agent.devices.fleet.labels import checked_tags
from agent.devices.protocols import Fleet
from agent.errors import UsageError, WrongStateError
from agent.protocol import DeviceTag, SessionDismissed, SessionRenamed, SessionTagged
from agent.safety.redacting.redaction import redact_secrets
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import TITLE_LIMIT_CHARS
from agent.text import one_line


def tag(fleet: Fleet, op: DeviceTag) -> None:
    """Name, tag or annotate a device. Raises UsageError for one never seen, StoreError."""
    info = next((info for info in fleet.devices() if info.serial == op.serial), None)
    if info is None:
        known = ", ".join(info.serial for info in fleet.devices()) or "none"
        raise UsageError(f"No device {op.serial!r} is known.", f"Devices seen so far: {known}.")
    fleet.label(
        op.serial,
        name=info.name if op.name is None else op.name,
        tags=info.tags if op.tags is None else op.tags,
        notes=info.notes if op.notes is None else op.notes,
    )


async def tag_session(
    parts: Services, session_id: str, tags: tuple[str, ...], submission_id: str = ""
) -> str:
    """Replace the tags of a session; return its full id.

    Raises:
        UsageError: no such session, or an invalid tag.
    """
    live = await parts.registry.get(session_id)
    wanted = checked_tags(tags, "session")
    async with live.lock:
        if live.record.tags != wanted:
            drafts = live.drafts(SessionTagged(tags=wanted), submission_id=submission_id)
            await parts.registry.append(*drafts)
    return live.session_id


async def rename_session(
    parts: Services, session_id: str, title: str, submission_id: str = ""
) -> str:
    """Set a session's title, its goal for an empty one; return its full id.

    Raises:
        UsageError: no such session.
    """
    live = await parts.registry.get(session_id)
    async with live.lock:
        wanted = one_line(redact_secrets(title) or live.record.goal, TITLE_LIMIT_CHARS).strip()
        if live.record.title != wanted:
            drafts = live.drafts(SessionRenamed(title=wanted), submission_id=submission_id)
            await parts.registry.append(*drafts)
    return live.session_id


async def dismiss(
    parts: Services, session_id: str, dismissed: bool, submission_id: str = ""
) -> tuple[str, ...]:
    """Dismiss an ended session and its children, or undo that; return their full ids.

    Raises:
        UsageError: no such session.
        WrongStateError: it, or a child of it, has not ended.
    """
    live = await parts.registry.get(session_id)
    members = (live, *await parts.registry.children(live))
    for member in members:
        if not member.record.state.is_terminal:
            raise WrongStateError(
                f"Session {member.session_id} is {member.record.state}: it has not ended.",
                "Stop it and cancel it first.",
            )
    for member in members:
        async with member.lock:
            if member.record.dismissed != dismissed:
                msg = SessionDismissed(dismissed=dismissed)
                await parts.registry.append(*member.drafts(msg, submission_id=submission_id))
    return tuple(member.session_id for member in members)
