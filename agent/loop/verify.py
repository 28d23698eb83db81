"""Say what an action came to, from the screens before and after it (CONTRACTS 5.2).

Not the watching (that is `agent.loop.observe`). Invariant: a result begins with OK, WARNING,
FAILED, or UNKNOWN when nobody can tell; OK only when the screen shows the effect.
"""

from __future__ import annotations

from agent.loop.changes import describe_change, label_difference
from agent.loop.elements import find_by_key
from agent.loop.screen import activity_name
from agent.records import Element, Observation
from agent.safety.secrets import is_secret_field

_TYPED_PREFIX = 20
_OTHER_TEXT = 50
_NEW_LABELS = 3


def failed(reason: str) -> str:
    """Word a refusal or a failure for the model."""
    return f"FAILED: {reason.rstrip('.')}. Try a different approach."


def blocked(reason: str) -> str:
    """Word a refusal that no other wording of the same act can get around."""
    return f"FAILED: {reason.rstrip('.')}. Do not try this again."


def unknown(what: str, reason: str) -> str:
    """Word an outcome that nobody can know yet."""
    return f"UNKNOWN: {what}, but {reason.rstrip('.')}. Look at the screen before acting again."


def verify_click(what: str, before: Observation, after: Observation) -> str:
    """Judge a click or a long press."""
    if before.fingerprint == after.fingerprint:
        return f"WARNING: {what}, but the screen did not change."
    return f"OK: {what}. {_effect(before, after)}"


def verify_typing(
    what: str, text: str, field: Element | None, before: Observation, after: Observation
) -> str:
    """Judge typing by what the field holds afterwards."""
    if after.tree_note:
        return f"WARNING: {what}, but the field cannot be read: {after.tree_note}"
    now = _same_field(field, after)
    if now is None:
        if before.fingerprint != after.fingerprint:
            return f"OK: {what}. {_effect(before, after)}"
        return f"WARNING: {what}, but no field shows it."
    if is_secret_field(now):
        return f"OK: {what}. What a password field holds is not read back."
    if not text and not now.value:
        return f"OK: {what}. The field is empty."
    was = None if field is None else find_by_key(before.elements, field.key)
    if was is not None and was.value == now.value and was.value:
        return f'WARNING: {what}, but the field still holds "{now.value[:_OTHER_TEXT]}".'
    if now.value and text[:_TYPED_PREFIX].strip() in now.value:
        return f"OK: {what}. The field now holds it."
    if not now.value:
        if before.fingerprint != after.fingerprint:
            return f"OK: {what}. The field is empty again: the text was sent or taken."
        return f"WARNING: {what}, but the field is empty."
    return f'WARNING: {what}, but the field holds "{now.value[:_OTHER_TEXT]}".'


def verify_scroll(what: str, before: Observation, after: Observation) -> str:
    """Judge a scroll."""
    if before.fingerprint == after.fingerprint:
        return f"WARNING: {what}, but nothing moved: this is the end of the area."
    return f"OK: {what}. {_effect(before, after)}"


def verify_button(what: str, before: Observation, after: Observation) -> str:
    """Judge a button of the phone."""
    if before.fingerprint == after.fingerprint:
        return f"WARNING: {what}, but the screen did not change."
    return f"OK: {what}. {_effect(before, after)}"


def verify_launch(what: str, package: str, after: Observation) -> str:
    """Judge the start of an app by what is in front."""
    if after.foreground.package == package:
        where = activity_name(after.foreground.activity)
        return f"OK: {what}. It is in front{f' at {where}' if where else ''}."
    return f"WARNING: {what}, but {after.foreground.package or 'nothing known'} is in front."


def _effect(before: Observation, after: Observation) -> str:
    change = describe_change(before, after)
    if not change.startswith("CONTENT_UPDATED: New"):
        return change
    added, _ = label_difference(before.elements, after.elements)
    return "Now shows " + ", ".join(f'"{label}"' for label in added[:_NEW_LABELS]) + "."


def _same_field(field: Element | None, after: Observation) -> Element | None:
    if field is not None:
        same = find_by_key(after.elements, field.key)
        if same is not None:
            return same
        twins = [e for e in after.elements if e.editable and e.resource_id == field.resource_id]
        if field.resource_id and len(twins) == 1:
            return twins[0]
    return next((e for e in after.elements if e.editable and e.focused), None)
