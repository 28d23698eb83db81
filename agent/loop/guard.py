"""Decide whether a deed may be done: scope, bans, policy, autonomy, the operator's word.

In that order (the background rule comes before all of them, in the task). Not the doing.
Invariants: a deed that needs approval is done at most once per approval; a deed the operator
refused is not asked about again in the same turn; silence is a no; a secret is asked for as a
secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from agent.loop.verify import blocked, failed
from agent.protocol import ToolCallRequested
from agent.records import Autonomy, Element, Observation, Subject
from agent.safety.app_rules import AppDecision, AppRule, apply, rule_for
from agent.safety.approval import (
    OPTIONS,
    approval_text,
    is_yes,
    refused_because,
    typed_instead,
)
from agent.safety.beneath import touched
from agent.safety.capabilities import Capability, Decision, decide
from agent.safety.granting import Grants
from agent.safety.policy import (
    ALLOWED,
    Risk,
    Verdict,
    judge_click,
    judge_enter,
    judge_touch,
    judge_typing,
)
from agent.safety.redaction import redact_secrets
from agent.safety.scope import out_of_scope
from agent.safety.secrets import Secrets, is_placeholder, is_secret_field
from agent.safety.words import words
from agent.tasks.task import TaskContext
from agent.text import one_line
from agent.tools.actions import Deed
from agent.tools.arguments import (
    ClickElement,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard decided; the refusal is what the model reads."""

    refusal: str = ""
    waited: bool = False
    """A person was waited for, so the screen may have changed."""
    secret: str | None = None
    """What the operator gave to be typed in the place of a stand-in."""
    instead: str | None = None
    """What the operator wants typed in the place of the model's text."""


def judge(deed: Deed, screen: Sequence[Element]) -> Verdict:
    """Judge a deed on the real element and the real text."""
    verdict = _judge(deed, screen)
    if verdict is not ALLOWED:
        return verdict
    return Verdict(decision=Decision.ALLOW, capability=_plain_capability(deed))


def _judge(deed: Deed, screen: Sequence[Element]) -> Verdict:
    action = deed.action
    if isinstance(action, ClickElement | LongPressElement) and deed.element is not None:
        return judge_touch(deed.element, deed.point, screen)
    if isinstance(action, Scroll) and deed.element is not None and not deed.element.scrollable:
        # A swipe over what does not scroll is no look around: "slide to pay" takes it as a press.
        return judge_touch(deed.element, deed.element.bounds.center, screen)
    if isinstance(action, TypeText):
        return _judge_typing(action, deed, screen)
    if isinstance(action, PressButton) and action.button in {"ENTER", "SPACE"}:
        focused = next((e for e in screen if e.focused and not e.editable), None)
        if focused is not None:
            return judge_click(focused)
        return judge_enter(screen) if action.button == "ENTER" else ALLOWED
    return ALLOWED


def _judge_typing(action: TypeText, deed: Deed, screen: Sequence[Element]) -> Verdict:
    """Judge a text, and the touch that gives its field the focus."""
    verdict = judge_typing(action.text, deed.element, screen)
    if verdict.decision is not Decision.ALLOW or deed.element is None or deed.point is None:
        return verdict
    over = (e for e in touched(deed.element, deed.point, screen) if e.clickable)
    return next((v for v in map(judge_click, over) if v is not ALLOWED), verdict)


def _plain_capability(deed: Deed) -> Capability:
    match deed.action:
        case Scroll():
            return Capability.NAVIGATE
        case PressButton(button=button) if button not in {"ENTER", "SPACE", "DELETE", "POWER"}:
            return Capability.NAVIGATE
        case LaunchApp():
            return Capability.LAUNCH
        case _:
            return Capability.PERFORM


