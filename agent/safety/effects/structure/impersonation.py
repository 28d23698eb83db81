"""Find controls that speak in Switchboard's name: what an app says of approvals is never one."""

from agent.language.fold import skeleton
from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.page import Page

_NAME = "switchboard"


def find_impersonation(element: Element, page: Page) -> Finding | None:
    """Find that a control is written as if it were Switchboard's own; None: it is not."""
    if not element.clickable or page.is_listed(element) or _NAME not in skeleton(element.label):
        return None
    said = f'"{element.label[:60]}" speaks as if it were Switchboard'
    return Finding(EffectVerb.UNKNOWN, said, element=element)
