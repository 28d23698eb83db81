"""Define the events of watchers and commitments."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase
from agent.records import Commitment, Usage, Watcher


class WatcherChanged(EventBase, frozen=True, kw_only=True, tag="watcher_changed"):
    """A watcher was created, fired, failed, continued or stopped; carries its full record."""

    of_no_session: ClassVar[bool] = True

    watcher: Watcher
    reason: str = ""
    usage: Usage = Usage()  # What the look that led to it used of a model, to judge by meaning.


class CommitmentChanged(EventBase, frozen=True, kw_only=True, tag="commitment_changed"):
    """A commitment was created, came due or ended; carries its full record."""

    of_no_session: ClassVar[bool] = True

    commitment: Commitment
    reason: str = ""


AnyWatchEvent: TypeAlias = WatcherChanged | CommitmentChanged
