"""What speaks against a claim of success by its form alone, free of charge. Pure.

Structure can only refuse a claim, never confirm one. Invariant: each objection is a sentence for
the model that names what it should look at.
"""

from collections.abc import Sequence

from agent.loop.screen.dialogs import DISMISSALS, PLAIN, SMALL, SYSTEM_BUTTONS
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.system_dialogs import dialog_note
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.goals import asks_only_to_look
from agent.records import Element, Observation
from agent.safety.words import words
from agent.text import one_line

NOTHING_DONE = "Nothing has been changed since the goal was given"


def objections(past: ClaimHistory) -> tuple[str, ...]:
    """Return what speaks against a claim that the goal is met; empty when nothing does."""
    said = []
    looks = asks_only_to_look(past.goal)
    if not past.effects and not looks:
        said.append(NOTHING_DONE)
    screen = past.last[1] if past.last is not None else None
    if screen is not None and (dialog := open_dialog(screen)):
        said.append(f"A dialog is still open: {dialog}")
    elif screen is not None and (waiting := _unconfirmed(past, screen)):
        said.append(f'"{waiting}" was approved, and the app still asks to confirm it')
    last = next((done for done in reversed(past.actions) if done.tool != "scroll"), None)
    if last is not None and last.went_wrong and not looks:
        said.append(f"Your last action did not work: {one_line(last.result, 160)}")
    return tuple(said)


def open_dialog(screen: Observation) -> str:
    """Name the buttons of a dialog that waits for a decision; empty when none is in front."""
    buttons = [e for e in screen.elements if e.resource_id in SYSTEM_BUTTONS]
    if buttons:
        return _button_names(buttons) if len(buttons) > 1 or not _all_plain(buttons) else ""
    if "permissioncontroller" in screen.foreground.package or dialog_note(screen).startswith(
        "A permission dialog"
    ):
        return _button_names([e for e in screen.elements if e.clickable])
    if not 0 < len(screen.elements) <= SMALL or any(e.editable for e in screen.elements):
        return ""
    buttons = [e for e in screen.elements if _is_button(e)]
    leaves = [e for e in buttons if words(e.label) in DISMISSALS]
    acts = [e for e in buttons if e not in leaves and words(e.label) not in PLAIN]
    if leaves and acts and len(buttons) <= 4:
        return _button_names(buttons)
    return ""


def _is_button(element: Element) -> bool:
    labelled = element.label != UNLABELED and len(element.label) <= 40
    return element.clickable and element.enabled and labelled and not element.checkable


def _all_plain(buttons: Sequence[Element]) -> bool:
    return all(words(button.label) in PLAIN for button in buttons)


def _button_names(buttons: Sequence[Element]) -> str:
    return ", ".join(f'[{b.number}] "{one_line(b.label, 40)}"' for b in buttons[:4])


def _unconfirmed(past: ClaimHistory, screen: Observation) -> str:
    """Name the approved act that the app itself still asks about; empty when none is."""
    act = past.approved
    if act is None or not act.pressed:
        return ""
    title = words(act.element.label)
    again = [
        e
        for e in screen.elements
        if _is_button(e) and title and words(e.label) == title and e.key not in act.there
    ]
    return one_line(act.element.label, 60) if again else ""
