"""Autonomy levels, rules for single apps, scope: CONTRACTS 2.8 and the order of chapter 6."""

import pytest

from agent.loop.acting.guard import permit
from agent.loop.signals.recover import wrong_app
from agent.records import Autonomy, EffectVerb, Element, Foreground, Observation
from agent.safety.app_rules import BUILT_IN, AppDecision, AppRule, Match, apply, rule_for
from agent.safety.capabilities import LEVELS, Capability, Decision, RiskLevel, decide
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.judge import judge
from agent.safety.effects.labels import find_named
from agent.safety.effects.verdict import Risk, Verdict
from agent.safety.scope import out_of_scope
from tests.safety.buttons import element

HIGH = [capability for capability, level in LEVELS.items() if level is RiskLevel.HIGH]
PLAIN = Verdict(decision=Decision.ALLOW, capability=Capability.PERFORM)
SEND = Verdict(decision=Decision.ASK, risk=Risk.OUTGOING, capability=Capability.SEND)


def test_every_capability_has_a_level() -> None:
    assert set(LEVELS) == set(Capability)


@pytest.mark.parametrize("capability", HIGH)
def test_high_risk_is_asked_about_at_every_level_that_may_act(capability: Capability) -> None:
    assert decide(capability, Autonomy.TRUSTED_ACTIONS) is Decision.ASK
    assert decide(capability, Autonomy.ASK_BEFORE_ACTION) is Decision.ASK


LOOKS = {Capability.OBSERVE, Capability.READ_ELSEWHERE}
"""What changes nothing: looking at a phone, and tools that the operator marked as read-only."""


@pytest.mark.parametrize("capability", sorted(LOOKS))
def test_a_session_that_only_observes_may_look(capability: Capability) -> None:
    assert decide(capability, Autonomy.OBSERVE_ONLY) is Decision.ALLOW


@pytest.mark.parametrize("capability", [c for c in Capability if c not in LOOKS])
def test_a_session_that_only_observes_does_nothing(capability: Capability) -> None:
    assert decide(capability, Autonomy.OBSERVE_ONLY) is Decision.BLOCK


def test_a_tap_is_asked_about_only_when_every_action_is() -> None:
    assert decide(Capability.PERFORM, Autonomy.ASK_BEFORE_ACTION) is Decision.ASK
    assert decide(Capability.PERFORM, Autonomy.TRUSTED_ACTIONS) is Decision.ALLOW
    assert decide(Capability.NAVIGATE, Autonomy.ASK_BEFORE_ACTION) is Decision.ALLOW


def test_the_most_exact_rule_counts_and_the_operators_before_the_built_in() -> None:
    wide = AppRule(package="com.", match=Match.PREFIX, decision=AppDecision.CONFIRM)
    narrow = AppRule(package="com.bank", decision=AppDecision.DENY)
    assert rule_for("com.bank", Capability.PERFORM, (wide, narrow)) is narrow
    assert rule_for("com.other", Capability.PERFORM, (wide, narrow)) is wide
    assert rule_for("org.other", Capability.PERFORM, (wide, narrow)) is None
    own = AppRule(package="com.android.permissioncontroller", decision=AppDecision.DENY)
    assert rule_for("com.android.permissioncontroller", Capability.GRANT, (own,)) is own
    assert rule_for("com.android.permissioncontroller", Capability.GRANT, ()) in BUILT_IN


def test_a_rule_without_capabilities_leaves_looking_around_alone() -> None:
    rule = AppRule(package="com.bank", decision=AppDecision.CONFIRM)
    assert rule_for("com.bank", Capability.NAVIGATE, (rule,)) is None
    assert rule_for("com.bank", Capability.PERFORM, (rule,)) is rule


@pytest.mark.parametrize("capability", HIGH)
def test_no_rule_lets_pass_what_is_of_high_risk(capability: Capability) -> None:
    rule = AppRule(package="a.b", decision=AppDecision.ALLOW, capabilities=(capability,))
    assert apply(rule, capability, Decision.ASK)[0] is Decision.ASK


def test_a_rule_may_allow_what_autonomy_would_ask_about_but_not_what_the_policy_asks_about() -> (
    None
):
    rule = AppRule(package="a.b", decision=AppDecision.ALLOW)
    allowed = permit(PLAIN, "a.b", Autonomy.ASK_BEFORE_ACTION, (rule,))
    assert allowed.decision is Decision.ALLOW
    assert permit(SEND, "a.b", Autonomy.TRUSTED_ACTIONS, (rule,)).decision is Decision.ASK
    disguised = Verdict(decision=Decision.ASK, risk=Risk.DISGUISED)
    assert permit(disguised, "a.b", Autonomy.TRUSTED_ACTIONS, (rule,)).decision is Decision.ASK


