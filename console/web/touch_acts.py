"""What a finger can do with what waits: the acts of the queue and its card, each with its key.

A touch keyboard comes only when it is asked for, and hides half of what is to be read.
"""

from console.keys.actions import BY_ID
from console.keys.keymap import Keymap

_QUEUE = {
    "question.next": "Next",
    "question.approve": "Approve",
    "question.reject": "Reject",
    "question.modify": "Instead",
    "question.dismiss": "Dismiss",
    "question.session": "For session",
    "question.warrants": "Warrants",
    "question.wheel": "By hand",
    "session.stop": "Stop",
}
"""By the id of the action; the options of a question are tapped on its card."""


def touch_acts(keys: Keymap, *, may_drive: bool) -> tuple[tuple[str, str], ...]:
    """List the keys that the page presses, as the operator has them, each with its word.

    Args:
        may_drive: whether the tabs may act; else only what looks is listed.
    """
    listed: list[tuple[str, str]] = []
    for action_id, word in _QUEUE.items():
        if BY_ID[action_id].acts and not may_drive:
            continue
        typed = next((name for name in _names(keys, action_id) if len(name) == 1), "")
        if typed:
            listed.append((typed, word))
    return tuple(listed)


def _names(keys: Keymap, action_id: str) -> list[str]:
    return keys.names(BY_ID[action_id]).split()
