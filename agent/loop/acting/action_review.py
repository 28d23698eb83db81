"""What a background turn does instead of acting: make the review of one action, and find it again.

What changes nothing that lasts needs none, nor what was approved in this run already. Not the doing
of it and not the decision (`agent.jobs.reviews`). Invariant: the review names the real element on
the real frame, and what it lets pass is that action on that screen, or the very same effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec.structs import replace

from agent.errors import UsageError
from agent.loop.acting.act_reviews import ActsSoFar
from agent.loop.acting.acts import acts_of
from agent.loop.acting.executor import ActionResult, Executor
from agent.loop.acting.guard import Guard, subject_of, wants_secret
from agent.loop.acting.run_approvals import RunApprovals, is_same_effect, run_events
from agent.loop.screen.elements import find_by_key
from agent.loop.screen.verify import blocked, failed
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import ToolCallRequested
from agent.records import (
    ActionOutcome,
    AppInfo,
    Effect,
    EffectVerb,
    Observation,
    Question,
    ReviewVerdict,
)
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import ActKind
from agent.safety.effects.verdict import Verdict
from agent.safety.review_binding import params_digest, read_params, screen_digest
from agent.safety.reviewer.guesses import is_guess
from agent.safety.reviewer.view_only import is_view_only
from agent.text import counted
from agent.tools.actions import ActionArguments, ResolvedAction, resolve
from agent.tools.arguments import LaunchApp, PressButton
from agent.tools.registry import ToolArguments

CHANGED_SINCE = "The screen changed since the action was approved, so that approval is void."
CONFIRMATION_REQUIRED = "background.confirmation_required"
"""What a state-changing tool comes to in the background (CONTRACTS 2.4)."""

STILL_APPROVED = "The operator approved it: if you do the same again, nobody is asked"
_SHOWING = frozenset({ActKind.VIEW, ActKind.LAUNCH, ActKind.KEY, ActKind.SWIPE})
_READ = frozenset({ActKind.PRESS, ActKind.TYPE, ActKind.OPEN_LINK, ActKind.COPY})
"""What a job may do without a review if whoever reviews says that it changes nothing that lasts."""
_SHOWING_KEYS = frozenset({"BACK", "HOME", "RECENTS", "NOTIFICATIONS", "MENU", "TAB"})
"""What a job may do without a review: it shows something, and leaves nothing behind."""
_DONE_TOLD = 6  # How many of a run's acts a review names.


class Way(StrEnum):
    """How a job comes to do an action."""

    FREELY = "freely"  # It changes nothing that lasts.
    APPROVED = "approved"  # The operator approved its effect in this run.
    REVIEW = "review"  # It waits for a review.


def awaiting(tool: str, question: Question) -> TurnEnd:
    """End a turn that goes on once a person has said whether it may."""
    return TurnEnd(
        completed=False,
        message=f"{CONFIRMATION_REQUIRED}: {tool} waits for a review.",
        review=question,
    )


@dataclass(slots=True)
class Reviewing:
    """The reviews of one turn."""

    context: TaskContext
    guard: Guard
    approvals: RunApprovals = field(init=False)

    def __post_init__(self) -> None:
        is_job = self.context.background
        self.approvals = RunApprovals.of(self.context.history) if is_job else RunApprovals()

    async def way(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested
    ) -> Way:
        """Return how a job may do an action: by its effect, as in any other session."""
        verdict = self.guard.weigh(resolved, screen)
        if verdict.decision is Decision.BLOCK or wants_secret(resolved):
            return Way.REVIEW
        if verdict.effect is not None:
            is_rest = verdict.decision is Decision.ALLOW
            if is_rest or self.approvals.lets(subject_of(resolved, verdict, screen, call)):
                return Way.APPROVED
        is_free = await self._changes_nothing(verdict, resolved, screen, call)
        return Way.FREELY if is_free else Way.REVIEW

    async def _changes_nothing(
        self,
        verdict: Verdict,
        resolved: ResolvedAction,
        screen: Observation,
        call: ToolCallRequested,
    ) -> bool:
        """Return whether an action changes nothing that lasts.

        By its structure it moves the view, or whoever reviews says that it only opens, selects or
        fills in. So may be what a guess asks about that cannot say what it would do.
        """
        acts = acts_of(resolved)
        kinds = {act.kind for act in acts}
        unasked = verdict.decision is Decision.ALLOW and verdict.effect is None
        # Nobody watches: what rules name, such as a message, no reader lets go.
        effect = verdict.effect
        unnamed = is_guess(verdict) and effect is not None and effect.verb is EffectVerb.UNKNOWN
        if not (unasked or unnamed) or not kinds <= _SHOWING | _READ:
            return False
        if any(act.key and act.key not in _SHOWING_KEYS for act in acts):
            return False
        is_view = is_view_only(acts, screen) and kinds <= _SHOWING | {ActKind.PRESS}
        if unasked and is_view:
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
        text = self.guard.question_text(resolved, verdict, "a job asks before it changes anything")
        question = self.context.review(
            "\n".join((text, self._so_far())),
            call=call,
            params_digest=params_digest(call.tool, params),
            screen_digest=self.digest(resolved, screen),
            subject=subject_of(resolved, verdict, screen, call),
        )
        return awaiting(call.tool, question)

    def _so_far(self) -> str:
        """Return what the run did before this, in a line."""
        history = self.context.history
        earlier = history[: len(history) - len(run_events(history))]
        done = self.guard.reviews.so_far.done[len(ActsSoFar.of(earlier).done) :]
        if not done:
            return "So far: this run has done nothing yet."
        left_out = len(done) - _DONE_TOLD
        more = f"{counted(left_out, 'act')}, then " if left_out > 0 else ""
        return f"So far: {more}{'; '.join(done[-_DONE_TOLD:])}."

    def holds(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested, bound: str
    ) -> bool:
        """Return whether an approval holds on the screen that there is now.

        Args:
            bound: the digest of the screen on which it was asked about.
        """
        if self.digest(resolved, screen) == bound:
            return True
        approved, effect = self.approvals.asked_of(call.call_id), self._effect(resolved, screen)
        return approved is not None and effect is not None and is_same_effect(approved, effect)

    def _effect(self, resolved: ResolvedAction, screen: Observation) -> Effect | None:
        return self.guard.weigh(resolved, screen).effect

    def is_kept(self, call: ToolCallRequested) -> bool:
        """Return whether what was approved for a call that cannot be done counts for the next."""
        approved = self.approvals.asked_of(call.call_id)
        return approved is not None and is_same_effect(approved, approved)

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
        self,
        executor: Executor,
        resolved: ResolvedAction,
        screen: Observation,
        call: ToolCallRequested,
    ) -> ActionResult:
        """Do what was approved; the operator's yes does not lift what is not allowed at all."""
        verdict = self.guard.weigh(resolved, screen)
        if verdict.decision is Decision.BLOCK:
            refusal = blocked(f"This is not allowed: {verdict.reason}")
            return ActionResult(ActionOutcome.FAILED, refusal)
        subject = subject_of(resolved, verdict, screen, call)
        self.guard.allow_rest(verdict, resolved, screen)
        act = await executor.proceed(resolved, screen, waited=False, asked=executor.seconds())
        if act.outcome is ActionOutcome.FAILED:
            self.guard.undone()
        else:
            self.guard.done(resolved, screen)
            self.approvals.used(subject)
        return act

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
