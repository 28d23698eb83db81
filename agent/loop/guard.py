"""Decide whether a deed may be done: background rule, duplicates, policy, the operator's word.

Not the doing. Invariants: a deed that needs approval is done at most once per approval; a deed the
operator refused is not asked about again in the same turn; silence is a no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from agent.loop.verify import blocked, failed
from agent.protocol import ToolCallRequested
from agent.records import Element
from agent.safety.approval import OPTIONS, approval_text, is_yes
from agent.safety.policy import (
    ALLOWED,
    Decision,
    Risk,
    Verdict,
    judge_click,
    judge_enter,
    judge_text,
)
from agent.safety.redaction import redact_secrets
from agent.safety.words import words
from agent.tasks.task import TaskContext
from agent.text import one_line
from agent.tools.actions import Deed
from agent.tools.arguments import ClickElement, LongPressElement, PressButton, Scroll, TypeText


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard decided; the refusal is what the model reads."""

    refusal: str = ""
    waited: bool = False
    """A person was waited for, so the screen may have changed."""


def background_refusal(tool: str) -> str:
    """Word the blocked reply of CONTRACTS 2.4."""
    return (
        '{"status":"background.confirmation_required",'
        f'"reason":"state_changing_tool_blocked","tool":"{tool}"}}'
    )


def judge(deed: Deed, screen: Sequence[Element]) -> Verdict:
    """Judge a deed on the real element and the real text."""
    action = deed.action
    if isinstance(action, ClickElement | LongPressElement) and deed.element is not None:
        return judge_click(deed.element)
    if isinstance(action, Scroll) and deed.element is not None and not deed.element.scrollable:
        # A swipe over what does not scroll is no look around: "slide to pay" takes it as a press.
        return judge_click(deed.element)
    if isinstance(action, TypeText):
        verdict = judge_text(action.text)
        if verdict.decision is Decision.ALLOW and "\n" in action.text:
            return judge_enter(screen)
        return verdict
    if isinstance(action, PressButton) and action.button in {"ENTER", "SPACE"}:
        focused = next((e for e in screen if e.focused and not e.editable), None)
        if focused is not None:
            return judge_click(focused)
        return judge_enter(screen) if action.button == "ENTER" else ALLOWED
    return ALLOWED


@dataclass(slots=True)
class Guard:
    """One turn's guard."""

    context: TaskContext
    _denied: set[str] = field(default_factory=set)
    _covered: tuple[str, ...] = ()
    """Words of the destructive button just approved and pressed: the phone's own "are you sure?"
    that follows, with the very same words, is the same deed."""
    _there: frozenset[str] = frozenset()
    """Keys of what was on the screen then: those are other things' buttons, not the question."""

    async def rule(self, deed: Deed, screen: Sequence[Element], call: ToolCallRequested) -> Ruling:
        """Decide, asking the operator when the policy says so."""
        verdict = judge(deed, screen)
        covered, self._covered = self._covered, ()
        match verdict.decision:
            case Decision.ALLOW:
                return Ruling()
            case Decision.BLOCK:
                return Ruling(refusal=blocked(f"This is not allowed: {verdict.reason}"))
            case Decision.ASK:
                pass
        title = () if deed.element is None else words(deed.element.label)
        if verdict.risk is Risk.DESTRUCTIVE and title and title == covered:
            twins = sum(e.clickable and words(e.label) == title for e in screen)
            if twins == 1 and deed.element is not None and deed.element.key not in self._there:
                return Ruling()
        key = f"{call.tool} {deed.element.key if deed.element else call.arguments}"
        if key in self._denied:
            return Ruling(refusal=blocked("The operator has already refused this"))
        answer = await self.ask(deed, verdict, call)
        if is_yes(answer):
            if verdict.risk is Risk.DESTRUCTIVE:
                self._covered = title
                self._there = frozenset(element.key for element in screen)
            return Ruling(waited=True)
        self._denied.add(key)
        why = (
            "Nobody answered in time, so the answer is no"
            if answer is None
            else f'The operator refused: "{redact_secrets(one_line(answer, 200))}"'
        )
        return Ruling(refusal=blocked(why), waited=True)

    def undone(self) -> None:
        """Take note that the deed just allowed was not done, so nothing can follow from it."""
        self._covered = ()

    async def ask(self, deed: Deed, verdict: Verdict, call: ToolCallRequested) -> str | None:
        """Put the approval to the operator."""
        return await self.context.ask(
            approval_text(_intent(deed), verdict.reason),
            call_id=call.call_id,
            step=call.step,
            options=OPTIONS,
            approval=True,
        )


def duplicate_refusal() -> str:
    """Word the refusal of an action that was done twice already and changed nothing."""
    return failed("You did exactly this twice already and nothing changed")


def _intent(deed: Deed) -> str:
    action = deed.action
    if isinstance(action, TypeText):
        return f'Type "{redact_secrets(one_line(action.text, 200))}".'
    if deed.element is not None and isinstance(action, LongPressElement):
        return f'Long-press "{deed.element.label[:80]}".'
    if deed.element is not None and isinstance(action, Scroll):
        return f'Swipe {action.direction} over "{deed.element.label[:80]}".'
    if deed.element is not None:
        return f'Press "{deed.element.label[:80]}".'
    return f"{deed.said}."
