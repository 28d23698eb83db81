"""Another row of a list than the one that the goal names was never meant, whoever says so."""

import pytest

from agent.loop.verification.coverage import Wished
from agent.records import FieldFate, SeenEffect, UiNode
from tests.loop.paper_phone import APP, button, field, node
from tests.loop.verification.judged import (
    ADDED,
    APPROVED,
    FIELD,
    REMOVED,
    SENT,
    STATE,
    Work,
    accomplice,
    decide,
    effect,
    is_met,
    listed,
    says,
)

LISTS = (
    ("Ana Silva", "Ben Carter", "Ben Okafor", "Emil Novak"),
    ("Packing list", "Books to read", "Gift ideas", "Cabin Wi-Fi"),
    ("Документы", "Музыка", "Фото", "Видео"),
)
FIRST = [pytest.param(names, id=names[0]) for names in LISTS]


def rows(*names: str) -> tuple[UiNode, ...]:
    title = node("All", (0.1, 0.02, 0.9, 0.06))
    shown = (
        button(name, 0.2 + at * 0.07, resource_id=f"{APP}:id/row") for at, name in enumerate(names)
    )
    return (title, *shown)


def done(
    names: tuple[str, ...], *effects: SeenEffect, goal: str, last: tuple[str, ...] = ()
) -> Work:
    work = Work(goal).see(*rows(*names)).act()
    return work.see(*rows(*(last or names)), effects=effects)


@pytest.mark.parametrize("names", FIRST)
@pytest.mark.parametrize("kind", [STATE, REMOVED, SENT], ids=str)
def test_what_was_done_to_another_row_is_not_done(names: tuple[str, ...], kind: object) -> None:
    for wanted in names:
        for dealt_with in names:
            goal = f"Please do it with {wanted}"
            states = {"after": "on", "before": "off"} if kind is STATE else {}
            one = effect(kind, dealt_with, **states)  # type: ignore[arg-type]
            wished = Wished(goal, object=wanted if kind is not STATE else "")
            found = decide(done(names, one, goal=goal), listed(goal, wished), accomplice())
            assert is_met(found) is (wanted == dealt_with), (wanted, dealt_with)


@pytest.mark.parametrize("names", FIRST)
def test_the_page_of_another_row_is_another_things_page(names: tuple[str, ...]) -> None:
    for wanted in names:
        for opened in names:
            goal = f"Pin {wanted}"
            page = (node("Edit", (0.1, 0.02, 0.9, 0.06)), field("Title", 0.2, opened))
            work = Work(goal).see(*rows(*names)).act().see(*page).act()
            pinned = effect(STATE, "Edit", "Unpin", "Pin", page="Edit", element_step=2)
            work.see(*page, effects=(pinned,))
            found = decide(work, listed(goal, Wished(goal, object="Pin")), accomplice())
            assert is_met(found) is (wanted == opened), (wanted, opened)


@pytest.mark.parametrize("names", FIRST)
@pytest.mark.parametrize("join", [" and ", ", ", " und ", " y "])
def test_of_two_rows_that_are_named_together_both_are_dealt_with(
    names: tuple[str, ...], join: str
) -> None:
    one, other = names[0], names[-1]
    goal = f"Send them: {one}{join}{other}, hello"
    for dealt_with in ((one,), (other,), (one, other)):
        sent = [effect(SENT, name, "hello") for name in dealt_with]
        found = decide(done(names, *sent, goal=goal), listed(goal, Wished(goal)), accomplice())
        assert is_met(found) is (len(dealt_with) == 2), dealt_with


def test_of_several_rows_that_are_named_each_is_dealt_with() -> None:
    names = ("Walking boots", "Desk lamp", "Two-person tent", "Steel bottle")
    goal = "Put the boots, the desk lamp and the tent in the cart"
    every = [effect(ADDED, name) for name in names[:3]]
    for at in range(3):
        left = every[:at] + every[at + 1 :]
        assert not is_met(
            decide(done(names, *left, goal=goal), listed(goal, Wished(goal)), accomplice())
        )
    assert is_met(decide(done(names, *every, goal=goal), listed(goal, Wished(goal)), accomplice()))


