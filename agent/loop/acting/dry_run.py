"""Show and draw what an action would do, in a session that does nothing (`--dry-run`).

Not the doing (that is `agent.loop.acting.executor`). Invariant: nothing here touches a phone or
asks anybody.
"""

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
from agent.tools.actions import ResolvedAction, swipe_for
from agent.tools.arguments import Scroll

_ENDS = "It ends here, because only doing it shows what comes next."


async def rehearse(
    context: TaskContext,
    resolved: ResolvedAction,
    screen: Observation,
    verdict: Verdict,
    *,
    plan: Sequence[PlanItem] = (),
) -> str:
    """Describe an action, keep a picture of what it would touch, and say why it ends there.

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
        return f"Dry run: this would be refused ({verdict.reason}): {_would(resolved)}. {ends}"
    asks = verdict.decision is Decision.ASK
    leave = f"after an approval, because {verdict.reason}" if asks else "without asking"
    digest = await _picture(context, resolved, screen)
    drawn = f" Drawn in picture {digest[:12]}." if digest else ""
    return f"Dry run, nothing was done. It would have {_would(resolved)}, {leave}.{drawn} {ends}"


def would_fail(tool: str, why: str) -> str:
    """Return the advice that the first action would have failed on this very screen."""
    return f"Dry run: this would have failed ({why}): {one_line(tool, 60)}. {_ENDS}"


def _would(resolved: ResolvedAction) -> str:
    said = resolved.said[:1].lower() + resolved.said[1:]
    if resolved.point is None:
        return said
    return f"{said} at {resolved.point.x:.2f}, {resolved.point.y:.2f}"


async def _picture(context: TaskContext, resolved: ResolvedAction, screen: Observation) -> str:
    if screen.frame is None:
        return ""
    try:
        frame = await context.read_blob(screen.frame.digest)
    except StoreError:
        # A frame may have been pruned; the words still say it all.
        return ""
    bounds = resolved.element.bounds if resolved.element is not None else None
    point = resolved.point
    if isinstance(resolved.action, Scroll):
        point = swipe_for(resolved.action.direction, resolved.element)[0]
    drawn = await asyncio.to_thread(intended, frame, bounds, point, resolved.path)
    return "" if drawn is None else await context.put_blob(drawn, "image/png")
