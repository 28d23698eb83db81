"""What changed between two screens beyond what the result of the act between them says.

The result tells what the act did; told again above the screen, it would cost twice. Pure.
Invariants: a change that the result does not name is told; what came is marked on the screen
itself, so beside a result it is told only where that mark is missing.
"""

from collections.abc import Sequence

from agent.loop.screen.changes import (
    NO_CHANGE,
    PICTURE_ONLY,
    describe_change,
    difference,
    keyboard_change,
    listed,
    toast_said,
)
from agent.loop.screen.screen_text import activity_name
from agent.records import Observation

UNCHANGED = "nothing on the screen changed"
"""How a result says what NO_CHANGE does."""
_STATES = 3
_ELSEWHERE = ("NEW APP: ", "NEW SCREEN: ")
_KINDS = ("CONTENT_UPDATED: ", "PICTURE_CHANGED: ", "TOAST: ")


def untold_change(
    previous: Observation,
    current: Observation,
    told: str,
    *,
    covered: Observation | None = None,
    scrolled: bool = False,
) -> str:
    """Return in one line what a result leaves untold; empty if nothing.

    Args:
        told: the result of what was done between the two screens.
        covered, scrolled: see `agent.loop.screen.changes.describe_change`.
    """
    whole = describe_change(previous, current, covered=covered, scrolled=scrolled)
    if whole == NO_CHANGE:
        return "" if UNCHANGED in told else whole
    toast = toast_said(current) if current.toast else ""
    said = "" if toast in told else toast
    if whole.startswith(_ELSEWHERE):
        return " ".join(filter(None, (_elsewhere(whole.removesuffix(toast), current, told), said)))
    if toast and whole.startswith(f"TOAST: {toast}"):
        return "" if toast in told else whole
    if not whole.startswith("CONTENT_UPDATED"):
        return "" if _without_kind(whole) in told or _is_told(whole, told) else whole
    found = difference(previous, current, covered=covered, scrolled=scrolled)
    # Most results name the first that came, and that there are more; the screen marks them all.
    came = [] if "Now shows" in told else _unnamed_labels((*found.added, *found.shown), told)
    parts = [
        "" if found.dialog in told else found.dialog,
        _states(_unnamed_states(found.states, told)),
        f"Now also: {listed(came)}." if came else "",
        _labels("Removed", _unnamed_labels(found.removed, told)),
        _labels("No longer visible", _unnamed_labels(found.hidden, told)),
        "" if found.keyboard in told else keyboard_change(previous, current),
        said,
    ]
    return " ".join(filter(None, parts))


def _elsewhere(change: str, current: Observation, told: str) -> str:
    """Return another page or app, unless the result names it."""
    change = change.strip()
    page = activity_name(current.foreground.activity)
    in_front = "is in front" in told and (not page or f" {page}." in told)
    return "" if change in told or in_front else change


def _is_told(change: str, told: str) -> bool:
    return change.startswith(PICTURE_ONLY) and _without_kind(PICTURE_ONLY) in told


def _without_kind(change: str) -> str:
    for kind in _KINDS:
        change = change.removeprefix(kind)
    return change


def _unnamed_labels(labels: Sequence[str], told: str) -> list[str]:
    return [label for label in labels if f'"{label}"' not in told]


def _unnamed_states(states: Sequence[str], told: str) -> list[str]:
    """Return the states that a result names neither by the element's label nor as its own."""
    return [state for state in states if not (state in told or _is_its_own(state, told))]


def _is_its_own(state: str, told: str) -> bool:
    """Return whether a state is that of the element acted on, which its result calls "it"."""
    name, _, what = state.removeprefix('"').partition('" ')
    if f'"{name}' not in told:
        return False
    # Of a field that was typed into, what it holds and that it has the focus is understood.
    return f"It {what}" in told or (what.startswith(("now holds", "has the")) and "yped" in told)


def _states(states: Sequence[str]) -> str:
    more = f" and {len(states) - _STATES} more" if len(states) > _STATES else ""
    return f"{', '.join(states[:_STATES])}{more}." if states else ""


def _labels(name: str, labels: Sequence[str]) -> str:
    return f"{name}: {listed(labels)}." if labels else ""
