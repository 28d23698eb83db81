"""What an action takes to be allowed: capabilities, their risk, and what autonomy lets pass.

Not the reading of a screen (that is `agent.safety.effects`). Names and levels are OpenPhone's where
it has them. Invariant: a capability of high risk is never let pass without a person, at any level
and by any rule; an unknown one is refused.
"""

from enum import StrEnum

from agent.records import Autonomy


class Capability(StrEnum):
    """What may be granted."""

    OBSERVE = "screen.read.visible"
    NAVIGATE = "input.navigate"
    """Scrolling, going back and home: nothing but the view changes."""
    PERFORM = "input.perform"
    LAUNCH = "apps.launch"
    INSTALL = "apps.install"
    GRANT = "permissions.grant"
    PAY = "payments.make"
    DELETE = "data.delete"
    SEND = "messages.send"
    CALL = "calls.place"
    SHARE = "share.content"
    SETTINGS = "settings.protect"
    """What protects the phone or connects it: screen lock, debugging, airplane mode."""
    BACKGROUND = "background.run"
    """Work that goes on by itself later: it observes, and asks before it acts."""
    ACCOUNT = "account.access"
    """Passwords and other secrets."""
    READ_ELSEWHERE = "tools.read"
    """A tool of another program that the operator says changes nothing."""
    ACT_TRUSTED = "tools.act.trusted"
    """A tool of another program that the operator trusts."""
    ACT_ELSEWHERE = "tools.act"
    """Any other tool of another program."""


class RiskLevel(StrEnum):
    """How bad it is when it was wrong."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


LEVELS: dict[Capability, RiskLevel] = {
    Capability.OBSERVE: RiskLevel.LOW,
    Capability.NAVIGATE: RiskLevel.LOW,
    Capability.READ_ELSEWHERE: RiskLevel.LOW,
    Capability.PERFORM: RiskLevel.MEDIUM,
    Capability.LAUNCH: RiskLevel.MEDIUM,
    Capability.BACKGROUND: RiskLevel.MEDIUM,
    Capability.ACT_TRUSTED: RiskLevel.MEDIUM,
    Capability.ACT_ELSEWHERE: RiskLevel.HIGH,
    Capability.GRANT: RiskLevel.HIGH,
    Capability.INSTALL: RiskLevel.HIGH,
    Capability.PAY: RiskLevel.HIGH,
    Capability.DELETE: RiskLevel.HIGH,
    Capability.SEND: RiskLevel.HIGH,
    Capability.CALL: RiskLevel.HIGH,
    Capability.SHARE: RiskLevel.HIGH,
    Capability.ACCOUNT: RiskLevel.HIGH,
    Capability.SETTINGS: RiskLevel.HIGH,
}


class Decision(StrEnum):
    """What may happen to an action."""

    ALLOW = "allow"
    ASK = "ask"
    BLOCK = "block"


def decide(capability: Capability, autonomy: Autonomy) -> Decision:
    level = LEVELS.get(capability)
    if level is None:
        return Decision.BLOCK
    if autonomy is Autonomy.OBSERVE_ONLY:
        looks = {Capability.OBSERVE, Capability.READ_ELSEWHERE}
        return Decision.ALLOW if capability in looks else Decision.BLOCK
    if level is RiskLevel.HIGH:
        return Decision.ASK
    if level is RiskLevel.MEDIUM and autonomy is Autonomy.ASK_BEFORE_ACTION:
        return Decision.ASK
    return Decision.ALLOW
