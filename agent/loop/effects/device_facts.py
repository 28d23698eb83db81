"""Find what an act changed of the phone itself, from what was read anyway. Pure.

The picture's shape tells the rotation, an unlit screen says so in place of a tree, and the tools
that change the clipboard or a volume say what they read back. Invariant: only after the act that
changes the fact, so an app that turns its own screen has no effect.
"""

import re

from agent.loop.effects.past_acts import PastAct
from agent.loop.effects.screen_change import OFF, ON, Cause, ScreenChange
from agent.records import Ledger, Observation, SeenEffectKind
from agent.tools.gestures.clipboard import HOLDS
from agent.tools.gestures.rotate import AUTO_ROTATE, noted_auto_rotate
from agent.tools.volume import MEDIA_VOLUME, noted_level

ROTATION, SCREEN, CLIPBOARD = "rotation", "screen", "clipboard"
UNLIT = "the screen is off"
"""How the note of an observation ends when nothing is shown (`agent.devices.shell`)."""
_HELD = re.compile(rf'{re.escape(HOLDS)} "(?P<text>.*)"\.', re.DOTALL)


def changed_facts(
    before: Observation, after: Observation, act: PastAct, ledger: Ledger
) -> list[ScreenChange]:
    """Return the facts of the phone that an act changed."""
    found = []
    match act.tool:
        case "rotate":
            found = [(ROTATION, _turned(before), _turned(after))]
            follows = noted_auto_rotate(act.said)
            found.append((AUTO_ROTATE, {ON: OFF, OFF: ON}.get(follows, ""), follows))
        case "press_button":
            found = [(SCREEN, _lit(before), _lit(after))]
            level = noted_level(act.said)
            found.append((MEDIA_VOLUME, _newest(ledger, MEDIA_VOLUME), level))
        case "clipboard":
            if act.text and (held := _HELD.search(act.said)):
                found = [(CLIPBOARD, _newest(ledger, CLIPBOARD), held["text"])]
        case _:
            pass
    return [
        ScreenChange(
            kind=SeenEffectKind.DEVICE, object=name, before=was, after=now, cause=Cause.NEWEST
        )
        for name, was, now in found
        if was != now and now
    ]


def _newest(ledger: Ledger, name: str) -> str:
    facts = ledger.of_kind(SeenEffectKind.DEVICE)
    return next((fact.after for fact in reversed(facts) if fact.object == name), "")


def _turned(seen: Observation) -> str:
    if seen.frame is None or not seen.frame.width_px:
        return ""
    return "landscape" if seen.frame.width_px > seen.frame.height_px else "portrait"


def _lit(seen: Observation) -> str:
    return OFF if seen.tree_note.rstrip(".").endswith(UNLIT) else ON
