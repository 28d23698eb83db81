"""What the session room works with, in one place: handed in by the runtime, built by nobody here.

Not a façade: it does nothing. Invariant: the parts are the same for the whole life of a core.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.core import Peers
from agent.devices.protocols import Fleet
from agent.knowledge.navigation_map import NavigationMap
from agent.loop.task_context import ServiceOp, SessionTask
from agent.loop.warranting import NO_WARRANTS, Warrants
from agent.models.model import Model
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.protocol import Reply
from agent.records import Session
from agent.sessions.registry.clients import Clients
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.registry.listeners import DeltaListeners
from agent.sessions.registry.open_questions import Questions
from agent.sessions.registry.session_registry import SessionRegistry
from agent.sessions.registry.supervisor import Supervisor
from agent.sessions.registry.withheld_texts import WithheldTexts
from agent.settings import Settings
from agent.store.store import Store
from agent.tasks.delegation import Delegation
from agent.vault.vault import Vault


@dataclass
class Door:
    """How turns reach the services, which are built after them; shut until there is one."""

    carry_out: Callable[[Session, ServiceOp], Awaitable[Reply]] | None = None
    check: Callable[[Session, ServiceOp], Awaitable[None]] | None = None
    """Refuse what `carry_out` would refuse, and do nothing."""
    warrants: Warrants = NO_WARRANTS
    answer: Callable[..., Awaitable[str]] | None = None
    """Answer a question; see `Answering.answer`."""


@dataclass
class Approvers:
    """Who may approve on a phone, where operators sign in; nobody until there is a door."""

    may_approve: Callable[[str, str], bool] = lambda _operator, _serial: False


@dataclass(frozen=True)
class Services:
    """One core's parts."""

    settings: Settings
    store: Store
    fleet: Fleet
    registry: SessionRegistry
    questions: Questions
    clients: Clients
    assignment: Assignment
    deltas: DeltaListeners
    supervisor: Supervisor
    models: Callable[[Session], Model]
    """Make the model of a session; raises SwitchboardError when it cannot be had."""
    verifiers: Callable[[Model, Session], Verifying]
    """Say who looks whether a claim of success is true, of a model."""
    reviewers: Callable[[Model, Session], Reviewing]
    """Say who reads the acts of a model before they are done."""
    task: Callable[[], SessionTask]
    """Make what a session does in a regular turn."""
    plan: Callable[[Delegation], SessionTask] | None
    """Make what divides a goal among phones; None: no session plans."""
    clock_ms: Callable[[], int]
    navigation: NavigationMap
    """Which presses are known to do no more than open another page."""
    vault: Vault
    """The secrets that the operator keeps."""
    peers: Peers | None = None
    """The other hosts of the fleet; None where one core has the store to itself."""
    door: Door = field(default_factory=Door)
    approvers: Approvers = field(default_factory=Approvers)
    withheld: WithheldTexts = field(default_factory=WithheldTexts)

    def is_elsewhere(self, session: Session) -> bool:
        """Return whether a session belongs to another host of the fleet."""
        return self.peers is not None and session.host != self.peers.host
