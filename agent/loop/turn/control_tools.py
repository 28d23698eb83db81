"""Execute the control tools: plan, wait, ask. They do not touch the phone.

`agent.loop.acting.executor` performs actions. Invariants: after a restart a question is asked for
the same call, so its answer resolves that call; a requested secret is bound to the one password
field named to the operator, and no result contains it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec.structs import replace

from agent import records
from agent.errors import UsageError
from agent.loop.conversation import prompts
from agent.loop.conversation.facts import with_fact
from agent.loop.conversation.model_call import tidy
from agent.loop.observe import Seconds, Sleep
from agent.loop.screen import verify
from agent.loop.screen.screen_text import left_out, listing
from agent.loop.signals.keypad import is_keypad
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.observation_cache import ObservationCache
from agent.loop.turn.requirement_list import listed
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.protocol import FactsUpdate, PlanUpdate, RequestUserInput, ToolCallRequested
from agent.safety.attribution import asks_for_secret, asks_to_act
from agent.safety.redacting.secrets import SECRET, Secrets, is_secret_field
from agent.text import counted, one_line
from agent.tools import arguments as args
from agent.tools.registry import names_of
from agent.tools.tool_groups import ToolGroup

ControlArguments: TypeAlias = (
    args.UpdatePlan | args.Wait | args.AskUser | args.MoreElements | args.Remember | args.MoreTools
)

_WAIT_SLICE_S = 5.0  # How long what the operator says may wait for a wait to end.
_MAX_QUESTION_CHARS = 2000
_MAX_SECRET_QUESTION_CHARS = 300
"""Short, so that what is said of the field stays in sight below it."""
STAYS_DONE = "What was completed stays so: to do it again, add an item that says so."
SAME_PLAN = "The plan is as you wrote it already. Do its next step now."
_NO_ANSWER = "Nobody answered in time, so there is no answer"


_NO_SECRETS = (
    "A question may not ask for a secret. Write [SECRET] into the field, or ask with `secret_for`, "
    "the number of the field that it is for"
)


@dataclass(frozen=True, slots=True)
class Controlled:
    """The result of a control tool."""

    text: str
    outcome: records.ActionOutcome = records.ActionOutcome.DONE
    end: TurnEnd | None = None


@dataclass(slots=True)
class Controls:
    """The control tools of one turn."""

    context: TaskContext
    recorder: TurnRecorder
    observations: ObservationCache | None
    """None: a turn that looks at no screen."""
    sleep: Sleep
    seconds: Seconds
    secrets: Secrets = field(default_factory=Secrets)
    _listed: tuple[str, int] = ("", 0)
    """The screen whose folded elements were listed last, and how many of them."""

    async def do(self, arguments: ControlArguments, request: ToolCallRequested) -> Controlled:
        match arguments:
            case args.UpdatePlan():
                return await self._plan(arguments)
            case args.Wait(seconds=seconds):
                return Controlled(await self._wait(seconds, request.step))
            case args.MoreElements():
                return self._more_elements()
            case args.Remember(text=text, replaces=replaces):
                return await self._remember(text, replaces)
            case args.MoreTools(group=group):
                self._keep_screen()
                return Controlled(f"Now there are {', '.join(names_of(ToolGroup(group)))}.")
            case args.AskUser():
                return await self.ask(arguments, request)

    async def _wait(self, wanted_s: float, step: int) -> str:
        """Wait, at most for the session's time budget and until the operator writes.

        Waiting does not count as work, so a budget only bounds each wait.
        """
        budget_s = self.context.session.budget.seconds
        until_s = min(wanted_s, budget_s) if budget_s else wanted_s
        began = self.seconds()
        spoken, left_s = False, until_s
        while not spoken and left_s > 0:
            await self.sleep(min(left_s, _WAIT_SLICE_S))
            left_s -= _WAIT_SLICE_S
            spoken = left_s > 0 and await self.recorder.steer(step)
        waited_ms = self.recorder.since(began)
        self.recorder.spent(idle_ms=waited_ms)
        why = ", until the operator said something" if spoken else ""
        if not spoken and until_s < wanted_s:
            why = ", the session's own time limit"
        waited_s = until_s - max(left_s, 0) if spoken else until_s
        return f"Waited {waited_s:g} s{why}."

    async def _plan(self, asked: args.UpdatePlan) -> Controlled:
        """Store a plan, and what the goal requires; completed items stay completed until the
        operator writes (CONTRACTS 5.5).
        """
        added = ""
        if asked.requirements:
            parts = [replace(part, text=tidy(part.text)) for part in asked.requirements]
            _, added = await listed(self.context, self.recorder, parts)
        self._keep_screen()
        if not asked.plan:
            return Controlled(f"Requirements noted. {added}".rstrip())
        wanted = tuple(replace(item, step=tidy(item.step)) for item in asked.plan)
        done = self.recorder.memory.done
        kept = tuple(
            replace(item, status=records.PlanStatus.COMPLETED) if item.step in done else item
            for item in wanted
        )
        stays = STAYS_DONE if kept != wanted else ""
        if kept == self.recorder.memory.plan and not added:
            # A small model may write its plan again and again.
            return Controlled(f"{SAME_PLAN} {stays}".rstrip())
        await self.recorder.emit(PlanUpdate(plan=kept, explanation=tidy(asked.explanation)))
        return Controlled(" ".join(filter(None, ("Plan updated.", stays, added))))

    def _keep_screen(self) -> None:
        if self.observations is not None:
            self.observations.keep()

    async def _remember(self, text: str, replaces: int | None) -> Controlled:
        """Store a fact, redacted like a screen, in the list that every screen shows."""
        self._keep_screen()
        memory = self.recorder.memory
        fact = self.secrets.hide(tidy(text))
        try:
            facts = with_fact(memory.facts, fact, replaces)
        except args.BadArguments as error:
            return _failed(str(error))
        if facts != memory.facts:
            await self.recorder.emit(FactsUpdate(facts=facts))
        shown = counted(len(facts), "fact is", "facts are")
        return Controlled(f"Remembered; {shown} shown with every screen.")

    def _more_elements(self) -> Controlled:
        """List the elements that this step's screen only counts, one page per call."""
        if self.observations is None or self.observations.screen is None:
            return _failed("There is no screen")
        self.observations.keep()
        screen = self.observations.screen
        rest = left_out(screen.elements, zones=self.observations.in_zones)
        if not rest:
            return _failed("The screen shows every element already")
        seen, listed = self._listed
        listed = listed if seen == screen.fingerprint and listed < len(rest) else 0
        lines, count = listing(rest[listed:])
        self._listed = screen.fingerprint, listed + count
        left = len(rest) - listed - count
        more = f" {left} more at the next call." if left else " These are the last."
        shown = counted(count, "element")
        head = f"OK: {shown}, which may be named while this screen is in front.{more}"
        return Controlled(f"{head}\n{lines}")

    async def ask(self, asked: args.AskUser, request: ToolCallRequested) -> Controlled:
        """Ask the operator the model's question."""
        began = self.seconds()
        try:
            if asked.secret_for is not None:
                return await self._ask_secret(asked, asked.secret_for, request)
            if asked.questions:
                return await self._ask_all(asked.questions, request)
            return await self._ask_one(asked.question, asked.options, request)
        finally:
            self.recorder.spent(idle_ms=self.recorder.since(began))

    async def _ask_one(
        self, question: str, options: Sequence[str], request: ToolCallRequested
    ) -> Controlled:
        if not question.strip():
            return _failed("`question` is empty")
        if asks_for_secret(question) and not (options and asks_to_act(question)):
            place = await self._secret_place()
            if place is None:
                return _failed(_NO_SECRETS)
            asked = args.AskUser(question=question, secret_for=place)
            return await self._ask_secret(asked, place, request)
        answer = await self.context.ask(
            tidy(question)[:_MAX_QUESTION_CHARS],
            call_id=request.call_id,
            step=request.step,
            options=_options(options),
            speaker=records.Speaker.MODEL,
        )
        if answer is None:
            return _failed(_NO_ANSWER)
        return Controlled(f"The operator answers: {prompts.operator_text(answer)}")

    async def _secret_place(self) -> int | None:
        """Return the element number that a secret is for: the only field, or a keypad's key.

        None if the screen has no such field, or several: the model must then name one.
        """
        if self.observations is None:
            return None
        screen = self.observations.screen or (await self.observations.observe(None)).observation
        fields = [e.number for e in screen.elements if e.editable and is_secret_field(e)]
        if fields:
            return fields[0] if len(fields) == 1 else None
        keys = [e.number for e in screen.elements if e.clickable]
        return keys[0] if keys and is_keypad(screen.elements) else None

    async def _ask_secret(
        self, asked: args.AskUser, number: int, request: ToolCallRequested
    ) -> Controlled:
        """Ask, in the model's words, for a secret to type into one password field."""
        if asked.questions or asked.options or not asked.question.strip():
            return _failed("A secret is asked for by one `question` of its own, without options")
        session = self.context.session
        looks_only = session.dry_run or session.autonomy is records.Autonomy.OBSERVE_ONLY
        if self.observations is None or self.context.background or looks_only:
            return _failed("Nothing is typed here, so no secret is asked for")
        screen = self.observations.screen or (await self.observations.observe(None)).observation
        wanted = next((e for e in screen.elements if e.number == number), None)
        # The words over a keypad ("Enter your PIN") name a secret and take no text.
        typed = wanted is not None and wanted.editable and is_secret_field(wanted)
        if wanted is None or not (typed or is_keypad(screen.elements)):
            return _failed(
                f"Element [{number}] is not a password field of this screen, nor a key of a keypad"
            )
        words = one_line(tidy(asked.question), _MAX_SECRET_QUESTION_CHARS)
        where = wanted.package or "the app in front"
        place = f'typed into "{wanted.label[:80]}"' if typed else "pressed on the keypad"
        note = f"It is {place} of {where}. The agent does not see it, and it is not stored."
        if any((q.text, q.note) != (words, note) for q in self._asked_before(request.call_id)):
            return _failed("The work was interrupted, and the field is not there any more")
        answer = await self.context.ask(
            words,
            call_id=request.call_id,
            step=request.step,
            secret=True,
            speaker=records.Speaker.MODEL,
            note=note,
        )
        if answer is None:
            return _failed(_NO_ANSWER)
        if not typed:
            self.secrets.give_keypad(screen.foreground.package, answer)
            return Controlled(
                f"The operator gave it. Call press_keys with keys {SECRET}; it is used once."
            )
        self.secrets.give(wanted, answer)
        return Controlled(f"The operator gave it. Type {SECRET} into that field; it is used once.")

    def _asked_before(self, call_id: str) -> list[records.Question]:
        said = (event.msg for event in self.context.history)
        asked = (msg.question for msg in said if isinstance(msg, RequestUserInput))
        return [question for question in asked if question.call_id == call_id]

    async def _ask_all(
        self, questions: Sequence[args.AskedQuestion], request: ToolCallRequested
    ) -> Controlled:
        if any(asks_for_secret(f"{asked.header}. {asked.question}") for asked in questions):
            return _failed(_NO_SECRETS)
        parts = tuple(
            records.QuestionPart(
                part_id=f"q{number}",
                text=tidy(asked.question)[:_MAX_QUESTION_CHARS],
                header=one_line(tidy(asked.header), 40),
                options=_options(asked.options),
                speaker=records.Speaker.MODEL,
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
    return Controlled(verify.failed(reason), records.ActionOutcome.FAILED)


def _options(labels: Sequence[str]) -> tuple[records.QuestionOption, ...]:
    """Return at most ten options without duplicates."""
    said = dict.fromkeys(one_line(tidy(label), 200) for label in labels[:10])
    return tuple(
        records.QuestionOption(label=label, speaker=records.Speaker.MODEL)
        for label in said
        if label
    )
