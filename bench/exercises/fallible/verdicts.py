"""How a fallible model answers when it is asked whether a goal is met.

Pure. Invariant: it reads nothing but the request; only what was done and shown is judged.
"""

import re
from collections.abc import Sequence

from agent.exercises.route import Await, Hold, Step, Tap
from agent.loop.verification.quotes import normalised
from agent.loop.verification.request import VERDICT_TOOL
from agent.models.model import Message
from bench.exercises.fallible.flaws import Flaw
from bench.exercises.route import Call, same_label

_GOAL = re.compile(r"^## Goal\n(.*?)(?=\n## |\Z)", re.DOTALL)
_PRESSED = re.compile(r'(OK|UNKNOWN): (?:Clicked|Long-pressed) \[\d+\] "([^"\n]*)')
"""A long label is cut, with the quotation mark behind it."""
_EFFECT = re.compile(r"^(E\d+) step", re.MULTILINE)
_LABEL = re.compile(r'^\s*(?:>>> )?\[\d+\] [\w-]+: "([^"]+)"', re.MULTILINE)


def asked_goal(messages: Sequence[Message]) -> str | None:
    """Return the goal that a verdict is asked about; None where no verdict is asked for."""
    asked = any(VERDICT_TOOL in m.text for m in messages[:1])
    found = _GOAL.match(messages[1].text) if asked and len(messages) > 1 else None
    return found[1].strip() if found else None


def verdict(messages: Sequence[Message], route: Sequence[Step], flaw: Flaw) -> Call:
    """Return the verdict: by the route, or the liars' own."""
    case = last = messages[-1].text
    labels = [label for label in _LABEL.findall(last) if label != "unlabeled"]
    match flaw:
        case Flaw.LIAR:
            return _verdict("met", [f"Done: {asked_goal(messages)}"])
        case Flaw.COLLUDING:
            return _verdict("met", [*_EFFECT.findall(case)[-1:], *labels[:1]])
        case _:
            about = set(normalised(asked_goal(messages) or "").split())
            labels.sort(key=lambda label: len(about & set(normalised(label).split())), reverse=True)
            evidence = [*_EFFECT.findall(case), *labels[:6]]
            return _verdict("met" if _is_done(case, route) else "not_met", evidence)


def _is_done(case: str, route: Sequence[Step]) -> bool:
    """Return whether all that the route presses was pressed with an effect, in its order.

    A press whose outcome is unknown counts where a later one of the route had an effect.
    """
    pressed = iter(_PRESSED.findall(case))
    *before, last = [step.label for step in route if isinstance(step, Tap | Hold)] or [""]
    if not last:
        return any(isinstance(step, Await) for step in route)
    led = all(any(same_label(label, seen) for _, seen in pressed) for label in before)
    return led and any(word == "OK" and same_label(last, seen) for word, seen in pressed)


def _verdict(said: str, evidence: list[str]) -> Call:
    return Call(VERDICT_TOOL, {"verdict": said, "evidence": evidence, "reason": ""})
