"""Execute the tools that do not touch the phone: jobs, watchers, commitments.

`agent.loop.acting.executor` performs the phone's actions. Invariants: the policy judges these calls
like any action; in the background they need a review like any action; a service's refusal is a
reply.
"""

from dataclasses import dataclass

from agent.errors import ConfigError, DeviceError, SwitchboardError, UsageError, WrongStateError
from agent.loop.acting.action_review import awaiting
from agent.loop.screen.verify import blocked, failed
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.control_tools import Controlled
from agent.protocol import ToolCallRequested
from agent.records import ActionOutcome, Subject
from agent.safety.approval import OPTIONS, approval_text, is_yes, refused_because
from agent.safety.capabilities import Capability, Decision, decide
from agent.safety.review_binding import params_digest, read_params, screen_digest
from agent.text import one_line
from agent.tools import service_tool_args as calls
from agent.tools import standing_work
from agent.tools.arguments import BadArguments
from agent.tools.background_jobs import reply as worded
from agent.tools.service_tool_args import ServiceCall
from agent.tools.standing_work import StandingWork

DIGEST = screen_digest("", "", (), acted_on=None)  # What it depends on of the screen: nothing.


@dataclass(frozen=True, slots=True)
class ServiceTools:
    """The service tools of one turn."""

    context: TaskContext

    async def work(self, arguments: ServiceCall, call: ToolCallRequested) -> Controlled:
        """Execute a call; ask first if the session's autonomy requires it, and end a background
        turn with the question.
        """
        try:
            op = calls.op_of(arguments)
        except BadArguments as error:
            return Controlled(failed(str(error)), ActionOutcome.FAILED)
        if isinstance(op, str):
            return Controlled(op, ActionOutcome.FAILED)
        try:
            # First: nobody is asked about what would be refused anyway.
            await self.context.check(op)
        except (UsageError, ConfigError, WrongStateError, DeviceError) as error:
            return Controlled(_refused(arguments, error), ActionOutcome.FAILED)
        grant = self.context.grant
        approved = grant is not None and grant.call_id == call.call_id
        if not approved:
            asked = await self._rule(arguments, call)
            if isinstance(asked, TurnEnd):
                return Controlled("", end=asked)
            if asked:
                return Controlled(asked, ActionOutcome.FAILED)
        try:
            reply = await self.context.request(op)
        except (UsageError, WrongStateError, DeviceError) as error:
            # A phone that a commitment is to be read from; the step's own is looked at next.
            return Controlled(_refused(arguments, error), ActionOutcome.FAILED)
        return Controlled(calls.answered(arguments, reply))

    def _review(self, arguments: ServiceCall, call: ToolCallRequested) -> TurnEnd | str:
        """Return the review that a background turn ends with first, or why none is possible."""
        try:
            params = read_params(call.arguments)
        except UsageError as error:
            return worded("error", reason=one_line(error.message, 300))
        question = self.context.review(
            approval_text(self._summary_of(arguments), "nobody is watching this job"),
            call=call,
            params_digest=params_digest(call.tool, params),
            screen_digest=DIGEST,
            subject=self._subject(arguments, call),
        )
        return awaiting(call.tool, question)

    @staticmethod
    def _created(arguments: ServiceCall) -> StandingWork | None:
        """Return the standing work that a call would create, which always needs approval."""
        op = calls.op_of(arguments)
        return op if isinstance(op, StandingWork) else None

    def _summary_of(self, arguments: ServiceCall) -> str:
        work = self._created(arguments)
        if work is None:
            return calls.summary_of(arguments)
        return standing_work.card(work, now_ms=self.context.now_ms())

    def _subject(self, arguments: ServiceCall, call: ToolCallRequested) -> Subject:
        work = self._created(arguments)
        effect = None
        if work is not None:
            phone = self.context.session.serial
            effect = standing_work.effect_of(work, now_ms=self.context.now_ms(), phone=phone)
        return Subject(action=call.tool, capability=Capability.BACKGROUND.value, effect=effect)

    async def _rule(self, arguments: ServiceCall, call: ToolCallRequested) -> TurnEnd | str:
        """Return an empty text to let the call pass, or why not; or end the turn until a review."""
        session = self.context.session
        if calls.only_looks(arguments):
            return ""
        if session.dry_run:
            return blocked("This is a dry run: nothing is created or stopped")
        level = decide(Capability.BACKGROUND, session.autonomy)
        if level is Decision.BLOCK:
            return blocked(f"This is not allowed: the session is {session.autonomy.value}")
        if self.context.background:
            return self._review(arguments, call)
        if level is Decision.ALLOW and self._created(arguments) is None:
            return ""
        answer = await self.context.ask(
            approval_text(self._summary_of(arguments), "it continues to work unattended"),
            call_id=call.call_id,
            step=call.step,
            options=OPTIONS,
            approval=True,
            subject=self._subject(arguments, call),
        )
        if is_yes(answer):
            return ""
        return blocked(refused_because(answer))


def _refused(arguments: ServiceCall, error: SwitchboardError) -> str:
    return calls.refused(arguments, UsageError(error.message, error.remedy))
