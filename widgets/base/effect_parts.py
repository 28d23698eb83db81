"""An effect in one line of a list: to whom, how much, which words; pure.

The card says it in full (`agent.safety.effects.wording`). Invariant: a recipient, an amount or
words that cannot be read are said to be so, never left out.
"""

from agent.records import Effect, EffectVerb, Source, Stated
from agent.text import one_line
from widgets.base.formatting import quoted
from widgets.base.rows import Parts

_VERBS = {
    EffectVerb.SPEND: "Pay",
    EffectVerb.SEND: "Send",
    EffectVerb.PUBLISH: "Publish",
    EffectVerb.CALL: "Call",
    EffectVerb.DELETE: "Delete",
    EffectVerb.OVERWRITE: "Replace",
    EffectVerb.CANCEL: "Cancel",
    EffectVerb.INSTALL: "Install",
    EffectVerb.GRANT: "Allow",
    EffectVerb.PROTECTION: "Unprotect",
    EffectVerb.SIGN_IN: "Sign in",
    EffectVerb.SIGN_OUT: "Sign out",
    EffectVerb.TYPE_SECRET: "Enter a secret",
    EffectVerb.CUT_CONNECTION: "Disconnect",
    EffectVerb.CARRY_OUT: "Share",
    EffectVerb.STANDING_WORK: "Schedule",
    EffectVerb.UNKNOWN: "Press",
    EffectVerb.SWITCH: "Switch",
    EffectVerb.LEAVE_APP: "Leave the app",
    EffectVerb.PRESS: "Press",
    EffectVerb.TYPE: "Type",
    EffectVerb.NAVIGATE: "Press",
}
_ABOUT_CONTENT = frozenset(
    {
        EffectVerb.SEND,
        EffectVerb.PUBLISH,
        EffectVerb.DELETE,
        EffectVerb.OVERWRITE,
        EffectVerb.CANCEL,
        EffectVerb.INSTALL,
        EffectVerb.GRANT,
        EffectVerb.CARRY_OUT,
        EffectVerb.STANDING_WORK,
    }
)
_CHARS = 200
_PLAIN, _BOLD, _UNREAD = "$foreground", "bold $foreground", "bold $warn"


def effect_parts(effect: Effect) -> Parts:
    """Return what an act would do, the facts that decide first."""
    parts: list[tuple[str, str]] = [(_VERBS[effect.verb], _PLAIN)]
    if effect.amount is not None:
        parts.append(_fact(effect.amount, "amount"))
    if effect.recipient is not None:
        if effect.amount is not None:
            parts.append((" to", _PLAIN))
        parts.append(_fact(effect.recipient, "recipient"))
    if effect.verb in _ABOUT_CONTENT:
        if effect.before is not None and _is_read(effect.before):
            parts.append((f" {quoted(effect.before.text, 60)} by", _PLAIN))
        parts.append(_words(effect))
    elif effect.recipient is None:
        about = effect.control or effect.screen
        parts.append((f" {quoted(about, _CHARS)}" if about else " something unread", _PLAIN))
    return tuple(parts)


def _words(effect: Effect) -> tuple[str, str]:
    content = effect.content
    if content is not None and _is_read(content):
        return f" {quoted(content.text, _CHARS)}", _PLAIN
    if content is None and (about := effect.control or effect.screen):
        return f" {quoted(about, _CHARS)}", _PLAIN
    return " · text not shown", _UNREAD


def _fact(fact: Stated, name: str) -> tuple[str, str]:
    if _is_read(fact):
        return f" {one_line(fact.text, 60)}", _BOLD
    return f" ({name} not shown)", _UNREAD


def _is_read(fact: Stated) -> bool:
    return fact.source is not Source.UNREADABLE and bool(fact.text)
