"""Judge whether words that a verifier quotes tell anything of a goal that changes something. Pure.

The title of a page, the name of an app or of a tab stand on a screen whether anything was done or
not. Invariant: a state always counts, and words that came once something was done do.
"""

import re
from collections.abc import Sequence

import msgspec

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.goals import asks_to_remove
from agent.loop.verification.quotes import normalised
from agent.loop.verification.structure import open_dialog
from agent.records import Evidence
from agent.safety.capabilities import Capability
from agent.tools.tool_groups import groups_for

NOT_OF_GOAL = "What it quotes says nothing of the goal."
NOT_NEW = "What it quotes was there before anything was done."
DIALOG_OPEN = "A dialog still waits for a decision."
REFUSED = "The app refused what was done last."
_FEW_WORDS = 2  # So few words are a title, a tab or a button, unless they are new.
_STATES = ("[CHECKED]", "[UNCHECKED]", "[SELECTED]")
_TELLING_CHARS = 3
_HYPHENATED = re.compile(r"[^\W_]+(?:[-\u2010\u2011][^\W_]+)+")
_COMMON = frozenset(
    {
        *("the", "and", "for", "with", "from", "into", "that", "this", "app", "open", "turn"),
        *("set", "add", "new", "all", "put", "write", "send", "make", "take", "get", "give"),
        *("please", "phone", "screen", "settings", "then"),
    }
)
"""Words of goals that say nothing of what a goal is about."""


def objection(shown: Sequence[Evidence], past: ClaimHistory, *, is_same: bool) -> str:
    """Return what speaks against quoted words as evidence of a change; empty when nothing does.

    Args:
        shown: quotes that stand on stored screens.
        is_same: whether the model that did the work checks itself. It is a weak witness: it has to
            quote what the goal is about, and a state of it where nothing took effect. What a
            service replied says nothing of a goal that asks for nothing later; what the operator
            approved to be removed is of a goal that removes; what came of an approved payment
            beside words of the goal is of the goal. It confirms nothing over an open dialog, or
            over a refusal by the app.
    """
    if is_same:
        if past.last is not None and open_dialog(past.last[1]):
            return DIALOG_OPEN
        if past.refused_by_app:
            return REFUSED
        tells = _is_relevant if past.effects else shows_state
        telling = [one for one in shown if tells(one, past)]
        steps = {one.step for one in telling}
        shown = [
            one for one in shown if one in telling or _appeared_after_payment(one, steps, past)
        ]
        if not shown:
            return NOT_OF_GOAL
    strict = is_same and not asks_to_remove(past.goal)
    if all(_is_generic(one, past, strict=strict) for one in shown):
        return NOT_NEW
    return ""


def _is_generic(evidence: Evidence, past: ClaimHistory, *, strict: bool) -> bool:
    """Return whether quoted words could be quoted whether anything was done or not.

    Args:
        strict: whether more than a few words have to be new too.
    """
    quote = normalised(evidence.quote)
    if any(state in evidence.quote.upper() for state in _STATES):
        return False
    if any(quote in normalised(screen.package) for screen in past.screens):
        return True
    if (len(quote.split()) > _FEW_WORDS and not strict) or not past.first_effect:
        return False
    # The screen of a step stands before its act, a service's reply comes after it.
    seen = (screen for screen in past.screens if not screen.is_reply)
    before = (screen for screen in seen if screen.step <= past.first_effect)
    return any(screen.shows(quote) for screen in before)


def _is_relevant(evidence: Evidence, past: ClaimHistory) -> bool:
    for screen in past.screens:
        if screen.is_reply and screen.step == evidence.step and not evidence.digest:
            # Its words are the model's own, so they count only where something later is asked for.
            reply = msgspec.structs.replace(evidence, quote=" ".join(screen.lines))
            asked = groups_for(" ".join((past.goal, *past.hints)))
            return bool(asked) and is_relevant_to(reply, past)
    return is_relevant_to(evidence, past) or (
        asks_to_remove(past.goal)
        and any(
            done.step == evidence.step and done.approved and done.took_effect
            for done in past.actions
        )
    )


def _appeared_after_payment(evidence: Evidence, steps: set[int], past: ClaimHistory) -> bool:
    """Return whether words came after an approved payment, on a screen that names the goal too.

    Args:
        steps: the steps of the screens of which words of the goal are quoted.
    """
    paid = [
        done.step
        for done in past.actions
        if done.capability == Capability.PAY and done.approved and done.took_effect
    ]
    if evidence.step not in steps or not paid or paid[-1] >= evidence.step:
        return False
    quote = normalised(evidence.quote)
    before = (screen for screen in past.screens if screen.step <= paid[-1])
    return not any(screen.shows(quote) for screen in before)


def is_relevant_to(evidence: Evidence, past: ClaimHistory) -> bool:
    """Return whether quoted words name something that the goal names, or show a state."""
    stated = any(state in evidence.quote.upper() for state in _STATES)
    return stated or bool(_goal_words(past) & set(normalised(evidence.quote).split()))


def _goal_words(past: ClaimHistory) -> set[str]:
    """Return the telling words of the goal and of what the operator said since."""
    text = " ".join((past.goal, *past.hints))
    said = normalised(text).split()
    # Parts of a name are telling together: Wi-Fi is two words of two letters.
    joined = normalised(" ".join(_HYPHENATED.findall(text))).split()
    long = {word for word in said if len(word) >= _TELLING_CHARS or word.isdigit()}
    return (long | set(joined)) - _COMMON


def shows_state(evidence: Evidence, past: ClaimHistory) -> bool:
    """Return whether quoted words are a state of something that the goal names."""
    named = _goal_words(past)
    quoted = normalised(re.sub(r"\[[A-Z]+\]", " ", evidence.quote))
    for screen in past.screens:
        for line in screen.lines:
            plain = normalised(line)
            if quoted.strip() and quoted in plain and any(state in line for state in _STATES):
                return bool(named & set(plain.split()))
    return False
