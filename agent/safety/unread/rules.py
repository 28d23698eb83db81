"""What is asked about where nobody reads acts: one ordered table of how an act stands to a goal.

By structure, whatever things are called. Pure. Invariants: it never allows what the floor asks
about; what it does not know, it asks about where an answer is all that is wanted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.records import EffectVerb
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.page import page_of
from agent.safety.effects.statement import state
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Verdict
from agent.safety.reviewer.guesses import is_guess
from agent.safety.unread.goal_words import GoalWords
from agent.safety.unread.relation import Relation


@dataclass(frozen=True, slots=True)
class UnreadRule:
    """One rule: its name in the audit, when it holds, whether it asks, and why."""

    name: str
    when: Callable[[Relation], bool]
    asks: bool
    says: str = ""


def _looks(relation: Relation) -> bool:
    return relation.goal.looks


_LOOK = "the goal only asks to look, and this may change something"
TABLE = (
    UnreadRule("touch that acts", lambda r: _looks(r) and r.acts_at_once, True, _LOOK),
    UnreadRule("other touch", lambda r: not r.presses, False),
    UnreadRule("place", lambda r: r.is_tab, False),
    UnreadRule("page of settings", lambda r: r.opens_setting, False),
    UnreadRule(
        "other choice named",
        lambda r: not r.leads_away and r.rival is not None and not (r.is_entry and _looks(r)),
        True,
        "another choice beside it is what your words name",
    ),
    UnreadRule("way out", lambda r: r.leads_away, False),
    UnreadRule("switch while looking", lambda r: r.is_switch and _looks(r), True, _LOOK),
    UnreadRule(
        "switch not named",
        lambda r: r.is_switch and not (r.named or r.page_named) and r.is_about and not r.is_part,
        True,
        "your words do not name this switch",
    ),
    UnreadRule("switch", lambda r: r.is_switch, False),
    UnreadRule("entry", lambda r: r.is_entry or r.is_one_of_many, False),
    UnreadRule("next page", lambda r: r.only_pages or r.page.is_basket, False),
    UnreadRule("more behind it", lambda r: r.opens_by_its_sign, False),
    UnreadRule("record", lambda r: r.is_record, False),
    UnreadRule("place that is named", lambda r: _looks(r) and r.is_named_place, False),
    UnreadRule("end while looking", lambda r: r.ends and _looks(r), True, _LOOK),
    UnreadRule(
        "end against a limit",
        lambda r: r.ends and bool(r.goal.forbids),
        True,
        "your words limit what may be done, and this ends a page",
    ),
    UnreadRule(
        "other choice made",
        lambda r: r.ends and r.rival_of_chosen is not None,
        True,
        "another choice than the one that is made is what your words name",
    ),
    UnreadRule(
        "end that reaches others",
        lambda r: r.ends and r.reaches,
        True,
        "it ends a page with people, a message or amounts",
    ),
    UnreadRule(
        "end with what is not named",
        lambda r: r.ends and r.is_about and bool(r.unnamed),
        True,
        "it ends a page that holds what your words do not name",
    ),
    UnreadRule(
        "unknown while looking",
        lambda r: _looks(r) and not r.is_alone,
        True,
        "the goal only asks to look, and what this does is not known",
    ),
    UnreadRule(
        "not named",
        lambda r: (
            r.is_about
            and not (r.is_alone or r.named or r.shows_value)
            and not (r.ends and (r.holds or r.page_named))
        ),
        True,
        "your words do not name it, and what it does is not known",
    ),
)
"""The first rule that holds decides; where none does, an act passes."""


def settle_unread(
    verdict: Verdict, acts: Sequence[Act], context: Context, goal: GoalWords
) -> Verdict:
    """Return a verdict of the floor, settled by how the acts stand to what the operator asked.

    What it allows may be asked about. What only a guess asks about passes if the operator plainly
    asks for it and it can be put back.
    """
    settled = verdict.decision is Decision.BLOCK or not goal.texts
    if settled or (verdict.decision is Decision.ALLOW and verdict.effect is not None):
        return verdict
    page = page_of(context.screen)
    relations = [Relation(act, page, goal, context.flow) for act in acts]
    if verdict.decision is Decision.ASK:
        plain = is_guess(verdict) and all(_is_plainly_asked(r, verdict) for r in relations)
        return Verdict(decision=Decision.ALLOW) if plain else verdict
    for relation in relations:
        rule = next((rule for rule in TABLE if rule.when(relation)), None)
        if rule is not None and rule.asks:
            return _asking(rule, relation, context)
    return verdict


def _is_plainly_asked(relation: Relation, verdict: Verdict) -> bool:
    """Return whether the operator names a control, all of it, which chooses or can be put back."""
    if not relation.presses or _looks(relation) or relation.goal.forbids:
        return False
    chooses = relation.is_part and not relation.ends
    unknown = verdict.effect is not None and verdict.effect.verb is EffectVerb.UNKNOWN
    if not (chooses or unknown) or relation.rival is not None or relation.unnamed:
        return False
    return relation.names_control


def _asking(rule: UnreadRule, relation: Relation, context: Context) -> Verdict:
    """Return the question of a rule; those that hold after it are named for the audit."""
    act = relation.act
    finding = Finding(EffectVerb.UNKNOWN, rule.says, element=act.element)
    taken = RULES[finding.verb]
    after = TABLE[TABLE.index(rule) + 1 :]
    return Verdict(
        decision=Decision.ASK,
        rule=rule.name,
        also=tuple(other.name for other in after if other.when(relation)),
        risk=taken.risk,
        reason=rule.says,
        capability=taken.capability,
        effect=state(finding, act, page_of(context.screen), context),
    )
