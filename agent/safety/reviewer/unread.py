"""What is asked about where nobody reads acts and the goal only asks to look: controls that commit.

By structure, whatever they are called: a switch, a page's last control, a long press, a drag, a
swipe over something that does not scroll. Pure. Invariant: it never allows what rules ask about.
"""

from collections.abc import Sequence

from agent.records import EffectVerb, Element
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.page import Page, page_of
from agent.safety.effects.statement import state
from agent.safety.effects.structure.ending import ends, is_next_step, sign_of
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Verdict

_TICKS = frozenset("✓✔☑✅")
_FEWEST_ITEMS = 3
_SIDEWAYS = frozenset({"left", "right"})


def ask_about_unread(verdict: Verdict, acts: Sequence[Act], context: Context) -> Verdict:
    """Return a verdict of the rules, stricter for a goal that only asks to look."""
    if verdict.decision is not Decision.ALLOW or verdict.effect is not None:
        return verdict
    page = page_of(context.screen)
    act = next((act for act in acts if _may_commit(act, page)), None)
    if act is None:
        return verdict
    said = "the goal only asks to look, and this may change something"
    finding = Finding(EffectVerb.UNKNOWN, said, element=act.element)
    rule = RULES[finding.verb]
    return Verdict(
        decision=Decision.ASK,
        rule="only an answer is asked for",
        risk=rule.risk,
        reason=said,
        capability=rule.capability,
        effect=state(finding, act, page, context),
    )


def _may_commit(act: Act, page: Page) -> bool:
    element = act.element
    match act.kind:
        case ActKind.LONG_PRESS | ActKind.DRAG:
            return True
        case ActKind.SWIPE:
            return element is not None and not element.scrollable and act.direction in _SIDEWAYS
        case ActKind.PRESS if element is not None:
            is_last = ends(element, page) and not _is_item(element, page)
            return element.kind == "switch" or (is_last and not _pages_on(element, page))
        case _:
            return False


def _is_item(element: Element, page: Page) -> bool:
    """Return whether a control is one of several things alike, such as the cards of a shop.

    A thing says more than one thing of itself, and stands among others of its class and size.
    """
    if " | " not in element.label:
        return False
    return sum(_size(other) == _size(element) for other in page.pressables) >= _FEWEST_ITEMS


def _size(element: Element) -> tuple[str, int, int]:
    bounds = element.bounds
    across, down = bounds.right - bounds.left, bounds.bottom - bounds.top
    return element.class_name, round(across * 50), round(down * 50)


def _pages_on(element: Element, page: Page) -> bool:
    """Return whether a page asks for nothing and its control only goes on, or closes a notice."""
    asks = page.filled or any(e.checkable for e in page.elements)
    is_tick = sign_of(element) in _TICKS
    alone = page.is_dialog and len([e for e in page.pressables if not page.is_toolbar(e)]) == 1
    pages = is_next_step(element) and not (page.is_dialog or is_tick)
    return not asks and (alone or pages)
