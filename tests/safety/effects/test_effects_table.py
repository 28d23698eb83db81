"""docs/safety.md says what the code decides about each effect."""

from pathlib import Path

from agent.records import Autonomy, EffectVerb
from agent.safety.capabilities import Decision
from agent.safety.effects.table import decision, markdown
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Risk

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "safety.md"


def test_the_page_has_the_table_that_the_code_makes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition("<!-- effects -->\n")[2].partition("\n<!-- /effects -->")[0]
    assert shown == markdown(), "python -c 'from agent.safety.effects.table import markdown; ...'"


def test_every_verb_has_a_rule() -> None:
    assert set(RULES) == set(EffectVerb)


def test_what_has_a_risk_is_asked_about_at_every_level_that_may_act() -> None:
    for verb, rule in RULES.items():
        if rule.risk is not Risk.NONE:
            for level in (Autonomy.ASK_BEFORE_ACTION, Autonomy.TRUSTED_ACTIONS):
                assert decision(verb, level) is Decision.ASK, verb
        assert decision(verb, Autonomy.OBSERVE_ONLY) is Decision.BLOCK, verb
