"""Find out what is no longer stored of a session before something is made of it.

Invariant: what was dropped by retention is counted by looking for it, since what a result's
evidence names stays.
"""

from typing import NamedTuple

from agent.errors import StoreError
from agent.protocol import SessionPruned
from agent.text import counted
from console.report.recorded import Source, read_recorded


class Missing(NamedTuple):
    """What is gone of a session's frames."""

    frames: int  # How many its steps had.
    gone: int
    why: str = ""

    @property
    def words(self) -> str:
        """Return what an export will lack; empty where nothing is missing."""
        if not self.gone:
            return ""
        why = f" {self.why}" if self.why else ""
        gone = "is gone" if self.gone == 1 else "are gone"
        told = f"{self.gone} of {counted(self.frames, 'frame')} {gone}.{why}"
        return f"{told} Its words are whole; a film leaves those steps out."


async def missing_frames(source: Source, session_id: str) -> Missing:
    """Count the frames of a session that are gone. Raises UsageError for an unknown session."""
    told = await read_recorded(source, session_id)
    digests = list(dict.fromkeys(one.frame.digest for one in told.steps if one.frame is not None))
    reasons = [event.msg.reason for event in told.events if isinstance(event.msg, SessionPruned)]
    if not digests or not (reasons or await _is_gone(source, digests[0])):
        # Nothing was ever dropped of it, and an import without its frames lacks the first too.
        return Missing(len(digests), 0)
    gone = 0
    for digest in digests:
        gone += await _is_gone(source, digest)
    return Missing(len(digests), gone, reasons[-1] if reasons else "")


async def _is_gone(source: Source, digest: str) -> bool:
    try:
        await source.blob(digest)
    except StoreError:
        return True
    return False
