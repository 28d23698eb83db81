"""Which page an observation shows, and what on it are rows. Pure.

Judged by structure alone: app, activity, title, what is chosen in its tabs, the dialog in front.
Invariants: two screens are one page only if their frames agree, so a page that was not told apart
from another yields nothing; a row is known by its name, the first of the texts that it shows.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent.loop.by_identity import by_identity
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.screen_text import activity_name
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, Foreground

_TITLE_ZONE = 0.2  # A title ends above this share of the height, also a tall one.
_BAR_ZONE = 0.16
_UPPER = 0.7
_ICONS = frozenset({"icon-btn", "nav-btn", "tab", "scrollable", "webview", "slider"})
_DIGITS = re.compile(r"\d+")
_FRAME = 0.5
"""This share of the smaller page's frame has to be on the other one too."""
JOINT = " | "
"""What stands between the texts of a row in its label (`agent.loop.screen.names`)."""


class Page(NamedTuple):
    """What tells one page from another."""

    package: str
    activity: str
    title: str
    chosen: frozenset[str]  # What its tabs and chips have selected: another tab is another page.
    dialog: str | None  # The title of the dialog in front; None: none is.

    @property
    def name(self) -> str:
        """What a person calls the page."""
        return self.dialog or self.title or activity_name(self.activity)


class Group(NamedTuple):
    """What the rows of one list have in common; not its container, which is no element any more
    once all of the list fits.
    """

    resource_id: str
    class_name: str
    kind: str


def page_of(foreground: Foreground, elements: Sequence[Element]) -> Page:
    dialog = dialog_title(elements)
    chosen: list[str] = []
    if dialog is None:
        chosen = [e.label for e in elements if e.selected and not (e.checkable or e.editable)]
    return Page(
        package=foreground.package,
        activity=foreground.activity,
        title="" if dialog is not None else title_of(elements),
        chosen=frozenset(chosen),
        dialog=dialog,
    )


def page_key(page: Page) -> Page:
    """Return a page by which it is found again: a count in its title may have changed."""
    title = page.title
    if any(map(str.isalpha, title)):
        title = _DIGITS.sub("0", title)
    return page._replace(title=title)


@by_identity
def title_of(elements: Sequence[Element]) -> str:
    """Return the topmost text of a page; where it has none there, what can be pressed there, and
    else the first text below: a person's or a product's name under its picture.
    """
    pressed = below = ""
    scrolling = {element.number for element in elements if element.scrollable}
    for element in elements:
        if element.editable or element.label == UNLABELED:
            continue
        if element.bounds.bottom > _TITLE_ZONE:
            if not below and element.kind == "text" and element.bounds.bottom <= _UPPER:
                below = element.label
            continue
        if element.parent in scrolling and not _has_own_id(element, elements):
            # The first row of a list that was scrolled.
            continue
        if element.kind == "text":
            return element.label
        if element.kind == "btn" and not pressed and element.bounds.bottom <= _BAR_ZONE:
            pressed = element.label
    return pressed or below


def _has_own_id(element: Element, elements: Iterable[Element]) -> bool:
    """Return whether an element's id is its own, and not that of Android for the titles of rows."""
    own = element.resource_id
    return (
        bool(own)
        and not own.startswith("android:")
        and len([other for other in elements if other.resource_id == own]) == 1
    )


def row_name(element: Element) -> str:
    return element.label.partition(JOINT)[0]


def row_state(element: Element) -> str:
    """Return what a row says beside its name."""
    return element.label.partition(JOINT)[2]


def only_digits_differ(one: str, other: str) -> bool:
    return one != other and _DIGITS.sub("0", one) == _DIGITS.sub("0", other)


@by_identity
def groups_of(elements: Sequence[Element]) -> dict[Group, list[Element]]:
    """Return the rows of a page by what they have in common, in reading order."""
    groups: dict[Group, list[Element]] = {}
    names = {element.number: element for element in elements}
    for element in elements:
        if not is_row(element):
            continue
        holder = names.get(element.parent)
        if holder is not None and is_row(holder):
            # A part of another row, such as its own button.
            continue
        group = Group(element.resource_id, element.class_name, element.kind)
        groups.setdefault(group, []).append(element)
    return groups


def is_row(element: Element) -> bool:
    """Return whether an element may be a row of a list: what has a name and is no icon or field."""
    if element.editable or element.kind in _ICONS or element.kind == STATUS_BAR:
        return False
    if element.label == UNLABELED:
        return False
    return bool(element.resource_id) or is_pressed(element)


def is_pressed(element: Element) -> bool:
    return element.clickable or element.long_clickable or element.checkable


def has_same_frame(one: Sequence[Element], other: Sequence[Element]) -> bool:
    """Return whether two screens with the same title show one page."""
    was, now = _frame(one), _frame(other)
    if not (was and now):
        # Nothing tells them apart but what they hold.
        was, now = (frozenset(("", "", e.label) for e in page) for page in (one, other))
    return len(was & now) >= _FRAME * min(len(was), len(now))


@by_identity
def _frame(elements: Sequence[Element]) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        [
            (e.resource_id, e.class_name, "" if e.resource_id else e.label)
            for e in elements
            if e.kind != STATUS_BAR and (e.kind in _ICONS or e.editable or e.resource_id)
        ]
    )


def in_band(one: Element, other: Element) -> bool:
    """Return whether two elements stand beside each other, as the parts of a row do."""
    box, own = other.bounds, one.bounds
    return (
        box.top <= (own.top + own.bottom) / 2 <= box.bottom
        or own.top <= (box.top + box.bottom) / 2 <= own.bottom
    )
