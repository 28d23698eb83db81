"""List what a screen shows around a control, for the person who judges an act: seen, not guessed.

Pure. Invariant: every line is made of words that the screen shows or the session typed; nothing is
concluded from them, and no approval is bound to them.
"""

from collections.abc import Sequence

from agent.records import Element
from agent.safety.effects.amounts import amounts, is_whole
from agent.safety.effects.flow import Flow, field_name
from agent.safety.effects.page import Page
from agent.safety.redacting.redaction import redact_secrets
from agent.text import one_line

_LINES = 8  # So many texts beside a control.
_LISTED = 8  # So many ticked things, amounts or fields.
_CHARS = 90
_REACH = 0.22  # How far above or below a control a text stands beside it, in shares of the height.
_SAME_LINE = 0.03
_TABS_TOP = 0.86


def shown_around(element: Element | None, page: Page, flow: Flow) -> tuple[str, ...]:
    """Return lines of what stands beside a control, what is ticked, all amounts with their
    captions, and the fields with their content, those that have scrolled away too.
    """
    lines = (
        ("On the screen", _beside(element, page)),
        ("Chosen", _chosen(page)),
        ("Amounts", _amounts(page)),
        ("Fields", [f"{_name(e)} = {e.value}" for e in page.filled if not e.password]),
        ("Typed earlier", _typed_elsewhere(page, flow)),
    )
    return tuple(f"{name}: {_listed(texts)}" for name, texts in lines if texts)


def _beside(element: Element | None, page: Page) -> list[str]:
    """Return the texts of a dialog, or those that stand nearest to a control."""
    said = [e for e in page.texts if e.label != page.title]
    if page.is_dialog or element is None:
        return [e.label for e in said[:_LINES]]
    middle = element.bounds.center_y
    near = [e for e in said if abs(e.bounds.center_y - middle) < _REACH]
    near.sort(key=lambda e: abs(e.bounds.center_y - middle))
    chosen = {e.number for e in near[:_LINES]}
    return [e.label for e in said if e.number in chosen]


def _chosen(page: Page) -> list[str]:
    """Return the names of what is ticked or selected; a tab at the foot of the screen is none."""
    return [
        e.label
        for e in page.elements
        if (e.checked or (e.selected and e.bounds.top < _TABS_TOP)) and e.label != "unlabeled"
    ]


def _amounts(page: Page) -> list[str]:
    """Return every amount with what stands on its line; none where there is only one."""
    found = []
    for element in page.elements:
        whole = [text for text in amounts(element.label) if is_whole(text)]
        if not whole:
            continue
        if element.label.strip() not in whole:
            found.append(element.label)
            continue
        found.append(f"{_caption(element, page)} {element.label}".strip())
    return found if len(found) > 1 else []


def _caption(element: Element, page: Page) -> str:
    """Return the text to the left of an element on its line."""
    line = [
        e
        for e in page.texts
        if e is not element
        and abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE
        and e.bounds.left < element.bounds.left
    ]
    return max(line, key=lambda e: e.bounds.left).label if line else ""


def _typed_elsewhere(page: Page, flow: Flow) -> list[str]:
    """Return what the session typed into fields of this app that are not on the screen."""
    here = {(e.package, field_name(e)) for e in page.fields}
    held = {e.value.strip() for e in page.fields}
    return [
        f"{_plain(name)} = {text}"
        for (package, name), text in flow.typed.items()
        if package == page.package
        and (package, name) not in here
        and text.strip()
        and text.strip() not in held
    ]


def _name(element: Element) -> str:
    return one_line(element.label, 40)


def _plain(name: str) -> str:
    return one_line(name.rpartition("/")[2].replace("_", " "), 40)


def _listed(texts: Sequence[str]) -> str:
    kept = list(dict.fromkeys(texts))
    more = f" and {len(kept) - _LISTED} more" if len(kept) > _LISTED else ""
    return " · ".join(redact_secrets(one_line(text, _CHARS)) for text in kept[:_LISTED]) + more
