"""Carry out the control tools: finish, plan, wait, ask. They touch no phone.

Not the actions (that is `agent.loop.act`). Invariants: a question is asked for the same call again
after a restart, so its answer resolves the call that asked; a secret that was asked for is bound to
the one password field that the operator was told of, and no result holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.errors import UsageError
from agent.loop import prompts, verify
from agent.loop.eyes import Eyes
from agent.loop.ledger import Ledger
from agent.loop.observe import Seconds, Sleep
from agent.loop.patterns import Pattern
from agent.loop.screen import element_line, left_out
from agent.loop.think import tidy
from agent.protocol import PlanUpdate, RequestUserInput, ToolCallRequested
from agent.records import (
    ActionOutcome,
    Autonomy,
    PlanItem,
    PlanStatus,
    QuestionOption,
    QuestionPart,
)
from agent.safety.secrets import SECRET, Secrets, is_secret_field
from agent.tasks.task import TaskContext, TurnEnd
from agent.text import one_line
from agent.tools.arguments import AskedQuestion, AskUser, Finish, MoreElements, UpdatePlan, Wait

_MAX_QUESTION_CHARS = 2000
_MAX_SECRET_QUESTION_CHARS = 300
"""Short, so that what is said of the field stays in sight below it."""
STAYS_DONE = "What was completed stays so: to do it again, add an item that says so."
_NO_ANSWER = "Nobody answered in time, so there is no answer"


@dataclass(frozen=True, slots=True)
class Controlled:
    """What a control tool came to."""

    text: str
    outcome: ActionOutcome = ActionOutcome.DONE
    end: TurnEnd | None = None


@dataclass(slots=True)
class Controls:
    """The control tools of one turn."""

    context: TaskContext
    ledger: Ledger
    eyes: Eyes | None
    """None: a turn that looks at no screen."""
    sleep: Sleep
    seconds: Seconds
    secrets: Secrets = field(default_factory=Secrets)

    async def do(
        self,
        arguments: Finish | UpdatePlan | Wait | AskUser | MoreElements,
        request: ToolCallRequested,
    ) -> Controlled:
        """Carry one out."""
        match arguments:
            case Finish(success=success, summary=summary):
                memory = self.ledger.memory
                unfinished = prompts.open_items(memory.plan) if success else ""
                if Pattern.FINISH_CHECK in memory.without or memory.was_told(prompts.UNFINISHED):
                    unfinished = ""
                if unfinished:
                    text = f"FAILED: {prompts.UNFINISHED}: {unfinished}. {prompts.FINISH_AGAIN}."
                    return Controlled(text, ActionOutcome.FAILED)
                message = tidy(summary).strip() or "The model gave no reason."
                text = f"RESOLVED: {message}" if success else "Recorded."
                return Controlled(text, end=TurnEnd(completed=success, message=message))
            case UpdatePlan(plan=plan, explanation=explanation):
                return await self._plan(plan, tidy(explanation))
            case Wait(seconds=seconds):
                began = self.seconds()
                await self.sleep(seconds)
                self.ledger.spent(idle_ms=self.ledger.since(began))
                return Controlled(f"Waited {seconds:g} s.")
            case MoreElements():
                return self._more_elements()
            case AskUser():
                return await self.ask(arguments, request)

    async def _plan(self, plan: Sequence[PlanItem], explanation: str) -> Controlled:
        """Store a plan; what was done stays so until the operator speaks (CONTRACTS 5.5)."""
        wanted = tuple(replace(item, step=tidy(item.step)) for item in plan)
        done = self.ledger.memory.done
        kept = tuple(
            replace(item, status=PlanStatus.COMPLETED) if item.step in done else item
            for item in wanted
        )
        await self.ledger.tell(PlanUpdate(plan=kept, explanation=explanation))
        if self.eyes is not None:
            self.eyes.keep()
        return Controlled("Plan updated." if kept == wanted else f"Plan updated. {STAYS_DONE}")

    def _more_elements(self) -> Controlled:
        """List what the screen of this step only counts."""
        if self.eyes is None or self.eyes.screen is None:
            return _failed("There is no screen")
        self.eyes.keep()
        rest = left_out(self.eyes.screen.elements)
        if not rest:
            return _failed("The screen shows every element already")
        lines = [f"OK: {len(rest)} more items, which may be named while this screen is in front:"]
        return Controlled("\n".join([*lines, *(f"  {element_line(e)}" for e in rest)]))

    async def ask(self, asked: AskUser, request: ToolCallRequested) -> Controlled:
        """Ask the operator what the model wants to know."""
        began = self.seconds()
        try:
            if asked.secret_for is not None:
                return await self._ask_secret(asked, asked.secret_for, request)
            if asked.questions:
                return await self._ask_all(asked.questions, request)
            return await self._ask_one(asked.question, asked.options, request)
        finally:
            self.ledger.spent(idle_ms=self.ledger.since(began))

    async def _ask_one(
        self, question: str, options: Sequence[str], request: ToolCallRequested
    ) -> Controlled:
        if not question.strip():
            return _failed("`question` is empty")
        answer = await self.context.ask(
            tidy(question)[:_MAX_QUESTION_CHARS],
            call_id=request.call_id,
            step=request.step,
            options=_options(options),
        )
        if answer is None:
            return _failed(_NO_ANSWER)
        return Controlled(f"The operator answers: {prompts.operator_text(answer)}")

    async def _ask_secret(
        self, asked: AskUser, number: int, request: ToolCallRequested
    ) -> Controlled:
        """Ask, in the model's words, for what is to be typed into one password field."""
        if asked.questions or asked.options or not asked.question.strip():
            return _failed("A secret is asked for by one `question` of its own, without options")
        session = self.context.session
        looks_only = session.dry_run or session.autonomy is Autonomy.OBSERVE_ONLY
        if self.eyes is None or self.context.background or looks_only:
            return _failed("Nothing is typed here, so no secret is asked for")
        screen = self.eyes.screen or (await self.eyes.observe(None)).observation
        wanted = next((e for e in screen.elements if e.number == number), None)
        if wanted is None or not is_secret_field(wanted):
            return _failed(f"Element [{number}] is no password field of this screen")
        words = one_line(tidy(asked.question), _MAX_SECRET_QUESTION_CHARS)
        where = wanted.package or "the app in front"
        text = (
            f'{words}\n\nIt is typed into "{wanted.label[:80]}" of {where}. '
            "The agent does not see it, and it is not stored."
        )
        if any(said != text for said in self._asked_before(request.call_id)):
            return _failed("The work was interrupted, and the field is not there any more")
        answer = await self.context.ask(
            text, call_id=request.call_id, step=request.step, secret=True
        )
        if answer is None:
            return _failed(_NO_ANSWER)
        self.secrets.give(wanted, answer)
        return Controlled(f"The operator gave it. Type {SECRET} into that field; it is used once.")

    def _asked_before(self, call_id: str) -> list[str]:
        """Give the words of what a call asked before a restart."""
        said = (event.msg for event in self.context.history)
        asked = (msg.question for msg in said if isinstance(msg, RequestUserInput))
        return [question.text for question in asked if question.call_id == call_id]

    async def _ask_all(
        self, questions: Sequence[AskedQuestion], request: ToolCallRequested
    ) -> Controlled:
        parts = tuple(
            QuestionPart(
                part_id=f"q{number}",
                text=tidy(asked.question)[:_MAX_QUESTION_CHARS],
                header=one_line(tidy(asked.header), 40),
                options=_options(asked.options),
            )
            for number, asked in enumerate(questions, start=1)
        )
        try:
            answer = await self.context.ask_all(parts, call_id=request.call_id, step=request.step)
        except UsageError as error:
            return _failed(error.message)
        if answer is None:
            return _failed(_NO_ANSWER)
        lines = ["The operator answers:"]
        for part in parts:
            given = answer.by_part.get(part.part_id, ())
            said = ", ".join(map(prompts.operator_text, given)) or "(not answered)"
            lines.append(f"{part.part_id}. {part.text}: {said}")
        return Controlled("\n".join(lines))


def _failed(reason: str) -> Controlled:
    return Controlled(verify.failed(reason), ActionOutcome.FAILED)


def _options(labels: Sequence[str]) -> tuple[QuestionOption, ...]:
    """Make at most ten options, each said once."""
    said = dict.fromkeys(one_line(tidy(label), 200) for label in labels[:10])
    return tuple(QuestionOption(label=label) for label in said if label)
