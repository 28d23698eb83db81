"""Autonomy levels, rules for single apps, scope: CONTRACTS 2.8 and the order of chapter 6."""

from __future__ import annotations

import pytest

from agent.loop.guard import permit
from agent.loop.recover import wrong_app
from agent.records import Autonomy
from agent.safety.app_rules import BUILT_IN, AppDecision, AppRule, Match, apply, rule_for
from agent.safety.capabilities import LEVELS, Capability, Decision, RiskLevel, decide
from agent.safety.policy import Risk, Verdict, judge_click, judge_enter, judge_typing
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


@pytest.mark.parametrize("capability", [c for c in Capability if c is not Capability.OBSERVE])
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


def test_a_permission_is_asked_about_and_its_refusal_is_not() -> None:
    package = "com.google.android.permissioncontroller"
    assert judge_click(element("While using the app", package=package)).risk is Risk.PERMISSION
    assert judge_click(element("Don't allow", package=package)).decision is Decision.ALLOW
    assert judge_click(element("While using the app")).decision is Decision.ALLOW


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
    verdict = judge_click(element(label, package=package))
    assert (verdict.decision, verdict.capability) == (Decision.ASK, Capability.INSTALL)


def test_a_word_that_installs_only_in_a_store_is_harmless_elsewhere() -> None:
    assert judge_click(element("Update", package="com.weather")).decision is Decision.ALLOW
    assert judge_click(element("Installed apps and more of them")).decision is Decision.ALLOW


def test_safety_without_a_tree_enter_and_typing_are_asked_about() -> None:
    assert judge_enter([]).risk is Risk.UNSEEN
    assert judge_typing("hello", None, []).risk is Risk.UNSEEN
    assert judge_typing("hello\n", None, []).decision is Decision.ASK


def test_safety_enter_in_a_form_that_pays_is_asked_about() -> None:
    form = [
        element("Card", editable=True, focused=True),
        element("Pay now"),
    ]
    assert judge_enter(form).risk is Risk.FINANCIAL


def test_safety_typing_into_a_password_field_is_asked_about() -> None:
    for field in (
        element("Password", editable=True, password=True),
        element("Enter PIN", editable=True),
        element("unlabeled", editable=True, resource_id="com.x:id/login_password"),
    ):
        verdict = judge_typing("hunter2", field, [field])
        assert (verdict.risk, verdict.capability) == (Risk.SECRET, Capability.ACCOUNT)
    note = element("Pin a note", editable=True)
    assert judge_typing("hunter2", note, [note]).decision is Decision.ALLOW


def test_safety_a_disguised_label_is_asked_about() -> None:
    assert judge_click(element("Cоntinue")).risk is Risk.DISGUISED


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
