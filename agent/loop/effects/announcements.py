"""Find what an app or the phone announced: toasts, snackbars, notifications. Pure."""

from collections.abc import Sequence

from agent.loop.effects.pages import JOINT
from agent.loop.effects.screen_change import ScreenChange
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, Observation, SeenEffectKind
from agent.text import one_line

_TEXT_CHARS = 300
_SNACKBAR = "snackbar_text"
"""The id of a Material snackbar's text, which is a toast with a button."""


def toasts(before: Observation, now: Observation) -> list[ScreenChange]:
    shown = {e.label for e in before.elements if e.resource_id.endswith(_SNACKBAR)}
    # A screen that was looked at once serves again where nothing was touched.
    is_new = now.toast != before.toast or now.ended_ms != before.ended_ms
    said = [now.toast] if now.toast and is_new else []
    bars = (e for e in now.elements if e.resource_id.endswith(_SNACKBAR) and e.label not in shown)
    found = [
        ScreenChange(kind=SeenEffectKind.TOAST, object=one_line(text, _TEXT_CHARS)) for text in said
    ]
    return found + [
        ScreenChange(
            kind=SeenEffectKind.TOAST, object=one_line(bar.label, _TEXT_CHARS), element=bar
        )
        for bar in bars
    ]


def notifications(was: Sequence[Element], now: Sequence[Element]) -> list[ScreenChange]:
    """Return the apps that have a notification now, where both screens show the status bar."""
    before, after = _notifying(was), _notifying(now)
    if before is None or after is None:
        return []
    return [
        ScreenChange(kind=SeenEffectKind.NOTIFICATION, object=one_line(app, _TEXT_CHARS))
        for app in after
        if app not in before
    ]


def _notifying(screen: Sequence[Element]) -> list[str] | None:
    """Return the apps that a status bar's line names; None: there is no bar."""
    bar = next((e for e in screen if e.kind == STATUS_BAR and JOINT in e.label), None)
    if bar is None:
        return None
    apps = bar.label.partition(JOINT)[2].split(", ")
    return [app for app in apps if not app[:1].isdigit()]
