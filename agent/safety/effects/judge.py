"""Judge an act by what it would do.

The one entry for everything that touches a phone. Pure: the asking and the doing are the loop's.
Invariant: an act whose effect cannot be taken back is never allowed without a person, unless it is
the rest of what a person has approved.
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace

from agent.records import EffectVerb, Element, Point
from agent.safety.capabilities import Capability, Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.card_effects import find_by_card
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding, named, worst
from agent.safety.effects.keys import judge_delete, judge_enter
from agent.safety.effects.page import Page, is_slider, page_of
from agent.safety.effects.press import find_press
from agent.safety.effects.statement import state
from agent.safety.effects.structure.clipboard import find_reading
from agent.safety.effects.structure.dropping import find_drop
from agent.safety.effects.structure.persons import find_answer_to_person
from agent.safety.effects.texts import judge_text
from agent.safety.effects.typing import find_overwrite
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import ALLOWED, Verdict
from agent.safety.hit_test import touched
from agent.safety.redacting.secrets import is_secret_field

_DROPPED = frozenset({EffectVerb.DELETE, EffectVerb.SEND, EffectVerb.CARRY_OUT, EffectVerb.INSTALL})
"""What a row may do with another that is dropped on it."""


def judge(act: Act, context: Context) -> Verdict:
    context.flow.saw(context.screen)
    page = page_of(context.screen)
    plain = Verdict(decision=Decision.ALLOW, capability=plain_capability(act))
    hands_over = act.kind in {ActKind.TYPE, ActKind.COPY, ActKind.OPEN_LINK}
    blocked = judge_text(act.text or act.link) if hands_over else ALLOWED
    if blocked.decision is Decision.BLOCK:
        return blocked
    finding = find(act, page, context)
    if blocked.decision is Decision.ASK and finding is None:
        finding = Finding(EffectVerb.TYPE_SECRET, blocked.reason, rule="secret in the text")
    if finding is None:
        return plain
    effect = state(finding, act, page, context)
    rule = RULES[finding.verb]
    if context.flow.covers(effect, finding.element or act.element, page):
        return replace(plain, effect=effect, rule="rest of what was approved", also=(finding.rule,))
    return Verdict(
        decision=Decision.ASK,
        rule=finding.rule,
        also=finding.also,
        risk=finding.risk or rule.risk,
        reason=finding.reason,
        capability=rule.capability,
        effect=effect,
    )


def judge_all(acts: Sequence[Act], context: Context) -> Verdict:
    """Judge acts that are one action: what weighs most decides for all of them."""
    return max((judge(act, context) for act in acts), key=_weight)


def _weight(verdict: Verdict) -> tuple[int, int]:
    decisions = (Decision.ALLOW, Decision.ASK, Decision.BLOCK)
    effect = verdict.effect
    return decisions.index(verdict.decision), 0 if effect is None else RULES[effect.verb].weight


def plain_capability(act: Act) -> Capability:
    """Return the capability of an act that has no effect beyond the phone's own view."""
    match act.kind:
        case ActKind.SWIPE | ActKind.VIEW:
            return Capability.NAVIGATE
        case ActKind.KEY if act.key not in {"ENTER", "SPACE", "DELETE", "POWER"}:
            return Capability.NAVIGATE
        case ActKind.LAUNCH | ActKind.OPEN_LINK:
            return Capability.LAUNCH
        case _:
            return Capability.PERFORM


def find(act: Act, page: Page, context: Context) -> Finding | None:
    """Find what an act would do beyond the phone's own view; None: nothing."""
    match act.kind:
        case ActKind.PRESS | ActKind.LONG_PRESS if act.element is not None:
            return _touch(act.element, act.point, page, context)
        case ActKind.PRESS | ActKind.LONG_PRESS | ActKind.DRAG if act.point is not None:
            return _at_point(act, act.point, page, context)
        case ActKind.SWIPE:
            return _swipe(act, page, context)
        case ActKind.TYPE:
            return _typing(act, page, context)
        case ActKind.KEY:
            return _key(act, page, context)
        case ActKind.COPY:
            return None if act.text else named("clipboard", find_reading(context.goal))
        case ActKind.LAUNCH | ActKind.OPEN_LINK | ActKind.VIEW:
            return None
        case ActKind.PRESS | ActKind.LONG_PRESS | ActKind.DRAG:
            # It touches no element and no point.
            return None
        case _:
            assert_never(act.kind)


def _touch(element: Element, point: Point | None, page: Page, context: Context) -> Finding | None:
    pressed = [element]
    if point is not None:
        pressed += touched(element, point, page.elements)
    found = (find_press(e, page, context) for e in pressed)
    by_card = (named("app card", find_by_card(e, context.commits)) for e in pressed)
    return worst((*found, *by_card))


