"""The SessionTask protocol, and TaskContext, a task's only interface to the core.

Invariant: whatever a task emits is stored before
`emit` returns, so intent is durable before a phone is touched.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

import msgspec

from agent import protocol, records
from agent.devices.protocols import Device
from agent.knowledge.library import Library
from agent.loop.warranting import Warranting
from agent.models.model import Model
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.safety.app_rules import AppRule
from agent.safety.navigation.known_presses import KnownPresses
from agent.vault.vault import Vault

JobOp: TypeAlias = protocol.JobCreate | protocol.JobList | protocol.JobStop
ServiceOp: TypeAlias = (
    JobOp
    | protocol.WatcherCreate
    | protocol.WatcherList
    | protocol.WatcherStop
    | protocol.CommitmentCreate
    | protocol.CommitmentSearch
    | protocol.CommitmentUpdate
)
"""What a session may ask of the core's services."""


class TaskKind(StrEnum):
    """What a session can be doing."""

    REGULAR = "regular"
    PLAN = "plan"
    REVIEW = "review"
    COMPACT = "compact"

    @property
    def is_review_turn(self) -> bool:
        """Whether it reads the session from outside and leaves the session's state alone."""
        return self in {TaskKind.REVIEW, TaskKind.COMPACT}

    @property
    def needs_device(self) -> bool:
        """Whether it drives a phone, and so waits for one."""
        return self is TaskKind.REGULAR


class Following(StrEnum):
    """What takes a session on when a turn of it has ended well."""

    NOTHING = "nothing"
    CHILDREN = "children"  # Others work for it now, and it becomes what they make of it.
    REGULAR_TURN = "regular_turn"  # It works itself, at once.


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on one turn."""

    max_steps: int = 30
    """Counted steps of the session."""
    max_total_steps: int = 100
    """Counted or not."""
    deadline_s: float = 0.0
    """Seconds for the turn; 0 = none."""
    context_window: int = 0
    """Tokens that the model's conversation and answer may have together; 0: not known."""
    pause_on_touch: bool = True
    """Whether a hand on the phone pauses the session."""


class Steering(msgspec.Struct, frozen=True, kw_only=True):
    """One hint of the operator that no step has applied yet."""

    message_id: str
    text: str
    speaker: records.Speaker = records.Speaker.OPERATOR
    said: str = ""  # The operator's own words in the text, where it tells of more.

    @property
    def operators_words(self) -> str:
        return self.said or (self.text if self.speaker is records.Speaker.OPERATOR else "")


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """One action of a job that a person approved: this call, on this screen, once."""

    call_id: str
    screen_digest: str


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer that a question has ready, and that counts if nobody answers within a time.

    It is not stored: after a restart the question is one like others.
    """

    after_s: float
    answer: str
    by: str
    """Who gives it, for people and the audit."""
    settle: Callable[[], Awaitable[bool]]
    """Take what the answer needs, right before it is given; False: it is not given."""


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn ended by itself."""

    completed: bool
    """True: the goal is met. False: it cannot be, and `message` says why."""
    message: str
    reason: str = ""
    """Why a session is completed, when it is not because the goal is met."""
    following: Following = Following.NOTHING
    verification: records.Verification | None = None
    """Who confirmed that the goal is met; None: nobody was asked to."""
    result: str = ""
    """The result as data, as JSON."""
    sources: tuple[records.FieldSource, ...] = ()
    """Where each value of that was read."""
    review: records.Question | None = None
    """The review that a job's turn waits for; the call that it is about stays open."""


