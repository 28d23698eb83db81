"""Rules for single apps: what an operator, or Switchboard itself, says of a package.

Not the policy for all apps (that is `agent.safety.capabilities`). Invariants: an operator's rule
comes before a built-in one, an exact name before a prefix, a longer prefix before a shorter; no
rule lets pass what is of high risk.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from agent.safety.capabilities import LEVELS, Capability, Decision, RiskLevel


class Match(StrEnum):
    """How a rule names packages."""

    EXACT = "exact"
    PREFIX = "prefix"


class AppDecision(StrEnum):
    """What a rule says; the words are OpenPhone's."""

    INHERIT = "inherit"
    ALLOW = "allow"
    CONFIRM = "confirm"
    EXPLICIT_CONFIRM = "explicit_confirm"
    DENY = "deny"


class AppRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[safety.apps]]`: what may be done in one app, beside the rules for all."""

    package: str
    decision: AppDecision
    match: Match = Match.EXACT
    capabilities: tuple[Capability, ...] = ()
    """Which ones; none named: all but looking and navigating, and for deny really all."""
    reason: str = ""


BUILT_IN = (
    AppRule(
        package="com.android.permissioncontroller",
        decision=AppDecision.EXPLICIT_CONFIRM,
        capabilities=(Capability.GRANT,),
        reason="it grants an app a permission",
    ),
    AppRule(
        package="com.google.android.permissioncontroller",
        decision=AppDecision.EXPLICIT_CONFIRM,
        capabilities=(Capability.GRANT,),
        reason="it grants an app a permission",
    ),
)


def rule_for(package: str, capability: Capability, rules: Sequence[AppRule]) -> AppRule | None:
    """Find the rule for a capability in a package; None when none says anything."""
    for several in (rules, BUILT_IN):
        fitting = [rule for rule in several if _fits(rule, package, capability)]
        if fitting:
            return max(
                fitting,
                key=lambda r: (
                    r.match is Match.EXACT,
                    len(r.package),
                    r.decision is AppDecision.DENY,
                ),
            )
    return None


def apply(rule: AppRule | None, capability: Capability, decision: Decision) -> tuple[Decision, str]:
    """Return what a rule makes of a decision, and why where it changes it."""
    if rule is None or decision is Decision.BLOCK:
        return decision, ""
    # A clause, whoever wrote it: sentences are built around it.
    reason = (
        rule.reason.strip().rstrip(".") or f"the rule for {rule.package} says {rule.decision.value}"
    )
    match rule.decision:
        case AppDecision.DENY:
            return Decision.BLOCK, reason
        case AppDecision.CONFIRM | AppDecision.EXPLICIT_CONFIRM:
            return Decision.ASK, reason
        case AppDecision.ALLOW if LEVELS[capability] is not RiskLevel.HIGH:
            return Decision.ALLOW, reason
        case _:
            return decision, ""


def _fits(rule: AppRule, package: str, capability: Capability) -> bool:
    named = package == rule.package
    if rule.match is Match.PREFIX:
        named = package.startswith(rule.package)
    if not named:
        return False
    if rule.capabilities:
        return capability in rule.capabilities
    return rule.decision is AppDecision.DENY or LEVELS[capability] is not RiskLevel.LOW