def _at_point(act: Act, point: Point, page: Page, context: Context) -> Finding | None:
    """Judge a touch of a point by the smallest element that lies there.

    What lies where no element is known is unseen by the judge, whatever a picture shows there.
    """
    is_press = act.kind is not ActKind.DRAG
    if not page.elements:
        return Finding(
            EffectVerb.UNKNOWN,
            "the screen cannot be read, so what lies there is unknown",
            rule="unseen",
        )
    here = [
        e
        for e in page.elements
        if e.bounds.left <= point.x <= e.bounds.right and e.bounds.top <= point.y <= e.bounds.bottom
    ]
    here.sort(key=lambda e: (e.bounds.right - e.bounds.left) * (e.bounds.bottom - e.bounds.top))
    target = next((e for e in here if e.clickable or e.checkable), here[0] if here else None)
    dropped = (
        None if is_press or act.end != act.point else named("drop", find_drop(target, point, page))
    )
    if dropped is not None:
        return dropped
    if target is not None and not is_press:
        return _drag(act, target, page, context)
    if target is not None:
        return _touch(target, point, page, context)
    unseen = "no element is known at that point, so what a touch does there is unknown"
    return Finding(EffectVerb.UNKNOWN, unseen, rule="unseen") if is_press else None


def _drag(act: Act, target: Element, page: Page, context: Context) -> Finding | None:
    """Judge what is dragged as a slider, and what it is dropped on as a press of that."""
    if act.end != act.point:
        return None if page.is_listed(target) else find_press(target, page, context, stroke=True)
    found = find_press(target, page, context)
    # One row that is dropped on another is put beside it; what the other says is its own.
    return None if page.is_listed(target) and found and found.verb not in _DROPPED else found


def _swipe(act: Act, page: Page, context: Context) -> Finding | None:
    element = act.element
    answer = named("one person", find_answer_to_person(page, act.direction, element))
    if answer is not None:
        return answer
    if element is None or element.scrollable:
        over = next((e for e in page.elements if is_slider(e)), None)
        across = act.direction in {"left", "right"}
        if over is not None and (across or "up" in context.screen.screen_text):
            return find_press(over, page, context, stroke=True)
        return None
    # A swipe over what does not scroll is no look around: "slide to pay" is pressed by it.
    found = _touch(element, element.bounds.center, page, context)
    if is_slider(element):
        found = worst((found, find_press(element, page, context, stroke=True)))
    if found is not None or act.direction not in {"left", "right"}:
        return found
    if is_slider(element) or (page.speaks_of_money and page.stake and not page.is_row(element)):
        return find_press(element, page, context, stroke=True)
    if page.is_row(element) and page.rows >= 2 and not page.is_instrument:
        said = f'a swipe over "{element.label[:60]}" may delete or archive it'
        return Finding(EffectVerb.DELETE, said, element=element, rule="swipe over a row")
    return None


def _typing(act: Act, page: Page, context: Context) -> Finding | None:
    """Judge a text, and the touch that gives its field the focus."""
    found: list[Finding | None] = []
    if act.element is not None and is_secret_field(act.element):
        paying = context.flow.verb is EffectVerb.SPEND
        verb = EffectVerb.SPEND if paying else EffectVerb.TYPE_SECRET
        said = f'"{act.element.label[:60]}" is a field for a secret'
        found.append(Finding(verb, said, element=act.element, rule="secret field"))
    elif act.is_secret:
        said = "what is typed is a secret"
        found.append(
            Finding(EffectVerb.TYPE_SECRET, said, element=act.element, rule="secret field")
        )
    elif not page.elements and "\n" not in act.text:
        said = "the screen cannot be read, so nobody knows where it goes"
        found.append(Finding(EffectVerb.UNKNOWN, said, element=act.element, rule="unseen"))
    if "\n" in act.text:
        found.append(named("enter", judge_enter(page, context, typed=act.text)))
    if act.element is not None:
        found.append(named("overwrite", find_overwrite(act, page, context)))
        if act.point is not None:
            over = (e for e in touched(act.element, act.point, page.elements) if e.clickable)
            found += [find_press(e, page, context) for e in over]
    return worst(found)


def _key(act: Act, page: Page, context: Context) -> Finding | None:
    if act.key in {"ENTER", "SPACE"}:
        focused = next((e for e in page.elements if e.focused and not e.editable), None)
        if focused is not None:
            return find_press(focused, page, context)
        return named("enter", judge_enter(page, context)) if act.key == "ENTER" else None
    if act.key == "DELETE":
        return named("delete key", judge_delete(page, context))
    return None