class TaskContext(Protocol):
    """What a task can do and read during one turn."""

    @property
    def session(self) -> records.Session:
        """The session as it now is."""

    @property
    def history(self) -> Sequence[protocol.Event]:
        """The session's stored events before this turn, oldest first; a resumed turn reads them."""

    @property
    def turn_id(self) -> str: ...

    @property
    def asks_goal(self) -> bool:
        """Whether this turn is asked for the session's goal, not for the newest message of
        `history`.
        """

    @property
    def limits(self) -> Limits: ...

    @property
    def background(self) -> bool:
        """Whether nobody may be watching: actions then need a review (CONTRACTS 2.4)."""

    @property
    def grant(self) -> Grant | None:
        """The one action that a person let a background turn take; None before a review."""

    def review(
        self,
        text: str,
        *,
        call: protocol.ToolCallRequested,
        params_digest: str,
        screen_digest: str,
        subject: records.Subject,
    ) -> records.Question:
        """Make the question that a background turn ends with when it wants to act.

        Args:
            text: what is asked.
            call: the tool call that stays open.
            params_digest, screen_digest: what the answer is bound to, in hex.
            subject: the action, the element and the frame that it is about.
        """

    async def check(self, op: ServiceOp) -> None:
        """Raise what `request` would fail with, and do nothing: before anybody is asked."""

    async def request(self, op: ServiceOp) -> protocol.Reply:
        """Request an op that touches no phone. Raises what the op failed with."""

    @property
    def app_rules(self) -> Sequence[AppRule]:
        """The operator's rules for single apps."""

    @property
    def destinations(self) -> Sequence[str]:
        """The hosts to which data may go without a question."""

    @property
    def library(self) -> Library:
        """What is known of apps."""

    @property
    def device(self) -> Device:
        """The leased device. Raises DeviceLostError while it is away."""

    @property
    def model(self) -> Model: ...

    @property
    def verifying(self) -> Verifying:
        """Who looks whether a claim of success is true."""

    @property
    def reviewing(self) -> Reviewing:
        """Who reads acts before they are done."""

    @property
    def known_presses(self) -> KnownPresses:
        """The presses that are known to do no more than open another page."""

    @property
    def vault(self) -> Vault:
        """The secrets that the operator keeps."""

    @property
    def warranting(self) -> Warranting:
        """The warrants that operators signed."""

    def now_ms(self) -> int: ...

    async def emit(self, *msgs: protocol.EventMsg) -> tuple[protocol.Event, ...]:
        """Store facts together, publish them, and return them."""

    async def put_blob(self, data: bytes, media_type: str) -> str:
        """Keep bytes beside the store; returns their sha256 hex digest."""

    async def read_blob(self, digest: str) -> bytes: ...

    def delta(self, text: str) -> None:
        """Show the model's text so far; not stored, the newest wins."""

    async def ask(
        self,
        text: str,
        *,
        call_id: str,
        step: int,
        options: tuple[records.QuestionOption, ...] = (),
        approval: bool = False,
        secret: bool = False,
        subject: records.Subject | None = None,
        deadline_ms: int = 0,
        speaker: records.Speaker = records.Speaker.PRODUCT,
        note: str = "",
        prepared: PreparedAnswer | None = None,
    ) -> str | None:
        """Ask the operator and wait. None when nobody answered in time or the question was closed.

        A question that was already open for the same call before a restart is taken up again.

        Args:
            secret: the answer reaches this call only: it is neither stored nor shown.
            subject: what an approval is about.
            speaker: whose words the text is.
            note: what Switchboard adds to another speaker's words.
            prepared: the answer that is given where nobody was faster.
        """

    async def close_questions(self) -> None:
        """Close the questions of a call that was taken back: nobody waits for their answers."""

    async def ask_all(
        self,
        parts: Sequence[records.QuestionPart],
        *,
        call_id: str,
        step: int,
        header: str = "",
        deadline_ms: int = 0,
    ) -> records.Answer | None:
        """Ask several questions in one request; see `ask`. What was left out is not in the answer.

        Raises UsageError when they cannot be asked: none, too many, or two with the same id.
        """

    @property
    def operator_texts(self) -> Sequence[str]:
        """What the operator asked for, said and answered by now, in words of their own, oldest
        first; of a child also what its parent was told. It grows while the turn runs.
        """

    @property
    def other_phones(self) -> Sequence[str]:
        """The names of the phones that are online beside the session's own, which a goal may mean
        too; empty for a part of a tree and for a job, to which somebody gave their phone.
        """

    def take_steering(self) -> tuple[Steering, ...]:
        """Take the hints that wait; the caller emits SteerApplied for each."""

    def take_exchanges(self) -> tuple[protocol.RequestUserInput | protocol.QuestionAnswered, ...]:
        """Take the questions of this turn that were answered since the last call, each followed by
        its answer, as they are stored: what was secret is left out.
        """

    @property
    def disturbed_ms(self) -> int:
        """When the device last was away or in somebody else's hand; what was seen until then is
        old. 0 = never.
        """

    async def checkpoint(self) -> None:
        """Call before each step and before each action: waits while the session is paused, and
        while its device is away. Raises DeviceLostError when that stays away.
        """

    async def pause(self, reason: str) -> None:
        """Hold the turn before its next step or action, as the operator would; a resume goes on."""

    async def wait_for_device(self) -> None:
        """Call on DeviceLostError: flags the session lost and waits for the device to return.

        Raises DeviceLostError when it stays away too long.
        """


class SessionTask(Protocol):
    """One thing a session does; at most one at a time per session."""

    @property
    def kind(self) -> str:
        """regular, plan, review or compact."""

    async def run(self, context: TaskContext) -> TurnEnd:
        """Work until the turn ends. Cancellation ends it at once.

        Raises SwitchboardError when it cannot go on.
        """

    async def abort(self, context: TaskContext) -> None:
        """Clean up after a turn that was ended early, once `run` has ended; store nothing."""
