"""An effect in words for the person who judges it: a headline of its own, then facts.

The headline names verb, recipient, amount or content, so that two approvals in a queue read
differently; below it each fact says where it was read. Invariant: everything that the digest of an
approval binds is in the text, in full.
"""

from typing import NamedTuple, assert_never

from agent.records import Effect, EffectVerb, Source, Stated
from agent.safety.approval import as_sentence
from agent.text import one_line, sentence

V = EffectVerb
_HEAD_CHARS = 80
_NAME_CHARS = 40
_NAMELESS = "unlabeled"
ON_SCREEN = "on the screen"
_SOURCES = {
    Source.SCREEN: ON_SCREEN,
    Source.TYPED: "typed or chosen by this session",
    Source.MODEL: "only the model says so",
    Source.REVIEWER: "only the reviewer says so",
}
UNKNOWN = "unknown"
"""Nothing says it for certain, though a line of the screen may."""


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
            amount = _short(effect.amount)
            if not amount and not to:
                # What a press on a page about money does is not known, only what it may do.
                return f'Press "{effect.control}", which may pay an unknown amount{app}'
            amount = amount or "an unknown amount"
            return f"Pay {amount}" + (f" to {to}" if to else "") + app
        case V.SEND:
            said = f': "{content}"' if content else ""
            return f"Send to {to or 'somebody unknown'}{said}{app}"
        case V.PUBLISH:
            return (f'Publish "{content}"' if content else "Publish something") + app
        case V.CALL:
            return f"Call {to or 'somebody unknown'}{app}"
        case V.DELETE:
            return f"Delete or put away {_object(effect)}{app}"
        case V.OVERWRITE:
            return f'Replace {_quoted(_short(effect.before))} by "{content}"{app}'
        case V.CANCEL:
            return f"Cancel, return or leave {_object(effect)}{app}"
        case V.INSTALL:
            return f'Install "{content or effect.control}"{app}'
        case V.GRANT:
            return f"Let in or allow {_object(effect)}{app}"
        case V.PROTECTION:
            return f'Change a protection: "{effect.control}"{app}'
        case V.CUT_CONNECTION:
            return f'Cut the phone off its network: "{effect.control}"'
        case V.SIGN_IN:
            return f'Sign in, let somebody sign in or make an account: "{effect.control}"{app}'
        case V.SIGN_OUT:
            return f'Sign out: "{effect.control}"{app}'
        case V.TYPE_SECRET:
            return f'Enter a secret into "{effect.control}"{app}'
        case V.CARRY_OUT:
            if not effect.control:
                return f'Open "{content}"{app}'
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


class FactLine(NamedTuple):
    """One line of a card: its name, what it says, and where that was read."""

    name: str
    text: str
    note: str = ""
    is_unsure: bool = False
    """Whether it is unknown, or somebody's mere word."""


def facts(effect: Effect) -> list[str]:
    """List the facts of an effect, a line each, with where each was read.

    Further lines of a text are indented, so that none reads as a fact of its own.
    """
    lines = []
    for one in fact_lines(effect):
        note = f" ({one.note})" if one.note else ""
        lines.append(f"{one.name}: {_indented(one.text)}{note}")
    return lines


def fact_lines(effect: Effect) -> list[FactLine]:
    """List the facts of an effect in the order of a decision: what the operator's words do not say,
    what leaves, what takes it back, what stands beside it, the reviewer's word, and where.
    """
    lines = [FactLine("Check", effect.beside_goal, is_unsure=True)] if effect.beside_goal else []
    lines += [
        _stated(name, fact)
        for name, fact in (
            ("To", effect.recipient),
            ("Amount", effect.amount),
            ("From", effect.account),
            ("Instead of", effect.before),
            (_content_name(effect.verb), effect.content),
        )
        if fact is not None
    ]
    if effect.undo:
        lines.append(FactLine("Undo", effect.undo))
    lines += [_shown_line(line) for line in effect.shown]
    if effect.reviewer:
        lines.append(FactLine("The reviewer says", effect.reviewer, is_unsure=True))
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
        lines.append(FactLine("Where", where))
    return lines


def _stated(name: str, fact: Stated) -> FactLine:
    if fact.source is Source.UNREADABLE or not fact.text:
        return FactLine(name, UNKNOWN, is_unsure=True)
    is_word = fact.source in {Source.MODEL, Source.REVIEWER}
    return FactLine(name, fact.text, _SOURCES[fact.source], is_unsure=is_word)


def _shown_line(line: str) -> FactLine:
    """Return a line of what the screen shows, which begins with its name."""
    name, _, text = line.partition(": ")
    return FactLine(name, text)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _object(effect: Effect) -> str:
    """Return what an act is done to; a page's name, if it has nothing else, is none."""
    return _quoted(_short(effect.content))


def _quoted(text: str) -> str:
    return f'"{text}"' if text else "something unknown"


def _app(effect: Effect) -> str:
    name = one_line(effect.app_name, _NAME_CHARS)
    if not name or not effect.app:
        return f"app {effect.app}" if effect.app else ""
    return f"app {name} ({effect.app})"


def _content_name(verb: EffectVerb) -> str:
    return "Text" if verb in {V.SEND, V.PUBLISH, V.OVERWRITE, V.CARRY_OUT} else "What"


def _short(fact: Stated | None) -> str:
    return "" if fact is None else one_line(fact.text, _HEAD_CHARS)