@pytest.mark.parametrize("names", FIRST)
def test_to_make_something_beside_what_is_named_is_not_to_change_it(names: tuple[str, ...]) -> None:
    old, new = names[-1], "Zara New"
    goal = f"Rename {old} to {new}"
    added, gone = effect(ADDED, new), effect(REMOVED, old)
    beside = done(names, added, goal=goal, last=(*names, new))
    assert not is_met(decide(beside, listed(goal, Wished(goal, object=new)), accomplice()))
    instead = done(names, added, gone, goal=goal, last=(*names[:-1], new))
    assert is_met(decide(instead, listed(goal, Wished(goal, object=new)), accomplice()))


@pytest.mark.parametrize("names", FIRST)
def test_a_number_that_stands_beside_another_row_is_not_the_one_asked_for(
    names: tuple[str, ...],
) -> None:
    values = {name: f"{(at + 2) * 111}.50" for at, name in enumerate(names)}
    title = node("All", (0.1, 0.02, 0.9, 0.06))
    shown = [title]
    for at, (name, value) in enumerate(values.items()):
        top = 0.2 + at * 0.1
        box = (0.1, top, 0.5, top + 0.05)
        shown.append(node(name, box, resource_id=f"{APP}:id/name"))
        shown.append(node(value, (0.6, top, 0.9, top + 0.05), resource_id=f"{APP}:id/value"))
    for wanted in names:
        goal = f"How much is it for {wanted}?"
        for told, value in values.items():
            work = Work(goal).see(*shown)
            judged = listed(goal, Wished(goal, kind="tell"))
            found = decide(work, judged, accomplice(), answer=f"It is {value}.")
            assert is_met(found) is (told == wanted), (wanted, told)


@pytest.mark.parametrize("text", ["I will call you tonight", "Ya voy para casa", "Ich komme heim"])
def test_a_text_behind_a_colon_is_written_to_its_end(text: str) -> None:
    goal = f"Text Dad: {text}"
    said = text.split()
    for count in range(1, len(said) + 1):
        sent = effect(SENT, "Dad", " ".join(said[:count]))
        work = Work(goal).see(*rows("Dad", "Mum")).act().see(*rows("Dad", "Mum"), effects=(sent,))
        judged = decide(work, listed(goal, Wished(goal, recipient="Dad")), accomplice())
        assert is_met(judged) is (count == len(said)), sent.after


@pytest.mark.parametrize("goal", ['Delete the note "Ana"', 'Lösche die Notiz "Ana"'])
def test_what_went_from_a_list_was_deleted_only_as_the_operator_calls_it(goal: str) -> None:
    def work(pressed: str) -> Work:
        made = Work(goal).see(*rows("Ana"), button(pressed, 0.8))
        number = made.past.last[1].elements[-1].number if made.past.last else 0
        made.act(arguments=f'{{"element": {number}}}', pressed=pressed)
        return made.see(*rows("Ben"), effects=(effect(REMOVED, "Ana"),))

    wished = listed(goal, Wished(goal, object="Ana", value="gone"))
    assert not is_met(decide(work("Archive"), wished, None))
    assert is_met(decide(work("Delete"), wished, None)) is goal.startswith("Delete")


def test_a_value_counts_from_what_was_done_and_not_from_all_that_is_in_front() -> None:
    goal = "Put 'Yoga' into the calendar on Tuesday, 1 December at 18:00"
    days = (node(str(day), (0.1, day / 40, 0.2, day / 40 + 0.02)) for day in range(4, 31))
    noise = (
        node("December 2026", (0.1, 0.02, 0.9, 0.06)),
        node("Tue", (0.3, 0.08, 0.4, 0.1)),
        *days,
    )
    for day, met in (("2026-12-01", True), ("2026-12-02", False)):
        typed = [
            effect(FIELD, name, text, saved=FieldFate.SUBMITTED, page="New event")
            for name, text in (("Title", "Yoga"), ("Date", day), ("Start", "18:00"))
        ]
        work = Work(goal).see(*noise).act().see(*noise, effects=typed)
        found = decide(work, listed(goal, Wished(goal, object="Yoga")), accomplice())
        assert is_met(found) is met, day


