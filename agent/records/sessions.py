"""Define sessions and their questions."""

from collections.abc import Mapping
from enum import StrEnum

from agent.records.allowances import Allowance
from agent.records.confirmations import ReviewTicket
from agent.records.devices import Frame
from agent.records.effects import Effect
from agent.records.observation import Element, PlanItem, TimeSplit, Usage
from agent.records.record import Record
from agent.records.requirements import Requirement
from agent.records.speaker import Speaker, attributed
from agent.records.targets import TargetPresentation, TargetRuntime
from agent.records.verification import GoalVerdict, VerifiedBy


class SessionKind(StrEnum):
    """What place a session has in a tree."""

    AGENT = "agent_parent"
    GENIE = "genie_child"
    HOME = "home_session"


_TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")


class SessionState(StrEnum):
    """The states of CONTRACTS 1.4; paused, held and lost are flags beside them."""

    CREATED = "CREATED"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING_FOR_USER = "WAITING_FOR_USER"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_terminal(self) -> bool:
        """Return whether only an explicit resume may leave this state."""
        # By its text: a member's own hash is computed in Python, and lists ask this of thousands.
        return self._value_ in _TERMINAL


class Autonomy(StrEnum):
    """How much a session may do without asking; the words are OpenPhone's."""

    OBSERVE_ONLY = "observe_only"
    """It looks and never acts."""
    ASK_BEFORE_ACTION = "ask_before_action"
    """Every action that may change something is approved first."""
    TRUSTED_ACTIONS = "trusted_actions"
    """What the goal implies is done; what cannot be undone is approved first."""


