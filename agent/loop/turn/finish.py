"""Execute `finish`: check the result's schema, verify the claim, and end or continue the turn.

Invariants: a result that violates its schema gets one repair, then the session fails; a
verification is stored before the turn ends; a value that no stored screen shows leaves the result
unverified.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from msgspec.structs import replace

from agent import records
from agent.language.dates import dates_in
from agent.loop.conversation import prompts
from agent.loop.conversation.model_call import tidy
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.control_tools import Controlled
from agent.loop.turn.requirement_list import listed
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop.verification.claim_history import CORRECT_IT, ClaimHistory
from agent.loop.verification.claims import Accepted, Claim, Claims, Refused
from agent.loop.verification.sources import ON_NO_SCREEN, missing, sources_of
from agent.loop.verification.verifier import ModelVerifier, RulesVerifier, Verifier
from agent.loop_features import Pattern
from agent.models.model import ToolSchema
from agent.protocol import ToolCallRequested, VerificationRecorded
from agent.results.schema import SchemaMismatchError, check_result
from agent.tools.arguments import Finish

_SHOWN_PATHS = 5
YES, NO = "Yes", "No"
_MAX_ANSWER_CHARS = 4000
_CLAIMS = re.compile(
    r"\W*(?:(?:then|and|call)\W+)*(?:"
    r"(?:finish|conclude)\b(?=\W*$|\W+(?:with|and|by|then|success|report|tell"
    r"|(?:(?:the|this)\W+)?(?:task|goal|work|job|session))\b)"
    r"|(?:tell|answer)\b(?=\W*$|\W+(?:with|me|us|(?:the\W+)?(?:user|operator|question)"
    r"|what|which|whether|if|how|who|when|where)\b)"
    r"|report\b(?!.*\bas\b)|say\b(?!.*\bto\b)|summari[sz]e\b)",
    re.IGNORECASE,
)
"""To finish the work or tell the operator, and not "Finish the order" or "Tell Anna"."""


@dataclass(slots=True)
class Completion:
    """The end of one turn."""

    context: TaskContext
    recorder: TurnRecorder
    past: ClaimHistory
    claims: Claims = field(init=False)
    _asking: ToolCallRequested | None = None
    _tools: tuple[tuple[ToolSchema, ...], tuple[ToolSchema, ...]] = ((), ())

    def __post_init__(self) -> None:
        checks = Pattern.FINISH_CHECK not in self.recorder.memory.without
        self.claims = Claims(self.past, self._verifier(), self._ask_person, checks=checks)

    def tools(self, schemas: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """Return the tools, with the operator's schema as the schema of finish's result."""
        schema = self.context.session.output_schema
        if not schema:
            return schemas
        known, made = self._tools
        if known is not schemas:
            made = tuple(_with_result(tool, json.loads(schema)) for tool in schemas)
            self._tools = schemas, made
        return made

    async def finish(self, arguments: Finish, request: ToolCallRequested) -> Controlled:
        """End the turn, or return why it cannot end yet."""
        message = tidy(arguments.summary).strip() or "The model gave no reason."
        if not arguments.success:
            return Controlled("Recorded as not met.", end=TurnEnd(completed=False, message=message))
        result: object = None
        if self.context.session.output_schema:
            try:
                result = await self._checked(arguments.result)
            except SchemaMismatchError as error:
                return self._wrong_result(str(error))
        if self.context.verifying.decided:
            done = _verified_by_call(self.past)
            return await self._end(request, message, done, None, ())
        return await self._verified(request, message, result)

    async def _verified(
        self, request: ToolCallRequested, message: str, result: object
    ) -> Controlled:
        data = "" if result is None else f"\n{json.dumps(result, ensure_ascii=False)}"
        began = self.recorder.seconds()
        requirements, _ = await listed(self.context, self.recorder)
        phone = self.recorder.memory.phone
        self._asking = request
        self.past.other_phones = tuple(self.context.other_phones)
        decided = await self.claims.decide(
            Claim(
                requirements,
                answer=f"{message}{data}"[:_MAX_ANSWER_CHARS],
                open_items=prompts.open_items(without_finish(self.recorder.memory.plan)),
                phone=phone,
                today=day_of(phone),
            )
        )
        self.recorder.spent(model_ms=self.recorder.since(began))
        self.recorder.usage = self.recorder.usage.plus(decided.usage)
        match decided:
            case Refused(reason=reason, verification=found):
                if found is not None:
                    await self._record(request, found)
                return Controlled(reason, records.ActionOutcome.FAILED)
            case Accepted(verification=found):
                sources = () if result is None else sources_of(result, self.past.screens)
                return await self._end(request, message, found, result, sources)

    async def _end(
        self,
        request: ToolCallRequested,
        message: str,
        found: records.Verification,
        result: object,
        sources: tuple[records.FieldSource, ...],
    ) -> Controlled:
        unread = missing(sources)
        if unread and found.is_met:
            shown = ", ".join(unread[:_SHOWN_PATHS])
            more = f" and {len(unread) - _SHOWN_PATHS} more" if len(unread) > _SHOWN_PATHS else ""
            reason = f"{ON_NO_SCREEN}: {shown}{more}."
            found = records.Verification(
                reason=reason, evidence=found.evidence, requirements=found.requirements
            )
        await self._record(request, found)
        end = TurnEnd(
            completed=True,
            message=message,
            verification=found,
            result="" if result is None else json.dumps(result, ensure_ascii=False),
            sources=sources,
        )
        return Controlled(f"RESOLVED: {message}", end=end)

    async def _record(self, request: ToolCallRequested, found: records.Verification) -> None:
        await self.recorder.emit(VerificationRecorded(verification=found, step=request.step))

    # --- the result ----------

    async def _checked(self, result: object) -> object:
        if result is None:
            raise SchemaMismatchError("`result` is missing")
        if isinstance(result, str) and result.lstrip()[:1] in {"{", "["}:
            # Models write nested JSON as text now and then.
            try:
                result = json.loads(result)
            except (ValueError, RecursionError) as error:
                raise SchemaMismatchError(f"`result` is not valid JSON ({error})") from error
        schema = self.context.session.output_schema
        # In a thread: a schema may take a while, and the core goes on meanwhile.
        return await asyncio.to_thread(check_result, schema, _cleaned(result))

    def _wrong_result(self, why: str) -> Controlled:
        if self.past.misfits:
            message = f"The result does not fit the output schema: {why}."
            end = TurnEnd(completed=False, message=message)
            return Controlled(f"FAILED: {message}", records.ActionOutcome.FAILED, end=end)
        text = f"FAILED: {why}. {CORRECT_IT}."
        return Controlled(text, records.ActionOutcome.FAILED)

    def _verifier(self) -> Verifier | None:
        verifying = self.context.verifying
        if verifying.rules is not None:
            return RulesVerifier(verifying.rules, lambda: self.recorder.memory.apps)
        if verifying.model is None:
            return None
        return ModelVerifier(verifying.model, self.context.read_blob)

    async def _ask_person(self, one: records.Requirement) -> bool | None:
        """Ask the operator whether a requirement is met that only a person can judge."""
        if self._asking is None or self.context.background:
            return None
        answer = await self.context.ask(
            f"Is this met? {one.text}",
            call_id=f"{self._asking.call_id}:{one.number}",
            step=self._asking.step,
            options=(records.QuestionOption(label=YES), records.QuestionOption(label=NO)),
        )
        return None if answer is None else answer.strip().casefold() == YES.casefold()


def _verified_by_call(past: ClaimHistory) -> records.Verification:
    if past.came_to not in {None, records.ActionOutcome.DONE}:
        return records.Verification(reason="What the call came to does not say so.")
    said = "What the call came to says so."
    return records.Verification(
        verified_by=records.VerifiedBy.RULES, verdict=records.GoalVerdict.MET, reason=said
    )


def day_of(phone: str) -> date | None:
    """Return the date in what a phone said of its time; None: it said none."""
    for found in dates_in(phone):
        for reading in found.readings:
            if reading.year and reading.month and reading.day:
                return date(reading.year, reading.month, reading.day)
    return None


def _with_result(tool: ToolSchema, schema: dict[str, Any]) -> ToolSchema:
    if tool.name != "finish":
        return tool
    said = {name: value for name, value in schema.items() if name not in {"$schema", "$id"}}
    properties = {**tool.parameters["properties"], "result": said}
    return replace(
        tool,
        description=f"{tool.description} With success, give what was read as result.",
        parameters={**tool.parameters, "properties": properties},
    )


def _cleaned(value: object, depth: int = 0) -> object:
    if isinstance(value, str):
        return tidy(value)
    if depth > 50:
        raise SchemaMismatchError("`result` is nested too deep")
    if isinstance(value, dict):
        return {tidy(str(name)): _cleaned(one, depth + 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, depth + 1) for one in value]
    return value


def without_finish(plan: Sequence[records.PlanItem]) -> Sequence[records.PlanItem]:
    """Leave out a plan's last item where it is to finish and tell: the claim itself does that."""
    return plan[:-1] if plan and _CLAIMS.match(plan[-1].step) else plan
