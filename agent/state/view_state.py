"""What an operator sees, as records: sessions with their transcripts, questions, devices, jobs.

`agent.state.reducer` folds it. Invariant: frozen; a change is a new state
that shares what did not change.
"""

from collections.abc import Mapping

import msgspec

from agent import records
from agent.state.transcript import Transcript


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the operator sees it.

    The transcript may be behind `seq` while older events have not been read from the store;
    `with_history` catches up.
    """

    session: records.Session
    seq: int = 0
    step: int = 0
    """Number of the newest step that is known; 0 = none is. The session counts fewer: only those
    that its budget pays for."""
    transcript: Transcript = Transcript()

    @property
    def is_behind(self) -> bool:
        """Whether the transcript lacks events that are known to exist."""
        return self.transcript.seq < self.seq


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the operator sees, after `event_id`."""

    event_id: int = 0
    sessions: Mapping[str, SessionView] = {}
    questions: Mapping[str, records.Question] = {}
    """Open ones, oldest first."""
    devices: Mapping[str, records.DeviceInfo] = {}
    servers_away: Mapping[str, str] = {}
    """The adb servers that do not answer, by host:port: why, and what to do about it."""
    jobs: Mapping[int, records.Job] = {}
    watchers: Mapping[int, records.Watcher] = {}
    commitments: Mapping[int, records.Commitment] = {}
    notices: Mapping[str, records.Notice] = {}
    """Those that are shown, by session."""
    closed: bool = False
    """The core has ended in order."""