class ReasoningEffort(StrEnum):
    """How long a model that reasons may do so before it answers; the words are OpenAI's."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


class AtLimit(StrEnum):
    """What happens when a budget is spent."""

    ASK = "ask"  # The session pauses and asks: extend, or stop.
    STOP = "stop"


class BudgetKind(StrEnum):
    """What a session may use up."""

    STEPS = "steps"
    SECONDS = "seconds"
    TOKENS = "tokens"
    MONEY = "money"


class Budget(Record, frozen=True, kw_only=True):
    """Limits on a whole session beside its steps; 0 = none."""

    seconds: float = 0.0  # Of work; waiting for a person does not count.
    tokens: int = 0  # In and out together.
    cost_usd: float = 0.0


class Session(Record, frozen=True, kw_only=True):
    """A goal being pursued; a node of a session tree."""

    session_id: str
    goal: str
    created_ms: int
    kind: SessionKind = SessionKind.AGENT
    state: SessionState = SessionState.CREATED
    parent_id: str = ""
    goal_speaker: Speaker | None = None
    """Who wrote the goal; None: a record of before, whose child may have a planner's."""
    goal_said: str = ""
    """The operator's own words in the goal, where it tells of more; empty: all of it."""
    title: str = ""
    serial: str = ""
    """The device it works on; empty until one is assigned, and on a parent that only delegates."""
    host: str = ""
    """The host of a fleet whose core takes it up; empty in a store of one core."""
    needs: str = ""
    """What its first phone has to be, as `tag:wall,app:com.example>=3.2`; empty: any."""
    account: str = ""
    """Whom its use of phones is counted to, in fair shares and limits."""
    waits_for: str = ""
    """Why it waits for a phone, as a person reads it; empty unless it does."""
    target_package: str = ""
    required_presentation: TargetPresentation = TargetPresentation.AGENT_CHOICE
    """Where its app has to be when it is done; a condition of completion (CONTRACTS 1.5)."""
    presentation: TargetPresentation = TargetPresentation.ATTACHED
    """Where its app was last seen."""
    target_runtime: TargetRuntime = TargetRuntime.NONE
    target_display: int = 0
    recoveries: int = 0
    """Times it went on by itself after losing a turn, since it last finished one."""
    model: str = ""
    endpoint: str = ""
    """The address at which its model is asked, without user, password and query; empty: as the
    settings say, for the pilot, a program's calls and records of before."""
    reasoning_effort: ReasoningEffort | None = None
    """None: as the model does of itself."""
    max_steps: int = 30
    budget: Budget = Budget()
    at_limit: AtLimit = AtLimit.ASK
    autonomy: Autonomy = Autonomy.TRUSTED_ACTIONS
    one_act: bool = False
    """It is one act that somebody typed, and no goal: it ends as that act did."""
    tool_servers: tuple[str, ...] = ()
    """The MCP servers whose tools it was given, by their names in the settings."""
    allowances: tuple[Allowance, ...] = ()
    """What it may send or spend without asking, at `trusted_actions` alone."""
    let_through: tuple[str, ...] = ()
    """What looks like a secret and the operator let through: it is not redacted here."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets taken out of what the operator wrote, on which they may still decide."""
    dry_run: bool = False
    """Nothing is done to the phone; the first action is drawn, and the turn ends."""
    job_id: int = 0
    """The job that opened it; 0 when a person did."""
    for_job: int = 0
    """The job that its newest prompt is of; 0 = a person's. A turn for a job never acts by itself.
    """
    forked_from: str = ""
    """The session whose past this one began with."""
    forked_step: int = 0
    """The last step of that past; 0 where that was not kept, or it had none."""
    kept: bool = False
    """Whether the operator keeps its frames and caches from retention."""
    tags: tuple[str, ...] = ()
    """Words of the operator's own to find it by."""
    dismissed: bool = False
    """Whether the operator has dismissed it since it ended: it is on no Deck, and no news."""
    pruned: bool = False
    """Whether retention dropped its frames and caches."""
    provisional: bool = False
    """A draft that ends with the client that made it, unless it is started or driven before."""
    part_ids: tuple[str, ...] = ()
    """The children of its newest plan; empty: every child is part of what it does."""
    generation: int = 0
    """Continuation generation: rises by one with each resume of a terminal session."""
    stopped: bool = False
    """Whether a stop ended its newest turn, or its wait for one."""
    paused: bool = False
    held: bool = False
    """A client drives it, or its planner: the end of a turn does not settle it."""
    lost: bool = False
    lost_until_ms: int = 0
    """Until when a lost session waits for its device; 0 = it is not lost."""
    driver: str = ""
    """The name of the client that drives it, or its planner."""
    deferred: SessionState | None = None
    """Where it goes once it is let go: QUEUED with a staged objective, else what its turn came to.
    """
    updated_ms: int = 0
    """When the newest event of its life was stored; what comes after its end does not count."""
    turn_id: str = ""
    """The open turn; empty while the session is idle."""
    steps: int = 0
    """Steps that count against the limit."""
    last_step: int = 0
    """The number of the newest step, counted or not."""
    plan: tuple[PlanItem, ...] = ()
    facts: tuple[str, ...] = ()
    """What the session asked to remember."""
    requirements: tuple[Requirement, ...] = ()
    """What its goal asks for, one by one; empty until they are made out."""
    usage: Usage = Usage()
    time: TimeSplit = TimeSplit()
    latest_question: str = ""
    latest_result: str = ""
    latest_error: str = ""
    latest_trace: str = ""
    verified_by: VerifiedBy = VerifiedBy.NOBODY
    """Who confirmed or denied that its goal is met; says something once it has ended."""
    verdict: GoalVerdict = GoalVerdict.CANNOT_TELL
    output_schema: str = ""
    """The JSON Schema that its result has to fit, as JSON; empty: any words will do."""
    result_json: str = ""
    """Its result as data, as JSON; empty without a schema."""

    @property
    def has_operators_goal(self) -> bool:
        """Return whether the operator wrote its goal, which then permits what it implies."""
        if self.goal_speaker is None:
            return self.kind is not SessionKind.GENIE
        return self.goal_speaker is Speaker.OPERATOR

    @property
    def operators_goal(self) -> str:
        """Return the operator's words in its goal; empty if another speaker wrote it."""
        return (self.goal_said or self.goal) if self.has_operators_goal else ""

    @property
    def awaits_phone(self) -> bool:
        """Return whether it is idle only until any phone is free.

        It was created without a phone and has planned to work alone; its state stays RUNNING. A
        session that only delegates has subtasks, or was created with them and took no step.
        """
        between = self.state is SessionState.RUNNING and not self.turn_id
        return between and not self.serial and not self.part_ids and self.last_step > 0

    @property
    def is_verified(self) -> bool:
        """Return whether it is completed and confirmed by someone other than its own model."""
        return (
            self.state is SessionState.COMPLETED
            and self.verdict is GoalVerdict.MET
            and self.verified_by is not VerifiedBy.NOBODY
        )