@dataclass(slots=True)
class Guard:
    """One turn's guard."""

    context: TaskContext
    secrets: Secrets = field(default_factory=Secrets)
    _denied: set[str] = field(default_factory=set)
    _grants: Grants | None = None
    _covered: tuple[str, ...] = ()
    """Words of the destructive button just approved and pressed: the phone's own "are you sure?"
    that follows, with the very same words, is the same deed."""
    _there: frozenset[str] = frozenset()
    """Keys of what was on the screen then: those are other things' buttons, not the question."""
    _judged: tuple[Deed, Sequence[Element], Verdict] | None = None
    """The newest judgement: a deed is weighed when it is stored and again when it is ruled on."""

    def weigh(self, deed: Deed, screen: Observation) -> Verdict:
        """Judge a deed by all that is known without asking anybody."""
        session = self.context.session
        package = deed.package or (deed.element.package if deed.element else "")
        package = package or screen.foreground.package
        verdict = self._judge(deed, screen.elements)
        front = screen.foreground
        activity = front.activity if front.package == package else ""
        stray = out_of_scope(package, session.target_package, activity)
        if stray and verdict.capability is not Capability.NAVIGATE:
            return _refused(verdict, stray)
        return permit(verdict, package, session.autonomy, self.context.app_rules)

    def _judge(self, deed: Deed, elements: Sequence[Element]) -> Verdict:
        """Judge the very same deed on the very same screen once."""
        if self._judged is None or not (self._judged[0] is deed and self._judged[1] is elements):
            self._judged = deed, elements, judge(deed, elements)
        return self._judged[2]

    async def rule(self, deed: Deed, screen: Observation, call: ToolCallRequested) -> Ruling:
        """Decide, asking the operator when the policy says so."""
        verdict = self.weigh(deed, screen)
        covered, self._covered = self._covered, ()
        match verdict.decision:
            case Decision.ALLOW:
                return Ruling()
            case Decision.BLOCK:
                return Ruling(refusal=blocked(f"This is not allowed: {verdict.reason}"))
            case Decision.ASK:
                pass
        if wants_secret(deed):
            return await self._ask_secret(deed, call)
        title = () if deed.element is None else words(deed.element.label)
        if verdict.risk is Risk.DESTRUCTIVE and title and title == covered:
            twins = sum(e.clickable and words(e.label) == title for e in screen.elements)
            if twins == 1 and deed.element is not None and deed.element.key not in self._there:
                return Ruling()
        key = f"{call.tool} {deed.element.key if deed.element else call.arguments}"
        if key in self._denied:
            return Ruling(refusal=blocked("The operator has already rejected this"))
        instead = None
        subject = _subject(deed, verdict, screen, call)
        if self._granted().covers(subject):
            self._cover(verdict, title, screen)
            return Ruling()
        answer = await self.ask(deed, verdict, screen, call)
        if isinstance(deed.action, TypeText):
            instead = typed_instead(answer)
        if is_yes(answer):
            self._granted().take(subject, answer)
            self._cover(verdict, title, screen)
            return Ruling(waited=True, instead=instead)
        self._denied.add(key)
        return Ruling(refusal=blocked(refused_because(answer)), waited=True)

    def _cover(self, verdict: Verdict, title: tuple[str, ...], screen: Observation) -> None:
        """Let the phone's own question about a destructive deed pass with the deed."""
        if verdict.risk is Risk.DESTRUCTIVE:
            self._covered = title
            self._there = frozenset(element.key for element in screen.elements)

    def undone(self) -> None:
        """Take note that the deed just allowed was not done, so nothing can follow from it."""
        self._covered = ()

    async def ask(
        self, deed: Deed, verdict: Verdict, screen: Observation, call: ToolCallRequested
    ) -> str | None:
        """Put the approval to the operator, with the element and the frame that it is about."""
        return await self.context.ask(
            approval_text(intent(deed), verdict.reason),
            call_id=call.call_id,
            step=call.step,
            options=OPTIONS,
            approval=True,
            subject=_subject(deed, verdict, screen, call),
        )

    def _granted(self) -> Grants:
        """Give what was approved for the whole session, as its history has it."""
        if self._grants is None:
            self._grants = Grants.of(self.context.history)
        return self._grants

    async def _ask_secret(self, deed: Deed, call: ToolCallRequested) -> Ruling:
        """Give what was given for the field, or ask; it goes to the phone and nowhere else."""
        assert deed.element is not None, "a stand-in is asked about for a field that is seen"
        given = self.secrets.take(deed.element)
        if given is not None:
            return Ruling(secret=given)
        where = deed.element.package or "the app in front"
        answer = await self.context.ask(
            f'What should be typed into "{deed.element.label[:80]}" of {where}? '
            "The agent does not see it, and it is not stored.",
            call_id=call.call_id,
            step=call.step,
            secret=True,
        )
        if answer is None:
            return Ruling(refusal=blocked("Nobody gave the secret in time"), waited=True)
        return Ruling(waited=True, secret=answer)


