"""What an action came to, from the screens before and after it (CONTRACTS 5.2).

Not the watching (that is `agent.loop.observe`). Invariant: a result begins with OK, WARNING,
FAILED, or UNKNOWN when nobody can tell; OK only when the screen shows the effect.
"""

import re
import unicodedata
from collections.abc import Sequence

from agent.loop.screen.changes import (
    VALUE_CHARS,
    describe_change,
    difference,
    is_same,
    listed,
    state_change,
    toast_said,
)
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.elements import NEW_LABEL_CHARS, find_by_key
from agent.loop.screen.matching import same_element
from agent.loop.screen.screen_text import activity_name
from agent.loop.signals.keypad import is_keypad, is_repeatable
from agent.loop.signals.list_end import passed_over, reached_end
from agent.loop.signals.rejection import rejection
from agent.records import Element, Observation, Point
from agent.safety.redacting.secrets import is_secret_field
from agent.text import ELLIPSIS, on_one_line, one_line, sentence, with_line_breaks

UNSEEN = "This keypad does not show what is entered."
"""A secure keypad gives neither a picture nor a field: whether a key counted cannot be seen."""
APP_ANSWERED = "and the app answered:"
"""Before the app's own words in the result of an act that it refused."""
LIST_ENDS = " It moved less than a page: this is the end of the list."
PASSED_OVER = (
    " Nothing of the page before is left, so rows in between may not have been shown: "
    "scroll back a little if every row matters."
)
_TYPED_PREFIX = 20
_COMPARED = 20_000
_READ_CHARS = 1_900  # A longer value may be one that was not read to its end.
_NEW_LABELS = 3
_UNCHANGED = "It is still"
_STATES = 3
_WORD_LETTERS = frozenset({"Ll", "Lu", "Nd"})
"""Letters with two cases, and digits: scripts that have them write spaces between words."""


def failed(reason: str) -> str:
    """Return a refusal or a failure in words for the model."""
    return f"FAILED: {reason.rstrip('.')}. Try a different approach."


def refused_by_phone(reason: str, remedy: str) -> str:
    """Return the failure of a phone that takes no input, with what only its owner can do."""
    said = f"FAILED: {reason.rstrip('.')}."
    return f"{said} No tap and no key works on it until its owner acts. {remedy}"


def malformed(reason: str) -> str:
    """Return the refusal of a call that cannot be used as it was written."""
    return f"FAILED: {sentence(reason)} Correct the call and write it again."


def blocked(reason: str) -> str:
    """Return a refusal that no other wording of the same act can get around."""
    return f"FAILED: {reason.rstrip('.')}. Do not try this again."


def unknown(what: str, reason: str) -> str:
    """Return the words for an outcome that is not known yet."""
    return f"UNKNOWN: {what}, but {reason.rstrip('.')}. Look at the screen before acting again."


def verify_click(
    what: str,
    before: Observation,
    after: Observation,
    element: Element | None = None,
    covered: Observation | None = None,
) -> str:
    """Judge a click or a long press.

    Args:
        element: what was pressed; its state comes first.
        covered: what a dialog that `before` shows stands over.
    """
    if is_same(before, after):
        if element is not None and _is_key(element, after.elements):
            return f"OK: {what}. {UNSEEN}"
        return f"WARNING: {what}, but nothing on the screen changed."
    against = rejection(before, after)
    if against:
        return f'WARNING: {what}, {APP_ANSWERED} "{against}"'
    if after.toast and before.fingerprint == after.fingerprint and _waits(before):
        return f"WARNING: {what}, but the form is there as before. {toast_said(after)}"
    effect = _effect(before, after, element, covered)
    if effect.startswith(_UNCHANGED) and dialog_title(after.elements) is None:
        # Whatever else changed, it is not what was pressed for; a dialog may ask first.
        return f"WARNING: {what}, but it{effect.removeprefix('It')}"
    return f"OK: {what}. {effect}"


def _waits(screen: Observation) -> bool:
    """Return whether a form or a dialog waits for its button, which would put it away.

    A toast may say anything in any language; a form that is still there was not taken.
    """
    filled = sum(e.editable and bool(e.value) for e in screen.elements)
    # One field over a list is a search, whose hits have buttons of their own.
    searches = filled == 1 and any(e.scrollable for e in screen.elements)
    return (filled > 0 and not searches) or dialog_title(screen.elements) is not None


def _shown(value: str) -> str:
    return on_one_line(value, VALUE_CHARS)


def _is_key(element: Element, screen: Sequence[Element]) -> bool:
    return is_keypad(screen) and is_repeatable(element, screen)


