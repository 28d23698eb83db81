"""An effect in words for the person who judges it: a headline of its own, then facts.

The headline names verb, recipient, amount or content, so that two approvals in a queue read
differently; below it each fact says where it was read. Invariant: everything that the digest of an
approval binds is in the text, in full.
"""

from typing import assert_never

from agent.records import Effect, EffectVerb, Source, Stated
from agent.safety.approval import as_sentence
from agent.text import one_line, sentence

V = EffectVerb
_HEAD_CHARS = 80
_NAME_CHARS = 40
_NAMELESS = "unlabeled"
_SOURCES = {
    Source.SCREEN: "on the screen",
    Source.TYPED: "typed or chosen by this session",
    Source.MODEL: "only the model says so",
    Source.REVIEWER: "only the reviewer says so",
}
_NOT_SHOWN = "not readable on the screen"


def approval_question(effect: Effect, what: str, reason: str) -> str:
    """Return the question that an approval asks: headline, how, facts, and what can undo it.

    Args:
        what: the act, as `Press "Send".`
        reason: why it is asked, a clause.
    """
    # The headline says already what the control may do; what an allowance adds stands after it.
    word = f"the reviewer says: {effect.reviewer}"
    if effect.reviewer and reason.startswith(word):
        # It has a line of its own.
        reason = reason.removeprefix(word).removeprefix("; ")
    own, _, more = reason.partition("; ")
    restates = bool(effect.control) and own.startswith(f'"{effect.control[:40]}') and " may " in own
    said = more if restates else reason
    act = f"{sentence(what)} {as_sentence(said)}" if said else what
    return "\n".join([f"{headline(effect)}?", act, *facts(effect)])


def headline(effect: Effect) -> str:
    """Return what would happen, in one line."""
    to = _short(effect.recipient)
    content = _short(effect.content)
    in_app = one_line(effect.app_name, _NAME_CHARS) or effect.app
    app = f" in {in_app}" if in_app else ""
    match effect.verb:
        case V.SPEND:
            amount = _short(effect.amount) or "an amount that is not shown"
            return f"Pay {amount}" + (f" to {to}" if to else "") + app
        case V.SEND:
            said = f': "{content}"' if content else ""
            return f"Send to {to or 'somebody who is not shown'}{said}{app}"
        case V.PUBLISH:
            return (f'Publish "{content}"' if content else "Publish something") + app
        case V.CALL:
            return f"Call {to or 'somebody who is not shown'}{app}"
        case V.DELETE:
            return f'Delete or put away "{content or effect.screen}"{app}'
        case V.OVERWRITE:
            return f'Replace "{_short(effect.before)}" by "{content}"{app}'
        case V.CANCEL:
            return f'Cancel, return or leave "{content or effect.screen}"{app}'
        case V.INSTALL:
            return f'Install "{content or effect.control}"{app}'
        case V.GRANT:
            return f'Grant a permission: "{content or effect.screen}"{app}'
        case V.PROTECTION:
            return f'Change what protects the phone: "{effect.control}"{app}'
        case V.CUT_CONNECTION:
            return f'Cut the phone off its network: "{effect.control}"'
        case V.SIGN_IN:
            return f'Sign in or make an account: "{effect.control}"{app}'
        case V.SIGN_OUT:
            return f'Sign out: "{effect.control}"{app}'
        case V.TYPE_SECRET:
            return f'Enter a secret into "{effect.control}"{app}'
        case V.CARRY_OUT:
            return f'Give data away by "{effect.control}"{app}'
        case V.STANDING_WORK:
            return f'Create standing work: "{content or effect.control}"'
        case V.UNKNOWN:
            if any(map(str.isalpha, effect.control)) and effect.control != _NAMELESS:
                # What it does, if anything tells, is the reason that stands below.
                return f'Press "{effect.control}"{app}'
            return f'Do something that cannot be read: "{effect.control or effect.screen}"{app}'
        case V.SWITCH | V.LEAVE_APP | V.PRESS | V.TYPE | V.NAVIGATE:
            return f'Press "{effect.control}"{app}'
        case _:
            assert_never(effect.verb)


def facts(effect: Effect) -> list[str]:
    """List the facts of an effect, a line each, with where each was read."""
    lines = [
        f"{name}: {_fact_text(fact)}"
        for name, fact in (
            ("To", effect.recipient),
            ("Amount", effect.amount),
            ("From", effect.account),
            ("Instead of", effect.before),
            (_content_name(effect.verb), effect.content),
        )
        if fact is not None
    ]
    where = " · ".join(
        text
        for text in (
            _app(effect),
            f'screen "{one_line(effect.screen, 80)}"' if effect.screen else "",
            f"phone {effect.phone}" if effect.phone else "",
        )
        if text
    )
    if where:
        lines.append(f"Where: {where}")
    lines += effect.shown
    if effect.reviewer:
        lines.append(f"The reviewer says: {effect.reviewer}")
    if effect.beside_goal:
        lines.append(f"Check: {effect.beside_goal}")
    if effect.undo:
        lines.append(f"Undo: {effect.undo}")
    return lines


def _app(effect: Effect) -> str:
    name = one_line(effect.app_name, _NAME_CHARS)
    if not name or not effect.app:
        return f"app {effect.app}" if effect.app else ""
    return f"app {name} ({effect.app})"


def _content_name(verb: EffectVerb) -> str:
    return "Text" if verb in {V.SEND, V.PUBLISH, V.OVERWRITE, V.CARRY_OUT} else "What"


def _fact_text(fact: Stated) -> str:
    if fact.source is Source.UNREADABLE or not fact.text:
        return _NOT_SHOWN
    return f"{fact.text} ({_SOURCES[fact.source]})"


def _short(fact: Stated | None) -> str:
    return "" if fact is None else one_line(fact.text, _HEAD_CHARS)
