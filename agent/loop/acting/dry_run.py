"""Show and draw what an action would do, in a session that does nothing (`--dry-run`).

Not the doing (that is `agent.loop.acting.executor`). Invariant: nothing here touches a phone or
asks anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.errors import StoreError
from agent.loop.conversation.prompts import open_items
from agent.loop.images.set_of_marks import intended
from agent.loop.task_context import TaskContext
from agent.records import Observation, PlanItem
from agent.safety.capabilities import Decision
from agent.safety.effects.verdict import Verdict
from agent.text import one_line
from agent.tools.actions import Deed, swipe_for
from agent.tools.arguments import Scroll

_ENDS = "It ends here, because only doing it shows what comes next."


async def rehearse(
    context: TaskContext,
    deed: Deed,
    screen: Observation,
    verdict: Verdict,
    *,
    plan: Sequence[PlanItem] = (),
) -> str:
    """Describe a deed, keep a picture of what it would touch, and say why it ends there.

    Args:
        plan: what the model meant to do; what of it is open is told too.

    Returns:
        A few sentences; they name the picture's digest when there is one.
    """
    to_come = open_items(plan)
    ends = _ENDS
    if to_come:
        ends += f" Still planned: {to_come}."
    if verdict.decision is Decision.BLOCK:
        return f"Dry run: this would be refused ({verdict.reason}): {_would(deed)}. {ends}"
    asks = verdict.decision is Decision.ASK
    leave = f"after an approval, because {verdict.reason}" if asks else "without asking"
    digest = await _picture(context, deed, screen)
    drawn = f" Drawn in picture {digest[:12]}." if digest else ""
    return f"Dry run, nothing was done. It would have {_would(deed)}, {leave}.{drawn} {ends}"


def unfit(tool: str, why: str) -> str:
    """Return the advice that the first action would have failed on this very screen."""
    return f"Dry run: this would have failed ({why}): {one_line(tool, 60)}. {_ENDS}"


def _would(deed: Deed) -> str:
    said = deed.said[:1].lower() + deed.said[1:]
    if deed.point is None:
        return said
    return f"{said} at {deed.point.x:.2f}, {deed.point.y:.2f}"


async def _picture(context: TaskContext, deed: Deed, screen: Observation) -> str:
    if screen.frame is None:
        return ""
    try:
        frame = await context.read_blob(screen.frame.digest)
    except StoreError:
        # A frame may have been pruned; the words still say it all.
        return ""
    bounds = deed.element.bounds if deed.element is not None else None
    point = deed.point
    if isinstance(deed.action, Scroll):
        point = swipe_for(deed.action.direction, deed.element)[0]
    drawn = await asyncio.to_thread(intended, frame, bounds, point, deed.path)
    return "" if drawn is None else await context.put_blob(drawn, "image/png")
