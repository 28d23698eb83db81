"""The table of docs/safety.md: what each level of autonomy makes of each effect, from the code."""

from agent.records import Autonomy, EffectVerb
from agent.safety.capabilities import Decision, decide
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Risk

LEVELS = (Autonomy.OBSERVE_ONLY, Autonomy.ASK_BEFORE_ACTION, Autonomy.TRUSTED_ACTIONS)
_WORDS = {Decision.ALLOW: "allowed", Decision.ASK: "asked", Decision.BLOCK: "refused"}


def decision(verb: EffectVerb, autonomy: Autonomy) -> Decision:
    """Return what a level makes of an effect that no rule and no budget speaks of."""
    rule = RULES[verb]
    level = decide(rule.capability, autonomy)
    asks = rule.risk is not Risk.NONE
    return Decision.ASK if asks and level is Decision.ALLOW else level


def markdown() -> str:
    """Return the table as docs/safety.md has it."""
    heads = ["effect", "it may", "capability", *(f"`{level.value}`" for level in LEVELS), "undo"]
    lines = [_line(heads), _line(["---"] * len(heads))]
    for verb, rule in RULES.items():
        lines.append(
            _line(
                [
                    f"`{verb.value}`",
                    rule.says,
                    f"`{rule.capability.value}`",
                    *(_WORDS[decision(verb, level)] for level in LEVELS),
                    rule.undo or "–",
                ]
            )
        )
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
