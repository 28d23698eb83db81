"""Find where a slider was put whose place nothing tells: no tree has it. Pure.

Invariant: only after a drag of that slider along its own width, and where the screen looks
otherwise since; a slider whose text or value says where it stands is told by that.
"""

import re
from collections.abc import Iterable

from agent.loop.effects.past_acts import PastAct
from agent.loop.effects.screen_change import Cause, ScreenChange
from agent.loop.screen.changes import picture_differs
from agent.loop.screen.elements import UNLABELED
from agent.records import EffectOf, Observation, SeenEffectKind
from agent.text import one_line
from agent.tools.gestures.pointing import OF_ITS_WIDTH

_SHARE = re.compile(rf"(\d+%) {re.escape(OF_ITS_WIDTH)}")
_NAME_CHARS = 200


def placed_slider(
    before: Observation, after: Observation, act: PastAct, told: Iterable[ScreenChange]
) -> list[ScreenChange]:
    """Return where an act has put a slider; empty where it moved none, or its place is told."""
    slider = act.element
    share = _SHARE.search(act.said)
    if act.tool != "drag" or act.by is not EffectOf.AGENT or share is None:
        return []
    if slider is None or slider.kind != "slider" or slider.label == UNLABELED:
        return []
    if any(one.kind is SeenEffectKind.STATE for one in told):
        return []
    if after.fingerprint == before.fingerprint and not picture_differs(after):
        return []
    return [
        ScreenChange(
            kind=SeenEffectKind.STATE,
            object=one_line(slider.label, _NAME_CHARS),
            after=f"{share[1]} {OF_ITS_WIDTH}",
            cause=Cause.NEWEST,
        )
    ]