def verify_typing(
    what: str,
    text: str,
    field: Element | None,
    before: Observation,
    after: Observation,
    *,
    clear: bool = False,
) -> str:
    """Judge typing by what the field holds afterwards.

    Args:
        text: what was typed; empty: the field was only emptied.
        clear: whether what the field held had to go first.
    """
    if after.tree_note:
        return f"WARNING: {what}, but the field cannot be read: {after.tree_note}"
    now = _same_field(field, after)
    if now is None:
        if not is_same(before, after):
            return f"OK: {what}. {_effect(before, after)}"
        return f"WARNING: {what}, but no field shows it."
    was = None if field is None else find_by_key(before.elements, field.key)
    if is_secret_field(now):
        return _verify_secret(what, text, was, now, clear=clear)
    old = "" if was is None else was.value
    if not now.value:
        return _verify_empty(what, text, before, after)
    held = f'"{_shown(now.value)}"'
    if text and clear and now.value == text:
        return f"OK: {what}. The field now holds it."
    if old == now.value:
        return f"WARNING: {what}, but the field still holds {held}."
    if not text or not _arrived(text, now.value):
        return f"WARNING: {what}, but the field holds {held}."
    if now.value == text:
        return f"OK: {what}. The field now holds it."
    if len(now.value) < _READ_CHARS and _is_cut(text, old, now.value):
        return f"WARNING: {what}, but the field holds only the beginning: {held}."
    if old and not clear and _is_misplaced(text, old, now.value):
        return (
            f"WARNING: {what}, but it was not put after what was there: the field holds {held}. "
            "Type the whole with clear."
        )
    if old.strip() and old in now.value and len(now.value) >= len(old) + len(text.strip()):
        if clear:
            return f"WARNING: {what}, but what was there before is still there, too: {held}."
        if _runs_together(old, text):
            return (
                f"WARNING: {what}, but it runs together with what was there: the field holds "
                f"{held}. Type with clear all that it is to hold."
            )
        return f"OK: {what}. It was added to what was there: the field now holds {held}."
    # More than that, or other spaces: the model has to see what stands there now.
    return f"OK: {what}. The field now holds {held}."


def _is_misplaced(text: str, old: str, value: str) -> bool:
    """Return whether a field holds both texts to the letter, and not one after the other."""
    joined, held = ("".join(one.split()) for one in (old + text, value))
    return len(held) == len(joined) and held != joined and sorted(held) == sorted(joined)


def _runs_together(old: str, text: str) -> bool:
    """Return whether a text was put to another as one word, in a script that parts words."""
    return all(unicodedata.category(letter) in _WORD_LETTERS for letter in (old[-1:], text[:1]))


def _verify_secret(what: str, text: str, was: Element | None, now: Element, *, clear: bool) -> str:
    if now.length and not text:
        return f"WARNING: {what}, but the field still holds {now.length} hidden characters."
    if text and not now.length and was is not None and was.length:
        return f"WARNING: {what}, but the field is empty."
    if not now.length:
        return f"OK: {what}. What a password field holds is not shown."
    if was is not None and was.length >= now.length and not clear:
        still = "still holds" if was.length == now.length else "now holds only"
        return f"WARNING: {what}, but the field {still} {now.length} hidden characters."
    return f"OK: {what}. The field now holds {now.length} hidden characters."


def _verify_empty(what: str, text: str, before: Observation, after: Observation) -> str:
    """Judge typing after which the field is empty: wanted, or a sign that the text went on."""
    if not text:
        return f"OK: {what}. The field is empty."
    if _times_shown(text, after) > _times_shown(text, before):
        return f"OK: {what}. The field is empty again, and the screen shows the text."
    if is_same(before, after):
        return f"WARNING: {what}, but the field is empty."
    return f"WARNING: {what}, but the field is empty, and nothing shows where the text went."


def _times_shown(text: str, screen: Observation) -> int:
    """Return how many labels show a text, or of a long one the beginning, as whole words."""
    start = one_line(text, _TYPED_PREFIX).strip().removesuffix(ELLIPSIS)
    if not start:
        return 0
    ends = r"(?!\w)" if len(one_line(text).strip()) <= _TYPED_PREFIX else ""
    shown = re.compile(rf"(?<!\w){re.escape(start)}{ends}")
    return sum(shown.search(element.label) is not None for element in screen.elements)


