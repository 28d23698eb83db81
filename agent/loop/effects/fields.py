"""Find what fields hold now, and what became of a text once its field was left. Pure.

A text is sent or saved where it stands outside a field and did not stand there before; abandoned
where its page was left by the way back and shows it nowhere. Invariant: what cannot be told stays
typed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.loop.effects.pages import Page
from agent.loop.effects.past_acts import PastAct
from agent.loop.effects.screen_change import Cause, ScreenChange
from agent.loop.effects.standing_text import showing
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.matching import Pair, pairs
from agent.records import Element, FieldFate, SeenEffect, SeenEffectKind
from agent.safety.redacting.secrets import SECRET
from agent.text import one_line

VALUE_CHARS = 2000
_NAME_CHARS = 200
_STAYED = 0.8  # Of a page that something was changed on, this share stays at least.
_FOOT = 1 / 3  # A composer stands below so much of the page that its thread has room above it.


@dataclass(frozen=True, slots=True)
class Left:
    """How the newest screen came in place of the one before."""

    page: Page
    now: Page
    by_way_back: bool
    by_own_control: bool
    """Whether something on the page itself was pressed."""
    came_back: bool
    """Whether the newest page had been seen before the one that was left."""


def field_name(element: Element, title: str) -> str:
    return title if element.label == UNLABELED else one_line(element.label, _NAME_CHARS)


def is_typed_into(last: Page, now: Page, act: PastAct) -> bool:
    """Return whether a text was typed that left the page, as typing does, though not its title."""
    if (last.package, last.activity) != (now.package, now.activity):
        return False
    return bool(act.text) and (last.dialog is None) == (now.dialog is None)


def filters(matched: Sequence[Pair]) -> bool:
    """Return whether a field of the page holds something else now: it may filter what is shown."""
    return any(
        was.editable and now.editable and was.value != now.value for was, now in matched
    ) and any(now.editable and now.value for _, now in matched)


def changed_fields(
    before: Sequence[Element], after: Sequence[Element], title: str, act: PastAct
) -> list[ScreenChange]:
    """Return the fields of one form that hold something else now, and where their texts went."""
    matched = pairs(before, after)
    if not act.text and len(matched) < _STAYED * len(before):
        # An address bar follows what the page shows.
        return []
    found = []
    for was, now in matched:
        if not (was.editable and now.editable):
            continue
        if was.length != now.length and not (was.value or now.value):
            found.append(_typed(now, title, _dots(was.length), _dots(now.length)))
        elif was.value != now.value:
            sent = None if now.value else _went_on(was, now, before, after, title)
            found.append(sent or _typed(now, title, was.value, now.value))
    return found


def _dots(length: int) -> str:
    return SECRET if length else ""


def _typed(field: Element, title: str, before: str, after: str) -> ScreenChange:
    return ScreenChange(
        kind=SeenEffectKind.FIELD,
        object=field_name(field, title),
        before=before[:VALUE_CHARS],
        after=after[:VALUE_CHARS],
        saved=FieldFate.TYPED,
        element=field,
        cause=Cause.NEWEST,
    )


def _went_on(
    was: Element, now: Element, before: Sequence[Element], after: Sequence[Element], title: str
) -> ScreenChange | None:
    """Return where the text of an emptied field stands now; None where it stands nowhere new."""
    text = was.value
    there = showing(text, after)
    if len(there) <= len(showing(text, before)):
        return None
    shown = there[-1]
    is_thread = now.bounds.center_y > _FOOT and shown.bounds.center_y < now.bounds.center_y
    return ScreenChange(
        kind=SeenEffectKind.SENT if is_thread else SeenEffectKind.FIELD,
        object=title if is_thread else field_name(now, title),
        after=text[:VALUE_CHARS],
        saved=FieldFate.NONE if is_thread else FieldFate.SAVED,
        element=shown,
        cause=Cause.NEWEST,
    )


def settled_fields(
    open_texts: Sequence[SeenEffect],
    before: Sequence[Element],
    after: Sequence[Element],
    seen_earlier: Sequence[Element],
    left: Left,
) -> list[tuple[SeenEffect, ScreenChange]]:
    """Return what became of texts whose fields are no longer on the screen, each with its typing.

    Args:
        open_texts: the effects of typing that nothing has settled yet, of this app and phone.
        seen_earlier: the newest page as it was seen before; empty: it never was.
    """
    if left.now.dialog is not None or left.now.package != left.page.package:
        # The page may still lie under the dialog, and an app that was left keeps its pages.
        return []
    waiting = [one for one in open_texts if not is_in_field(one, after)]
    saved = [(one, _stands(one.after, before, after, seen_earlier)) for one in waiting]
    forms = {_form_of(one) for one, shown in saved if shown is not None}
    found = []
    for one, shown in saved:
        # What stood in the same form went with it.
        if shown is not None or (_form_of(one) in forms and not one.undone_by):
            found.append((one, _fate(one, FieldFate.SAVED, shown)))
        elif one.undone_by or one.saved is not FieldFate.TYPED:
            continue
        elif left.came_back and one.page == left.page.name:
            if left.by_way_back:
                found.append((one, _fate(one, FieldFate.ABANDONED, None)))
            elif left.by_own_control:
                found.append((one, _fate(one, FieldFate.SUBMITTED, None)))
    return found


def _form_of(text: SeenEffect) -> tuple[str, str]:
    """Return the form of a text: its page, and the act that put it away."""
    return text.page, text.call_id if text.saved is FieldFate.SUBMITTED else ""


def is_in_field(text: SeenEffect, screen: Sequence[Element]) -> bool:
    return any(
        e.editable and (e.key == text.element_key or e.value[:VALUE_CHARS] == text.after)
        for e in screen
    )


def _stands(
    text: str, before: Sequence[Element], after: Sequence[Element], seen_earlier: Sequence[Element]
) -> Element | None:
    if not text or text == SECRET or showing(text, before):
        # It stood beside its field already, as what a search has found does.
        return None
    there = showing(text, after)
    return there[0] if len(there) > len(showing(text, seen_earlier)) else None


def _fate(text: SeenEffect, fate: FieldFate, shown: Element | None) -> ScreenChange:
    is_gone = fate is FieldFate.ABANDONED
    return ScreenChange(
        kind=SeenEffectKind.FIELD,
        object=text.object,
        before=text.after if is_gone else text.before,
        after="" if is_gone else text.after,
        saved=fate,
        element=shown,
        page=text.page,
        cause=Cause.NEWEST,
    )
