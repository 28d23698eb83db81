"""Define the ops on sessions."""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import msgspec

from agent.protocol.base import CreatingOp, OpBase
from agent.records import (
    STOPPING,
    Allowance,
    Allows,
    AtLimit,
    Autonomy,
    Budget,
    ReasoningEffort,
    Right,
    Speaker,
    TargetPresentation,
)


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One delegated objective of an agent session: a genie child will pursue it."""

    objective: str
    serial: str = ""
    package: str = ""
    presentation: TargetPresentation = TargetPresentation.AGENT_CHOICE
    """Where its app has to be in the end."""
    requires: tuple[str, ...] = ()
    """What has to be so beside the objective: words of the goal that it does not say."""


class SessionCreate(CreatingOp, frozen=True, kw_only=True, tag="session_create"):
    """Create a session; the reply names it. With targets it delegates, else it works itself."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    allows_more_by: ClassVar[tuple[str, ...]] = ("allowances", "let_through")
    brief: ClassVar[str] = "Give an agent a goal on a phone."
    returns: ClassVar[str] = "the session's id and those of its children"

    goal: str
    speaker: Speaker = Speaker.OPERATOR
    """Who wrote the goal, title and objectives; only the operator's words allow anything."""
    said: str = ""
    """The operator's own words in the goal, where it tells of more; empty: all of it."""
    title: str = ""
    serial: str = ""
    phone_needs: str = ""
    """In place of a device, what it has to be, as `tag:wall,app:com.example>=3.2,locale:de`; empty:
    any device."""
    account: str = ""
    """Whom the use of phones is counted to, in fair shares and limits."""
    target_package: str = ""
    targets: tuple[Target, ...] = ()
    model: str = ""
    endpoint: str = ""
    """The address at which the client expects its model to be asked: refused if the core's settings
    have another. Empty: the client does not mind."""
    reasoning_effort: ReasoningEffort | None = None
    """None = the setting."""
    max_steps: int = 0
    """0 = the setting."""
    budget: Budget | None = None
    """What is 0 in it is as the settings say."""
    at_limit: AtLimit | None = None
    """None = the setting."""
    autonomy: Autonomy | None = None
    """None = the setting."""
    allowances: tuple[Allowance, ...] = ()
    """What it may send or spend without asking; `used` is ignored."""
    direct: bool = False
    """The client that gives this op makes the calls itself (DirectCall); `model` names its program.
    The session ends with the client."""
    one_act: bool = False
    """A direct session for one act that somebody typed: it has no goal to be verified."""
    tool_servers: tuple[str, ...] = ()
    """The MCP servers whose tools it is given, by their names in the settings."""
    dry_run: bool = False
    let_through: bool = False
    """Whether what looks like a secret in the goal, title and objectives is not redacted."""
    output_schema: str = ""
    """A JSON Schema, as JSON, that the result has to fit; with targets, that of each child."""
    requires: tuple[str, ...] = ()
    """Requirements beside those in the goal, each in words; a claim of success has to meet them."""
    start: bool = True
    """False leaves a draft in CREATED, which may lack a goal until it is started."""
    hold: bool = False
    """A draft that ends with the client that made it, unless it is started or driven before."""


class SessionStart(OpBase, frozen=True, kw_only=True, tag="session_start"):
    """Start a draft."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    allows_more_by: ClassVar[tuple[str, ...]] = ("let_through",)

    session_id: str
    prompt: str = ""
    """What to do; empty: the draft's own goal."""
    let_through: bool = False
    """Whether what looks like a secret in the prompt is not redacted in this session."""


class UserInput(OpBase, frozen=True, kw_only=True, tag="user_input"):
    """Steer the running turn, or start a turn of an idle or, on request, of an ended session."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    allows_more_by: ClassVar[tuple[str, ...]] = ("let_through",)
    brief: ClassVar[str] = "Send a session a hint or a new task."

    session_id: str
    text: str
    speaker: Speaker = Speaker.OPERATOR
    """Who wrote it; only the operator's words allow anything."""
    let_through: bool = False
    """Whether what looks like a secret in the text is not redacted in this session."""
    resumes: bool = False
    """Whether an ended session is resumed with it as its next task; refused without."""
    steers: bool | None = None
    """True: only to steer the running turn; False: only to start one. Null: whichever it does."""


class SessionLetThrough(OpBase, frozen=True, kw_only=True, tag="session_let_through"):
    """Send the operator's redacted texts again, unredacted; refused after a restart."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.MORE

    session_id: str


class UserInputAnswer(OpBase, frozen=True, kw_only=True, tag="user_input_answer"):
    """Answer a question; the first answer wins, later ones are refused as wrong state."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.MORE
    allows_more_by: ClassVar[tuple[str, ...]] = ("let_through",)
    brief: ClassVar[str] = "Answer a question of a session."
    returns: ClassVar[str] = "the id of the session that asked"

    question_id: str
    answer: str = ""
    """For several questions: one answer for each, separated by a blank line."""
    answers: Mapping[str, tuple[str, ...]] = {}
    """Or the answers by the id of each question."""
    speaker: Speaker = Speaker.OPERATOR
    """Who answers; only the operator's words allow anything."""
    let_through: bool = False
    """Whether what looks like a secret in the answer is not redacted in this session."""
    expired: bool = False
    """Nobody answered in time: close the question without an answer, which is then ignored."""


class Interrupt(OpBase, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the turn of a session; it becomes idle and can be resumed. Empty id: every session."""

    needs: ClassVar[tuple[Right, ...]] = STOPPING
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING
    brief: ClassVar[str] = "Stop a session now; it can be resumed."

    session_id: str = ""


class SessionPause(OpBase, frozen=True, kw_only=True, tag="session_pause"):
    """Hold the turn before its next step."""

    needs: ClassVar[tuple[Right, ...]] = STOPPING
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str


class SessionResume(OpBase, frozen=True, kw_only=True, tag="session_resume"):
    """Resume after a pause, a stop, a crash or, in a new generation, from a terminal state."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    brief: ClassVar[str] = "Resume a session after a pause, a stop, a crash or its end."

    session_id: str
    endpoint: str = ""
    """Ask its model there from now on: at the address of the core's settings, or the one that it
    has; any other is refused. Empty: as its record says."""


class SessionCancel(OpBase, frozen=True, kw_only=True, tag="session_cancel"):
    """End a session; on an agent session, its whole tree. Idempotent."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str


class SessionAttach(OpBase, frozen=True, kw_only=True, tag="session_attach"):
    """Watch a session, or drive it: it stays live after its turns; the newest driver counts."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the session's full id"

    session_id: str
    drive: bool = True


class SessionDetach(OpBase, frozen=True, kw_only=True, tag="session_detach"):
    """Release a session, which settles by its turns' outcome. Empty id: all of the client's."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str = ""


AnySessionOp: TypeAlias = (
    SessionCreate
    | SessionStart
    | UserInput
    | SessionLetThrough
    | UserInputAnswer
    | Interrupt
    | SessionPause
    | SessionResume
    | SessionCancel
    | SessionAttach
    | SessionDetach
)
