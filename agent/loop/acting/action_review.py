"""What a background turn does instead of acting: make the review of one action, and find it again.

What only shows something needs none. Not the doing of it and not the decision
(`agent.jobs.reviews`). Invariant: the review names the real element on the real frame, and what it
lets pass is that action on that screen only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from agent.errors import UsageError
from agent.loop.acting.acts import acts_of
from agent.loop.acting.executor import ActionResult, Executor
from agent.loop.acting.guard import Guard, wants_secret
from agent.loop.screen.elements import find_by_key
from agent.loop.screen.verify import blocked, failed
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import ToolCallRequested
from agent.records import ActionOutcome, AppInfo, Observation, Question, ReviewVerdict, Subject
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import ActKind
from agent.safety.review_binding import params_digest, read_params, screen_digest
from agent.safety.reviewer.view_only import is_view_only
from agent.tools.actions import ActionArguments, ResolvedAction, resolve
from agent.tools.arguments import LaunchApp, PressButton
from agent.tools.registry import ToolArguments

CHANGED_SINCE = "The screen changed since the action was approved, so that approval is void."
CONFIRMATION_REQUIRED = "background.confirmation_required"
"""What a state-changing tool comes to in the background (CONTRACTS 2.4)."""

_SHOWING = frozenset({ActKind.VIEW, ActKind.LAUNCH, ActKind.KEY, ActKind.SWIPE, ActKind.PRESS})
_SHOWING_KEYS = frozenset({"BACK", "HOME", "RECENTS", "NOTIFICATIONS", "MENU", "TAB"})
"""What a job may do without a review: it shows something, and leaves nothing behind."""


def awaiting(tool: str, question: Question) -> TurnEnd:
    """End a turn that goes on once a person has said whether it may."""
    return TurnEnd(
        completed=False,
        message=f"{CONFIRMATION_REQUIRED}: {tool} waits for a review.",
        review=question,
    )


@dataclass(frozen=True, slots=True)
class Reviewing:
    """The reviews of one turn."""

    context: TaskContext
    guard: Guard

    async def only_shows(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested
    ) -> bool:
        """Return whether an action changes nothing that lasts, so that a job may do it unasked.

        By its structure it moves the view, or it is a press of which whoever reviews says that it
        only opens or selects.
        """
        verdict, acts = self.guard.weigh(resolved, screen), acts_of(resolved)
        kinds = {act.kind for act in acts}
        if verdict.decision is not Decision.ALLOW or verdict.effect is not None:
            return False
        if wants_secret(resolved) or not kinds <= _SHOWING:
            return False
        if any(act.key and act.key not in _SHOWING_KEYS for act in acts):
            return False
        if is_view_only(acts, screen):
            return True
        pressed = [act.element for act in acts if act.kind is ActKind.PRESS]
        if not self.guard.reviews.is_on or any(e is None or e.checkable for e in pressed):
            return False
        review = await self.guard.reviews.review(resolved, screen, call)
        return review.verdict is ReviewVerdict.ALLOW and review.effect is None and not review.fault

    def ask(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested
    ) -> TurnEnd | str:
        """Return the end of a turn that waits for a review, or why this is not put to anybody."""
        verdict = self.guard.weigh(resolved, screen)
        if verdict.decision is Decision.BLOCK:
            return blocked(f"This is not allowed: {verdict.reason}")
        if resolved.is_secret or wants_secret(resolved):
            return blocked("A secret is not typed while nobody is watching")
        try:
            params = read_params(call.arguments)
        except UsageError as error:
            return failed(error.message)
        question = self.context.review(
            self.guard.question_text(resolved, verdict, "a job asks before it changes anything"),
            call=call,
            params_digest=params_digest(call.tool, params),
            screen_digest=self.digest(resolved, screen),
            subject=Subject(
                action=call.tool,
                capability=verdict.capability.value,
                risk=verdict.risk.value,
                element=resolved.element,
                frame=screen.frame,
                effect=verdict.effect,
            ),
        )
        return awaiting(call.tool, question)

    def digest(self, resolved: ResolvedAction, screen: Observation) -> str:
        """Return the digest of what an action depends on of the screen.

        Opening an app, and HOME, come to the same from everywhere: the screen is not their concern.
        """
        if isinstance(resolved.action, LaunchApp):
            return screen_digest(resolved.package, "", (), acted_on=None)
        if isinstance(resolved.action, PressButton) and resolved.action.button == "HOME":
            return screen_digest("", "", (), acted_on=None)
        front = screen.foreground
        return screen_digest(
            front.package, front.activity, screen.elements, acted_on=resolved.element
        )

    async def carry_out(
        self, executor: Executor, resolved: ResolvedAction, screen: Observation
    ) -> ActionResult:
        """Do what was approved; the operator's yes does not lift what is not allowed at all."""
        verdict = self.guard.weigh(resolved, screen)
        if verdict.decision is Decision.BLOCK:
            refusal = blocked(f"This is not allowed: {verdict.reason}")
            return ActionResult(ActionOutcome.FAILED, refusal)
        return await executor.proceed(resolved, screen, waited=False, asked=executor.seconds())

    def again(
        self,
        call: ToolCallRequested,
        arguments: ToolArguments,
        screen: Observation,
        apps: Sequence[AppInfo],
    ) -> ResolvedAction | str:
        """Find what was asked about on a new screen; or say why it is not to be had.

        Raises:
            BadArguments: the call cannot be used on this screen.
        """
        if not isinstance(arguments, ActionArguments):
            return "This is no action"
        element = getattr(arguments, "element", None)
        if call.element is not None and element is not None:
            same = find_by_key(screen.elements, call.element.key)
            if same is None or same.label != call.element.label:
                return "The screen changed while it was reviewed, and the element is not there"
            arguments = replace(arguments, element=same.number)
        return resolve(arguments, screen, apps, self.context.library)