def _subject(deed: Deed, verdict: Verdict, screen: Observation, call: ToolCallRequested) -> Subject:
    """Say what an approval of a deed is about."""
    return Subject(
        action=call.tool,
        capability=verdict.capability.value,
        risk=verdict.risk.value,
        element=deed.element,
        frame=screen.frame,
    )


def permit(verdict: Verdict, package: str, autonomy: Autonomy, rules: Sequence[AppRule]) -> Verdict:
    """Make of a judgement what autonomy and the rules for the app leave of it."""
    if verdict.decision is Decision.BLOCK:
        return verdict
    level = decide(verdict.capability, autonomy)
    if level is Decision.BLOCK:
        return _refused(verdict, f"the session is {autonomy.value.replace('_', ' ')}")
    asks = Decision.ASK in (verdict.decision, level)
    decision = Decision.ASK if asks else Decision.ALLOW
    reason = verdict.reason or f"the session is set to {autonomy.value.replace('_', ' ')}"
    if verdict.decision is Decision.ASK:
        # What the policy itself asks about no rule lets pass.
        rules = [rule for rule in rules if rule.decision is not AppDecision.ALLOW]
    rule = rule_for(package, verdict.capability, rules)
    decision, why = apply(rule, verdict.capability, decision)
    return replace(verdict, decision=decision, reason=why or reason)


def _refused(verdict: Verdict, reason: str) -> Verdict:
    return replace(verdict, decision=Decision.BLOCK, reason=reason)


def wants_secret(deed: Deed) -> bool:
    """Tell whether a deed types a stand-in for what only the operator knows."""
    action = deed.action
    return (
        isinstance(action, TypeText)
        and deed.element is not None
        and is_secret_field(deed.element)
        and is_placeholder(action.text)
    )


def ban_refusal(element: Element, reason: str) -> str:
    """Word the refusal of an element that led nowhere before (CONTRACTS 5.2)."""
    name = f'Element [{element.number}] "{element.label[:60]}"'
    return f"BLOCKED: {name} is not pressed again: {reason}. Choose another way."


def duplicate_refusal() -> str:
    """Word the refusal of an action that was done twice already and came to nothing."""
    return failed("You did exactly this twice already, and a third time leads nowhere")


def intent(deed: Deed) -> str:
    """Say what would be done, for whoever is asked."""
    action = deed.action
    if isinstance(action, TypeText) and deed.element is not None and is_secret_field(deed.element):
        return f'Type {len(action.text)} hidden characters into "{deed.element.label[:80]}".'
    if isinstance(action, TypeText):
        return f'Type "{redact_secrets(one_line(action.text, 200))}".'
    if deed.element is not None and isinstance(action, LongPressElement):
        return f'Long-press "{deed.element.label[:80]}".'
    if deed.element is not None and isinstance(action, Scroll):
        return f'Swipe {action.direction} over "{deed.element.label[:80]}".'
    if deed.element is not None:
        return f'Press "{deed.element.label[:80]}".'
    if isinstance(action, LaunchApp):
        return f'Open "{one_line(action.app, 80)}".'
    if isinstance(action, Scroll):
        return f"Scroll {action.direction}."
    if isinstance(action, PressButton):
        return f"Press {action.button}."
    return f"{deed.said}."
