"""State what a reviewer asks about for the operator: each fact with where it was read.

Pure. Invariant: what the reviewer names counts as read on the screen only if the screen shows it,
word for word; everything else is marked as the reviewer's word.
"""

import hashlib
import re
from collections.abc import Sequence

from agent.records import ActReview, Effect, EffectVerb, Observation, ReviewVerdict, Source, Stated
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act
from agent.safety.effects.context import Context
from agent.safety.effects.goal_match import beside_goal
from agent.safety.effects.page import page_of
from agent.safety.effects.statement import replace_digest
from agent.safety.effects.structure.shown import shown_around
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Verdict
from agent.safety.reviewer.screen_lines import screen_lines
from agent.safety.scope import is_neutral

_SPACE = re.compile(r"\s+")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_WHOLE_SCREEN = 1_000_000
_UNREAD = "what it does could not be read"


def reviewed_verdict(
    verdict: Verdict, review: ActReview, acts: Sequence[Act], context: Context
) -> Verdict:
    """Return a verdict that the rules gave, made stricter by a review.

    Args:
        verdict: one that allows.
        context: the screen and what is known around it.
    """
    match review.verdict:
        case ReviewVerdict.ALLOW:
            return verdict
        case ReviewVerdict.STOP:
            said = review.sentence or "it is against the operator's words"
            return Verdict(
                decision=Decision.BLOCK,
                rule="reviewer",
                reason=f"the reviewer says: {said}",
                capability=verdict.capability,
            )
        case ReviewVerdict.ASK:
            verb = review.effect or EffectVerb.UNKNOWN
            rule = RULES[verb]
            reason = f"the reviewer says: {review.sentence}"
            if review.fault:
                reason = f"the reviewer asks, because {review.fault}"
            return Verdict(
                decision=Decision.ASK,
                rule="reviewer",
                risk=rule.risk,
                reason=reason,
                capability=rule.capability,
                effect=stated(review, acts, context),
            )


def stated(review: ActReview, acts: Sequence[Act], context: Context) -> Effect:
    """State the effect that a reviewer sees in an act."""
    screen = context.screen
    verb = review.effect or EffectVerb.UNKNOWN
    page = page_of(screen)
    element = next((act.element for act in acts if act.element is not None), None)
    typed = "\n".join(act.text for act in acts if act.text and not act.is_secret)
    app = (element.package if element and element.package else "") or page.package
    recipient = _fact(review.reaches, screen, typed)
    amount = _fact(review.amount, screen, typed)
    is_reversible = review.reversible and not review.fault
    effect = Effect(
        verb=verb,
        control=element.label[:200] if element else next((a.key for a in acts if a.key), ""),
        recipient=recipient,
        content=_fact(review.affects, screen, typed),
        amount=amount,
        app=app if app or not is_neutral(page.package) else page.package,
        screen=page.title[:200] or screen.foreground.activity.rsplit(".", 1)[-1],
        undo="" if is_reversible else RULES[verb].undo,
        reviewer=review.sentence or (_UNREAD if review.fault else ""),
        shown=shown_around(element, page, context.flow),
        phone=context.phone,
        beside_goal=beside_goal(recipient, amount, context.goal),
    )
    return replace_digest(effect)


def screen_sha256(screen: Observation) -> str:
    """Return, in hex, the digest of all that a screen says and holds, but for the time of day."""
    lines = screen_lines(screen, room=_WHOLE_SCREEN)
    text = _CLOCK.sub("#", "\n".join([screen.foreground.activity, *lines]))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _fact(said: str, screen: Observation, typed: str) -> Stated | None:
    if not said:
        return None
    wanted = _plain(said)
    if wanted in _plain(typed):
        return Stated(text=said, source=Source.TYPED)
    shown = (text for e in screen.elements for text in (e.label, e.value, e.more))
    is_shown = any(wanted in _plain(text) for text in shown)
    return Stated(text=said, source=Source.SCREEN if is_shown else Source.REVIEWER)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()
