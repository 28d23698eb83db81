"""What the session room works with, in one place: handed in by the runtime, built by nobody here.

Not a façade: it does nothing. Invariant: the parts are the same for the whole life of a core.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.devices.device import Rack
from agent.models.model import Model
from agent.protocol import Reply
from agent.records import Session
from agent.sessions.assignment import Assignment
from agent.sessions.book import Book
from agent.sessions.clients import Clients
from agent.sessions.crew import Crew
from agent.sessions.listeners import DeltaListeners
from agent.sessions.questions import Questions
from agent.settings import Settings
from agent.store.store import Store
from agent.tasks.delegation import Delegation
from agent.tasks.task import DeskOp, SessionTask


@dataclass
class Door:
    """How turns reach the desks, which are built after them; shut until there is one."""

    carry_out: Callable[[Session, DeskOp], Awaitable[Reply]] | None = None


@dataclass(frozen=True)
class Parts:
    """One core's parts."""

    settings: Settings
    store: Store
    rack: Rack
    book: Book
    questions: Questions
    clients: Clients
    assignment: Assignment
    deltas: DeltaListeners
    crew: Crew
    models: Callable[[Session], Model]
    """Make the model of a session; raises SwitchboardError when it cannot be had."""
    task: Callable[[], SessionTask]
    """Make what a session does in a regular turn."""
    plan: Callable[[Delegation], SessionTask] | None
    """Make what divides a goal among phones; None: no session plans."""
    clock_ms: Callable[[], int]
    door: Door = field(default_factory=Door)
