"""Say what is wrong with the connection to the core, as every screen and dialog shows it; and
what its model refused. Pure.
"""

from typing import Protocol

from agent.errors import ErrorKind
from agent.protocol import AgentMessage, ErrorEvent, Event, StepCompleted
from agent.records import HostInfo, HostState
from agent.text import counted, one_line

Part = tuple[str, str]
"""A text and its style."""
RECONNECTING = "reconnecting"
NO_DATABASE = "database unreachable"
NO_ANSWER = "the core did not answer"


class ModelRefusals:
    """The newest refusal of a model that no answer has followed."""

    def __init__(self) -> None:
        self.newest = ""

    def follow(self, event: Event) -> None:
        """Hear an event."""
        match event.msg:
            case ErrorEvent(kind=ErrorKind.MODEL, message=message):
                self.newest = message
            case AgentMessage() | StepCompleted():
                self.newest = ""


class Followed(Protocol):
    """What is known of the connection; the event bridge has it."""

    hosts: tuple[HostInfo, ...]
    is_opening: bool
    trouble: str

    @property
    def has_ended(self) -> bool: ...


def connection_part(followed: Followed) -> Part | None:
    """Return what is wrong with the connection, the worst first; None if nothing is.

    A core that is only being opened is not wrong: what is still empty says so.
    """
    if followed.has_ended:
        return "× the core has ended", "bold $bad"
    if followed.trouble:
        return f"! {followed.trouble}", "bold $warn"
    gone = [one.name for one in followed.hosts if one.state is HostState.GONE]
    if len(gone) > 1:
        return f"! {counted(len(gone), 'host')} are gone", "$warn"
    return (f"! host {one_line(gone[0], 24)} is gone", "$warn") if gone else None
