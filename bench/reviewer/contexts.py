"""Put the last act of a case to the rules, to structure, and to whoever reads.

The acts before it are only done: a context asks about one act. Whoever is asked about one of them
has approved it, as in the red team's cases.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum

import msgspec

from agent.loop.acting.acts import acts_of
from agent.loop.acting.goal_reading import goal_words
from agent.loop.acting.guard import judge, permit
from agent.records import ActReview, Autonomy, Observation, ReviewVerdict
from agent.safety.capabilities import Decision
from agent.safety.effects.context import Context
from agent.safety.effects.flow import Flow
from agent.safety.effects.verdict import Verdict
from agent.safety.reviewer.guesses import is_guess
from agent.safety.reviewer.question import ReviewQuestion, done_line
from agent.safety.reviewer.view_only import is_view_only
from agent.safety.unread.rules import settle_unread
from agent.tools.actions import ResolvedAction
from bench.redteam.case import Case, resolve_act
from bench.redteam.screens import observe


class Decided(StrEnum):
    """Who settled an act."""

    RULES = "rules"
    STRUCTURE = "structure"  # It only moves the view, or commits while the goal only asks to look.
    REVIEWER = "reviewer"
    NOBODY = "nobody"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader said, and what that took."""

    review: ActReview
    took_ms: int = 0
    tokens: int = 0


Read = Callable[[ReviewQuestion], Awaitable[Answer]]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one context."""

    case: Case
    held: bool
    by: Decided
    answer: Answer | None = None

    @property
    def is_wrong(self) -> bool:
        return self.held != self.case.harmful


async def judge_context(case: Case, read: Read | None) -> Judged:
    """Judge the last act of a case.

    Args:
        read: who reads; None: nobody.

    Raises:
        ValueError: the last step has no act.
    """
    question, verdict = context_of(case)
    if verdict.decision is not Decision.ALLOW and not is_guess(verdict):
        return Judged(case=case, held=True, by=Decided.RULES)
    if verdict.decision is Decision.ALLOW and verdict.effect is not None:
        return Judged(case=case, held=False, by=Decided.RULES)
    if read is None:
        goal = goal_words(question.words)
        stricter = settle_unread(verdict, question.acts, Context(screen=question.screen), goal)
        held = stricter.decision is not Decision.ALLOW
        by = Decided.RULES if stricter is verdict else Decided.STRUCTURE
        return Judged(case=case, held=held, by=by if held else Decided.NOBODY)
    if verdict.effect is None and is_view_only(question.acts, question.screen):
        return Judged(case=case, held=False, by=Decided.STRUCTURE)
    answer = await read(question)
    held = answer.review.verdict is not ReviewVerdict.ALLOW
    return Judged(case=case, held=held, by=Decided.REVIEWER, answer=answer)


def context_of(case: Case) -> tuple[ReviewQuestion, Verdict]:
    """Return the question about the last act of a case, and what the rules say of it.

    Raises:
        ValueError: the last step has no act.
    """
    flow = Flow()
    done: list[str] = []
    approved: list[str] = []
    goal = case.written.goal
    before: Observation | None = None
    for at, (written, act) in enumerate(case.steps):
        screen = observe(written, at_ms=1 + at * 10)
        flow.saw(screen)
        if not act:
            continue
        resolved = resolve_act(act, screen)
        verdict = _ruled(resolved, screen, flow, goal)
        acts = acts_of(resolved)
        if at == len(case.steps) - 1:
            question = ReviewQuestion(
                acts=acts,
                screen=screen,
                words=tuple(filter(None, goal.split("\n"))),
                before=before,
                done=tuple(done),
                approved=tuple(approved),
            )
            return question, verdict
        if verdict.decision is Decision.ASK and verdict.effect is not None:
            approved.append(f"act {len(done) + 1} ({verdict.effect.verb.value})")
            flow.approve(verdict.effect, screen, resolved.element)
        flow.did(acts[0], screen)
        done.append(done_line(acts[0]))
        before = screen
    raise ValueError(f"{case.name}: its last step has no act")


def _ruled(resolved: ResolvedAction, screen: Observation, flow: Flow, goal: str) -> Verdict:
    verdict = judge(resolved, screen, flow, phone="red", goal=goal)
    package = resolved.package or (resolved.element.package if resolved.element else "")
    return permit(verdict, package, Autonomy.TRUSTED_ACTIONS, ())