def test_a_denied_app_is_not_touched_and_the_reason_is_the_operators() -> None:
    rule = AppRule(package="com.bank", decision=AppDecision.DENY, reason="money lives here")
    verdict = permit(PLAIN, "com.bank", Autonomy.TRUSTED_ACTIONS, (rule,))
    assert (verdict.decision, verdict.reason) == (Decision.BLOCK, "money lives here")


def judged(act: Act, *shown: Element) -> Verdict:
    """Judge an act on a screen that shows these elements."""
    front = Foreground(package="a.b")
    screen = Observation(started_ms=1, ended_ms=2, foreground=front, elements=shown)
    return judge(act, Context(screen=screen))


def verb_of(shown: Element) -> EffectVerb | None:
    found = find_named(shown)
    return None if found is None else found.verb


def test_a_permission_is_asked_about_and_its_refusal_is_not() -> None:
    package = "com.google.android.permissioncontroller"
    assert verb_of(element("While using the app", package=package)) is EffectVerb.GRANT
    assert verb_of(element("Don't allow", package=package)) is None
    assert verb_of(element("While using the app")) is None


@pytest.mark.parametrize(
    ("label", "package"),
    [
        ("Install", "com.android.vending"),
        ("Get", "com.android.vending"),
        ("Install anyway", "com.x"),
        ("Install", "com.google.android.packageinstaller"),
    ],
)
def test_safety_an_installation_needs_approval(label: str, package: str) -> None:
    assert verb_of(element(label, package=package)) is EffectVerb.INSTALL


def test_a_word_that_installs_only_in_a_store_is_harmless_elsewhere() -> None:
    assert verb_of(element("Update", package="com.weather")) is None
    assert verb_of(element("Installed apps and more of them")) is None


def test_safety_without_a_tree_enter_and_typing_are_asked_about() -> None:
    for act in (
        Act(kind=ActKind.KEY, key="ENTER"),
        Act(kind=ActKind.TYPE, text="hello"),
        Act(kind=ActKind.TYPE, text="hello\n"),
    ):
        verdict = judged(act)
        assert verdict.decision is Decision.ASK
        assert verdict.effect is not None
        assert verdict.effect.verb is EffectVerb.UNKNOWN


def test_safety_enter_in_a_form_that_pays_is_asked_about() -> None:
    enter = Act(kind=ActKind.KEY, key="ENTER")
    card = element("Card", editable=True, focused=True)
    assert judged(enter, card, element("Pay now")).risk is Risk.FINANCIAL


def test_safety_typing_into_a_password_field_is_asked_about() -> None:
    for field in (
        element("Password", editable=True, password=True),
        element("Enter PIN", editable=True),
        element("unlabeled", editable=True, resource_id="com.x:id/login_password"),
    ):
        for text in ("hunter2", "hunter2\n"):
            verdict = judged(Act(kind=ActKind.TYPE, element=field, text=text), field)
            assert (verdict.risk, verdict.capability) == (Risk.SECRET, Capability.ACCOUNT)
    note = element("Pin a note", editable=True)
    typing = Act(kind=ActKind.TYPE, element=note, text="hunter2")
    assert judged(typing, note).decision is Decision.ALLOW


def test_safety_a_disguised_label_is_asked_about() -> None:
    found = find_named(element("Cоntinue"))
    assert found is not None
    assert found.risk is Risk.DISGUISED


def test_a_session_of_one_app_stays_in_it() -> None:
    assert "com.other" in out_of_scope("com.other", "com.shop")
    for package in ("com.shop", "com.android.systemui", "android", "com.android.launcher3", ""):
        assert out_of_scope(package, "com.shop") == ""
    assert out_of_scope("com.other", "") == ""


def test_a_reason_that_is_written_as_a_sentence_becomes_a_clause() -> None:
    rule = AppRule(package="com.bank", decision=AppDecision.DENY, reason="Money lives here. ")
    assert apply(rule, Capability.PERFORM, Decision.ALLOW) == (Decision.BLOCK, "Money lives here")


def test_choosing_a_file_is_on_the_apps_behalf_and_the_files_app_is_another_app() -> None:
    files = "com.google.android.documentsui"
    assert out_of_scope(files, "com.shop", "com.android.documentsui.picker.PickActivity") == ""
    assert files in out_of_scope(files, "com.shop", "com.android.documentsui.files.FilesActivity")
    assert files in wrong_app(files, "com.shop", ".files.FilesActivity")
