"""What was done since a page was last seen, and which act a change is attributed to. Pure.

Invariant: an act that only looks, such as a scroll or the way back, is never given a change of the
page's content if another act can have made it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.protocol import ToolCallRequested
from agent.records import EffectOf, Element
from agent.tools.lenient_json import NotJson, read_json
from agent.tools.registry import moves_view

_CORNER_X, _CORNER_Y = 0.16, 0.13


@dataclass(frozen=True, slots=True)
class PastAct:
    """One act that may have changed something on the phone."""

    step: int = 0
    call_id: str = ""
    by: EffectOf = EffectOf.AGENT
    tool: str = ""
    element: Element | None = None
    text: str = ""
    """What it typed, as it is stored."""
    said: str = ""
    """What its result says."""

    @property
    def only_looks(self) -> bool:
        return moves_view(self.tool) or self.tool == "press_button"

    @property
    def scrolls(self) -> bool:
        return self.tool in {"scroll", "drag"} or self.by is EffectOf.OPERATOR

    @property
    def leads_back(self) -> bool:
        """Whether it is the way back: the key, or what stands for it in the corner of a page."""
        if self.tool == "press_button":
            return True
        if self.element is None or self.tool != "click_element":
            return False
        box = self.element.bounds
        in_corner = box.center_x < _CORNER_X and box.center_y < _CORNER_Y
        return in_corner and self.element.kind in {"icon-btn", "nav-btn"}


NOTHING_DONE = PastAct(by=EffectOf.NOBODY)


def act_of(call: ToolCallRequested, said: str) -> PastAct:
    return PastAct(
        step=call.step,
        call_id=call.call_id,
        tool=call.tool,
        element=call.element,
        text=_typed(call),
        said=said,
    )


def _typed(call: ToolCallRequested) -> str:
    if call.tool not in {"type_text", "clipboard"}:
        return ""
    try:
        given = read_json(call.arguments)
    except NotJson:
        return ""
    text = given.get("text", "") if isinstance(given, dict) else ""
    return text if isinstance(text, str) else ""


def cause_of_content(acts: Sequence[PastAct]) -> PastAct:
    """Return the newest act that can have changed what a page holds."""
    return next((act for act in reversed(acts) if not act.only_looks), NOTHING_DONE)


def newest_act(acts: Sequence[PastAct]) -> PastAct:
    return acts[-1] if acts else NOTHING_DONE