def _is_cut(text: str, old: str, value: str) -> bool:
    """Return whether a field holds the beginning of a text, alone or beside what was there."""
    added = {value, value.removeprefix(old), value.removesuffix(old)}
    parts = {part.strip() for part in added} - {"", text.strip()}
    return any(text.startswith(part) for part in parts)


def _arrived(text: str, value: str) -> bool:
    """Return whether a field holds what was typed, its line breaks too; of spaces it may drop some.

    An app may put a long text into a form of its own, so of one the beginning is enough.
    """
    lines, held = with_line_breaks(text, _COMPARED), with_line_breaks(value, _COMPARED)
    if lines in held:
        return True
    if one_line(text, _COMPARED) in one_line(value, _COMPARED):
        # All the words are there, but not their lines.
        return False
    return with_line_breaks(text[:_TYPED_PREFIX]) in held


def verify_scroll(
    what: str, before: Observation, after: Observation, swipe: tuple[Point, Point] | None = None
) -> str:
    """Judge a scroll.

    Args:
        swipe: the ends of the finger's way; None where they are not known.
    """
    if is_same(before, after):
        return f"WARNING: {what}, but nothing moved: this is the end of the area."
    change = _effect(before, after, scrolled=True)
    note = ""
    if swipe is not None and before.foreground == after.foreground:
        ended, passed = reached_end(before, after, *swipe), passed_over(before, after, *swipe)
        note = LIST_ENDS if ended else PASSED_OVER if passed else ""
    return f"OK: {what}. {change}{note}"


def verify_button(
    what: str, before: Observation, after: Observation, covered: Observation | None = None
) -> str:
    """Judge a button of the phone; `covered` is what a dialog of `before` stands over."""
    if is_same(before, after):
        return f"WARNING: {what}, but nothing on the screen changed."
    return f"OK: {what}. {_effect(before, after, covered=covered)}"


def verify_launch(what: str, package: str, after: Observation) -> str:
    """Judge the start of an app by what is in front."""
    if after.foreground.package == package:
        where = activity_name(after.foreground.activity)
        return f"OK: {what}. It is in front{f' at {where}' if where else ''}."
    return f"WARNING: {what}, but {after.foreground.package or 'nothing known'} is in front."


def _effect(
    before: Observation,
    after: Observation,
    element: Element | None = None,
    covered: Observation | None = None,
    *,
    scrolled: bool = False,
) -> str:
    """Return what became of the element that was acted on, then what else changed."""
    change = describe_change(before, after, covered=covered, scrolled=scrolled)
    said = [] if element is None else [_own_state(element, before, after)]
    if not change.startswith("CONTENT_UPDATED"):
        return " ".join(filter(None, (*said, _without_kind(change))))
    found = difference(before, after, covered=covered, scrolled=scrolled)
    said.append(found.dialog)
    own = "" if element is None else f'"{one_line(element.label, NEW_LABEL_CHARS)}" '
    others = [state for state in found.states if not (own and said[0] and state.startswith(own))]
    said += [f"{state}." for state in others[:_STATES]]
    came, went = (*found.added, *found.shown), (*found.removed, *found.hidden)
    if came:
        said.append(f"Now shows {listed(came, _NEW_LABELS)}.")
    elif went:
        name = "Removed" if found.removed else "No longer visible"
        said.append(f"{name}: {listed(went, _NEW_LABELS)}.")
    said += [found.keyboard, toast_said(after) if after.toast else ""]
    return " ".join(filter(None, said)) or _without_kind(change)


def _own_state(element: Element, before: Observation, after: Observation) -> str:
    """Return what state the element that was acted on is in now, where that can be seen."""
    was, front = before.foreground, after.foreground
    if (was.package, was.activity) != (front.package, front.activity):
        return ""
    now = same_element(element, before.elements, after.elements)
    if now is None:
        return ""
    change = state_change(element, now, "It")
    if change:
        return f"{change}."
    if now.label != element.label:
        return f'It now says "{one_line(now.label, VALUE_CHARS)}".'
    if now.checkable:
        return f"{_UNCHANGED} {'CHECKED' if now.checked else 'UNCHECKED'}."
    return ""


def _without_kind(change: str) -> str:
    for kind in ("PICTURE_CHANGED: ", "TOAST: "):
        change = change.removeprefix(kind)
    return change


def _same_field(field: Element | None, after: Observation) -> Element | None:
    if field is not None:
        same = find_by_key(after.elements, field.key)
        if same is not None:
            return same
        twins = [e for e in after.elements if e.editable and e.resource_id == field.resource_id]
        if field.resource_id and len(twins) == 1:
            return twins[0]
    return next((e for e in after.elements if e.editable and e.focused), None)
