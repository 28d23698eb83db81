"""What each verb takes: its capability, its risk, what can undo it, and its words for people."""

import msgspec

from agent.records import EffectVerb
from agent.safety.capabilities import Capability
from agent.safety.effects.verdict import Risk

V = EffectVerb


class VerbRule(msgspec.Struct, frozen=True, kw_only=True):
    """What one verb takes.

    Args:
        says: what it may do, as the end of "… may".
        undo: what can take it back, as a sentence.
        weight: which of several effects of one press is the one to ask about; higher first.
    """

    capability: Capability
    risk: Risk = Risk.NONE
    says: str = ""
    undo: str = ""
    weight: int = 0


RULES: dict[EffectVerb, VerbRule] = {
    V.SPEND: VerbRule(
        capability=Capability.PAY,
        risk=Risk.FINANCIAL,
        says="spend money",
        undo="Not possible: a payment is not taken back.",
        weight=90,
    ),
    V.DELETE: VerbRule(
        capability=Capability.DELETE,
        risk=Risk.DESTRUCTIVE,
        says="destroy or put away something",
        undo="Unknown: at most the app's own trash or undo, if it has one.",
        weight=80,
    ),
    V.OVERWRITE: VerbRule(
        capability=Capability.DELETE,
        risk=Risk.DESTRUCTIVE,
        says="overwrite what is stored",
        undo="Typing the old text again.",
        weight=75,
    ),
    V.CANCEL: VerbRule(
        capability=Capability.DELETE,
        risk=Risk.DESTRUCTIVE,
        says="end or return an order, a booking, a subscription or a membership",
        undo="Unknown: at most doing it once more, if that is offered again.",
        weight=78,
    ),
    V.SEND: VerbRule(
        capability=Capability.SEND,
        risk=Risk.OUTGOING,
        says="send something to other people",
        undo="Not possible: what was sent may have been read.",
        weight=60,
    ),
    V.PUBLISH: VerbRule(
        capability=Capability.SEND,
        risk=Risk.OUTGOING,
        says="publish something for other people",
        undo="Deleting it there, after others have seen it.",
        weight=58,
    ),
    V.CALL: VerbRule(
        capability=Capability.CALL,
        risk=Risk.OUTGOING,
        says="call somebody",
        undo="Hanging up; the other phone has rung.",
        weight=59,
    ),
    V.CARRY_OUT: VerbRule(
        capability=Capability.SHARE,
        risk=Risk.OUTGOING,
        says="carry data out of the app",
        undo="Not possible once a copy is elsewhere.",
        weight=57,
    ),
    V.INSTALL: VerbRule(
        capability=Capability.INSTALL,
        risk=Risk.INSTALL,
        says="install something",
        undo="Uninstalling it; what it did meanwhile stays.",
        weight=70,
    ),
    V.GRANT: VerbRule(
        capability=Capability.GRANT,
        risk=Risk.PERMISSION,
        says="let an app have a permission, or let somebody in",
        undo="Taking it back where it was given; what was read meanwhile stays read.",
        weight=65,
    ),
    V.PROTECTION: VerbRule(
        capability=Capability.SETTINGS,
        risk=Risk.SETTING,
        says="change what protects this phone or a place",
        undo="The same setting, as long as it can be reached.",
        weight=66,
    ),
    V.CUT_CONNECTION: VerbRule(
        capability=Capability.SETTINGS,
        risk=Risk.SETTING,
        says="cut the phone off its network",
        undo="Somebody at the phone, if it is reached over that network.",
        weight=67,
    ),
    V.SIGN_IN: VerbRule(
        capability=Capability.ACCOUNT,
        risk=Risk.ACCOUNT,
        says="sign in, make or bind an account",
        undo="Signing out where it signs in; an account that was made stays.",
        weight=50,
    ),
    V.SIGN_OUT: VerbRule(
        capability=Capability.ACCOUNT,
        risk=Risk.ACCOUNT,
        says="sign out, which only its owner can reverse",
        undo="Signing in again with the password.",
        weight=51,
    ),
    V.TYPE_SECRET: VerbRule(
        capability=Capability.ACCOUNT,
        risk=Risk.SECRET,
        says="enter a secret",
        undo="Changing the secret.",
        weight=55,
    ),
    V.STANDING_WORK: VerbRule(
        capability=Capability.BACKGROUND,
        says="create standing work",
        undo="Stopping it.",
        weight=40,
    ),
    V.UNKNOWN: VerbRule(
        capability=Capability.PERFORM,
        risk=Risk.UNSEEN,
        says="do anything: it cannot be read",
        undo="Unknown.",
        weight=30,
    ),
    V.SWITCH: VerbRule(capability=Capability.PERFORM, says="change a setting"),
    V.LEAVE_APP: VerbRule(capability=Capability.LAUNCH, says="open another app"),
    V.PRESS: VerbRule(capability=Capability.PERFORM, says="press something"),
    V.TYPE: VerbRule(capability=Capability.PERFORM, says="type a text"),
    V.NAVIGATE: VerbRule(capability=Capability.NAVIGATE, says="move the view"),
}
"""Every verb has a rule; the test of docs/safety.md's table holds this to it."""