class QuestionKind(StrEnum):
    """What the operator is asked for."""

    QUESTION = "question"
    APPROVAL = "approval"


class QuestionOption(Record, frozen=True, kw_only=True):
    """One answer the asker offers."""

    label: str
    description: str = ""
    speaker: Speaker = Speaker.PRODUCT

    @property
    def shown(self) -> str:
        """Return its label for display: quoted unless it is Switchboard's own."""
        return self.label if self.speaker is Speaker.PRODUCT else f"“{self.label}”"


class Subject(Record, frozen=True, kw_only=True):
    """What an approval is about: one action, on one element, as it stood on one frame."""

    action: str
    """The tool that would be called."""
    capability: str = ""
    risk: str = ""
    element: Element | None = None
    frame: Frame | None = None
    effect: Effect | None = None
    """What the action would do; None in approvals that were asked before effects were judged."""


class QuestionPart(Record, frozen=True, kw_only=True):
    """One of several questions that are asked together; answered by its id."""

    part_id: str
    text: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    secret: bool = False
    speaker: Speaker = Speaker.PRODUCT

    @property
    def shown(self) -> str:
        """Return its text, marked with its speaker, including a header by another speaker."""
        own = self.speaker is Speaker.PRODUCT
        text = self.text if own or not self.header else f"{self.header}: {self.text}"
        return attributed(text, self.speaker, asks=True)


class Answer(Record, frozen=True, kw_only=True):
    """What the operator said."""

    text: str = ""
    by_part: Mapping[str, tuple[str, ...]] = {}
    """By the id of each question of several; those left out were not answered."""
    speaker: Speaker = Speaker.OPERATOR


class Question(Record, frozen=True, kw_only=True):
    """A thing the operator must say; stored, so that any client may answer it."""

    question_id: str
    session_id: str
    text: str
    """The words of the speaker; those of older records begin with who that is."""
    asked_ms: int
    kind: QuestionKind = QuestionKind.QUESTION
    speaker: Speaker = Speaker.PRODUCT
    note: str = ""
    """What Switchboard adds to another speaker's words."""
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    parts: tuple[QuestionPart, ...] = ()
    """Several questions in one request; the text lists them all. Empty: the text is the one."""
    secret: bool = False
    """Whether an answer to it, or to one of its parts, must not be kept."""
    deadline_ms: int = 0
    """When silence becomes "no"; 0 = never."""
    call_id: str = ""
    """The tool call that the answer resolves."""
    step: int = 0
    subject: Subject | None = None
    review: ReviewTicket | None = None
    """Set on a job's: no turn waits for the answer, its job goes on or ends by it."""
    people: int = 1
    """How many operators have to approve it; one of them denies it."""
    yes_by: tuple[str, ...] = ()
    """The operators who have approved it so far, where more than one has to."""

    @property
    def is_approval(self) -> bool:
        """Return whether an answer lets an act happen or not: of a session, or of a job's run."""
        return self.kind is QuestionKind.APPROVAL or self.review is not None

    @property
    def asks_leave(self) -> bool:
        """Return whether an answer may allow more: an approval, or a choice that Switchboard
        offers, such as to go on beyond a budget.
        """
        return self.is_approval or (self.speaker is Speaker.PRODUCT and len(self.options) > 1)

    @property
    def shown(self) -> str:
        """Return its text, marked with its speaker, and Switchboard's note."""
        said = attributed(self.text, self.speaker, asks=True)
        if self.people > 1:
            count = f": {len(self.yes_by)} of {self.people}, by {', '.join(self.yes_by)}"
            said = f"{said}\n\nIt takes {self.people} operators{count if self.yes_by else ''}."
        return f"{said}\n\n{self.note}" if self.note else said
