"""What speaks against a claim of success by structure alone, free of charge. Pure.

Structure refuses whoever verifies. Invariant: each refusal says what is wrong and what to do about
it, and none rests on words of a language.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from agent.language.dates import dates_in
from agent.language.numbers import numbers_in
from agent.language.tokens import has_phrase, words
from agent.loop.screen.dialogs import DISMISSALS, PLAIN, SMALL, SYSTEM_BUTTONS
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.system_dialogs import dialog_note
from agent.loop.verification.answers import unread_numbers
from agent.loop.verification.change_values import values_to_show
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import is_search
from agent.loop.verification.pointers import element_words
from agent.loop.verification.values import contradicts_itself, is_carried, values_of
from agent.records import (
    Element,
    FieldFate,
    Observation,
    Requirement,
    RequirementKind,
    SeenEffect,
    SeenEffectKind,
)
from agent.safety.redacting.secrets import SECRET
from agent.text import one_line

_LEAST_TYPED_DIGITS = 3
_FEW = 10
_CHANGES = frozenset({RequirementKind.CHANGE, RequirementKind.ANY})
_FOOT = 1 / 3  # A composer stands below a thread that has room above it.


def refusals(
    requirements: Sequence[Requirement], past: ClaimHistory, today: date | None
) -> tuple[str, ...]:
    """Return what speaks against a claim, each with its remedy; empty: nothing does."""
    said = [*_front(past), *_unsaved(requirements, past), *_wrong_days(requirements, past, today)]
    said += _wrong_fields(past)
    for one in requirements:
        said += _nowhere(one, past, today)
    return tuple(dict.fromkeys((*said, *_unread(past))))


def _front(past: ClaimHistory) -> Iterator[str]:
    """Name the dialog that waits for an answer, or that tells of an error."""
    screen = past.last[1] if past.last is not None else None
    if screen is None:
        return
    if buttons := open_dialog(screen):
        yield f"A dialog is still open: {buttons}. Answer it, or close it if it is not wanted"
    elif (alone := _lone_button(screen)) is not None and past.may_have_changed:
        text = "; ".join(e.label for e in screen.elements if e is not alone)
        yield (
            f'A message is in front: "{one_line(text, 120)}". Read it and press '
            f'[{alone.number}] "{one_line(alone.label, 40)}"; what it says was not done is open'
        )


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


def _lone_button(screen: Observation) -> Element | None:
    """Return the only button of a system dialog that has no other."""
    buttons = [e for e in screen.elements if e.resource_id in SYSTEM_BUTTONS]
    return buttons[0] if len(buttons) == 1 and len(screen.elements) > 1 else None


def _is_button(element: Element) -> bool:
    labelled = element.label != UNLABELED and len(element.label) <= 40
    return element.clickable and element.enabled and labelled and not element.checkable


def _all_plain(buttons: Sequence[Element]) -> bool:
    return all(words(button.label) in PLAIN for button in buttons)


def _button_names(buttons: Sequence[Element]) -> str:
    return ", ".join(f'[{b.number}] "{one_line(b.label, 40)}"' for b in buttons[:4])


def _unsaved(requirements: Sequence[Requirement], past: ClaimHistory) -> Iterator[str]:
    """Name the texts that were typed and neither saved nor sent."""
    if past.last is None or any(one.kind is RequirementKind.KEEP for one in requirements):
        # "Fill it in, and do not send it" ends like this.
        return
    for effect in past.effects:
        text = effect.after.strip()
        is_open = effect.kind is SeenEffectKind.FIELD and not effect.settled_by
        if not is_open or not text or text == SECRET or _stands_elsewhere(effect, past):
            continue
        said, field = one_line(text, 60), one_line(effect.object, 40) or "the field"
        needed = any(_needs(one, text) for one in requirements)
        if effect.saved is FieldFate.ABANDONED and needed:
            yield f'"{said}" was typed into "{field}", and its page was left without saving it'
        if effect.saved is not FieldFate.TYPED or is_search(effect):
            continue
        held = _field_with(text, past.last[1])
        if held is not None and (needed or _is_composer(held, past.last[1])):
            yield (
                f'"{said}" stands only in the field [{held.number}] "{field}": save or send it, or '
                "leave the page if that saves it; empty the field if it is not wanted"
            )


def _wrong_fields(past: ClaimHistory) -> Iterator[str]:
    """Name the text that was written where another kind was, beside a field that has its own kind:
    a name instead of an address.
    """
    for effect in past.effects:
        is_kept = effect.kind is SeenEffectKind.FIELD and effect.saved is not FieldFate.ABANDONED
        kinds = _kind_of(effect.before), _kind_of(effect.after)
        if not is_kept or "" in kinds or kinds[0] == kinds[1]:
            continue
        for _, seen in reversed(past.seen):
            fields = [e for e in seen.elements if e.editable]
            if not any(e.value == effect.after and e.label == effect.object for e in fields):
                continue
            for other in fields:
                if other.label != effect.object and _kind_of(other.value) == kinds[1]:
                    yield (
                        f'"{one_line(effect.after, 60)}" is in "{one_line(effect.object, 40)}", '
                        f'which held "{one_line(effect.before, 60)}"; "{one_line(other.label, 40)}"'
                        " has its like: correct it"
                    )
                    return
            break


def _kind_of(text: str) -> str:
    """Return what kind of value a text is as a whole; "text": none; empty: it is empty."""
    if not words(text):
        return ""
    whole = [v.kind for v in values_of(text) if len(words(v.text)) == len(words(text))]
    return str(whole[0]) if whole else "text"


def _needs(one: Requirement, text: str) -> bool:
    """Return whether a requirement is about a text that was typed."""
    said = words(text)
    return one.kind in _CHANGES and bool(said) and set(said) <= set(words(one.text))


def _field_with(text: str, screen: Observation) -> Element | None:
    return next((e for e in screen.elements if e.editable and e.value.strip() == text), None)


def _is_composer(field: Element, screen: Observation) -> bool:
    """Return whether what is in a field is sent by the button on its right, below a thread."""
    return field.bounds.center_y > _FOOT and any(
        element.clickable
        and element.enabled
        and not element.checkable
        and element.bounds.left >= field.bounds.center_x
        and element.bounds.top < field.bounds.center_y < element.bounds.bottom
        for element in screen.elements
        if element is not field
    )


def _stands_elsewhere(effect: SeenEffect, past: ClaimHistory) -> bool:
    """Return whether a typed text stands on a later screen outside of any field, or went on."""
    wanted = words(effect.after)
    kept = (SeenEffectKind.SENT, SeenEffectKind.ITEM_ADDED)
    for other in past.effects:
        is_kept = other.kind in kept or other.saved is FieldFate.SAVED
        if is_kept and has_phrase(words(f"{other.object} {other.after}"), wanted):
            return True
    return any(
        has_phrase(words(element_words(element)), wanted)
        for step, seen in past.seen
        if step > effect.seen_step
        for element in seen.elements
        if not element.editable
    )


def _wrong_days(
    requirements: Sequence[Requirement], past: ClaimHistory, today: date | None
) -> Iterator[str]:
    """Name the date that an operator wrote, or the agent typed, with the weekday of another."""
    typed = (effect.after for effect in past.effects if effect.saved is not FieldFate.NONE)
    for text in dict.fromkeys((*(one.text for one in requirements), *typed)):
        if wrong := contradicts_itself(text, today):
            yield f'"{one_line(wrong, 60)}" is on another weekday: ask which is meant'


def _nowhere(one: Requirement, past: ClaimHistory, today: date | None) -> Iterator[str]:
    """Name the values of a requirement that stood on no screen and in no act."""
    if one.kind not in {RequirementKind.CHANGE, RequirementKind.ANY, RequirementKind.OPEN}:
        return
    pool = known_text(past)
    for value in values_to_show(one, past, today):
        number = value.number
        if number is not None and abs(number.value) < _FEW and number.value % 1 == 0:
            # It may be how many, which no screen writes.
            continue
        if not is_carried(value, pool, today):
            yield (
                f'{one.number}. "{one_line(one.text, 100)}": "{one_line(value.text, 60)}" stood on '
                "no screen and in nothing that was done. If it is a limit or a condition, list "
                "that part with update_plan as kind condition; a place that the phone calls "
                "otherwise as kind open, with the phone's name as object"
            )


def known_text(past: ClaimHistory) -> str:
    """Return all that the screens since the goal showed and that was done, as one text."""
    shown = (line for screen in past.screens_since for line in (*screen.lines, *screen.fields))
    done = (text for act in past.actions for text in (act.arguments, act.result, act.approved))
    ledger = (text for e in past.own_effects for text in (e.object, e.before, e.after, e.page))
    return "\n".join(dict.fromkeys(filter(None, (*shown, *done, *ledger))))


def _unread(past: ClaimHistory) -> Iterator[str]:
    """Name the numbers that the agent typed and nobody wrote, showed or could work out."""
    for effect in past.effects:
        if effect.saved in {FieldFate.NONE, FieldFate.ABANDONED}:
            continue
        long = [
            n
            for n in numbers_in(effect.after)
            if sum(map(str.isdigit, effect.after[n.start : n.end])) >= _LEAST_TYPED_DIGITS
        ]
        if not long:
            continue
        # What was typed stands on the screens from then on.
        typed = next(e for e in past.own_effects if e.after == effect.after)
        read_before = unread_numbers(_without_dates(effect.after), past, until=typed.step)
        unread = [said for said in read_before if _is_long(said)]
        if unread:
            yield (
                f'You typed {", ".join(unread)} into "{one_line(effect.object, 40)}", and no '
                "screen showed it before: open the screen that it comes from, and correct it"
            )


def _without_dates(text: str) -> str:
    """Return a text without its dates: their years need not stand anywhere."""
    for day in reversed(dates_in(text)):
        text = f"{text[: day.start]} {text[day.end :]}"
    return text


def _is_long(said: str) -> bool:
    return sum(map(str.isdigit, said)) >= _LEAST_TYPED_DIGITS
