"""Find what comes of dropping one thing on another: out of the home screen, or into others' hands.

A home screen shows what removes or uninstalls an app only while something is dragged, always in
the strip at its top. A folder that other people have says so in its name.
"""

from agent.records import EffectVerb, Element, Point
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page

_HOMES = ("launcher", "home", "trebuchet")
_STRIP = 0.2
M = Meaning


def find_drop(target: Element | None, point: Point, page: Page) -> Finding | None:
    """Find what a drop at a point does; None: nothing beyond the place of what was dragged.

    Args:
        target: what lies there; None: no element is known there.
    """
    where = (page.package, page.screen.foreground.activity.rsplit(".", 1)[-1])
    if point.y < _STRIP and any(name in text.casefold() for name in _HOMES for text in where):
        said = "what is dropped at the top of the home screen is removed or uninstalled"
        return Finding(EffectVerb.DELETE, said, element=target)
    if target is not None and M.SHARED in read(target.label).found:
        said = f'what is dropped on "{target.label[:60]}" is there for other people'
        return Finding(EffectVerb.CARRY_OUT, said, element=target)
    return None
