"""Check a session's use of steps, time, tokens and money; pause and ask when a budget is spent.

The session's record counts the use. Invariants: a model call never exceeds a spent budget without
the operator's approval; silence means stop; an extension is a stored event, so a resumed session
has it.
"""

from dataclasses import dataclass, field

from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.protocol import BudgetExtended, QuestionAnswered, RequestUserInput, WarningEvent
from agent.records import AtLimit, Budget, BudgetKind, QuestionOption, Session

EXTEND = "Extend"
STOP = "Stop"
_WORDS = {
    BudgetKind.STEPS: "{:,.0f} steps",
    BudgetKind.SECONDS: "{:,g} s of work",
    BudgetKind.TOKENS: "{:,.0f} tokens",
    BudgetKind.MONEY: "${:.2f}",
}


@dataclass(slots=True)
class BudgetWatch:
    """The budget check of one turn."""

    context: TaskContext
    recorder: TurnRecorder
    _granted: dict[BudgetKind, float] = field(default_factory=dict)
    """How much of each kind the session began the turn with: what one extension adds."""
    _told: bool = False

    def __post_init__(self) -> None:
        session = self.context.session
        self._granted = {
            BudgetKind.STEPS: session.max_steps,
            BudgetKind.SECONDS: session.budget.seconds,
            BudgetKind.TOKENS: session.budget.tokens,
            BudgetKind.MONEY: session.budget.cost_usd,
        }

    async def check(self) -> TurnEnd | None:
        """End the turn if a budget is spent and not extended."""
        limits = self.context.limits
        if self.recorder.memory.total >= limits.max_total_steps:
            return TurnEnd(
                completed=False,
                message=f"The limit of {limits.max_total_steps} steps in all, counted or not, "
                "was reached before the goal.",
            )
        await self._tell_uncounted()
        for kind in BudgetKind:
            limit = self._limit(kind)
            while limit and spent(self.context.session, kind) >= limit:
                if not await self._may_go_on(kind, limit):
                    return TurnEnd(
                        completed=False,
                        message=f"The limit of {_WORDS[kind].format(limit)} was reached before "
                        "the goal.",
                    )
                limit = self._limit(kind)
        return None

    async def _tell_uncounted(self) -> None:
        """Warn once that a money budget has no effect because the model's price is unknown."""
        session = self.context.session
        counts = session.usage.cost_usd or not session.usage.input_tokens
        if self._told or counts or not session.budget.cost_usd:
            return
        self._told = True
        name = self.context.model.name
        text = f"The price of {name} is not known, so the budget of money does not hold it."
        await self.recorder.emit(WarningEvent(message=f"{text} Add it to prices.toml."))

    def _limit(self, kind: BudgetKind) -> float:
        session = self.context.session
        match kind:
            case BudgetKind.STEPS:
                return self.context.limits.max_steps + self.recorder.more_steps
            case BudgetKind.SECONDS:
                return session.budget.seconds
            case BudgetKind.TOKENS:
                return session.budget.tokens
            case BudgetKind.MONEY:
                return session.budget.cost_usd

    async def _may_go_on(self, kind: BudgetKind, limit: float) -> bool:
        session = self.context.session
        if self.context.background or session.at_limit is AtLimit.STOP:
            return False
        more = self._granted[kind]
        if more <= 0:
            return False
        words = _WORDS[kind].format
        prefix = f"budget_{kind.value}_{session.generation}_{limit:g}"
        began = self.recorder.seconds()
        answer = await self.context.ask(
            f"The budget of {words(limit)} is used up, and the goal is not reached. Go on?",
            call_id=f"{prefix}_{self._refusals(prefix)}",
            step=self.recorder.memory.step,
            options=(
                QuestionOption(label=EXTEND, description=f"Go on with {words(more)} more."),
                QuestionOption(label=STOP, description="End here; it can be resumed."),
            ),
        )
        self.recorder.spent(idle_ms=self.recorder.since(began))
        if answer != EXTEND:
            return False
        await self.recorder.emit(BudgetExtended(kind=kind, amount=more))
        if kind is BudgetKind.STEPS:
            self.recorder.more_steps += round(more)
        return True

    def _refusals(self, prefix: str) -> int:
        """Count the earlier answers to the same question, which is asked again after a stop."""
        asked: set[str] = set()
        refused = 0
        for event in self.context.history:
            match event.msg:
                case RequestUserInput(question=question) if question.call_id.startswith(prefix):
                    asked.add(question.question_id)
                case QuestionAnswered(question_id=question_id, answer=answer):
                    refused += int(question_id in asked and answer != EXTEND)
                case _:
                    pass
        return refused


def budget_words(max_steps: int, budget: Budget) -> str:
    """Return a session's limits as text: steps and, where limited, time, tokens and money."""
    limits = {
        BudgetKind.STEPS: float(max_steps),
        BudgetKind.SECONDS: budget.seconds,
        BudgetKind.TOKENS: float(budget.tokens),
        BudgetKind.MONEY: budget.cost_usd,
    }
    return ", ".join(_WORDS[kind].format(limit) for kind, limit in limits.items() if limit)


def spent(session: Session, kind: BudgetKind) -> float:
    """Return how much of one budget a session has used."""
    match kind:
        case BudgetKind.STEPS:
            return session.steps
        case BudgetKind.SECONDS:
            time = session.time
            return (time.observe_ms + time.model_ms + time.act_ms + time.settle_ms) / 1000
        case BudgetKind.TOKENS:
            return session.usage.input_tokens + session.usage.output_tokens
        case BudgetKind.MONEY:
            return session.usage.cost_usd
