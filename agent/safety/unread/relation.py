"""How an act stands to what the operator asked for, by what the screen shows. No verdicts.

Pure, and computed once for an act. Shapes count, not classes: a row, a tile, a chip and an icon may
do what a button does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.language.dates import dates_in
from agent.language.times import times_in
from agent.records import Element
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.flow import Flow
from agent.safety.effects.page import Page, looks_refusing
from agent.safety.effects.structure.ending import (
    ends,
    is_nameless,
    is_next_step,
    leads_away,
    sign_of,
)
from agent.safety.unread.goal_words import GoalWords, Wanted
from agent.safety.words import id_words

SETTINGS = "com.android.settings"
_TABS_TOP = 0.86
_TABS = 3
_LIST = 3
_PAIR = 4  # So many things side by side are a choice; more are a home page.
_MANY = 6  # A list of more things alike is a way to them, and no choice.
_SAME_LINE = 0.02
_EDGE = 0.02
_TICKS = frozenset("✓✔☑✅")
_UNFOLDS = frozenset("⌄˅∨▾▿▸▹›»⌵⏷⏵…")
"""Signs at the end of a label for more that opens below it or behind it."""
_SIDEWAYS = frozenset({"left", "right"})


@dataclass(frozen=True)
class Relation:
    """One act, the page that it is done on, and the operator's words."""

    act: Act
    page: Page
    goal: GoalWords
    flow: Flow

    @property
    def element(self) -> Element | None:
        return self.act.element

    # --- what is touched ----------

    @cached_property
    def words(self) -> str:
        """What the control says of itself; its id where it has no words."""
        element = self.element
        if element is None:
            return ""
        if is_nameless(element) or sign_of(element):
            return " ".join(id_words(element.resource_id))
        return f"{element.label} {element.more}"

    @cached_property
    def alike(self) -> tuple[Element, ...]:
        """What else can be pressed that is of its class and stands in its line or column.

        In a column it follows without a gap: what stands apart is something else.
        """
        element = self.element
        if element is None:
            return ()
        box = element.bounds
        of_class = [
            e
            for e in self.page.pressables
            if e is not element
            and (e.class_name, e.checkable) == (element.class_name, element.checkable)
        ]
        line = [e for e in of_class if abs(e.bounds.center_y - box.center_y) < _SAME_LINE]
        column = [
            e
            for e in of_class
            if abs(e.bounds.left - box.left) < _EDGE and abs(e.bounds.right - box.right) < _EDGE
        ]
        return (*line, *_run(element, [e for e in column if e not in line]))

    @cached_property
    def is_entry(self) -> bool:
        """Whether the control is one of at least three that say more than a name, or are rows."""
        element = self.element
        if element is None or element.checkable or len(self.alike) + 1 < _LIST:
            return False
        return self.page.is_listed(element) or " | " in element.label

    @cached_property
    def is_tab(self) -> bool:
        """Whether the control is one of several places of an app, of which one is shown."""
        element = self.element
        if element is None or element.checkable:
            return False
        line = [
            e
            for e in (element, *self.alike)
            if abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE
        ]
        return len(line) >= 2 and sum(e.selected for e in line) == 1

    @cached_property
    def leads_away(self) -> bool:
        """Whether the control is known to open, choose, look for something or go back."""
        element, page = self.element, self.page
        if element is None or not leads_away(element, page):
            return False
        # The only button of a page that holds something keeps it: "Keep it so".
        buttons = [e for e in page.pressables if not e.checkable and not page.is_toolbar(e)]
        return not (looks_refusing(element) and buttons == [element] and self.holds)

    @cached_property
    def is_last(self) -> bool:
        """Whether nothing below the control can be pressed, apart from tabs at the foot."""
        element = self.element
        if element is None or self.page.is_toolbar(element) or self.is_entry:
            return False
        return not any(
            e.bounds.top >= element.bounds.bottom - 0.005 and e.bounds.top < _TABS_TOP
            for e in self.page.pressables
        )

    @cached_property
    def ends(self) -> bool:
        """Whether a page, a dialog or a sequence may be over with the control."""
        element, page = self.element, self.page
        if element is None or self.leads_away or self.is_tab or self.is_entry:
            return False
        if ends(element, page):
            return True
        if page.is_toolbar(element):
            # In the bar at the top stands what ends a form, on its right.
            return bool(page.filled) and element.bounds.left > 0.5 and not is_nameless(element)
        form = bool(self.holds or page.fields or page.is_dialog or self.goal.looks)
        return not element.checkable and self.is_last and form

    @cached_property
    def only_pages(self) -> bool:
        """Whether a page asks for nothing, and its control goes on to the next or closes it."""
        page, element = self.page, self.element
        if element is None or page.filled or any(e.checkable for e in page.elements):
            return False
        alone = len([e for e in page.pressables if not page.is_toolbar(e)]) == 1
        tick = sign_of(element) in _TICKS
        return (page.is_dialog and alone) or (
            is_next_step(element) and not (page.is_dialog or tick)
        )

    @cached_property
    def acts_at_once(self) -> bool:
        """Whether a touch of this kind does something wherever it is done."""
        element = self.element
        match self.act.kind:
            case ActKind.LONG_PRESS | ActKind.DRAG:
                return True
            case ActKind.SWIPE:
                is_over = element is not None and not element.scrollable
                return is_over and self.act.direction in _SIDEWAYS
            case _:
                return False

    @property
    def presses(self) -> bool:
        """Whether a control is pressed that is no field."""
        return (
            self.act.kind is ActKind.PRESS
            and self.element is not None
            and not self.element.editable
        )

    @cached_property
    def is_one_of_many(self) -> bool:
        """Whether the control is one of more alike than a choice has, as on a home page."""
        return len(self.alike) >= _PAIR

    @cached_property
    def is_part(self) -> bool:
        """Whether another control of the page ends it, so that this one counts only then."""
        page = self.page
        others = (e for e in page.pressables if e is not self.element)
        return any(
            Relation(Act(kind=ActKind.PRESS, element=e), page, self.goal, self.flow).ends
            for e in others
        )

    @property
    def shows_value(self) -> bool:
        """Whether the control shows a value beside its name, and another control ends the page."""
        return self.element is not None and " | " in self.element.label and self.is_part

    @property
    def opens_setting(self) -> bool:
        """Whether the control is a row of Android's settings that opens a page or a dialog.

        A row without a switch does no more there (androidx.preference: Preference); what a page of
        them ends with is a button.
        """
        element, page = self.element, self.page
        if element is None or page.package != SETTINGS or page.is_dialog or page.fields:
            return False
        is_row = element.clickable and not element.checkable and not page.is_toolbar(element)
        return is_row and not element.class_name.endswith("Button")

    @cached_property
    def opens_by_its_sign(self) -> bool:
        """Whether the control's words end with a sign that there is more behind it."""
        element = self.element
        if element is None or element.checkable or sign_of(element):
            return False
        return element.label.rstrip("\ufe0e\ufe0f ")[-1:] in _UNFOLDS

    @cached_property
    def is_record(self) -> bool:
        """Whether the control is a row that tells, beside its name, when something was or is."""
        element = self.element
        if element is None or element.checkable:
            return False
        said = element.label.partition(" | ")[2]
        return bool(said) and bool(dates_in(said) or times_in(said))

    @cached_property
    def is_named_place(self) -> bool:
        """Whether the operator names the control in full, and it shows no state of its own."""
        element = self.element
        plain = element is not None and not element.checkable and " | " not in element.label
        return plain and self.names_control

    @property
    def is_switch(self) -> bool:
        return self.element is not None and self.element.kind == "switch"

    # --- what the page holds ----------

    @cached_property
    def holds(self) -> tuple[str, ...]:
        """What a commit would take along: contents of fields, and what is chosen."""
        chosen = (
            e.label
            for e in self.page.elements
            if (e.checked or (e.selected and e.bounds.top < _TABS_TOP and not self._is_place(e)))
            and not is_nameless(e)
        )
        return (*(f.value for f in self.page.filled if not f.password), *chosen)

    def _is_place(self, element: Element) -> bool:
        """Return whether what is selected is a tab."""
        line = [
            e
            for e in self.page.pressables
            if e is not element and abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE
        ]
        return bool(line) and not any(e.selected for e in line) and not element.checkable

    @cached_property
    def unnamed(self) -> tuple[str, ...]:
        """What of it the operator does not name, but for dates and times, which apps fill in."""
        return tuple(
            text
            for text in self.holds
            if not (self.goal.named(text) or dates_in(text) or times_in(text))
        )

    @cached_property
    def reaches(self) -> bool:
        """Whether a commit would reach people, or move money."""
        page = self.page
        if page.is_basket:
            return False
        written = page.composer is not None and bool(page.composer.value)
        return bool(page.amounts or page.recipient or written)

    # --- how it stands to the words ----------

    @cached_property
    def named(self) -> Wanted:
        """What of the control's words the operator names."""
        return self.goal.named(self.words)

    @cached_property
    def _title_named(self) -> Wanted:
        element = self.element
        silent = element is None or is_nameless(element) or sign_of(element)
        return self.goal.named(self.words if silent or element is None else _title(element))

    @property
    def names_control(self) -> bool:
        """Whether the operator names all that the control is called."""
        return self.element is not None and self.goal.names_all(_title(self.element))

    @cached_property
    def page_named(self) -> Wanted:
        """What of the page's title, message and name the operator names."""
        page = self.page
        return self.goal.named(page.title, page.message, *page.activity)

    @cached_property
    def is_about(self) -> bool:
        """Whether the page shows anything that the operator names: else it is on the way there."""
        return bool(self.goal.named(*(e.label for e in self.page.elements)))

    @property
    def is_alone(self) -> bool:
        """Whether the page has no other control, so that nothing can be mistaken for it."""
        return len(self.page.pressables) < 2

    @cached_property
    def _place_named(self) -> Wanted:
        """What of the page's and the app's names the operator names; it tells no controls apart."""
        page = self.page
        app = id_words(page.package.replace(".", "_"))
        return self.goal.named(page.title, page.message, *page.activity, *app)

    @cached_property
    def rival(self) -> Element | None:
        """A control of its kind beside it that the operator names better; None: there is none."""
        if self.element is None or len(self.alike) >= _MANY:
            return None
        return self._better(self._title_named, self.alike)

    @cached_property
    def rival_of_chosen(self) -> Element | None:
        """What is not chosen on the page, and named better than what is chosen in its place."""
        options = [e for e in self.page.elements if e.checkable and e.kind != "switch"]
        chosen = [e for e in options if e.checked]
        if len(chosen) != 1:
            return None
        others = tuple(e for e in options if not e.checked)
        return self._better(self.goal.named(_title(chosen[0])), others)

    def _better(self, own: Wanted, others: tuple[Element, ...]) -> Element | None:
        """Return what is named by all that a control is named by, and by more than its page is."""
        for other in others:
            named = self.goal.named(_title(other))
            if not own.without(named) and named.without(own).without(self._place_named):
                return other
        return None


def _run(element: Element, column: Sequence[Element]) -> list[Element]:
    """Return what stands above and below an element in its column, with less than its height
    between one and the next.
    """
    found: list[Element] = []
    gap = element.bounds.bottom - element.bounds.top
    above = sorted((e for e in column if e.bounds.top < element.bounds.top), key=_top, reverse=True)
    below = sorted((e for e in column if e.bounds.top >= element.bounds.top), key=_top)
    edge = element.bounds.top
    for other in above:
        if edge - other.bounds.bottom > gap:
            break
        found.append(other)
        edge = other.bounds.top
    edge = element.bounds.bottom
    for other in below:
        if other.bounds.top - edge > gap:
            break
        found.append(other)
        edge = other.bounds.bottom
    return found


def _top(element: Element) -> float:
    return element.bounds.top


def _title(element: Element) -> str:
    return element.label.split(" | ", 1)[0]