@pytest.mark.parametrize(("shown", "met"), [("19:15", True), ("7:15 PM", True), ("07:15", False)])
def test_an_evening_is_no_morning(shown: str, met: bool) -> None:
    goal = "Set an alarm for 7:15 pm"
    work = done((), effect(ADDED, shown), goal=goal, last=(shown,))
    assert is_met(decide(work, listed(goal, Wished(goal)), accomplice())) is met


@pytest.mark.parametrize("names", FIRST)
def test_a_yes_to_a_deletion_does_not_say_what_went(names: tuple[str, ...]) -> None:
    for wanted in names:
        for went in names:
            goal = f"Delete {wanted}"
            said = effect(APPROVED, "Delete", f"Delete it? The goal: {goal}", page="Delete?")
            left = tuple(name for name in names if name != went)
            work = Work(goal).see(*rows(*names)).act().see(node("Delete?"), effects=(said,)).act()
            work.see(*rows(*left), effects=(effect(REMOVED, went),))
            gone = listed(goal, Wished(goal, object=wanted, value="gone"))
            judged = decide(work, gone, says("met", "E1"))
            assert is_met(judged) is (wanted == went), (wanted, went)


def test_a_thing_that_is_called_as_on_the_phone_stands_where_something_was_done() -> None:
    goal = "Sposta l'evento Dentist al 2 dicembre"
    for page, met in (("Dentist", True), ("Team meeting", False)):
        moved = effect(FIELD, "Date", "2026-12-02", saved=FieldFate.SUBMITTED, page="Edit event")
        work = Work(goal).see(*rows("Lunch")).act()
        work.see(node(page, (0.1, 0.02, 0.9, 0.06)), node("Room 4"), effects=(moved,))
        judged = listed(goal, Wished(goal, object="Dentist"))
        assert is_met(decide(work, judged, accomplice())) is met


def test_what_was_changed_in_a_form_is_not_gone_by_that() -> None:
    goal = "Delete the event Dentist"
    moved = effect(FIELD, "Date", "2026-12-20", saved=FieldFate.SUBMITTED, page="Edit event")
    work = done(("Dentist",), moved, goal=goal, last=("Lunch",))
    gone = listed(goal, Wished(goal, object="Dentist", value="gone"))
    assert not is_met(decide(work, gone, accomplice()))
    work = done(("Dentist",), effect(REMOVED, "Dentist"), goal=goal, last=("Lunch",))
    assert is_met(decide(work, gone, accomplice()))


@pytest.mark.parametrize("names", FIRST)
def test_the_page_of_another_row_is_not_opened_by_its_name(names: tuple[str, ...]) -> None:
    for wanted in names:
        for opened in names:
            goal = f"Open {wanted}"
            page = (node(opened, (0.1, 0.02, 0.9, 0.06)), node("More", (0.1, 0.2, 0.9, 0.3)))
            work = Work(goal).see(*rows(*names)).act().see(*page)
            judged = listed(goal, Wished(goal, kind="open", object=opened))
            assert is_met(decide(work, judged, accomplice())) is (wanted == opened)


def test_a_day_that_is_written_out_is_no_other_day() -> None:
    days = ("lunes", "martes", "miércoles", "jueves", "viernes")
    for wanted in days:
        for written in days:
            goal = f"Añade una nota Recados: llamar el {wanted}"
            text = f"llamar al fontanero el {written}"
            note = effect(FIELD, "Note", text, saved=FieldFate.SAVED)
            work = done(("Recados",), note, goal=goal)
            judged = listed(goal, Wished(goal, object="Recados"))
            assert is_met(decide(work, judged, accomplice())) is (wanted == written)


def test_what_was_typed_to_search_is_nothing_done() -> None:
    goal = "Set an alarm for 06:20"
    typed = effect(FIELD, "Search notes", "06:20", saved=FieldFate.TYPED)
    work = done((), typed, effect(ADDED, "06:30"), goal=goal, last=("06:30",))
    assert not is_met(decide(work, listed(goal, Wished(goal)), accomplice()))
